#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Poems. Generators over generators, all of them in the trainer."""
import gzip
import zlib

from kit import Card, cfg, note


def names():
    for k in range(cfg.steps):
        yield k, f'{cfg.root}/f{k % cfg.files}'


def texts(source):
    for k, name in source:
        with note('get', k):
            with open(name, 'rb') as f:  #: get
                text = f.read()  #: get
        yield k, text


def verses(source):
    for k, text in source:
        with note('make', k):
            for n in range(cfg.rounds):
                packed = zlib.compress(text * 2 + bytes([n]), 9)  #: make
                lines = gzip.compress(packed).split(b'\n')  #: make
        yield b'\n'.join(lines)


def batches():
    yield from verses(texts(names()))


def main():
    card, source = Card(), batches()
    for k in range(cfg.steps):
        with note('wait', k):
            verse = next(source)  #: wait
        card.step(verse)


main()
