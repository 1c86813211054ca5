#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kites. Gradients leave the device, an optimizer of this program's own runs on the CPU, and the weights go back
in parts, each as soon as it is done."""
import numpy

from held import Weights, training
from kit import Card, cfg, note

PARTS = 4


def main():
    card = Card()
    parts = [Weights(card, 1 << 18) for _ in range(PARTS)]
    moments = [numpy.zeros((2, part.n), 'float32') for part in parts]
    for k, batch in training():
        card.step(batch)
        gradients = [part.fetch().astype('float32') for part in parts]
        for part, m, gradient in zip(parts, moments, gradients):
            with note('hold', k):
                for _ in range(cfg.rounds):
                    m[0] = 0.9 * m[0] + 0.1 * gradient
                    m[1] = 0.99 * m[1] + 0.01 * gradient * gradient
                    change = m[0] / (numpy.sqrt(m[1]) + 1)
            part.load((part.array - change).astype('uint8'))


main()
