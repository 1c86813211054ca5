#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays. Each step is logged, and the log lies on a slow disk."""
import logging

from held import training
from kit import Card, cfg, note


def main():
    logging.basicConfig(filename=f'{cfg.root}/train.log', level=logging.INFO)
    card = Card()
    for k, batch in training():
        card.step(batch)
        with note('hold', k):
            logging.info('step %d: loss %.4f', k, 1 / (k + 1))


main()
