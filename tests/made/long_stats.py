#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes long_stats.def anew, which long_make.c draws from: statistics of the Kineto traces that other people recorded.

    tests/made/long_stats.py [--print] [TRACE...]      default: those in ../shared/traces

A distribution is the means of groups of equal count, from the least to the greatest value, so that what is drawn has the
mean of what was seen. Times are ns. Of calls that launch nothing those are told that libprof records. Nothing of a trace
itself is kept but names, cut off."""
import collections
import glob
import gzip
import json
import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.path.join(HERE, '..', '..', '..', 'shared', 'traces')
OPS = {'kernel': 1, 'gpu_memcpy': 2, 'memcpy': 2, 'gpu_memset': 3, 'memset': 3}  # enum wire_op
CALLS = ('cuda_runtime', 'cuda_driver', 'runtime')
COPIES = {'HtoD': 1, 'DtoH': 2, 'DtoD': 8}  # enum wire_copy
MEMORIES = {'Pageable': 1, 'Pinned': 2, 'Device': 3}  # enum wire_mem
ROWS, OTHERS, NAME = 12, 8, 60
with open(os.path.join(HERE, '..', '..', 'libprof', 'cupti', 'cbids.c'), encoding='utf-8') as _table:
    PICKED = set(re.findall(r'"(cu\w+)"', _table.read()))
Op = collections.namedtuple('Op', 'start end op stream name size call')
Call = collections.namedtuple('Call', 'start end thread name')


def ns(event):
    start = round(event['ts'] * 1000)
    return start, start + round(event['dur'] * 1000)


def read(path):
    """(operations by start, {correlation: call}, loader waits) of the file's first device."""
    with gzip.open(path) as file:
        rows = [row for row in json.load(file)['traceEvents'] if row.get('ph') == 'X']
    calls, ops = {}, []
    for row in rows:
        if str(row.get('cat')).lower() in CALLS:
            calls[row['args']['correlation']] = Call(*ns(row), row['tid'], row['name'])
    for row in rows:
        op, args = OPS.get(str(row.get('cat')).lower()), row.get('args', {})
        if op:
            size = args.get('bytes') or round(args.get('memory bandwidth (GB/s)') or 0) * row['dur'] * 1000
            ops.append(Op(*ns(row), op, args['stream'], row['name'], int(size), calls.get(args.get('correlation'))))
    waits = [ns(row) for row in rows if re.match(r'enumerate\(DataLoader\)#.*__next__', str(row['name']))]
    return sorted(ops), calls, waits


