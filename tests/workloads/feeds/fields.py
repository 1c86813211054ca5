#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fields from above. Plain functions cut tiles out of one mapped file and turn them, in the loop."""
import random

import numpy

from kit import Card, cfg, note, settle

EDGE = 64  # a tile has a page

tiles = numpy.memmap(f'{cfg.root}/f0', dtype=numpy.uint8, mode='r').reshape(-1, EDGE, EDGE)
tiles._mmap.madvise(1)  # MADV_RANDOM
rng = random.Random(1)
order = rng.sample(range(len(tiles)), len(tiles))


def cut(k):
    return numpy.stack([tiles[order[(k * cfg.batch + n) % len(order)]] for n in range(cfg.batch)])  #: get


def turn(tile, angle):
    y, x = numpy.mgrid[0:EDGE, 0:EDGE].astype('float32') - EDGE / 2  #: make
    at = numpy.cos(angle) * y - numpy.sin(angle) * x + EDGE / 2  #: make
    to = numpy.sin(angle) * y + numpy.cos(angle) * x + EDGE / 2  #: make
    return tile[at.clip(0, EDGE - 1).astype(int), to.clip(0, EDGE - 1).astype(int)]  #: make


settle()
card = Card()
for step in range(cfg.steps):
    with note('wait', step):
        with note('get', step):
            images = cut(step)  #: wait
        with note('make', step):
            for _ in range(cfg.rounds):
                turned = numpy.stack([turn(tile, rng.uniform(-1, 1)) for tile in images])  #: make
    card.step(turned)
