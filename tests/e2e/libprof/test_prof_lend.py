#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""Sessions of torch.profiler, and of JAX's, TensorFlow's and Triton's, of which Python tells beforehand:
the other client gets all of its records and none of our buffers, and the trace lacks what ran in its
sessions, and says so."""
import functools
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
from prof import FOREIGN

JOB = os.path.join(gs.WORKLOADS, 'borrower.py')
KERNELS = 150  # more than fit into a small buffer
OLD = None if os.environ.get('GPUSTARVE_PYTHON') else '11.8'  # a torch for CUDA 13 loads libcupti.so.13 alone
USDT = re.compile(rb'USDT:.*\n')  # torch says by the clock when a profiler starts


def run(what, *args, job=JOB, **env):
    """(trace, operations that it lacks, what was printed)"""
    with gs.scratch() as where:
        done = prof.run([gs.PYTHON, job, *map(str, args)], where, **env)
        gs.equal((done.returncode, USDT.sub(b'', done.stderr)), (0, b''), what)
        t = prof.trace(where)
        if '--clock' in args:  # carried from another clock, times are not the same to the nanosecond
            return t, None, done.stdout
        lack, extra = prof.missing(where, t)
        gs.equal(sum(extra.values()), 0, f'{what}: operations that never were')
        lost = list(lack.elements())
        bare = [k for k in lost if gs.subtract([[k[3], k[4]]], t.lost(FOREIGN))]
        gs.equal(len(bare), 0, f'{what}: of {len(lost)} missing, such as {bare[:1]}, no word')
        return t, lost, done.stdout


def sessions(version):
    what = f'CUPTI {version}, two sessions'
    t, lost, out = run(what, 2, KERNELS, GPUSIM_CUPTI=version)
    gs.equal(out.decode().splitlines(), [f'session {i} kernels {KERNELS} unknown buffers 0'
                                         for i in range(2)] + ['done'], what)
    gs.equal(sorted(k[5] for k in lost), ['session'] * 2 * KERNELS, f'{what}: missing')
    gs.equal(len(t.ops), 5 * KERNELS, f'{what}: all others')
    gs.check(any('torch.profiler' in n for n in t.bye['notes']), f'{what}: told in {t.bye["notes"]}')
    print(f'{what}: {gs.measure(t.lost(FOREIGN)) / 1e9:.3f} s lost')


def clocked():
    """The other client leaves its clock in the records: all that ran after its session is read."""
    what = 'two sessions with a clock'
    t, lost, out = run(what, '--clock', 2, KERNELS)
    gs.equal(out.decode().splitlines(), [f'session {i} kernels {KERNELS} unknown buffers 0'
                                         for i in range(2)] + ['done'], what)
    gs.equal([sum(o['name'] == name for o in t.ops) for name in ('before', 'session', 'after')],
             [3 * KERNELS, 0, 2 * KERNELS], f'{what}: kernels before, in and after sessions')
    gs.equal(t.bye['last']['invalid'], 0, f'{what}: bad stamps')


def first():
    what = 'a session before the first call of CUDA'
    t, lost, out = run(what, '--first', 1, KERNELS)
    gs.equal(out, b'session 0 kernels %d unknown buffers 0\ndone\n' % KERNELS, what)
    gs.equal((sorted(k[5] for k in lost), len(t.ops)), (['session'] * KERNELS, KERNELS), what)


def detached():
    """CUPTI is detached behind our back some time after the session: it is missed, and comes back
    much sooner than a thief's time is over."""
    what = 'a client that detaches CUPTI'
    t, lost, out = run(what, '--finalize', '--after', 9, 1, KERNELS)
    gs.equal(out, b'session 0 kernels %d unknown buffers 0\ndone\n' % KERNELS, what)
    gs.check(t.ops[-1]['end'] > t.lost(FOREIGN)[-1][1], f'{what}: never came back')


def detaches():
    what = 'a client that says that it will'
    t, lost, out = run(what, '--finalize', '--after', 4, 1, KERNELS, TEARDOWN_CUPTI=1, GPUSIM_CUPTI=OLD)
    gs.equal(out, b'session 0 kernels %d unknown buffers 0\ndone\n' % KERNELS, what)
    gs.check(t.ops[-1]['name'] == 'later', f'{what}: never came back')


def torn_down(said):
    """A client that detaches CUPTI from within a callback of its own, as Kineto does, said so beforehand or not:
    it has all of its records with the operators that they belong to, and we come back."""
    what = 'a client that takes CUPTI down' + (' and says so' if said else '')
    t, lost, out = run(what, '--teardown', '--after', 4, 2, KERNELS, **({'TEARDOWN_CUPTI': 1} if said else {}))
    gs.equal(out.decode().splitlines(),
             [line for i in range(2) for line in (f'kernels of operators {KERNELS}',
                                                  f'session {i} kernels {KERNELS} unknown buffers 0')] +
             ['torn down 2', 'done'], what)
    for i, (_, end) in enumerate(t.lost(FOREIGN)):
        gs.check(any(o['start'] > end for o in t.ops), f'{what}: never came back after span {i}')
    print(f'{what}: {gs.measure(t.lost(FOREIGN)) / 1e9:.3f} s lost')


def refuses():
    """A client that gives CUPTI no more buffers while its session goes on: the records that it loses are its own."""
    what = 'a client that refuses buffers'
    t, lost, out = run(what, '--refuse', 2, 2 * KERNELS)
    rows = out.decode().splitlines()
    gs.equal([rows[0], rows[2], rows[4]], ['refused True'] * 2 + ['done'], f'{what}: {rows}')
    gs.equal(sorted(k[5] for k in lost), ['session'] * 4 * KERNELS, f'{what}: missing')
    gs.equal((t.bye['last']['dropped'], t.lost(prof.DROPPED)), (0, []), f'{what}: lost of ours')


def neighbour(which, name):
    """Stand-ins in the shape of the real packages, for these need a GPU to have anything to do with CUPTI."""
    what = f'sessions of {name}'
    job, near = os.path.join(gs.WORKLOADS, 'neighbour.py'), os.path.join(gs.WORKLOADS, 'neighbours')
    t, lost, out = run(what, which, KERNELS, job=job, PYTHONPATH=near)
    gs.equal(out.decode().splitlines(), [f'kernels {KERNELS} unknown buffers 0'] * 2 + ['done'], what)
    gs.equal(sorted(k[5] for k in lost), ['session'] * 2 * KERNELS, f'{what}: missing')
    gs.equal(len(t.ops), 3 * KERNELS, f'{what}: all others')
    notes = [n for n in t.bye['notes'] if 'CUPTI was lent' in n]
    gs.check(len(notes) == 1 and f'lent to {name}:' in notes[0], f'{what}: told in {notes}')


NEIGHBOURS = [functools.partial(neighbour, *n) for n in (
    ('jax', 'jax.profiler'), ('tensorflow', "TensorFlow's profiler"), ('triton', "Triton's Proton"))]
TORN = [functools.partial(torn_down, said) for said in (True, False)]
gs.side_by_side(TORN + NEIGHBOURS + [detached, detaches, first, clocked, refuses, lambda: sessions('13')], 5)
gs.finish()
