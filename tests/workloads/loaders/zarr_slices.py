#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Slices of a zarr array, taken in the loop: zarr's event loop and its threads read and decompress the chunks."""
import os

import numpy
import zarr

import job

EDGE = 700 if job.PREP else 160 if job.FETCH else 400


def write(path):
    draw = numpy.random.RandomState(2)
    array = zarr.create_array(path, shape=(job.cfg.items, EDGE, EDGE), chunks=(1, EDGE, EDGE), dtype='f4',
                              compressors=zarr.codecs.ZstdCodec(level=3))
    some = numpy.cumsum(draw.randint(-3, 4, (4, EDGE, EDGE)), axis=2).astype('f4')
    for i in range(job.cfg.items):
        array[i] = some[i % 4]


def main():
    write(os.path.join(job.cfg.data, 'scans.zarr'))
    array = zarr.open_array(job.source('scans.zarr'), mode='r')
    card = job.Card(native=True)
    for at in range(0, job.cfg.items, job.cfg.batch):
        card.step(array[at:at + job.cfg.batch])  #: wait native


if __name__ == '__main__':
    main()
