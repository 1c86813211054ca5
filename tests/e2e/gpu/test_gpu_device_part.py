#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""The device part of the GPU check over a made-up run of a made-up H100: its own timer, events,
and a trace that tells the truth, which it must call ok, or lies in one place, and it must LOOK."""
import copy
import os
import random
import sys
import types

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

os.environ.setdefault('GPUSTARVE_BUILD', gs.BUILD)
sys.path.insert(0, os.path.join(gs.SOURCE, 'tests', 'gpu'))
import base  # noqa: E402
import truth  # noqa: E402
from parts import device  # noqa: E402

EPOCH = 1_790_000_000_000_000_000
BEHIND, PPM, STEP = -1_370_000, 22.0, 32   # the device's timer against the trace's clock
LEAD, TRAIL = 900, 700                     # a record around its kernel's code
KERNEL, COPY, MEMSET, GRAPH = 1, 2, 3, 4


def timer(t):
    raw = t + BEHIND + int((t - EPOCH) * PPM / 1e6)
    return raw - raw % STEP


class Made:
    """Sections as stamped.py plays them, and the trace of them."""

    def __init__(self):
        self.t, self.corr, self.draw = EPOCH + 10_000_000, 0, random.Random(7)
        self.ops, self.launch, self.sections = [], {}, {}

    def op(self, start, ns, name, kind, stream=13, copied=0):
        """[its call's number, the device's begin and end]; it ends at ['end'] of the last op."""
        self.corr += 1
        code = start + LEAD
        end = code + ns + TRAIL if kind == KERNEL else start + ns
        self.ops.append(dict(op=kind, name=name, start=start, end=end, corr=self.corr, copy=copied,
                             stream=stream, context=1))
        return [self.corr, timer(code), timer(code + ns)]

    def call(self, corr, at):
        self.launch[corr] = dict(start=at + 800, end=at + 3_500)
        return [at, at + 4_500]

    def chain(self, name, lengths, kind=KERNEL, stream=13, copied=0, at=None):
        """Launched behind a blocker, so that one follows the other."""
        begin = self.t if at is None else at
        t, rows = begin + 20_000_000, []
        for i, ns in enumerate(lengths):
            corr, g0, g1 = self.op(t, ns, name, kind, stream, copied)
            stamps = [g0, g1] if kind == KERNEL else [None, None]
            rows.append(self.call(corr, begin + 8_000 * i) + [ns] + stamps)
            t = self.ops[-1]['end'] + 1_200 + self.draw.randrange(900)
        self.t = max(self.t, t + 50_000)
        self.sections[name] = dict(ops=rows, synced=t + 9_000)

    def ladder(self, name, lengths, kind, copied=0, title=None):
        self.chain(title or name, lengths, kind, copied=copied)
        self.sections[name] = self.sections.pop(title or name)
        mine = self.ops[-len(lengths):]
        marks = [mine[0]['start'] - 700] + [o['end'] + 300 for o in mine]
        self.sections[name]['events_ms'] = [round((b - a) / 500) * 500 / 1e6
                                            for a, b in zip(marks, marks[1:])]

    def alone(self, name, ns, n, kind=KERNEL):
        rows, synced = [], []
        for _ in range(n):
            at = self.t
            corr, g0, g1 = self.op(at + 7_000 + self.draw.randrange(3_000), ns, name, kind)
            op = self.ops[-1]
            if kind == GRAPH:   # from its first kernel's code to its last one's
                g0, g1 = timer(op['start'] + 1_100), timer(op['end'] - 900)
            rows.append(self.call(corr, at) + [ns, g0, g1])
            self.t = op['end'] + 40_000
            synced.append(op['end'] + 8_000)
        self.sections[name] = dict(ops=rows, synced=synced)

    def play(self):
        for name, ns, n in (('chain_20us', 20_000, 400), ('chain_200us', 200_000, 300),
                            ('chain_2000us', 2_000_000, 150)):
            self.chain(name, [ns] * n)
        at = self.t
        for name, stream in (('left', 13), ('right', 14)):
            self.chain(name, [self.draw.randrange(30_000, 300_000) for _ in range(150)],
                       stream=stream, at=at)
        self.ladder('paired', [500_000] * 60, KERNEL)
        for name, kind, copied in (('h2d', COPY, 1), ('d2h', COPY, 2), ('d2d', COPY, 8),
                                   ('memset', MEMSET, 0)):
            self.ladder(name, [1_300_000] * 12, kind, copied)
        self.ladder('graph', [515_000] * 40, GRAPH, title='')
        self.alone('graph alone', 516_000, 60, GRAPH)
        self.alone('lone', 20_000, 400)
        return self

    def joined(self):
        raw = types.SimpleNamespace(
            ops=sorted(copy.deepcopy(self.ops), key=lambda o: o['start']),
            launch=copy.deepcopy(self.launch),
            clocks=[[t, EPOCH + t + 45, t + 90, EPOCH + t + 150]
                    for t in range(1000, 10 ** 9, 10 ** 8)])
        raw.named = lambda name: [e for e in raw.ops if e['name'] == name]
        own = dict(simulated=False, timer_steps=[STEP] * 255, sections=copy.deepcopy(self.sections),
                   clocks=[[EPOCH + t, EPOCH + t + 30, EPOCH + t + 60, t, EPOCH + t + 30, t + 60]
                           for t in range(5000, 10 ** 9, 10 ** 8)])
        return device.Joined(own, raw)


def asked(j):
    """{question: ok} of all that needs no program."""
    r = base.Report()
    busy, _ = truth.union([(e['start'], e['end']) for e in j.raw.ops])
    base.part_ends_in(5)   # so that torch is not tried
    for fn in (device.counts, device.against_timer, device.against_events, device.causality,
               device.clocks):
        device.asked(r, fn.__name__, fn, j, *([] if fn is device.counts else [{}]))
    device.asked(r, 'report', device.against_summary, j, {'gpus': [{'busy_ns': busy}]})
    device.asked(r, 'latencies', device.latencies, j, '')
    return {row['question']: row for row in r.parts[device.PART]}


def looks(rows):
    return sorted(q for q, row in rows.items() if row['ok'] is False)


def longer(j, picked, part):
    for e in j.raw.ops:
        if picked(e):
            e['end'] += int((e['end'] - e['start']) * part)


def lie(what, change, *questions):
    """Each of @questions, and perhaps others, must be looked at."""
    j = MADE.joined()
    change(j)
    found = looks(asked(j))
    for question in questions:
        gs.check(any(question in f for f in found), f'{what}: {question} is not among {found}')


def nth(j, name, n):
    return sorted(j.raw.named(name), key=lambda e: e['start'])[n]


MADE = Made().play()
base.SIMULATED = False
rows = asked(MADE.joined())
gs.equal(looks(rows), [], 'the truth')
for question in ("own timer: kernels", 'two streams', 'where kernels lie', 'graphs of ten',
                 'events: kernels', 'events: pinned copies to', 'events: graph', 'busy time of the',
                 "program's own clock", "trace's clock", 'driver API loop', 'graph launches'):
    gs.check(any(question in q and row['ok'] for q, row in rows.items()),
             f'{question}: {list(rows)}')


def one_longer(j):
    e = nth(j, 'chain_2000us', 50)
    e['end'] += (e['end'] - e['start']) // 20


def before_launch(j):
    e = nth(j, 'lone', 5)
    e['start'] = j.raw.launch[e['corr']]['start'] - 10


def one_gone(j):
    j.raw.ops.remove(nth(j, 'left', 9))


def clock_off(j):
    j.raw.clocks = [[a, c + 6_000, b, r] for a, c, b, r in j.raw.clocks]


def slow_turnaround(j):
    for i, e in enumerate(sorted(j.raw.named('chain_20us'), key=lambda e: e['start'])):
        for k in ('start', 'end'):
            e[k] += 14_000 * i


def no_stamps(j):
    for row in j.sections['chain_20us']['ops']:
        row[3] = row[4] = 0


def call_outside(j):
    j.raw.launch[nth(j, 'chain_20us', 3)['corr']]['end'] += 20_000


lie('one kernel 5 % longer', one_longer, 'own timer: kernels')
lie('all kernels of a stream 5 % longer', lambda j: longer(j, lambda e: e['name'] == 'left', 0.05),
    'two streams')
lie('copies 5 % longer', lambda j: longer(j, lambda e: e['copy'] == 1, 0.05), 'pinned copies to')
lie('graphs 10 % longer', lambda j: longer(j, lambda e: e['op'] == GRAPH, 0.1), 'graphs of ten',
    'events: graph')
lie('a kernel before its launch', before_launch, "program's own clock")
lie('an operation missing', one_gone, 'operations of each section')
lie('the clock 6 us off', clock_off, "trace's clock")
lie('turnarounds of 15 us', slow_turnaround, 'driver API loop')
lie('a timer that stands still', no_stamps, 'own timer')
lie('a call longer than the program saw', call_outside, "program's own clock")
gs.finish()
