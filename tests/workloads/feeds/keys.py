#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks for a piano key at a time and plays it on the model."""
import numpy

from kit import Card, cfg, note


def main():
    card = Card()
    while card.steps < cfg.steps:
        with note('hold', card.steps):
            key = input('key? ')
        card.step(numpy.full(65536, len(key), numpy.uint8))


main()
