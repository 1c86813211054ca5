#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grain's MapDataset, read by its threads or, with `how` processes, made by its worker processes."""
import sys

import cv2
import grain
import numpy
from absl import flags

import job


class Photos:
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with job.note('read'):
            with open(self.paths[i], 'rb') as file:  #: read
                return file.read()  #: read


def decode(data):
    with job.note('make'):
        image = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)  #: make
        for _ in range(1 if job.PREP else 0):
            image = cv2.bilateralFilter(image, 5, 40, 40)  #: make
        return cv2.resize(image, (96, 96))


def main():
    flags.FLAGS(sys.argv[:1])
    cv2.setNumThreads(1)
    data = grain.MapDataset.source(Photos(job.photo_files())).map(decode).batch(job.cfg.batch)
    data = data.to_iter_dataset(grain.ReadOptions(num_threads=job.cfg.workers, prefetch_buffer_size=4))
    if job.cfg.variant.endswith('processes'):
        data = data.mp_prefetch(grain.MultiprocessingOptions(num_workers=job.cfg.workers))
    card = job.Card()
    for images in data:  #: wait
        card.step(images)


if __name__ == '__main__':
    main()
