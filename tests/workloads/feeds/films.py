#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Film frames in two stages: one thread reads, the next decodes, the trainer takes."""
import io
import queue
import threading

import numpy
from PIL import Image, ImageFilter

from kit import Card, cfg, note, settle


class Stage(threading.Thread):
    def __init__(self, work, source, sink):
        super().__init__(daemon=True)
        self.work, self.source, self.sink = work, source, sink

    def run(self):
        settle()
        while True:
            item = self.source.get()
            if item is None:
                self.sink.put(None)
                return
            self.sink.put(self.work(item))


def read(k):
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            return k, f.read()  #: get


def decode(item):
    k, data = item
    with note('make', k):
        for _ in range(cfg.rounds):
            frame = Image.open(io.BytesIO(data)).convert('L')  #: make
            frame = frame.filter(ImageFilter.GaussianBlur(2))  #: make
        return k, numpy.asarray(frame)


def main():
    orders, encoded, frames = queue.Queue(), queue.Queue(2), queue.Queue(2)
    for k in [*range(cfg.steps), None]:
        orders.put(k)
    for stage in (Stage(read, orders, encoded), Stage(decode, encoded, frames)):
        stage.start()
    card = Card()
    while True:
        with note('wait') as n:
            item = frames.get()  #: wait
            n.key = item[0] if item else -1
        if not item:
            return
        card.step(item[1])


main()
