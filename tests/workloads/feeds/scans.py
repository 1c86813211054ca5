#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Segments CT scans. The loader is a class with a thread and a queue of its own."""
import os
import queue
import threading
import zlib

import numpy

from kit import Card, cfg, note, settle


class Slices:
    def __init__(self, folder, count):
        self.folder, self.count = folder, count
        self.q = queue.Queue(2)
        self.thread = threading.Thread(target=self._run, name='slices', daemon=True)
        self.thread.start()

    def _load(self, k):
        with note('get', k):
            fd = os.open(os.path.join(self.folder, f'f{k % cfg.files}'), os.O_RDONLY)  #: get
            raw = os.read(fd, 1 << 20)  #: get
            os.close(fd)
        with note('make', k):
            plane = numpy.resize(numpy.frombuffer(raw, numpy.uint8), 50_000)
            for _ in range(cfg.rounds):
                ranks = numpy.argsort(plane.astype('float64') + numpy.arange(50_000) % 97)  #: make
                packed = zlib.compress(ranks.astype('uint16').tobytes(), 1)  #: make
        return numpy.frombuffer(packed, numpy.uint8)

    def _run(self):
        settle()
        for k in range(self.count):
            self.q.put((k, self._load(k)))
        self.q.put((-1, None))

    def __iter__(self):
        return self

    def __next__(self):
        k, plane = self.q.get()  #: wait
        self.last = k
        if plane is None:
            raise StopIteration
        return plane


def main():
    card, loader = Card(), Slices(cfg.root, cfg.steps)
    while True:
        with note('wait') as n:
            plane = next(loader, None)
            n.key = loader.last
        if plane is None:
            return
        card.step(plane)


main()
