#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Road signs: a process at the other end of a Pipe."""
import io
import multiprocessing

import numpy
from PIL import Image

from kit import Card, cfg, note, settle


def serve(conn):
    settle()
    k = 0
    while conn.recv() == 'more':
        with note('get', k):
            f = open(f'{cfg.root}/f{k % cfg.files}', 'rb')  #: get
            data = f.read()  #: get
            f.close()
        with note('make', k):
            for _ in range(cfg.rounds):
                sign = numpy.asarray(Image.open(io.BytesIO(data)).convert('HSV'))  #: make
                sign = numpy.sort(sign.reshape(-1, 3)[:20000], axis=0)  #: make
        conn.send_bytes(sign.tobytes())
        k += 1


def main():
    here, there = multiprocessing.Pipe()
    child = multiprocessing.Process(target=serve, args=(there,))
    child.start()
    there.close()
    card = Card()
    for _ in range(2):
        here.send('more')
    for k in range(cfg.steps):
        with note('wait', k):
            sign = here.recv_bytes()  #: wait
        if k + 2 <= cfg.steps:
            here.send('more' if k + 2 < cfg.steps else 'done')
        card.step(sign)
    child.join()


if __name__ == '__main__':
    main()
