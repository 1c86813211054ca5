#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spectra of recordings, in order, out of a pool."""
import multiprocessing as mp

import numpy

from kit import Card, cfg, note, settle


class Recordings:
    def __init__(self, root):
        self.root = root

    def __call__(self, k):
        with note('get', k):
            sound = numpy.fromfile(f'{self.root}/f{k % cfg.files}', dtype=numpy.uint8)  #: get
        with note('make', k):
            return k, self.mel(numpy.resize(sound, 1 << 16).astype('float32'))

    def mel(self, wave):
        for _ in range(cfg.rounds):
            power = numpy.abs(numpy.fft.rfft(wave.reshape(64, -1), axis=1))  #: make
            level = numpy.log1p(numpy.sort(power, axis=1))  #: make
        return level.astype('float32')


def limited(numbers, room):
    for k in numbers:
        room.acquire()
        yield k


def main():
    import threading
    room = threading.Semaphore(4)
    with mp.get_context(cfg.start).Pool(cfg.workers, settle) as pool:
        card = Card()
        results = getattr(pool, cfg.how)(Recordings(cfg.root), limited(range(cfg.steps), room))
        for _ in range(cfg.steps):
            with note('wait') as n:
                n.key, spectrum = next(results)  #: wait
            room.release()
            card.step(spectrum)


if __name__ == '__main__':
    main()
