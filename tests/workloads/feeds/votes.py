#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Votes: processes hand them over through a manager's queue."""
import multiprocessing
import statistics

from kit import Card, cfg, note, settle


def count(q, first, stride):
    settle()
    for k in range(first, cfg.steps, stride):
        with note('get', k):
            ballots = open(f'{cfg.root}/f{k % cfg.files}', 'rb').read()  #: get
        with note('make', k):
            for _ in range(cfg.rounds):
                top = statistics.multimode(ballots[:3000])  #: make
                spread = statistics.pstdev(ballots[:300])  #: make
        q.put((k, bytes(top) * 64 + bytes([int(spread)]) * 65536))


def main():
    with multiprocessing.Manager() as manager:
        q = manager.Queue(4)
        counters = [multiprocessing.Process(target=count, args=(q, n, cfg.workers)) for n in range(cfg.workers)]
        for counter in counters:
            counter.start()
        card = Card()
        for _ in range(cfg.steps):
            with note('wait') as n:
                n.key, votes = q.get()  #: wait
            card.step(votes)
        for counter in counters:
            counter.join()


if __name__ == '__main__':
    main()
