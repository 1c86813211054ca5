#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Goats. Whoever starts the trainer starts an umpire, too, who says through a FIFO when the next step may be made."""
import os
import subprocess
import sys
import time

from held import training
from kit import Card, cfg, note


def umpire(path):
    with open(path, 'wb', buffering=0) as whistle:
        for _ in range(cfg.steps):
            time.sleep(cfg.nap)
            whistle.write(b'.')


def train(path):
    card = Card()
    with open(path, 'rb', buffering=0) as whistle:
        for k, batch in training():
            with note('hold', k):
                whistle.read(1)
            card.step(batch)


def main():
    path = os.path.join(cfg.own, 'whistle')
    os.mkfifo(path)
    trainer = subprocess.Popen([sys.executable, os.path.abspath(__file__), sys.argv[1], path])
    umpire(path)
    sys.exit(trainer.wait())


if sys.argv[2:]:
    train(sys.argv[2])
else:
    main()
