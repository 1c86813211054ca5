#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Heart beats, no faster than so many steps a second."""
import time

from held import training
from kit import Card, cfg, note


def main():
    card, next_step = Card(), time.monotonic()
    for k, batch in training():
        next_step = max(next_step, time.monotonic() - 0.01) + cfg.nap
        with note('hold', k):
            time.sleep(max(0, next_step - time.monotonic()))
        card.step(batch)


main()
