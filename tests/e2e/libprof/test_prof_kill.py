#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=600
"""kill -9 at random moments of the trainer, of the collector, and of both: each operation that ended
a second before the kill and was not withheld by CUPTI is in the trace, and the hole that the trace
states (from its last 'complete up to' on, and its loss spans) contains every missing one."""
import functools
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
from prof import SECOND

JOB = '''
import os, sys, time
sys.path.insert(0, os.environ['WORKLOADS'])
import gpudev
dev = gpudev.Device(0)
s = gpudev.Stream(dev)
print('go', flush=True)
while True:
    for i in range(10):
        s.kernel(800_000, name=f'layer{i}')
    s.synchronize()
    time.sleep(0.003)
'''
SLACK = int(SECOND // 2 * gs.PATIENCE)  # of a machine that has other things to do


def start_collector(where):
    path = os.path.join(where, 'socket')
    p = subprocess.Popen([os.path.join(gs.BUILD, 'bin', 'gpustarve-collector'), '--unix', path,
                          '--dir', os.path.join(where, 'runs')], env=gs.environment(),
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    gs.until('the collector listens', lambda: os.path.exists(path))
    return p


def start_job(where, collector):
    with open(os.path.join(where, 'job.py'), 'w') as f:
        f.write(JOB)
    env = prof.environment(where, WORKLOADS=gs.WORKLOADS,
                           GPUSTARVE_SOCKET=os.path.join(where, 'socket') if collector else None)
    p = subprocess.Popen([gs.WITH_GPUSIM, gs.PYTHON, 'job.py'], cwd=where, env=env,
                         stdout=subprocess.PIPE)
    gs.equal(p.stdout.readline(), b'go\n', 'the job starts')
    return p


def end(p, sig):
    if p and p.poll() is None:
        p.send_signal(sig)
    if p:
        p.wait(timeout=30 * gs.PATIENCE)


def judge(what, where, killed_ns, exact=False):
    t = prof.trace(where, damaged=True)
    if not t:
        return
    rows = [r for r in prof.truth(where) if r['end_ns'] <= killed_ns]
    got = {prof.key_of_op(e) for e in t.ops}
    lack = [r for r in rows if prof.key_of_truth(r) not in got]
    late = [r for r in lack if r['end_ns'] < killed_ns - SECOND - SLACK]
    gs.equal(len(late), 0, f'{what}: operations that ended long before the kill, such as {late[:1]}')
    complete = t.complete
    hole = gs.union([[complete, killed_ns + SECOND]] + t.lost())
    bare = [r for r in lack if gs.subtract([[r['start_ns'], r['end_ns']]], hole)
            and r['end_ns'] < complete]
    gs.equal(len(bare), 0, f'{what}: missing outside the stated hole, such as {bare[:1]}')
    gs.check(complete > killed_ns - 2 * SECOND - SLACK,
             f'{what}: the hole lasts {(killed_ns - complete) / SECOND:.2f} s')
    gs.equal(t.lost(), [], f'{what}: losses')
    if exact:
        gs.equal(len(lack), 0, f'{what}: all operations')
    print(f'{what}: {len(t.ops)} operations, {len(lack)} missing, hole '
          f'{(killed_ns - complete) / SECOND:.2f} s, {len(prof.files(where))} files', flush=True)


def told_once(what, where):
    """Until the trace has its first pulse: half a second after the begin, on a busy machine later. Before that
    it states nothing that could be judged."""
    gs.until(f'{what}: the first pulse', lambda: any(t.frames['pulse'] for t in prof.traces(where, damaged=True)))


def trainer(collector, wait):
    what = f'trainer after {wait:.2f} s' + (', with a collector' if collector else '')
    with gs.scratch() as where:
        c = start_collector(where) if collector else None
        p = start_job(where, collector)
        time.sleep(wait)
        told_once(what, where)
        killed = time.time_ns()
        end(p, signal.SIGKILL)
        time.sleep(0.3)
        end(c, signal.SIGTERM)
        judge(what, where, killed)


def collector_only(wait, restart):
    """The trainer goes on and is ended by a signal that libprof does not see either."""
    what = f'collector after {wait:.2f} s' + (', restarted' if restart else '')
    with gs.scratch() as where:
        c = start_collector(where)
        p = start_job(where, True)
        time.sleep(wait)
        end(c, signal.SIGKILL)
        time.sleep(0.4)
        again = start_collector(where) if restart else None
        time.sleep(3)
        told_once(what, where)
        killed = time.time_ns()
        end(p, signal.SIGKILL)
        time.sleep(0.3)
        end(again, signal.SIGTERM)
        judge(what, where, killed)


def both(wait, trainer_first):
    what = f'both after {wait:.2f} s'
    with gs.scratch() as where:
        c = start_collector(where)
        p = start_job(where, True)
        time.sleep(wait)
        told_once(what, where)
        killed = time.time_ns()
        for x in [p, c] if trainer_first else [c, p]:
            x.send_signal(signal.SIGKILL)
        end(p, signal.SIGKILL)
        end(c, signal.SIGKILL)
        judge(what, where, killed)


seed = int(os.environ.get('GPUSTARVE_TEST_SEED', time.time_ns() % 1_000_000))
print(f'seed {seed}', flush=True)
random.seed(seed)
cases = [functools.partial(trainer, False, random.uniform(0.8, 3) * gs.PATIENCE) for i in range(4)]
for i in range(3):
    cases += [functools.partial(trainer, True, random.uniform(0.8, 3) * gs.PATIENCE),
              functools.partial(both, random.uniform(0.8, 3) * gs.PATIENCE, random.random() < 0.5),
              functools.partial(collector_only, random.uniform(0.3, 2) * gs.PATIENCE, restart=i % 2 == 0)]
gs.side_by_side(cases, width=2)
gs.finish()
