#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Radar images through a ring of shared memory; two semaphores count what is free and what is full."""
import multiprocessing as mp
from multiprocessing import shared_memory

import numpy

from kit import Card, cfg, note, settle

SLOTS, SHAPE = 3, (128, 256)


class Ring:
    def __init__(self, name=None):
        self.memory = shared_memory.SharedMemory(name, create=name is None, size=SLOTS * SHAPE[0] * SHAPE[1] * 8)
        self.slots = numpy.ndarray((SLOTS, *SHAPE), dtype='float64', buffer=self.memory.buf)


def sweep(ring, k):
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            echo = f.read()  #: get
    with note('make', k):
        image = numpy.resize(numpy.frombuffer(echo, numpy.uint8), SHAPE).astype('float64')
        for n in range(cfg.rounds):
            image = numpy.abs(numpy.fft.ifft(numpy.fft.fft(image, axis=0) * (1 + n % 3), axis=1))  #: make
        ring.slots[k % SLOTS] = image


def antenna(name, free, full):
    settle()
    ring = Ring(name)
    for k in range(cfg.steps):
        free.acquire()
        sweep(ring, k)
        full.release()


def main():
    ring, free, full = Ring(), mp.Semaphore(SLOTS), mp.Semaphore(0)
    child = mp.Process(target=antenna, args=(ring.memory.name, free, full))
    child.start()
    card = Card()
    for k in range(cfg.steps):
        with note('wait', k):
            full.acquire()  #: wait
        card.step(ring.slots[k % SLOTS])
        free.release()
    child.join()
    ring.slots = None
    ring.memory.close()
    ring.memory.unlink()


if __name__ == '__main__':
    main()
