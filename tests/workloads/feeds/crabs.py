#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Crabs. A checkpoint is written by an executor; before the next one is begun its future must be done."""
import os
from concurrent.futures import ThreadPoolExecutor

from held import Weights, training
from kit import Card, cfg, note


def write(path, data):
    with open(path, 'wb') as f:
        f.write(data)
        os.fsync(f.fileno())


def main():
    card, pending = Card(), None
    weights = Weights(card)
    with ThreadPoolExecutor(1) as pool:
        for k, batch in training():
            card.step(batch)
            if pending:
                with note('hold', k):
                    pending.result()
            pending = pool.submit(write, f'{cfg.root}/ckpt{k}', weights.fetch()[:cfg.count].tobytes())
        pending.result()


main()
