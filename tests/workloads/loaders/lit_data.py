#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""litdata: optimised chunks, a StreamingDataset that decodes, a StreamingDataLoader."""
import io
import os

import litdata
import numpy
from litdata.streaming import writer
from PIL import Image

import job


# Its __iter__ reads chunks ahead, by posix_fadvise, before any item is asked for.  #: native in posix_fast.py
class Photos(litdata.StreamingDataset):
    def __getitem__(self, i):
        with job.note('read'):
            data = super().__getitem__(i)['photo']  #: read native
        with job.note('make'):
            image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
            return numpy.array(image.resize((96, 96), Image.BICUBIC))  #: make


def write(folder):
    os.makedirs(folder)
    out = writer.BinaryWriter(folder, chunk_bytes=1_600_000)
    for i, data in enumerate(job.photos()):
        out[i] = {'photo': data}
    out.done()
    out.merge()


def main():
    write(os.path.join(job.cfg.data, 'chunks'))
    data = Photos(input_dir=job.source('chunks'), shuffle=False)
    loader = litdata.StreamingDataLoader(data, batch_size=job.cfg.batch, num_workers=job.cfg.workers)
    card = job.Card(native=job.FETCH)
    for images in loader:  #: wait
        card.step(images.numpy())


if __name__ == '__main__':
    main()
