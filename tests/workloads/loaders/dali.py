#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DALI without a GPU of its own: its threads read and decode JPEGs (prep, fetch, starved), or a Python function in its
worker processes does (prep_python)."""
import io
import os

import numpy
from nvidia.dali import fn, pipeline_def, types
from PIL import Image

import job


def sample(info):
    if info.iteration >= job.cfg.steps + 4:
        raise StopIteration
    with job.note('make'):
        with open(os.path.join(job.cfg.data, 'photos', f'{info.idx_in_epoch % job.cfg.items:04}.jpg'), 'rb') as file:
            image = Image.open(io.BytesIO(file.read())).convert('RGB')  #: make
        return numpy.array(image.resize((96, 96), Image.BICUBIC))  #: make


@pipeline_def
def native(files):
    data, _ = fn.readers.file(files=files, prefetch_queue_depth=1)
    image = fn.decoders.image(data, device='cpu')
    return fn.resize(image, size=(96, 96)) if not job.FETCH else image


@pipeline_def
def python():
    return fn.external_source(source=sample, parallel=True, batch=False, dtype=types.UINT8, prefetch_queue_depth=2)


def main():
    files = job.photo_files(1 if job.cfg.variant.endswith('python') else 3)
    given = dict(batch_size=job.cfg.batch, num_threads=job.cfg.workers, device_id=None, prefetch_queue_depth=2)
    if job.cfg.variant.endswith('python'):
        pipe = python(py_num_workers=job.cfg.workers, py_start_method='spawn', **given)
    else:
        pipe = native(files, **given)
    pipe.build()
    card = job.Card(native=not job.cfg.variant.endswith('python'))
    while not card.full():
        images, = pipe.run()  #: wait
        card.step(images.as_array())


if __name__ == '__main__':
    main()
