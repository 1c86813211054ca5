#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Molecules: whichever of the futures is done first is trained on first."""
import concurrent.futures
import zlib

import numpy

from kit import Card, cfg, note, settle


def fingerprint(k):
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            atoms = f.read()  #: get
    with note('make', k):
        bits = numpy.zeros(1 << 16, numpy.uint8)
        for n in range(cfg.rounds * 100):
            bits[zlib.crc32(atoms[n % 64:4096]) & 0xffff] += 1  #: make
            bits[n::977] ^= 1  #: make
        return k, bits


def main():
    with concurrent.futures.ProcessPoolExecutor(cfg.workers, initializer=settle) as pool:
        futures, k = set(), 0
        while k < 2 * cfg.workers:
            futures.add(pool.submit(fingerprint, k))
            k += 1
        card = Card()
        for _ in range(cfg.steps):
            with note('wait') as n:
                done = next(concurrent.futures.as_completed(futures))  #: wait
                n.key, bits = done.result()
            futures.remove(done)
            if k < cfg.steps:
                futures.add(pool.submit(fingerprint, k))
                k += 1
            card.step(bits)


if __name__ == '__main__':
    main()
