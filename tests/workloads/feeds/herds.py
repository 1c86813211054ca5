#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Herds. The trainer meets a thread that keeps an averaged model at a barrier after each step."""
import threading

import numpy

from held import BATCHES, training
from kit import Card, cfg, note, settle

barrier = threading.Barrier(2)


def average():
    settle()
    mean = numpy.zeros(65536)
    for k in range(cfg.steps):
        for _ in range(cfg.rounds):
            mean = 0.99 * mean + 0.01 * numpy.sort(BATCHES[k % 8].astype('float64'))
        barrier.wait()


def main():
    threading.Thread(target=average, daemon=True).start()
    card = Card()
    for k, batch in training():
        card.step(batch)
        with note('hold', k):
            barrier.wait()


main()
