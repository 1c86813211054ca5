#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Eels that migrate: before each step the loop looks, again and again, whether another process has come as far, in a
word of memory that both have, or by files in a folder (how: files); each makes its own steps."""
import multiprocessing as mp
import os
import time

import numpy

from kit import Card, cfg, note


class Files:
    """As the word does, by which files there are."""

    def __init__(self):
        self.first = 0

    @property
    def value(self):
        while os.path.exists(f'{cfg.root}/{self.first}'):
            self.first += 1
        return self.first

    @value.setter
    def value(self, steps):
        open(f'{cfg.root}/{steps - 1}', 'w').close()


def swim(word):
    where = numpy.random.default_rng(5).random(1 << 14)
    for k in range(cfg.steps):
        if cfg.nap:
            time.sleep(cfg.nap)
        for _ in range(cfg.rounds):
            numpy.sort(where)
        word.value = k + 1


def main():
    word = Files() if cfg.how == 'files' else mp.Value('q', 0)
    other = mp.Process(target=swim, args=(word,))
    other.start()
    card = Card()
    rng = numpy.random.default_rng(3)
    for k in range(cfg.steps):
        with note('wait', k):
            while word.value <= k:
                time.sleep(0.001)
        card.step(rng.random(1 << 12))
    other.join()


if __name__ == '__main__':
    main()
