#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torchdata's StatefulDataLoader, which can go on where it stopped, over shards of arrays that are augmented."""
import os

import numpy
import torch
from torchdata.stateful_dataloader import StatefulDataLoader

import job

EDGE = 420 if job.PREP else 160


class Scans(torch.utils.data.Dataset):
    def __init__(self):
        os.makedirs(os.path.join(job.cfg.data, 'scans'), exist_ok=True)
        draw = numpy.random.RandomState(3)
        for i in range(job.cfg.items):
            numpy.save(os.path.join(job.cfg.data, 'scans', f'{i}.npy'), draw.rand(EDGE, EDGE).astype('float32'))

    def __len__(self):
        return job.cfg.items

    def __getitem__(self, i):
        with job.note('read'):
            scan = numpy.load(job.source(f'scans/{i}.npy'))  #: read
        with job.note('make'):
            if not job.FETCH:
                scan = blur(scan)
            scan = scan[:96, :96].copy()
        return torch.from_numpy(scan)


def blur(scan):
    taps = numpy.exp(-numpy.linspace(-2, 2, 9) ** 2)
    for axis in (0, 1):
        scan = numpy.apply_along_axis(numpy.convolve, axis, scan, taps / taps.sum(), 'same')  #: make
    return scan.astype('float32')


def main():
    loader = StatefulDataLoader(Scans(), batch_size=job.cfg.batch, num_workers=job.cfg.workers, snapshot_every_n_steps=10)
    card = job.Card()
    for scans in loader:  #: wait
        card.step(scans.numpy())


if __name__ == '__main__':
    main()
