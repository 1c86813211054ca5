#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Film trailers, decoded with PyAV in a thread."""
import threading
from queue import Queue

import av
import numpy

from kit import Card, cfg, note, settle


def frames(path):
    while True:
        with av.open(path) as film:
            film.streams.video[0].thread_count = 1
            yield from film.decode(video=0)  #: make


def decode(q):
    settle()
    source = frames(cfg.path)
    for k in range(cfg.steps):
        with note('make', k):
            for _ in range(cfg.rounds):
                image = next(source).to_ndarray(format='rgb24')  #: make
        q.put((k, numpy.ascontiguousarray(image[::2, ::2])))


def main():
    q = Queue(2)
    card = Card()
    threading.Thread(target=decode, args=(q,), daemon=True).start()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, image = q.get()  #: wait
        card.step(image)


main()
