#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One Kineto JSON out of the simulator's truth, so that other tools can judge the same run: GPU rows
with args.process, API rows of the calls that libprof keeps, synchronisation rows, and ranges.

    truth_to_kineto.py [--nodes] [--ranges FILE] TRUTH OUT.json

TRUTH is the folder (or file) that GPUSIM_TRUTH named, written with GPUSIM_TRUTH_API=1. FILE holds one
range a line as JSON: pid, tid, start_ns, end_ns, name, and cat (user_annotation if absent).
--nodes: graphs by their nodes, as CUPTI before 12.5 is asked for them, else as wholes. Correlation
ids are the simulator's numbers of calls, which never wrap."""
import json
import os
import re
import sys

import gs

COPY = {'h2d': 'HtoD', 'd2h': 'DtoH', 'd2d': 'DtoD', 'h2h': 'HtoH', 'p2p': 'PtoP'}
SYNC = {'wait': 'Stream Wait Event', 'event': 'Event Sync', 'stream': 'Stream Sync',
        'context': 'Context Sync'}


def wanted_calls():
    """The names of the calls that libprof's table keeps."""
    with open(os.path.join(gs.SOURCE, 'libprof', 'cupti', 'cbids.c')) as f:
        return set(re.findall(r'\{ \d+, "(\w+)" \}', f.read()))


def us(ns):
    sign, ns = ('-', -ns) if ns < 0 else ('', ns)
    return f'{sign}{ns // 1000}.{ns % 1000:03d}'


def row(cat, name, pid, tid, start, end, **args):
    text = json.dumps({'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'args': args})
    return f'{text[:-1]}, "ts": {us(start)}, "dur": {us(end - start)}}}'


def title(word):
    return word[:1].upper() + word[1:]


def operation(r):
    args = {'device': r['device'], 'stream': r['stream'], 'context': r['context'],
            'correlation': r['call'], 'process': r['pid']}
    cat, name = 'kernel', r.get('name') or 'graph'
    if r['kind'] == 'memcpy':
        cat = 'gpu_memcpy'
        name = f'Memcpy {COPY[r["copy"]]} ({title(r["src"])} -> {title(r["dst"])})'
    elif r['kind'] == 'memset':
        cat, name = 'gpu_memset', 'Memset (Device)'
    if 'bytes' in r:
        args['bytes'] = r['bytes']
    return row(cat, name, r['device'], r['stream'], r['start_ns'], r['end_ns'], **args)


def traced(r, nodes):
    """Whether an operation is traced with graphs by node, or as wholes."""
    return r['kind'] != 'graph' if nodes else not r.get('node')


def rows(truth, ranges=None, nodes=False):
    """Rows in the order of the streams' processes where operations tie."""
    calls, ops, syncs = wanted_calls(), [], []
    for r in gs.truth_lines(truth):
        if r.get('kind') in ('kernel', 'memcpy', 'memset', 'graph'):
            if traced(r, nodes):
                ops.append(r)
        elif r.get('api') in calls:
            yield row(f'cuda_{r["domain"]}', r['api'], r['pid'], r['tid'], r['start_ns'],
                      r['end_ns'], correlation=r['call'])
        elif 'sync' in r:
            syncs.append(r)
    for r in sorted(ops, key=lambda r: (r['start_ns'], r['pid'])):
        yield operation(r)
    for r in syncs:
        yield row('cuda_sync', SYNC[r['sync']], r['device'], r['stream'], r['start_ns'], r['end_ns'],
                  device=r['device'], stream=r['stream'], context=r['context'], process=r['pid'])
    for r in ranges or ():
        yield row(r.get('cat', 'user_annotation'), r['name'], r['pid'], r['tid'], r['start_ns'],
                  r['end_ns'])


def write(truth, path, ranges=None, nodes=False):
    with open(path, 'w') as f:
        f.write('{"traceEvents": [\n' + ',\n'.join(rows(truth, ranges, nodes)) + '\n]}\n')


def main():
    args, ranges = sys.argv[1:], None
    nodes = args[:1] == ['--nodes']
    args = args[nodes:]
    if args[:1] == ['--ranges']:
        with open(args[1]) as f:
            ranges = [json.loads(line) for line in f if line.strip()]
        args = args[2:]
    if len(args) != 2:
        sys.exit(__doc__)
    write(*args, ranges, nodes)


if __name__ == '__main__':
    main()
