#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Digits: the samples of a batch are made by a pool's map."""
import io
import multiprocessing

import numpy
from PIL import Image

from kit import Card, cfg, note, settle

SAMPLES = 4


def one(sample):
    k, n = divmod(sample, SAMPLES)
    with note('get', k):
        with open(f'{cfg.root}/f{sample % cfg.files}', 'rb') as f:  #: get
            data = f.read()  #: get
    with note('make', k):
        for _ in range(cfg.rounds):
            image = Image.open(io.BytesIO(data)).rotate(n * 7, expand=True)  #: make
            image = image.resize((96, 96))  #: make
        return numpy.asarray(image)  #: make


if __name__ == '__main__':
    card = Card() if cfg.start == 'spawn' else None
    with multiprocessing.get_context(cfg.start).Pool(cfg.workers, settle) as pool:
        card = card or Card()
        for k in range(cfg.steps):
            with note('wait', k):
                samples = pool.map(one, range(k * SAMPLES, k * SAMPLES + SAMPLES), chunksize=1)  #: wait
            card.step(numpy.stack(samples))
