#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop over a real torch DataLoader that counts for itself what it was given: samples, by
the length of each batch, and whole passes. Of one rank or, run by launch_ranks.py, of several with a
DistributedSampler. --count UNIT adds a line per step to GPUSTARVE_UNITS. The truth of each rank is a
JSON file in --truth FOLDER."""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, get_worker_info  # noqa: E402

import gpudev  # noqa: E402

RANK, WORLD = int(os.environ.get('RANK', 0)), int(os.environ.get('WORLD_SIZE', 1))


class Numbers(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.full((4,), float(i))


class Stream(IterableDataset):
    """Each worker has a share of its own, mostly of another length."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        for i in range(worker, self.n, workers):
            if worker == 0 or i < self.n - 5:
                yield torch.full((4,), float(i))


def parse():
    p = argparse.ArgumentParser()
    p.add_argument('--samples', type=int, default=50)
    p.add_argument('--batch', type=int, default=8)
    p.add_argument('--workers', type=int, default=0)
    p.add_argument('--epochs', type=int, default=2)
    p.add_argument('--drop-last', action='store_true')
    p.add_argument('--iterable', action='store_true')
    p.add_argument('--unordered', action='store_true')
    p.add_argument('--persistent', action='store_true')
    p.add_argument('--pin', action='store_true')
    p.add_argument('--no-batches', action='store_true', help='batch_size=None')
    p.add_argument('--stop', type=int, help='leave the last epoch after so many batches')
    p.add_argument('--validate', type=int, default=0, help='samples of a loader of its own')
    p.add_argument('--learn', type=int, default=0, help="an optimizer of torch's, whose step is over so many batches")
    p.add_argument('--learn-all', action='store_true', help='from what validates, too')
    p.add_argument('--late', action='store_true', help='CUDA begins after the first batch')
    p.add_argument('--count', metavar='UNIT')
    p.add_argument('--fail', action='store_true', help='exit status 3')
    p.add_argument('--truth', required=True)
    return p.parse_args()


def loader_of(args):
    data = Stream(args.samples) if args.iterable else Numbers(args.samples)
    more = {}
    if WORLD > 1 and not args.iterable:
        more['sampler'] = DistributedSampler(data, WORLD, RANK, shuffle=True, drop_last=args.drop_last)
    if args.unordered:
        more['in_order'] = False
    return DataLoader(data, batch_size=None if args.no_batches else args.batch, num_workers=args.workers,
                      drop_last=args.drop_last and not args.no_batches,
                      persistent_workers=args.persistent, **more)


def main():
    args = parse()
    dev = stream = None
    truth = {'samples': 0, 'batches': 0, 'whole': 0}

    def begin():
        nonlocal dev, stream
        dev = gpudev.Device(RANK % gpudev.device_count())
        stream = gpudev.Stream(dev)

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    given = 0

    def learn(batch):
        nonlocal given
        given += 1
        model(batch).sum().backward()
        if given % args.learn == 0:
            optimizer.step()
            optimizer.zero_grad()

    def step(batch):
        if not dev:
            begin()
        stream.kernel(400_000, 'forward')
        stream.synchronize()
        if args.count:
            with open(os.environ['GPUSTARVE_UNITS'], 'a') as f:
                f.write(f'{args.count} {len(batch) * 128}\n')

    if not args.late:
        begin()
    loader = loader_of(args)
    for epoch in range(args.epochs):
        for i, batch in enumerate(loader):
            step(batch)
            if args.learn:
                learn(batch)
            truth['samples'] += len(batch)
            truth['batches'] += 1
            if args.stop and epoch == args.epochs - 1 and i + 1 == args.stop:
                break
        else:
            truth['whole'] += 1
        for batch in DataLoader(Numbers(args.validate), batch_size=4) if args.validate else ():
            step(batch)
            if args.learn_all:
                learn(batch)
    with open(os.path.join(args.truth, f'rank{RANK}.json'), 'w') as f:
        json.dump(truth, f)
    return 3 if args.fail else 0


if __name__ == '__main__':
    sys.exit(main())
