#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Farm pictures on dask's workers, processes of this machine, some fields at a time."""
import io
import logging

import numpy
from distributed import Client, LocalCluster
from PIL import Image, ImageFilter

from kit import Card, cfg, note, settle


def field(number, k):
    settle()
    with note('get', k):
        with open(f'{cfg.root}/f{number % cfg.files}', 'rb') as f:  #: get
            data = f.read()  #: get
    with note('make', k):
        for _ in range(cfg.rounds):
            image = Image.open(io.BytesIO(data)).convert('L')  #: make
            image = image.filter(ImageFilter.GaussianBlur(3)).resize((128, 128))  #: make
        return numpy.asarray(image).copy()


def main():
    with LocalCluster(n_workers=cfg.workers, threads_per_worker=1, processes=True, dashboard_address=None,
                      silence_logs=logging.ERROR) as cluster, Client(cluster) as client:
        card, chunk = Card(), 4 * cfg.workers
        for k in range(0, cfg.steps, chunk):
            with note('wait', k):
                futures = client.map(field, range(k, k + chunk), [k] * chunk, pure=False)
                images = client.gather(futures)  #: wait
            for image in images:
                card.step(image)


if __name__ == '__main__':
    main()
