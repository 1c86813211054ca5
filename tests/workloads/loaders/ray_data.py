#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ray Data: map_batches in Ray's workers, iter_batches in the loop."""
import io
import logging
import os

import numpy
import ray
from PIL import Image

import job


def load(rows):
    out = []
    for path in rows['path']:
        with job.note('read'):
            with open(path, 'rb') as file:  #: read
                data = file.read()  #: read
        with job.note('make'):
            image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
            out.append(numpy.array(image.resize((96, 96), Image.BICUBIC)))  #: make
    return {'image': numpy.stack(out)}


def main():
    paths = job.photo_files()
    ray.init(num_cpus=2, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False,
             object_store_memory=100 << 20, _temp_dir=os.environ.get('RAY_TMPDIR'))
    ray.data.DataContext.get_current().enable_progress_bars = False
    data = ray.data.from_items([{'path': path} for path in paths], override_num_blocks=20)
    data = data.map_batches(load, batch_size=8)
    card = job.Card()
    for rows in data.iter_batches(batch_size=job.cfg.batch, prefetch_batches=1):  #: wait
        card.step(rows['image'])
    ray.shutdown()


if __name__ == '__main__':
    main()
