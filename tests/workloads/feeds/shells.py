#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sea shells, out of a library that reads and decodes with threads of its own."""
import os

import numpy

from kit import Card, cfg, note
from nativefeed import Feed


def thread_named(name):
    for tid in os.listdir('/proc/self/task'):
        with open(f'/proc/self/task/{tid}/comm') as f:
            if f.read().strip() == name:
                return tid


class Pipeline:
    def __init__(self, steps):
        self.feed = Feed(items=steps, depth=2, producers=1, readers=cfg.count, spin_ns=cfg.spin_us * 1000,
                         sleep_ns=int(cfg.nap * 1e9), cpu=cfg.core, path=cfg.path or None, bytes=cfg.batch)
        self.memory = numpy.zeros(1 << 16, numpy.uint8)

    def __iter__(self):
        return self

    def __next__(self):
        number = next(self.feed)  #: pipe wait
        self.memory[0] = number & 255
        return self.memory


def main():
    pipeline, card = Pipeline(cfg.steps), Card()
    maker = thread_named('reader/0' if cfg.count else 'maker/0')
    for k in range(cfg.steps):
        with note('pipe', k, of=maker), note('wait', k):
            shell = next(pipeline)  #: pipe wait
        card.step(shell)
    pipeline.feed.close()


main()
