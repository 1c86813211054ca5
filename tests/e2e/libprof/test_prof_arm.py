#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=300
"""A session of another client of CUPTI that begins while libprof arms, at every point of the arm: the
client gets all of its records and none of our buffers, and what runs after it is in the trace."""
import functools
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
from prof import FOREIGN

JOB = os.path.join(gs.SOURCE, 'tests', 'lib', 'arming.py')
TOUCH = os.path.join(gs.plain(gs.BUILD), 'tests', 'armtouch.so')


def session(what, pause, wait, touched=True, **env):
    """What the program saw."""
    with gs.scratch() as where:
        preload = ' '.join([gs.LIBPROF] + [TOUCH] * touched)
        done = prof.run([gs.PYTHON, JOB, 'lend', pause, wait], where, LD_PRELOAD=preload,
                        WORKLOADS=gs.WORKLOADS, **env)
        if not gs.equal((done.returncode, done.stderr), (0, b''), what):
            return {}
        seen = json.loads(done.stdout)
        gs.equal((seen['kernels'], seen['unknown']), (50, 0), f"{what}: the other client's records")
        t = prof.trace(where)
        if not t:
            return seen
        gs.equal([sum(o['name'] == n for o in t.ops) for n in ('session', 'after')], [0, 50],
                 f'{what}: what the trace holds')
        lack, extra = prof.missing(where, t)
        gs.equal(sum(extra.values()), 0, f'{what}: operations that never were')
        bare = [k for k in lack.elements() if gs.subtract([[k[3], k[4]]], t.lost(FOREIGN))]
        gs.equal(bare, [], f'{what}: missing without a word')
        return seen


def at(n):
    seen = session(f'at call {n}', n, 0)
    gs.check(seen.get('met', False), f'at call {n}: the arm was not under way')


def slow_call(name):
    session(f'in {name}', 0, 0.1, touched=False, GPUSIM_FAULT=f'pause:call={name},ms=300,nth=1')


calls = session('after the arm', -1, 0)['calls']
gs.check(calls >= 8, f'calls of libprof in the arm: {calls}')
points = range(1, calls + 1) if gs.BIG else sorted({1, calls, *range(2, calls, max(1, calls // 10))})
names = 'cuptiActivitySetAttribute', 'cuptiActivityRegisterCallbacks', 'cuptiActivityEnable'
gs.side_by_side([functools.partial(slow_call, n) for n in names] + [functools.partial(at, n) for n in points], 4)
print(f'{calls} calls in the arm, {len(points)} met')
gs.finish()
