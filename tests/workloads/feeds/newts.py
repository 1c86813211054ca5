#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Newts. What the model says is judged by a process after each step, and the loop waits for the score."""
import concurrent.futures

import numpy

from held import Weights, training
from kit import Card, cfg, note, settle


def score(said):
    for _ in range(cfg.rounds):
        ranks = numpy.argsort(said[:60000].astype('float64'))
        area = numpy.trapz(numpy.cumsum(ranks % 2))
    return area


def main():
    with concurrent.futures.ProcessPoolExecutor(1, initializer=settle) as pool:
        pool.submit(int).result()
        card = Card()
        outputs = Weights(card, 1 << 19)
        for k, batch in training():
            card.step(batch)
            with note('hold', k):
                pool.submit(score, outputs.fetch()).result()


if __name__ == '__main__':
    main()
