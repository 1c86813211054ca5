#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scanned pages: one future ahead, as one does it with an executor of threads."""
import io
from concurrent.futures import ThreadPoolExecutor

import numpy
from PIL import Image, ImageFilter

from kit import Card, cfg, note, settle


class Pages:
    def __init__(self):
        self.pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix='pages', initializer=settle)
        self.future = self.pool.submit(self.page, 0)

    def page(self, k):
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                scan = f.read()  #: get
        with note('make', k):
            image = Image.open(io.BytesIO(scan)).convert('L').resize((320, 320))  #: make
            for _ in range(cfg.rounds):
                image = image.filter(ImageFilter.MedianFilter(3))  #: make
            return numpy.asarray(image)

    def following(self, k):
        page = self.future.result()  #: wait
        self.future = self.pool.submit(self.page, k + 1)
        return page


def main():
    card, pages = Card(), Pages()
    for k in range(cfg.steps):
        with note('wait', k):
            page = pages.following(k)
        card.step(page)
    pages.pool.shutdown()


main()
