#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tide tables: two slots, an Event for full and one for empty each."""
import csv
import io
import threading
import time

from kit import Card, cfg, note, settle

full, empty = [threading.Event(), threading.Event()], [threading.Event(), threading.Event()]
slots = [b'', b'']


def table(k):
    with note('get', k):
        if cfg.nap:
            time.sleep(cfg.nap)  #: get
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:
            raw = f.read()  #: get
    with note('make', k):
        for _ in range(cfg.rounds):
            text = io.StringIO()
            csv.writer(text).writerows((n, b, n * b) for n, b in enumerate(raw[:2000]))  #: make
            rows = [float(row[2]) for row in csv.reader(io.StringIO(text.getvalue()))]  #: make
        return bytes(int(x) & 255 for x in rows) * 32


def reader():
    settle()
    for k in range(cfg.steps):
        tide = table(k)
        empty[k % 2].wait()
        empty[k % 2].clear()
        slots[k % 2] = tide
        full[k % 2].set()


def main():
    card = Card()
    for e in empty:
        e.set()
    threading.Thread(target=reader, daemon=True).start()
    for k in range(cfg.steps):
        with note('wait', k):
            full[k % 2].wait()  #: wait
        full[k % 2].clear()
        tide = slots[k % 2]
        empty[k % 2].set()
        card.step(tide)


main()
