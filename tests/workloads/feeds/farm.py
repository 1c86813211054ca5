#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Farm pictures on dask's workers, processes of this machine; futures are taken in order."""
import collections
import io
import logging

import numpy
from distributed import Client, LocalCluster
from PIL import Image, ImageFilter

from kit import Card, cfg, note, settle


def field(k):
    settle()
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            data = f.read()  #: get
    with note('make', k):
        for _ in range(cfg.rounds):
            image = Image.open(io.BytesIO(data)).convert('L')  #: make
            image = image.filter(ImageFilter.GaussianBlur(3)).resize((128, 128))  #: make
        return numpy.asarray(image).copy()


def main():
    with LocalCluster(n_workers=cfg.workers, threads_per_worker=1, processes=True, dashboard_address=None,
                      silence_logs=logging.ERROR) as cluster, Client(cluster) as client:
        client.submit(int, 1).result()
        waiting = collections.deque(client.submit(field, k, pure=False) for k in range(2 * cfg.workers))
        card = Card()
        for k in range(cfg.steps):
            with note('wait', k):
                image = waiting.popleft().result()  #: wait
            if k + 2 * cfg.workers < cfg.steps:
                waiting.append(client.submit(field, k + 2 * cfg.workers, pure=False))
            card.step(image)


if __name__ == '__main__':
    main()
