#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""X-rays. A thread prepares a batch and copies it to the device on a stream of its own, one step ahead."""
import io
import threading
from queue import Queue

import numpy
from PIL import Image

from kit import Card, cfg, note, settle


class Prefetcher:
    def __init__(self, card):
        import gpudev
        self.card, self.ready = card, Queue(1)
        self.stream = gpudev.Stream(card.dev)
        threading.Thread(target=self.loop, daemon=True).start()

    def load(self, k):
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                film = f.read()  #: get
        with note('make', k):
            for _ in range(cfg.rounds):
                image = Image.open(io.BytesIO(film)).convert('F')  #: make
                image = image.resize((256, 256), Image.LANCZOS)  #: make
            return numpy.asarray(image)

    def loop(self):
        settle()
        self.card.dev.use()
        for k in range(cfg.steps):
            image = self.load(k)
            self.card.send(image, self.stream)
            self.ready.put((k, self.stream.record()))

    def next(self):
        return self.ready.get()  #: wait


def main():
    card = Card()
    prefetcher = Prefetcher(card)
    for step in range(cfg.steps):
        with note('wait') as n:
            n.key, event = prefetcher.next()  #: wait
        with note('gpu', step):
            card.stream.wait(event)
            card.run()
            card.stream.synchronize()


main()
