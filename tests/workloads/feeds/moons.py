#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Phases of the moon. Every few steps a thread saves, and the loop does not go on before it has."""
import os
import threading
import zlib

from held import Weights, training
from kit import Card, cfg, note, settle


def save(path, weights):
    settle()
    for n in range(cfg.rounds):
        packed = zlib.compress(weights[:200_000].tobytes() + os.urandom(100_000), 6)
    with open(path, 'wb') as f:
        f.write(packed[:cfg.count])
        f.flush()
        os.fsync(f.fileno())


def main():
    card = Card()
    weights = Weights(card)
    for k, batch in training():
        card.step(batch)
        if k % 3 == 2:
            saver = threading.Thread(target=save, args=(f'{cfg.root}/step{k}', weights.fetch()))
            saver.start()
            with note('hold', k):
                saver.join()


main()
