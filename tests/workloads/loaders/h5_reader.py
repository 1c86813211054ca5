#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""h5py: a thread reads gzipped chunks of an HDF5 file and hands them over in a queue."""
import os
import queue
import threading

import h5py
import numpy

import job

EDGE = 700 if job.PREP else 140 if job.FETCH else 400


def write(path):
    draw = numpy.random.RandomState(2)
    some = numpy.cumsum(draw.randint(-3, 4, (4, EDGE, EDGE)), axis=2).astype('f4')
    given = dict(shape=(job.cfg.items, EDGE, EDGE), dtype='f4', chunks=(1, EDGE, EDGE))
    with h5py.File(path, 'w') as file:
        scans = file.create_dataset('scans', **given, **({} if job.FETCH else dict(compression='gzip', compression_opts=1)))
        for i in range(job.cfg.items):
            scans[i] = some[i % 4]


def reader(path, batches):
    with h5py.File(path, 'r') as file:
        for at in range(0, job.cfg.items, job.cfg.batch):
            with job.note('make'):
                batch = file['scans'][at:at + job.cfg.batch]  #: make
            batches.put(batch)


def main():
    write(os.path.join(job.cfg.data, 'scans.h5'))
    batches = queue.Queue(maxsize=2)
    threading.Thread(target=reader, args=(job.source('scans.h5'), batches), daemon=True).start()
    card = job.Card()
    for _ in range(0, job.cfg.items, job.cfg.batch):
        card.step(batches.get())  #: wait


if __name__ == '__main__':
    main()
