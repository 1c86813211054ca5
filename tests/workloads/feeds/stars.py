#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Star spectra in an HDF5 file, read by a thread a chunk at a time."""
import threading
from queue import Queue

import h5py
import numpy

from kit import Card, cfg, note, settle


class Catalogue(threading.Thread):
    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.q = path, Queue(2)

    def run(self):
        settle()
        with h5py.File(self.path, 'r', rdcc_nbytes=0) as f:
            stars = f['flux']
            for k in range(cfg.steps):
                with note('make', k):
                    first = k * cfg.batch % (len(stars) - cfg.batch)
                    flux = stars[first:first + cfg.batch]  #: make get
                self.q.put((k, flux))


def main():
    card, catalogue = Card(), Catalogue(cfg.path)
    catalogue.start()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, flux = catalogue.q.get()  #: wait
        card.step(numpy.ascontiguousarray(flux))


main()
