#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Leaves: a few batches are always on order from a pool of processes."""
import collections
import multiprocessing
import random
import zlib

import numpy

from kit import Card, cfg, note, settle


def collate(numbers):
    k = numbers[0]
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            seed = f.read()  #: get
    with note('make', k):
        noise = random.Random(k).randbytes(20_000)
        for _ in range(cfg.rounds):
            leaf = zlib.decompress(zlib.compress(seed + noise * 3, 6))  #: make
        return numpy.frombuffer(leaf, numpy.uint8)[:1 << 16]


class Orders:
    def __init__(self, pool, ahead):
        self.pool, self.next, self.waiting = pool, 0, collections.deque()
        for _ in range(ahead):
            self.order()

    def order(self):
        if self.next < cfg.steps:
            self.waiting.append((self.next, self.pool.apply_async(collate, ([self.next],))))
            self.next += 1

    def take(self):
        k, result = self.waiting.popleft()
        leaf = result.get()  #: wait
        self.order()
        return leaf


def main():
    pool = multiprocessing.get_context(cfg.start).Pool(cfg.workers, settle)
    card, orders = Card(), Orders(pool, 2 * cfg.workers)
    for k in range(cfg.steps):
        with note('wait', k):
            leaf = orders.take()
        card.step(leaf)
    pool.terminate()


if __name__ == '__main__':
    main()
