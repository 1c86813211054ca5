# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of intervals [begin, end) of integers, as the end-to-end tests have it. Pure."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))

import gs  # noqa: E402

common, measure = gs.intersect, gs.measure


def union(pieces):
    """Sorted, disjoint; what touches is one, what is empty is none."""
    return gs.union((a, b) for a, b in pieces if b > a)


def gaps(pieces):
    """What lies between the pieces of a union."""
    return [[a[1], b[0]] for a, b in zip(pieces, pieces[1:])]


def of_dump(text):
    """(when the device worked, the loader's waits in order) of what `gpustarve dump` printed."""
    busy, waits = [], []
    for line in text.splitlines():
        f = line.split('\t')
        if line.startswith('#') or len(f) < 8:
            continue
        if f[1].split('-')[0] in ('kernel', 'copy', 'memset', 'graph', 'op'):
            busy.append((int(f[2]), int(f[2]) + int(f[3])))
        elif f[1] == 'loader':
            waits.append((int(f[2]), int(f[2]) + int(f[3])))
    return union(busy), sorted(waits)
