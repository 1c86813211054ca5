#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pearls come pickled through a FIFO, which another program of the job fills (oysters.py): the trainer starts it, or
whoever starts the trainer does. A thread of an executor takes one ahead, or the loop takes each."""
import concurrent.futures
import os
import pickle
import subprocess
import sys

from kit import Card, cfg, note


def take(sack):
    return pickle.load(sack)


def ahead(sack):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        coming = pool.submit(take, sack)
        for k in range(cfg.steps):
            batch = coming.result()  #: wait
            if k + 1 < cfg.steps:
                coming = pool.submit(take, sack)
            yield batch


def each(sack):
    for _ in range(cfg.steps):
        yield pickle.load(sack)  #: wait


def here(name, *argv):
    return [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), name), sys.argv[1], *argv]


def train(path):
    card = Card()
    with open(path, 'rb') as sack:
        pearls = ahead(sack) if cfg.how == 'ahead' else each(sack)
        for _ in range(cfg.steps):
            with note('wait') as n:
                n.key, batch = next(pearls)  #: wait
            card.step(batch)


def main():
    path = os.path.join(cfg.own, 'sack')
    os.mkfifo(path)
    with subprocess.Popen(here('oysters.py', path)):
        if cfg.start == 'beside':
            subprocess.run(here(os.path.basename(__file__), path), check=True)
        else:
            train(path)


if sys.argv[2:]:
    train(sys.argv[2])
else:
    main()
