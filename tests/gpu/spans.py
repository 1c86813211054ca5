# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of intervals [begin, end) of integers. Pure."""


def union(pieces):
    """Sorted, disjoint; what touches is one."""
    out = []
    for a, b in sorted((a, b) for a, b in pieces if b > a):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return out


def gaps(pieces):
    """What lies between the pieces of a union."""
    return [[a[1], b[0]] for a, b in zip(pieces, pieces[1:])]


def common(xs, ys):
    """What lies in both of two unions."""
    out, i, j = [], 0, 0
    while i < len(xs) and j < len(ys):
        a, b = max(xs[i][0], ys[j][0]), min(xs[i][1], ys[j][1])
        if a < b:
            out.append([a, b])
        if xs[i][1] < ys[j][1]:
            i += 1
        else:
            j += 1
    return out


def measure(pieces):
    return sum(b - a for a, b in pieces)


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
