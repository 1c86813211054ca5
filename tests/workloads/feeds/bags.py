#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bags of text with dask: a partition per step, computed by its threads or processes."""
import dask
import numpy

from kit import Card, cfg, note, settle


def part(k, n):
    settle()
    with note('get', k):
        with open(f'{cfg.root}/f{(k + n) % cfg.files}', 'rb') as f:  #: get
            text = f.read()  #: get
    with note('make', k):
        for _ in range(cfg.rounds):
            values, counts = numpy.unique(numpy.frombuffer(text * 2, numpy.uint16), return_counts=True)  #: make
            order = numpy.argsort(counts)  #: make
        return values[order]


def partition(k):
    return [dask.delayed(part)(k, n) for n in range(4)]


def main():
    card = Card()
    with dask.config.set(scheduler=cfg.how, num_workers=cfg.workers):
        for k in range(cfg.steps):
            with note('wait', k):
                parts = dask.compute(*partition(k))  #: wait
            card.step(numpy.concatenate(parts))


if __name__ == '__main__':
    main()
