#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops over several DataLoaders that one line makes, as a helper function does: what tells them apart is
what they go over alone. The truth, samples that were learnt from and all that were given, is a line of
JSON on standard output. Whatever learns is a step of torch's optimizer, but with --no-steps."""
import argparse
import gc
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset, SubsetRandomSampler  # noqa: E402

import gpudev  # noqa: E402


class Numbers(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.full((4,), float(i))


def make(data, sampler=None, size=4):
    return DataLoader(data, batch_size=size, sampler=sampler, num_workers=args.workers)


class Loop:
    def __init__(self):
        self.stream = gpudev.Stream(gpudev.Device(0))
        self.model = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-6)
        self.truth = {'learnt': 0, 'given': 0}

    def forward(self, *batches):
        self.stream.kernel(400_000, 'forward')
        self.stream.synchronize()
        self.truth['given'] += sum(map(len, batches))

    def learn(self, *batches):
        self.forward(*batches)
        if not args.no_steps:
            self.model(torch.cat(batches)).sum().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.truth['learnt'] += sum(map(len, batches))


def validating(x, train, validate):
    for _ in range(2):
        for batch in train:
            x.learn(batch)
        for batch in validate:
            x.forward(batch)


def helper(x):
    validating(x, make(Numbers(80)), make(Numbers(200)))


def alike(x):
    """Of the same length."""
    validating(x, make(Numbers(80)), make(Numbers(80)))


def lists(x):
    """Of data sets that nothing can refer to weakly."""
    validating(x, make([torch.ones(4)] * 80), make([torch.zeros(4)] * 200))


def split(x):
    """Of one data set by two samplers."""
    data = Numbers(300)
    validating(x, make(data, SubsetRandomSampler(range(80))), make(data, SubsetRandomSampler(range(80, 300))))


def placed(n, place):
    """Data of so many, at this address if that comes again."""
    kept = []
    while len(kept) < 20_000:
        kept.append(Numbers(n))
        if place in (None, id(kept[-1])):
            break
    return kept[-1]


def anew(x):
    """Loaders and data sets are made anew for each epoch, one at least where the last one lay."""
    place, again = None, 0
    for i in range(6):
        data = placed((80, 120)[i % 2], place)
        again += id(data) == place
        place = id(data)
        for batch in make(data):
            (x.learn, x.forward)[i % 2](batch)
        data = None
        gc.collect()
    assert again, 'nothing was placed where the last one lay'


def again(x):
    """A loader is made anew for each epoch of one data set."""
    data = Numbers(80)
    for _ in range(3):
        for batch in make(data):
            x.learn(batch)


def phases(x):
    for n in 200, 90:
        for batch in make(Numbers(n)):
            x.learn(batch)


def pairs(x):
    for batches in zip(make(Numbers(80)), make(Numbers(320), size=16)):
        x.learn(*batches)


def now_and_then(x):
    """One batch more at each tenth step, of a pass that goes on: learnt from or not."""
    more = iter(make(Numbers(200)))
    for i, batch in enumerate(make(Numbers(80))):
        x.learn(batch)
        if i % 10 == 0:
            x.forward(next(more))


WHAT = {f.__name__: f for f in (helper, alike, lists, split, anew, again, phases, pairs, now_and_then)}


def main():
    x = Loop()
    WHAT[args.what](x)
    print(json.dumps(x.truth))


p = argparse.ArgumentParser()
p.add_argument('what', choices=WHAT)
p.add_argument('--workers', type=int, default=0)
p.add_argument('--no-steps', action='store_true')
args = p.parse_args()

if __name__ == '__main__':
    main()
