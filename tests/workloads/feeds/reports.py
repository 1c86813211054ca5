#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports. Each step ends with a page of statistics, made and packed by the loop; the loop is a generator."""
import json
import random
import zlib

from held import training
from kit import Card, cfg, note


def statistics(k):
    rng = random.Random(k)
    for n in range(cfg.rounds):
        values = sorted(rng.random() for _ in range(400))
        yield json.dumps(dict(step=k, row=n, values=values))


def losses(card):
    for k, batch in training():
        card.step(batch)
        with note('hold', k):
            page = zlib.compress('\n'.join(list(statistics(k)) if cfg.count else
                                           [json.dumps(sorted(map(str, range(400)))) for _ in range(cfg.rounds)]
                                           ).encode())
        yield len(page)


def main():
    total = 0
    for loss in losses(Card()):
        total += loss


main()
