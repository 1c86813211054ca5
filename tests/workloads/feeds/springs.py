#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Springs. Environments are stepped in the loop, with random actions, before each update."""
import math
import random

import numpy

from kit import Card, cfg, note, settle


class Spring:
    def __init__(self, seed):
        self.rng, self.x, self.v = random.Random(seed), 1.0, 0.0

    def step(self, push):
        for _ in range(8):
            force = push - 3 * self.x - 0.1 * self.v + self.rng.gauss(0, 0.1)  #: make
            self.v += force * 0.01  #: make
            self.x += self.v * 0.01  #: make
        return self.x, self.v, math.sin(self.x), math.cos(self.x)  #: make


class Rollout:
    def __init__(self, count):
        self.worlds, self.rng = [Spring(n) for n in range(count)], random.Random(1)

    def collect(self, steps):
        seen = []
        for _ in range(steps):
            seen.append([world.step(self.rng.uniform(-1, 1)) for world in self.worlds])  #: make
        return numpy.array(seen, dtype='float32')  #: make


def main():
    settle()
    rollout, card = Rollout(16), Card()
    for k in range(cfg.steps):
        with note('wait', k), note('make', k):
            seen = rollout.collect(cfg.rounds)  #: wait
        card.step(seen)


main()
