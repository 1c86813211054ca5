#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Where the planted-fault matrix takes its truth from on a real GPU, and what the GPU check says of
its figures, over made-up ones: operations out of the lines of a dump and out of the workload's own
clock, sums over cases, which of them are told, and that a miss on a real GPU is called one."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

sys.path[:0] = [os.path.join(gs.SOURCE, 'tests'), os.path.join(gs.SOURCE, 'tests', 'gpu')]

import base  # noqa: E402
from parts import planted as part  # noqa: E402
from planted import device, truth  # noqa: E402

DUMP = '''# stream\tab\thost x\tpid 1
ab\tdriver\t1000\t50\t7\t1\t0\tcuLaunchKernel
ab\tkernel\t1500\t400\t0.1.13\t1\t0\tforward
ab\truntime\t1900\t20\t7\t2\t0\tcudaMemcpyAsync
ab\tdriver\t1905\t10\t7\t2\t0\tcuMemcpyAsync
ab\tcopy-h2d\t2000\t100\t0.1.13\t2\t64\t
cd\tgraph\t2100\t50\t0.1.13\t2\t0\t
ab\tkernel\t2600\t-5\t0.1.13\t3\t0\tbad
ab\tsync-stream\t2000\t600\t0.1.13\t4\t0\t
ab\tbatch-take\t2000\t9\t7.7\t1\t\t1\t2
'''


def lines():
    ops = device.from_lines(DUMP.splitlines(keepends=True))
    gs.equal([(o['kind'], o['start_ns'], o['end_ns'], o['launch_ns']) for o in ops],
             [('kernel', 1500, 1900, 1000), ('memcpy', 2000, 2100, 1900),
              ('graph', 2100, 2150, 2100)], 'operations of a dump')
    gaps, span = truth.idle(ops)
    gs.equal((gaps, span), ([[1900, 2000]], [1500, 2150]), 'their idle time')


def own_clock():
    """Two steps of two kernels of 500 us; between them the loop did something for 20 ms."""
    ms = 1_000_000
    rows = [dict(place=p, key=0, begin=b, end=e, pid=1, cpu=0, delay=0) for p, b, e in (
        ('begun', 0, 20_000), ('iter', ms, ms), ('next', ms, ms), ('gpu', 2 * ms, 4 * ms),
        ('step/0', 4 * ms, 24 * ms), ('gpu', 24 * ms, 26 * ms), ('ended', 27 * ms, 27 * ms))]
    plan = dict(gpu_us=1000, kernels=2, preload=True, workers=0, batch=2, steps=2)
    ops = device.from_ledger(rows, plan)
    gs.equal([(o['start_ns'], o['end_ns']) for o in ops],
             [(20_000, 30_000), (3 * ms, 4 * ms), (25 * ms, 26 * ms), (27 * ms - 10_000, 27 * ms)],
             'operations by the workload\'s own clock')
    groups, facts = truth.truth(ops, rows, plan)
    gs.equal(facts['launched'], None, 'kernels are not counted there')
    gs.equal(sum(ns for (place, _), ns in groups.items() if place == 'step/0'), 20 * ms, 'planted')


class Told:
    def __init__(self):
        self.rows = {}

    def put(self, _, question, answer, ok=None, **data):
        self.rows[question] = (answer, ok)

    def skip(self, _, question, why):
        self.rows[question] = (why, None)


def row(name, right=100, unknown=0, line=True, charged=None, notes=(), causes=(), skipped=None, also=None):
    return dict(case=name, kind=name.split('.')[0], planted_ns=0 if skipped else 100, right_ns=right,
                unknown_ns=unknown, idle_ns=120, line=line, where='', charged_ns=charged,
                notes=list(notes), causes=list(causes), skipped=skipped, also=also or {}, seconds=1)


def told(rows, simulated=False):
    base.SIMULATED = simulated
    t = Told()
    part.tell(t, rows, '')
    return t.rows


SHARE, LINE = 'planted idle time in the right class', 'first finding at the planted line'


def verdicts():
    good = [row('sleep.0'), row('spin.0', 96, 1), row('backlog.0', charged=0),
            row('slow_file.0', skipped='FUSE: no such device'), row('tiny_kernels')]
    got = told(good)
    gs.equal((got[SHARE][1], got[LINE][1]), (True, True), 'a good matrix')
    gs.check('99.0 %' in got[SHARE][0] and '4 cases of 4 kinds' in got[SHARE][0], got[SHARE])
    gs.equal(got['cases not played'][0], 'FUSE: no such device: slow_file.0', 'why not played')
    gs.equal(got['charged to a loader that is hidden behind queued work'][1], True, 'no charge')
    gs.equal(told([*good, row('b.0', 10), row('b.1', 10)])[SHARE][1], False, 'wrong classes')
    gs.equal(told([*good, row('b.0', 100, 40)])[SHARE][1], False, 'too much unknown')
    gs.equal(told([*good, row('b.0', line=False)])[LINE][1], False, 'a wrong line')
    gs.equal(told([*good, row('backlog.1', charged=5)])[
        'charged to a loader that is hidden behind queued work'][1], False, 'a charge')
    gs.equal(told([row('tiny_kernels', causes=['launching: 9 of 10 ms left'])])[
        'G11: 2,000 tiny kernels a step, and one graph of them'][1], False, 'a case by name')
    gs.equal(told([row('spin.0', notes=['idle 1, truth 9'])])['case spin.0'][1], None, 'a case')
    gs.equal(told([row('s', skipped='out of time')])[SHARE][1], False, 'nothing was played')
    bad = told([row('b.0', 10, 40, False, causes=['x']), row('uncached', 10)], True)
    gs.equal([q for q, (_, ok) in bad.items() if ok is False], [], 'the simulator under load')


def sources():
    also = dict(records=dict(truth_idle_ns=200), ledger=dict(truth_idle_ns=202, right_ns=90))
    got = part.other_sources([row('a', also=also), row('b', 94, also=also), row('c')])
    gs.equal(got, {'ledger': (2, 0.01, 0.05)}, 'two sources of the truth')
    gs.equal(told([row('a', also=also)])['the same judged by the ledger'][1], False, 'too far apart')


lines()
own_clock()
verdicts()
sources()
gs.equal(part.first_call('x\nfirst 123\n'), 123, 'first call')
gs.finish()
