# SPDX-License-Identifier: Apache-2.0
"""Counting what a device did: the operations of a trace, those that torch.profiler saw, cut into a
loop's steps, and what differs between two counts. An operation is (kind, name, at, bytes): kernels
by their readable name, at the nanosecond of the call that launched it (of its own start where no
call is recorded). All pure functions but the reading of files; standard library only."""
import collections
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))

from demangling import demangled  # noqa: E402

Op = collections.namedtuple('Op', 'kind name at bytes')
OPS = ('kernel', 'copy', 'memset', 'graph', 'op')
# torch.profiler leaves longer symbols as they are; a trace cuts names here (docs/FORMAT.md).
SYMBOL_MAX, NAME_MAX = 1024, 4096


def readable(name):
    """A mangled C++ name as torch.profiler prints it, any other name itself; so much of it as a trace keeps."""
    return (demangled(name) if len(name) <= SYMBOL_MAX else name)[:NAME_MAX]


def of_dump(text):
    """(operations, calls by name) of what `gpustarve dump` printed."""
    rows, launched, calls = [], {}, collections.Counter()
    for line in text.splitlines():
        f = line.split('\t')
        if line.startswith('#') or len(f) < 8:
            continue
        stream, kind, start, corr = f[0], f[1], int(f[2]), f[5]
        if kind in ('runtime', 'driver'):
            calls[f[7]] += 1
            launched[stream, corr] = start
        elif kind.split('-')[0] in OPS:
            rows.append((stream, corr, kind, start, int(f[6]), f[7]))
    return [Op(kind, readable(name) if kind == 'kernel' else '', launched.get((stream, corr), start),
               size) for stream, corr, kind, start, size, name in rows], calls


def of_profile(path):
    """(operations, events of other categories) of what torch_train.py --profile wrote."""
    with open(path) as f:
        seen = json.load(f)
    return [Op(kind, readable(name) if kind == 'kernel' else '', at, size)
            for kind, name, at, size in seen['ops']], seen['others']


def count(ops):
    """How often each (kind, name) is there."""
    return collections.Counter((o.kind, o.name) for o in ops)


def kinds(counted):
    """The same by kind alone, copies in one: '6,248: kernel 6,000, copy 121, memset 127'."""
    n = collections.Counter()
    for (kind, _), k in counted.items():
        n[kind.split('-')[0]] += k
    return n


def kinds_text(counted):
    n = kinds(counted)
    return f'{sum(n.values()):,}: ' + ', '.join(f'{k} {n[k]:,}' for k in OPS if n[k])


def label(key):
    kind, name = key
    return kind + (' ' + name if name else '')


def differences(ours, theirs):
    """What is not there equally often, the most of it first: [(kind and name, ours, theirs)]."""
    keys = set(ours) | set(theirs)
    found = [(label(k), ours[k], theirs[k]) for k in keys if ours[k] != theirs[k]]
    return sorted(found, key=lambda d: (-abs(d[1] - d[2]), d[0]))


def differences_text(found, most=3):
    """'2 names differ: kernel gemm 40 of 41; ...', short."""
    if not found:
        return 'the same'
    rows = '; '.join(f'{name[:60]} {ours} for {theirs}' for name, ours, theirs in found[:most])
    more = f'; and {len(found) - most} more' if len(found) > most else ''
    return f'{len(found)} kinds or names differ: {rows}{more}'


def copied(ops):
    """Bytes of the copies, by direction."""
    n = collections.Counter()
    for o in ops:
        if o.kind.startswith('copy'):
            n[o.kind] += o.bytes
    return n


def in_steps(ops, steps):
    """(a count per step, the count of all others): by when each was launched. @steps: rows of
    (begin, ..., end) that follow each other."""
    each, rest = [collections.Counter() for _ in steps], collections.Counter()
    ordered, i = sorted(ops, key=lambda o: o.at), 0
    for o in ordered:
        while i < len(steps) and o.at >= steps[i][-1]:
            i += 1
        inside = i < len(steps) and o.at >= steps[i][0]
        (each[i] if inside else rest)[o.kind, o.name] += 1
    return each, rest


class Steady:
    """What a loop does in each step, once it has warmed up: @each is the usual step's count, @odd
    the steps behind the first @warm that are not like it: [(number, differences)]."""

    def __init__(self, steps, warm):
        self.warm, self.steps = warm, steps[warm:]
        frozen = collections.Counter(frozenset(c.items()) for c in self.steps)
        usual = frozen.most_common(1)[0][0] if frozen else ()
        self.each = collections.Counter(dict(usual))
        self.odd = [(warm + i, differences(c, self.each)) for i, c in enumerate(self.steps)
                    if c != self.each]

    @property
    def total(self):
        return sum((c for c in self.steps), collections.Counter())

    @property
    def right(self):
        return bool(self.each) and not self.odd

    def text(self):
        if not self.steps:
            return f'no step behind the first {self.warm}'
        if not self.each:
            return 'nothing in the steps'
        if not self.odd:
            return f'{sum(self.each.values()):,} in each of {len(self.steps)} steps'
        number, found = self.odd[0]
        return (f'{len(self.odd)} of {len(self.steps)} steps are not like the others; step {number}: '
                f'{differences_text(found, 2)}')


def without_graphs(counted):
    return collections.Counter({k: n for k, n in counted.items() if k[0] != 'graph'})


def nodes(whole, apart):
    """What the graphs of a loop hold: @whole counted with graphs as one operation, @apart the same
    loop with their nodes one by one. (launches, nodes by kind and name, what does not add up)."""
    launches = kinds(whole)['graph']
    inside, wrong = collections.Counter(), []
    plain = without_graphs(whole)
    for key in set(plain) | set(apart):
        more = apart[key] - plain[key]
        if more < 0:
            wrong.append(f'{label(key)[:60]}: {plain[key]} beside the graphs, {apart[key]} in all')
        elif more:
            inside[key] = more
    wrong += [f'{label(k)[:60]} is left' for k in apart if k[0] == 'graph']
    if inside and not launches:
        wrong.append(f'{sum(inside.values())} nodes, no launch of a graph')
    if launches and not inside:
        wrong.append(f'{launches} launches of graphs, no node')
    return launches, inside, wrong


def expected(counted, exact):
    """What is not as it must be: @exact maps a kernel's name or a kind to its number. A compiler may
    have put its own after a name, behind an underscore."""
    found = []
    for what, number in exact.items():
        n = sum(k for (kind, name), k in counted.items()
                if what in (kind, kind.split('-')[0], name) or name.startswith(what + '_'))
        if n != number:
            found.append((what, n, number))
    return found


def read_steps(path):
    with open(path) as f:
        return [tuple(map(int, line.split())) for line in f]
