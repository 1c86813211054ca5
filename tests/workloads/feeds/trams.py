#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trams. The scheduler says with a file when the next few steps may be made."""
import os
import time

from held import training
from kit import Card, cfg, note


def main():
    card = Card()
    for k, batch in training():
        if k % 4 == 0:
            path = f'{cfg.path}.{k // 4}'
            with note('hold', k):
                while not os.path.exists(path):
                    time.sleep(0.002)
            os.unlink(path)
        card.step(batch)


main()
