#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphs: one large file, mapped into memory; a thread gathers neighbours."""
import queue
import random
import threading

import numpy

from kit import Card, cfg, note, settle

ROW = 4096


def gather(edges, k):
    rng = random.Random(k)
    rows = [rng.randrange(len(edges) // ROW) * ROW for _ in range(cfg.batch)]
    with note('get', k):
        return numpy.concatenate([edges[row:row + ROW] for row in rows])  #: get


def sample(q):
    settle()
    edges = numpy.memmap(f'{cfg.root}/f0', dtype=numpy.uint8, mode='r')
    edges._mmap.madvise(1)  # MADV_RANDOM
    for k in range(cfg.steps):
        neighbours = gather(edges, k)
        with note('make', k):
            for _ in range(cfg.rounds):
                order = numpy.argsort(neighbours, kind='stable')  #: make
        q.put((k, neighbours[order]))


def main():
    q = queue.Queue(3)
    threading.Thread(target=sample, args=(q,), daemon=True).start()
    card = Card()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, neighbours = q.get()  #: wait
        card.step(neighbours)


main()
