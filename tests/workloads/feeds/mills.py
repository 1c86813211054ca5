#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flour of a mill whose grinder shares a core with two processes of the same program that count something."""
import multiprocessing
import zlib

from kit import Card, cfg, note, settle


def grind(q):
    settle()
    for k in range(cfg.steps):
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                grain = f.read()  #: get
        with note('make', k):
            for _ in range(cfg.rounds):
                flour = zlib.compress(grain * (200_000 // len(grain)), 7)  #: make
        q.put((k, (flour * (65_536 // len(flour) + 1))[:65_536]))


def count():
    settle()
    while True:
        sum(n * n for n in range(20_000))  #: has


def main():
    context = multiprocessing.get_context('fork')
    q = context.Queue(2)
    for work, args in ((count, ()), (count, ()), (grind, (q,))):
        context.Process(target=work, args=args, daemon=True).start()
    card = Card()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, flour = q.get()  #: wait
        card.step(flour)


if __name__ == '__main__':
    main()
