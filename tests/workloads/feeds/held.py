# SPDX-License-Identifier: Apache-2.0
"""A training set that is in memory, for programs that wait for other things."""
import numpy

from kit import cfg

BATCHES = [numpy.random.RandomState(n).randint(0, 255, 65536).astype('uint8') for n in range(8)]


def training():
    """Number and batch of each step."""
    return ((k, BATCHES[k % len(BATCHES)]) for k in range(cfg.steps))


class Weights:
    """What the card has learnt, on the host."""

    def __init__(self, card, nbytes=1 << 20):
        self.card, self.n = card, nbytes
        self.device, self.host = card.dev.malloc(nbytes), card.dev.host_alloc(nbytes)
        self.array = numpy.zeros(nbytes, numpy.uint8)

    def fetch(self):
        import ctypes
        self.card.dev.d2h(self.host, self.device, self.n, self.card.stream)
        self.card.stream.synchronize()
        ctypes.memmove(self.array.ctypes.data, self.host, self.n)
        return self.array

    def load(self, data):
        import ctypes
        ctypes.memmove(self.host, data.ctypes.data, self.n)
        self.card.dev.h2d(self.device, self.host, self.n, self.card.stream)
