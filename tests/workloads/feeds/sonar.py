#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sonar pings in two buffers; a Condition guards which of them is full."""
import threading

import numpy

from kit import Card, cfg, note, settle


class Buffers:
    def __init__(self):
        self.changed = threading.Condition()
        self.full = [False, False]
        self.data = [None, None]

    def give(self, n, ping):
        with self.changed:
            while self.full[n]:
                self.changed.wait()
            self.data[n], self.full[n] = ping, True
            self.changed.notify_all()

    def take(self, n):
        with self.changed:
            while not self.full[n]:
                self.changed.wait()  #: wait
            self.full[n] = False
            self.changed.notify_all()
            return self.data[n]


def listen(buffers):
    settle()
    for k in range(cfg.steps):
        with note('get', k):
            echo = numpy.fromfile(f'{cfg.root}/f{k % cfg.files}', numpy.uint8)  #: get
        with note('make', k):
            echo = numpy.resize(echo, 1 << 15).astype('float64')
            for _ in range(cfg.rounds):
                echo = numpy.interp(numpy.linspace(0, len(echo), len(echo)), numpy.arange(len(echo)), echo)  #: make
                echo = numpy.sqrt(echo * echo + 1) - numpy.median(echo)  #: make
        buffers.give(k % 2, echo)


def main():
    buffers, card = Buffers(), Card()
    threading.Thread(target=listen, args=(buffers,), daemon=True).start()
    for k in range(cfg.steps):
        with note('wait', k):
            ping = buffers.take(k % 2)
        card.step(ping)


main()
