#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Foxes. While the loop waits for the thread that saves, another one makes thumbnails for a page."""
import io
import os
import threading

from PIL import Image

from held import Weights, training
from kit import Card, cfg, note, settle

saving = threading.Event()
page = {}


def thumbnails():
    settle()
    n = 0
    while True:
        saving.wait()
        with open(f'{cfg.path}/f{n % cfg.files}', 'rb') as f:
            data = f.read()
        page[n % 16] = Image.open(io.BytesIO(data)).convert('RGB').resize((64, 64))
        n += 1


def save(path, data):
    with open(path, 'wb') as f:
        f.write(data)
        os.fsync(f.fileno())


def main():
    threading.Thread(target=thumbnails, name='loader', daemon=True).start()
    card = Card()
    weights = Weights(card)
    for k, batch in training():
        card.step(batch)
        if k % 3 == 2:
            saver = threading.Thread(target=save, args=(f'{cfg.root}/step{k}', weights.fetch()[:cfg.count].tobytes()))
            saving.set()
            saver.start()
            with note('hold', k):
                saver.join()
            saving.clear()


main()
