#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Map tiles through an executor's map over threads."""
import concurrent.futures
import urllib.request
import zlib

from kit import Card, cfg, note, settle


def tile(k):
    with note('get', k):
        if cfg.port:
            with urllib.request.urlopen(f'http://127.0.0.1:{cfg.port}/{k}') as answer:  #: get
                data = answer.read()  #: get
        else:
            data = open(f'{cfg.root}/f{k % cfg.files}', 'rb').read()  #: get
    with note('make', k):
        raw = data * (200_000 // len(data))
        for _ in range(cfg.rounds):
            zlib.compress(raw, 7)  #: make
            zlib.crc32(raw)  #: make
    return raw


def batches(pool):
    """So many tiles at a time, that memory holds them."""
    group = 2 * cfg.workers
    for first in range(0, cfg.steps, group):
        yield from pool.map(tile, range(first, min(first + group, cfg.steps)))  #: wait


def main():
    card = Card()
    with concurrent.futures.ThreadPoolExecutor(cfg.workers, initializer=settle) as pool:
        todo = batches(pool)
        for k in range(cfg.steps):
            with note('wait', k):
                data = next(todo)  #: wait
            card.step(data)


main()
