#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a bird classifier; a thread reads pictures ahead."""
import io
import queue
import threading

import numpy
from PIL import Image

from kit import Card, cfg, note, settle


def decode(data):
    for _ in range(cfg.rounds):
        image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
        image = image.resize((224, 224), Image.BICUBIC)  #: make
    return numpy.asarray(image)  #: make


def fill(q, names):
    settle()
    for k, name in enumerate(names):
        with note('get', k):
            with open(name, 'rb') as f:  #: get
                data = f.read()  #: get
        with note('make', k):
            picture = decode(data)
        q.put((k, picture))
    q.put(None)


def main():
    q = queue.Queue(maxsize=4)
    names = [f'{cfg.root}/f{k % cfg.files}' for k in range(cfg.steps)]
    threading.Thread(target=fill, args=(q, names), daemon=True).start()
    card = Card()
    while True:
        with note('wait') as n:
            item = q.get()  #: wait
            n.key = item[0] if item else -1
        if item is None:
            break
        card.step(item[1])


if __name__ == '__main__':
    main()
