# SPDX-License-Identifier: Apache-2.0
"""Reference of what compute time consists of (LEDGER 3), apart from the engine: every
instant at which operations of `compute` run is of the first of them by start, then stream, then record.
Instant by instant between all starts and ends, no running sums. Standard library, integer ns."""
import collections
import decimal
import json

Kernel = collections.namedtuple('Kernel', 'start end stream order name')


def ns(us):
    """Integer microseconds times 1000 plus the first three decimals, cut off."""
    return int(decimal.Decimal(us) * 1000)


def kernels(path):
    """{device: its kernels} of a Kineto file whose devices all are named in args; those that end before they start
    are none."""
    found = collections.defaultdict(list)
    with open(path, encoding='utf-8') as f:
        rows = json.load(f, parse_float=str)['traceEvents']
    for i, row in enumerate(rows):
        if row.get('cat') == 'kernel':
            start, length = ns(row['ts']), ns(row['dur'])
            if length >= 0:
                found[row['args']['device']].append(Kernel(start, start + length, row['args']['stream'], i, row['name']))
    return found


def owners(rows):
    """(kernel, ns) for each stretch between two stamps in which any runs."""
    stamps = sorted({t for k in rows for t in (k.start, k.end)})
    by_start, at, running = sorted(rows, key=lambda k: (k.start, k.stream, k.order)), 0, []
    for a, b in zip(stamps, stamps[1:]):
        while at < len(by_start) and by_start[at].start <= a:
            running.append(by_start[at])
            at += 1
        running = [k for k in running if k.end > a]
        if running:
            yield min(running, key=lambda k: (k.start, k.stream, k.order)), b - a


def work(path, told, collective):
    """{device: {what `told` says of the name: [ns, kernels]}}; `collective` says which names are no compute."""
    out = {}
    for device, rows in kernels(path).items():
        rows = [k for k in rows if not collective(k.name)]
        sums = collections.defaultdict(lambda: [0, 0])
        for k in rows:
            sums[told(k.name)][1] += 1
        for k, length in owners(rows):
            sums[told(k.name)][0] += length
        out[device] = dict(sums)
    return out
