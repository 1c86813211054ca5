#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What names of kernels tell (facts/kinds.def), on real traces of other people's: how much of the time is of
kernels that have a kind, and whether the precision that a name tells is one that the operator was given, as
torch's profiler has it ("Input type" of the kernel's operator). Apart from that of
gpustarve: files are read here, and only the names asked.

    test_kernel_kinds.py            holds the bounds
    test_kernel_kinds.py --table    prints the figures, and all that does not agree"""
import collections
import gzip
import glob
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

TRACES = os.path.join(gs.SHARED, 'traces')
# What torch calls the types of tensors; tf32 is an arithmetic on float.
TYPES = {'float': {'fp32', 'tf32'}, 'double': {'fp64'}, 'c10::Half': {'fp16'}, 'c10::BFloat16': {'bf16'},
         'c10::Float8_e4m3fn': {'fp8'}, 'c10::Float8_e5m2': {'fp8'}, 'c10::complex<float>': {'fp32'}}
COLLECTIVE = ('nccl',)
Kernel = collections.namedtuple('Kernel', 'file name us op types')


def argument(row, *keys):
    return next((row['args'][k] for k in keys if k in row.get('args', {})), None)


def innermost(ops, launches):
    """{correlation: the operator of the launch's thread that is around it}; launches and operators of one thread."""
    found, stack, at = {}, [], 0
    ops = sorted(ops, key=lambda o: (o['ts'], -o['dur']))
    for launch in sorted(launches, key=lambda r: r['ts']):
        while at < len(ops) and ops[at]['ts'] <= launch['ts']:
            stack.append(ops[at])
            at += 1
        # what has ended is around no later launch
        stack = [o for o in stack if o['ts'] + o['dur'] >= launch['ts']]
        if stack:
            found[argument(launch, 'correlation')] = stack[-1]
    return found


def operators(rows):
    """What tells a kernel's operator: by external id, else, as in old files, by the thread of its launch."""
    ids, ops, launches, by_launch = {}, collections.defaultdict(list), collections.defaultdict(list), {}
    for row in rows:
        if row.get('cat') in ('cpu_op', 'Operator'):
            ids[argument(row, 'External id', 'external id')] = row
            ops[str(row['tid'])].append(row)
        elif row.get('cat') in ('cuda_runtime', 'Runtime', 'cuda_driver'):
            launches[str(row['tid'])].append(row)
    for thread, its in launches.items():
        by_launch.update(innermost(ops[thread], its))

    def operator(kernel):
        external, correlation = argument(kernel, 'External id', 'external id'), argument(kernel, 'correlation')
        return (by_launch.get(correlation) if external == correlation else ids.get(external)) or {}
    return operator


def kernels_of(path):
    with gzip.open(path, 'rt', encoding='utf-8') as f:
        rows = json.load(f)['traceEvents']
    operator = operators(rows)
    for row in rows:
        if row.get('cat') in ('kernel', 'Kernel') and not row['name'].startswith(COLLECTIVE):
            op = operator(row)
            yield Kernel(os.path.basename(path), row['name'], row['dur'], op.get('name'), argument(op, 'Input type'))


def told(names):
    """{name: (kind, precision)}"""
    done = gs.command([os.path.join(gs.BUILD, 'tests', 'work_of')], input='\n'.join(names).encode() + b'\n')
    rows = [line.split('\t', 2) for line in done.stdout.decode().splitlines()]
    return {name: (kind, precision) for kind, precision, name in rows}


def allowed(types):
    """Precisions of the operator's floating inputs; empty: it has none, or it is not told."""
    return set().union(*(TYPES.get(t, set()) for t in types or []))


def answer(kernel, what):
    """'named', 'unnamed' and of those whose operator has floating inputs 'agrees', 'silent', 'differs'."""
    yield 'unnamed' if what[kernel.name][0] == 'unknown' else 'named'
    may, precision = allowed(kernel.types), what[kernel.name][1]
    if may:
        yield 'silent' if precision == 'unknown' else 'agrees' if precision in may else 'differs'


def share(sums, part, *whole):
    return 100 * sums[part] / (sum(sums[w] for w in whole) or 1)


def short(name):
    return name.replace('at::native::', '').replace('(anonymous namespace)::', '')[:90]


def print_table(kernels, what, sums):
    for file, of in sums.items():
        print(f'{share(of, "named", "named", "unnamed"):6.2f} % named of {(of["named"] + of["unnamed"]) / 1000:8.1f} ms; '
              f'{share(of, "agrees", "agrees", "differs"):6.2f} % agree of '
              f'{(of["agrees"] + of["differs"]) / 1000:8.1f} ms, {of["silent"] / 1000:6.1f} ms without precision; {file[:40]}')
    rest = collections.Counter()
    for k in kernels:
        for word in answer(k, what):
            if word in ('unnamed', 'differs', 'silent'):
                rest[word, *what[k.name], k.op, ','.join(sorted({t for t in k.types or [] if t})), short(k.name)] += k.us
    for (word, kind, precision, op, types, name), us in sorted(rest.items(), key=lambda r: (r[0][0], -r[1])):
        print(f'{us / 1000:9.3f} ms  {word:8}{kind:14}{precision:9}{op}({types})  {name}')


def main():
    files = sorted(glob.glob(os.path.join(TRACES, '*.json.gz')))
    if not files:
        gs.skip('../shared/traces is not here')
    kernels = [k for path in files for k in kernels_of(path)]
    what = told(sorted({k.name for k in kernels}))
    sums = collections.defaultdict(collections.Counter)
    for k in kernels:
        for word in answer(k, what):
            sums[k.file][word] += k.us
            sums['all'][word] += k.us
    if '--table' in sys.argv:
        print_table(kernels, what, sums)
    of = sums['all']
    gs.check(share(of, 'named', 'named', 'unnamed') >= 98, f'kernels with a kind: {dict(of)}')
    gs.check(share(of, 'agrees', 'agrees', 'differs', 'silent') >= 97, f'agreement with what operators were given: {dict(of)}')
    gs.check(of['agrees'] > 10**6, f'there was something to agree on: {dict(of)}')
    gs.finish()


main()
