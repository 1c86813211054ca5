#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a book's tokens on standard output, a length in front of each batch. books.py starts it."""
import re
import struct
import sys

import numpy

from kit import cfg, note, settle

WORD = re.compile(rb'[^ \n\x00-\x1f]+')


def tokens(k):
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            text = f.read()  #: get
    with note('make', k):
        seen = {}
        for _ in range(cfg.rounds):
            numbers = [seen.setdefault(word, len(seen)) for word in WORD.findall(text)]  #: make
        return numpy.resize(numpy.array(numbers, 'int32'), 8192)


def main():
    settle()
    for k in range(cfg.steps):
        batch = tokens(k).tobytes()
        sys.stdout.buffer.write(struct.pack('<I', len(batch)) + batch)
        sys.stdout.buffer.flush()


main()
