#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gene sequences, encoded by an executor's processes; results are taken in order."""
import collections
import concurrent.futures
import multiprocessing

import numpy

from kit import Card, cfg, note, settle

BASES = {c: n % 4 for n, c in enumerate(range(256))}


def encode(k):
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            text = f.read()  #: get
    with note('make', k):
        codes = bytearray()
        for _ in range(cfg.rounds):
            codes = bytearray(BASES[c] for c in text)  #: make
            counts = collections.Counter(zip(codes, codes[1:], codes[2:]))  #: make
        return numpy.frombuffer(bytes(codes), numpy.uint8), len(counts)


def main():
    context = multiprocessing.get_context(cfg.start)
    with concurrent.futures.ProcessPoolExecutor(cfg.workers, context, settle) as pool:
        waiting = collections.deque(pool.submit(encode, k) for k in range(2 * cfg.workers))
        card = Card()
        for k in range(cfg.steps):
            with note('wait', k):
                codes, _ = waiting.popleft().result()  #: wait
            if k + 2 * cfg.workers < cfg.steps:
                waiting.append(pool.submit(encode, k + 2 * cfg.workers))
            card.step(codes)


if __name__ == '__main__':
    main()
