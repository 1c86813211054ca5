#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Postage stamps through multiprocessing.dummy, the pool of threads."""
import io
from multiprocessing.dummy import Pool

import numpy
from PIL import Image, ImageEnhance

from kit import Card, cfg, note, settle


def stamp(k):
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            data = f.read()  #: get
    with note('make', k):
        image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
        for _ in range(cfg.rounds):
            image = ImageEnhance.Color(image.resize((200, 200), Image.LANCZOS)).enhance(1.1)  #: make
        return numpy.asarray(image)


def sheets(pool):
    for first in range(0, cfg.steps, 8):
        yield from pool.imap(stamp, range(first, min(first + 8, cfg.steps)))  #: wait


def main():
    card = Card()
    with Pool(cfg.workers, settle) as pool:
        for k, image in enumerate(Noted(sheets(pool))):
            card.step(image)


class Noted:
    """Writes down when the loop waited."""

    def __init__(self, source):
        self.source, self.k = source, 0

    def __iter__(self):
        return self

    def __next__(self):
        with note('wait', self.k if self.k < cfg.steps else -1):
            image = next(self.source)
        self.k += 1
        return image


main()
