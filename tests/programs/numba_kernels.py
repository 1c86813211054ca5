#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels written in Python, compiled by numba-cuda: two per step, with copies on both sides."""
import sys

import numpy
from numba import cuda

import told


@cuda.jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += y[i]


def main():
    args = told.options(__doc__).parse_args()
    note = told.Told(args)
    a, b = (numpy.arange(1 << 16, dtype=numpy.float32) for _ in range(2))
    for _ in range(args.steps):
        x, y = cuda.to_device(a), cuda.to_device(b)
        scale[256, 256](x, 2.0)
        add[256, 256](x, y)
        x.copy_to_host()
        for kind, n in (('copy-h2d', 2), ('kernel', 2), ('copy-d2h', 1)):
            note.count(kind, n)
    cuda.synchronize()
    note.write(steps=args.steps)
    print(f'{args.steps} steps')


if __name__ == '__main__':
    sys.exit(main())
