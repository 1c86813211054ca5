#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bee dances. After each step the loop waits until a thread has dealt with all of its results."""
import queue
import threading

import numpy

from held import training
from kit import Card, cfg, note, settle


class Results:
    def __init__(self):
        self.q, self.hist = queue.Queue(), numpy.zeros(256)
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        settle()
        while True:
            values = self.q.get()
            for _ in range(cfg.rounds):
                self.hist += numpy.histogram(numpy.sort(values), 256)[0]
            self.q.task_done()


def main():
    results, card = Results(), Card()
    for k, batch in training():
        card.step(batch)
        results.q.put(batch)
        with note('hold', k):
            results.q.join()


main()
