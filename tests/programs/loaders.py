#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch's data loaders one after the other, each slower than what is done with its batches. Tells of each how many times
it was asked for a batch."""
import itertools
import sys
import time

import torch
import torch.utils.data as data

import told

KINDS = ('map', 'iterable')
WAYS = [dict(), dict(pin_memory=True), dict(num_workers=2), dict(num_workers=2, pin_memory=True),
        dict(num_workers=2, pin_memory=True, persistent_workers=True), dict(num_workers=2, prefetch_factor=4),
        dict(num_workers=2, in_order=False)]


def parse():
    p = told.options(__doc__, steps=12, batch=4)
    p.add_argument('--epochs', type=int, default=2)
    p.add_argument('--sample-ms', type=float, default=20)
    return p.parse_args()


def make(args, i):
    time.sleep(args.sample_ms / 1000)
    return torch.full((3, 32, 32), float(i))


class Map(data.Dataset):
    def __init__(self, args):
        self.args = args

    def __len__(self):
        return self.args.steps * self.args.batch

    def __getitem__(self, i):
        return make(self.args, i)


class Iterable(data.IterableDataset):
    def __init__(self, args):
        self.args = args

    def __iter__(self):
        me = data.get_worker_info()
        first, of = (me.id, me.num_workers) if me else (0, 1)
        for i in range(first, self.args.steps * self.args.batch, of):
            yield make(self.args, i)


def play(args, note, kind, way):
    """A loader's epochs; the last batch may be smaller."""
    loader = data.DataLoader((Map if kind == 'map' else Iterable)(args), batch_size=args.batch, **way)
    before = len(note.waits)
    for _ in range(args.epochs):
        for batch in note.batches(loader):
            (batch.cuda(non_blocking=True) * 2).sum()
            note.count('copy-h2d')
    torch.cuda.synchronize()
    return dict(kind=kind, way=way, waits=len(note.waits) - before)


def main():
    args = parse()
    told.same_each_time(args)
    note = told.Told(args)
    (torch.zeros(1, device='cuda') * 2).sum()
    played = [play(args, note, kind, way) for kind, way in itertools.product(KINDS, WAYS)]
    note.write(loaders=played)
    print(f'{len(played)} loaders')


if __name__ == '__main__':
    sys.exit(main())
