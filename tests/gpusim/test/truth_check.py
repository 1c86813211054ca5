#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a truth file for what the model promises, and, given the tap's files, that the records
which a CUPTI stand-in delivered are the truth's, to the nanosecond.
usage: truth_check.py TRUTH [TAP.pid ...] [--node-level] [--no-copies-check]"""
import json
import sys
from collections import Counter, defaultdict

KINDS = {1: 'memcpy', 22: 'memcpy', 2: 'memset', 3: 'kernel', 10: 'kernel', 51: 'graph'}
OPS = ('kernel', 'memcpy', 'memset', 'graph', 'host')


def lines(path):
    with open(path) as f:
        for text in f:
            yield json.loads(text)


def fail(text):
    print('FAIL', text)
    sys.exit(1)


def check_streams(ops):
    """Work of one stream never overlaps, apart from nodes of a graph and the graph itself."""
    last = {}
    for o in sorted(ops, key=lambda o: (o['launch_ns'], o['call'])):
        if o.get('graph') and o['kind'] != 'graph':
            continue
        key = o['pid'], o['context'], o['stream']
        if o['start_ns'] < last.get(key, 0):
            fail(f'stream overlaps: {o}')
        last[key] = o['end_ns']


def check_sharing(ops):
    """Kernels of different processes never run at once on a device."""
    by_device = defaultdict(list)
    for o in ops:
        if o['kind'] in ('kernel', 'memset') and o['end_ns'] > o['start_ns']:
            by_device[o['device']].append(o)
    for device, v in by_device.items():
        end, pid = 0, None
        for o in sorted(v, key=lambda o: o['start_ns']):
            if o['start_ns'] < end and o['pid'] != pid:
                fail(f'device {device}: kernels of {pid} and {o["pid"]} overlap at {o["start_ns"]}')
            if o['end_ns'] > end:
                end, pid = o['end_ns'], o['pid']


def check_concurrency(ops, limit):
    edges = defaultdict(list)
    for o in ops:
        if o['kind'] in ('kernel', 'memset') and o['end_ns'] > o['start_ns']:
            edges[o['device']] += [(o['start_ns'], 1), (o['end_ns'], -1)]
    for device, v in edges.items():
        n = 0
        for _, step in sorted(v):
            n += step
            if n > limit:
                fail(f'device {device}: {n} kernels at once')


def key_of(kind, pid, r):
    return (kind, pid, r['correlation'], r['context'], r['stream'], r['start'], r['end'],
            r.get('bytes', 0), r.get('name', ''), r['node'] if 'node' in r else 0)


def recorded(taps):
    found = Counter()
    for path in taps:
        pid = int(path.rsplit('.', 1)[1])
        for r in lines(path):
            if r.get('kind') in KINDS:
                found[key_of(KINDS[r['kind']], pid, r)] += 1
    return found


def expected(ops, node_level):
    want = Counter()
    for o in ops:
        if o['kind'] == 'host' or (o['kind'] == 'graph') == node_level and o.get('graph'):
            continue
        r = dict(o, start=o['start_ns'], end=o['end_ns'])
        want[key_of(o['kind'], o['pid'], r)] += 1
    return want


def main(args):
    node_level = '--node-level' in args
    args = [a for a in args if not a.startswith('--')]
    ops = [o for o in lines(args[0]) if o.get('kind') in OPS]
    for o in ops:
        if o['end_ns'] < o['start_ns'] or o['start_ns'] < o['launch_ns']:
            fail(f'times: {o}')
    check_streams(ops)
    check_sharing(ops)
    check_concurrency(ops, 16)
    if len(args) > 1:
        want, found = expected(ops, node_level), recorded(args[1:])
        missing, extra = want - found, found - want
        if missing or extra:
            print('missing', len(missing), list(missing)[:3])
            print('extra', len(extra), list(extra)[:3])
            fail('records differ from the truth')
    print(f'ok: {len(ops)} operations', dict(Counter(o['kind'] for o in ops)))


if __name__ == '__main__':
    main(sys.argv[1:])