def groups(values, n):
    values = sorted(values) or [0]
    return [round(statistics.mean(values[i * len(values) // n:max((i + 1) * len(values) // n, i * len(values) // n + 1)]))
            for i in range(n)]


def period(ops):
    """After how many operations name and stream come again: of a step. Of what never does, all of them."""
    keys = [(o.name, o.stream) for o in ops]
    for lag in range(20, len(keys) // 2 + 1):
        if all(keys[i] == keys[i + lag] for i in range(0, len(keys) - lag, 37)):
            if sum(map(lambda a, b: a == b, keys, keys[lag:])) > 0.95 * (len(keys) - lag):
                return lag
    return len(keys)


def wobble(ops, lag):
    """Of one place in the step, from one step to the next: how much longer in thousandths. Short ones are all clock."""
    return [1000 * (b.end - b.start - a.end + a.start) / (a.end - a.start) for a, b in zip(ops, ops[lag:])
            if a.name == b.name and a.end - a.start > 2000]


def waited(since, until, waits):
    return sum(max(0, min(end, until) - max(start, since)) for start, end in waits)


def gaps(ops, waits):
    """What came before each operation. Empty: it was launched when all before it had ended."""
    drawn, states = collections.defaultdict(list), []
    reached, last = ops[0].start, None
    for o in ops:
        empty = bool(o.call) and o.call.start > reached
        states.append(empty)
        if not empty:
            drawn['turnaround'].append(o.start - reached)
        if o.call:
            if empty and 2 * waited(reached, o.call.start, waits) < o.call.start - reached:
                drawn['host'].append(o.call.start - reached)
            if empty:
                drawn['latency'].append(max(0, o.start - o.call.start))
            elif last and o.call.start >= last.end:
                drawn['pace'].append(o.call.start - last.end)
            last = o.call
            drawn['lead'].append(o.start - o.call.start)
        reached = max(reached, o.end)
    after = {was: [now for before, now in zip(states, states[1:]) if before == was] for was in (False, True)}
    return drawn, [round(1000 * statistics.mean(after[was] or [was])) for was in (False, True)]


def memories(name):
    found = re.match(r'Memcpy (\w+) \((\w+) -> (\w+)\)', name)
    return (COPIES.get(found[1], 0), MEMORIES.get(found[2], 0), MEMORIES.get(found[3], 0)) if found else (0, 0, 0)


def text(name):
    return '"' + name[:NAME].replace('\\', '\\\\').replace('"', '\\"') + '"'


def row(ops, name):
    first = ops[0]
    copied = ', '.join(map(str, memories(first.name)))
    lengths = ', '.join(map(str, groups([o.end - o.start for o in ops], 8)))
    size = round(statistics.mean(o.size for o in ops))
    return f'\t\t{{ {len(ops)}, {first.op}, {copied}, {first.stream}, {size}, {{ {lengths} }},\n\t\t  {text(name)} }},\n'


def rows(ops):
    """Operations by name and stream: the most frequent, of the others those that took longest, and the rest of the kernels."""
    by = collections.defaultdict(list)
    for o in ops:
        by[o.op, o.name, o.stream].append(o)
    most = sorted(by.values(), key=len, reverse=True)
    long = sorted(most[ROWS:], key=lambda of: sum(o.end - o.start for o in of), reverse=True)
    rest = [o for of in long[ROWS:] for o in of if o.op == 1]
    shown = enumerate(most[:ROWS] + long[:ROWS])
    return ''.join(row(of, f'{i} {of[0].name}') for i, of in shown) + (row(rest, 'others') if rest else '')


def others(ops, calls):
    """Calls that launch nothing, how many of them to a thousand operations."""
    launches = {o.call for o in ops}
    by = collections.defaultdict(list)
    for call in calls.values():
        if call not in launches and call.name in PICKED:
            by[call.name].append(call.end - call.start)
    most = sorted(by.items(), key=lambda of: len(of[1]), reverse=True)[:OTHERS]
    return ''.join(f'\t\t{{ {round(1000 * len(of) / len(ops))}, {{ {", ".join(map(str, groups(of, 8)))} }}, {text(name)} }},\n'
                   for name, of in most)


def stats(path):
    """(its part of the file, its wobble where stamps are finer than a microsecond)"""
    ops, calls, waits = read(path)
    lag = period(ops)
    drawn, after = gaps(ops, waits)
    threads = collections.Counter(o.call.thread for o in ops if o.call).most_common(2)
    second = round(1000 * threads[1][1] / len(ops)) if len(threads) > 1 else 0
    lists = {name: (drawn[name], 32) for name in ('host', 'latency', 'turnaround', 'pace')}
    lists['call'] = [o.call.end - o.call.start for o in ops if o.call], 32
    lists['wait'] = [end - start for start, end in waits], 8
    fine = any(o.end % 1000 for o in ops)
    out = f'{{\n\t.source = {text(os.path.basename(path))},\n\t.period = {lag},\n\t.second = {second},\n'
    out += f'\t.lead = {max(drawn["lead"])},\n\t.fine = {int(fine)},\n\t.waits_every = {len(ops) // len(waits) if waits else 0},\n'
    out += f'\t.empty_after = {{ {after[0]}, {after[1]} }},\n'
    for name, (values, n) in lists.items():
        out += f'\t.{name} = {{ {", ".join(map(str, groups(values, n)))} }},\n'
    out += f'\t.rows = {{\n{rows(ops)}\t}},\n\t.others = {{\n{others(ops, calls)}\t}},\n}}'
    return out, wobble(ops, lag) if fine else []


def wrapped(line):
    """No line is wider than 100 columns."""
    while len(line.expandtabs(8)) > 100:
        at = line.rindex(', ', 0, 96 - 8 * line.count('\t')) + 1
        yield line[:at]
        line = '\t\t' + line[at + 1:]
    yield line


def table(paths):
    found = [stats(path) for path in paths]
    wobbles = ', '.join(map(str, groups([w for _, of in found for w in of], 32)))
    parts = f'LONG_WOBBLE({wobbles})\n' + ''.join(f'LONG_TRACE({of})\n' for of, _ in found)
    lines = ['/* SPDX-License-Identifier: Apache-2.0 */', '/* tests/made/long_stats.py writes this. */',
             *(part for line in parts.splitlines() for part in wrapped(line))]
    return '\n'.join(lines) + '\n'


if __name__ == '__main__':
    show = sys.argv[1:2] == ['--print']
    made = table(sys.argv[1 + show:] or sorted(glob.glob(os.path.join(TRACES, '*.json.gz'))))
    if show:
        sys.stdout.write(made)
    else:
        with open(os.path.join(HERE, 'long_stats.def'), 'w', encoding='utf-8') as file:
            file.write(made)
