#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faces, made by processes of our own that share a multiprocessing.Queue."""
import io
import multiprocessing as mp

import numpy
from PIL import Image, ImageOps

from kit import Card, cfg, note, settle


class Maker(mp.Process):
    def __init__(self, q, first):
        super().__init__(daemon=True)
        self.q, self.first = q, first

    def run(self):
        settle()
        for k in range(self.first, cfg.steps, cfg.workers):
            self.q.put((k, self.face(k)))
        self.q.close()
        self.q.join_thread()

    def face(self, k):
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                data = f.read()  #: get
        with note('make', k):
            for _ in range(cfg.rounds):
                image = Image.open(io.BytesIO(data))  #: make
                image = ImageOps.autocontrast(image.convert('RGB'))  #: make
                image = ImageOps.mirror(image)  #: make
            return numpy.asarray(image.resize((112, 112)))  #: make


def main():
    q = mp.Queue(2 * cfg.workers)
    makers = [Maker(q, n) for n in range(cfg.workers)]
    for maker in makers:
        maker.start()
    card = Card()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, face = q.get()  #: wait
        card.step(face)
    for maker in makers:
        maker.join()


if __name__ == '__main__':
    main()
