#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kelp from above: a process writes pictures into memory that both have, and each looks there until the other is done."""
import multiprocessing as mp
import time
from multiprocessing import shared_memory

import numpy

from kit import Card, cfg, note, settle

SLOTS, SHAPE = 3, (128, 256)
HEAD = 64


class Ring:
    def __init__(self, name=None):
        size = HEAD + SLOTS * SHAPE[0] * SHAPE[1] * 8
        self.memory = shared_memory.SharedMemory(name, create=name is None, size=size)
        self.counts = numpy.ndarray(2, dtype='int64', buffer=self.memory.buf)  # written, read
        self.slots = numpy.ndarray((SLOTS, *SHAPE), dtype='float64', buffer=self.memory.buf, offset=HEAD)


def fly(name):
    settle()
    ring = Ring(name)
    for k in range(cfg.steps):
        while ring.counts[0] - ring.counts[1] >= SLOTS:
            time.sleep(0.001)
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                light = f.read()  #: get
        with note('make', k):
            image = numpy.resize(numpy.frombuffer(light, numpy.uint8), SHAPE).astype('float64')
            for n in range(cfg.rounds):
                image = numpy.abs(numpy.fft.ifft(numpy.fft.fft(image, axis=0) * (1 + n % 3), axis=1))  #: make
            ring.slots[k % SLOTS] = image
        ring.counts[0] += 1


def main():
    ring = Ring()
    child = mp.get_context(cfg.start).Process(target=fly, args=(ring.memory.name,))
    child.start()
    card = Card()
    for k in range(cfg.steps):
        with note('wait', k):
            while ring.counts[0] <= k:
                time.sleep(0.001)  #: wait
        card.step(ring.slots[k % SLOTS])
        ring.counts[1] += 1
    child.join()
    ring.counts = ring.slots = None
    ring.memory.close()
    ring.memory.unlink()


if __name__ == '__main__':
    main()
