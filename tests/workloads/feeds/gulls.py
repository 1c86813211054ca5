#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gull colonies. Metrics go through a bounded queue to a thread that writes them to a slow disk."""
import json
import queue
import threading

from held import training
from kit import Card, cfg, note


def write(q):
    with open(f'{cfg.root}/metrics', 'w') as f:
        while True:
            row = q.get()
            if row is None:
                return
            f.write(json.dumps(row) + '\n')
            f.flush()


def main():
    q = queue.Queue(1)
    writer = threading.Thread(target=write, args=(q,))
    writer.start()
    card = Card()
    for k, batch in training():
        card.step(batch)
        with note('hold', k):
            q.put(dict(step=k, loss=1 / (k + 1)))
    q.put(None)
    writer.join()


main()
