#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wolves. A watchdog process wants to hear from the loop and answers when all is well."""
import multiprocessing
import time

from held import training
from kit import Card, cfg, note


def watch(conn):
    while conn.recv() is not None:
        time.sleep(cfg.nap)
        conn.send(True)


def main():
    here, there = multiprocessing.Pipe()
    dog = multiprocessing.Process(target=watch, args=(there,))
    dog.start()
    card = Card()
    for k, batch in training():
        card.step(batch)
        here.send(k)
        with note('hold', k):
            here.recv()
    here.send(None)
    dog.join()


if __name__ == '__main__':
    main()
