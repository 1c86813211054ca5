#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Orders. What each customer bought comes out of SQLite, row by row, in the loop."""
import collections
import random
import sqlite3

import numpy

from kit import Card, cfg, note, settle


class Histories:
    def __init__(self, path):
        self.db = sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)
        self.count, = self.db.execute('SELECT max(customer) FROM orders').fetchone()

    def __getitem__(self, customer):
        row = self.db.execute('SELECT items FROM orders WHERE customer = ?', (customer,)).fetchone()  #: get
        return numpy.frombuffer(row[0], numpy.uint8)


def ranks(items):
    """How often each of them was bought, the most frequent first."""
    for _ in range(cfg.rounds):
        often = collections.Counter(items.tolist())  #: make
        order = numpy.array([count for _, count in often.most_common()])  #: make
    return numpy.resize(order, items.size)


def main():
    settle()
    card, data, rng = Card(), Histories(f'{cfg.root}/f0'), random.Random(1)
    order = rng.sample(range(1, data.count + 1), data.count)
    for k in range(cfg.steps):
        with note('wait', k):
            with note('get', k):
                rows = [data[order[(k * cfg.batch + n) % data.count]] for n in range(cfg.batch)]  #: wait
            with note('make', k):
                batch = numpy.stack([ranks(items) for items in rows])  #: wait
        card.step(batch)


main()
