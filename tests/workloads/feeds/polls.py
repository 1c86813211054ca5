#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Polls: clerks take the districts from one queue of a manager and put what they counted into another one."""
import multiprocessing
import zlib

from kit import Card, cfg, note, settle


def clerk(todo, done):
    settle()
    while (k := todo.get()) is not None:
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                papers = f.read()  #: get
        with note('make', k):
            for _ in range(cfg.rounds):
                packed = zlib.compress(papers * (200_000 // len(papers)), 7)  #: make
        done.put((k, (packed * (65_536 // len(packed) + 1))[:65_536]))


def main():
    with multiprocessing.Manager() as manager:
        todo, done = manager.Queue(), manager.Queue(4)
        for k in [*range(cfg.steps), *[None] * cfg.workers]:
            todo.put(k)
        clerks = [multiprocessing.get_context(cfg.start).Process(target=clerk, args=(todo, done))
                  for _ in range(cfg.workers)]
        for one in clerks:
            one.start()
        card = Card()
        for _ in range(cfg.steps):
            with note('wait') as n:
                n.key, counts = done.get()  #: wait
            card.step(counts)
        for one in clerks:
            one.join()


if __name__ == '__main__':
    main()
