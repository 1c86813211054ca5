#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forest plots with joblib, a chunk of them at a time."""
import joblib
import numpy

from kit import Card, cfg, note, settle


def plot(k, chunk):
    settle()
    with note('get', chunk):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            trees = f.read()  #: get
    with note('make', chunk):
        heights = numpy.resize(numpy.frombuffer(trees, numpy.uint8), (60, 60)).astype('float64')
        for _ in range(cfg.rounds):
            u, s, v = numpy.linalg.svd(heights)  #: make
            heights = (u * s) @ v + 0.1  #: make
        return heights


def plots():
    chunk = 4 * cfg.workers
    with joblib.Parallel(cfg.workers, prefer=cfg.how) as parallel:
        for first in range(0, cfg.steps, chunk):
            numbers = range(first, min(first + chunk, cfg.steps))
            yield from zip(numbers, parallel(joblib.delayed(plot)(k, first) for k in numbers))  #: wait


def main():
    card, source = Card(), plots()
    for k in range(cfg.steps):
        with note('wait', k):
            _, heights = next(source)  #: wait
        card.step(heights)


if __name__ == '__main__':
    main()
