#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trays of seedlings: a process puts them into a folder, the loop looks there until the next one has come."""
import multiprocessing
import os
import time
import zlib

import numpy

from kit import Card, cfg, note, settle

AHEAD = 4


def sow(shelf):
    settle()
    for k in range(cfg.steps):
        while k >= AHEAD and os.path.exists(f'{shelf}/{k - AHEAD}.npy'):
            time.sleep(0.002)
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                seeds = f.read()  #: get
        with note('make', k):
            for _ in range(cfg.rounds):
                packed = zlib.compress(seeds * (200_000 // len(seeds)), 7)  #: make
            tray = numpy.frombuffer((packed * (262_144 // len(packed) + 1))[:262_144], numpy.uint8)
        numpy.save(f'{shelf}/{k}.part.npy', tray)
        os.rename(f'{shelf}/{k}.part.npy', f'{shelf}/{k}.npy')


def main():
    shelf = os.path.join(cfg.own, 'shelf')
    os.mkdir(shelf)
    gardener = multiprocessing.get_context(cfg.start).Process(target=sow, args=(shelf,))
    gardener.start()
    card = Card()
    for k in range(cfg.steps):
        path = f'{shelf}/{k}.npy'
        with note('wait', k):
            while not os.path.exists(path):
                time.sleep(0.002)  #: wait
            tray = numpy.load(path)
        os.unlink(path)
        card.step(tray)
    gardener.join()


if __name__ == '__main__':
    main()
