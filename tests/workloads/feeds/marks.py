#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Marks. What the model says comes to the CPU after each step, and numpy judges it."""
import numpy

from held import Weights, training
from kit import Card, cfg, note


def judge(said, truth):
    right = 0
    for _ in range(cfg.rounds):
        ranks = numpy.argsort(said.reshape(-1, 16), axis=1)
        right += int((ranks[:, -1] == truth).sum())
    return right / cfg.rounds


def main():
    card = Card()
    outputs = Weights(card, cfg.count)
    truth = numpy.zeros(cfg.count // 16)
    for k, batch in training():
        card.step(batch)
        said = outputs.fetch()
        with note('hold', k):
            judge(said, truth)


main()
