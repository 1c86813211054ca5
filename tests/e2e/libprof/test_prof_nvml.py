#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""libprof and an NVML that is slow, hangs, or ends while it is asked: the job does not notice, and all
but what NVML tells is recorded. And who asks it: one process of a run for each device that works."""
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

STORM = os.path.join(gs.BUILD, 'workloads', 'forkstorm')


def calls(where):
    path = os.path.join(where, 'calls')
    return [line.split() for line in open(path)] if os.path.exists(path) else []


def hangs():
    with gs.scratch() as where:
        began = time.monotonic()
        done = prof.run([prof.MIXLOOP, 'steps=20'], where, GPUSIM_NVML='hang',
                        GPUSIM_NVML_CALLS=os.path.join(where, 'calls'))
        gs.equal(done.returncode, 0, f'NVML hangs: {done.stderr.decode()[-500:]}')
        t = prof.trace(where)
        if t:
            prof.expect_exact(where, t, 'NVML hangs')
            gs.check(t.bye and any('still under way' in n for n in t.bye['notes']),
                     f'NVML hangs: a note: {t.bye and t.bye["notes"]}')
            gs.equal(len(t.hello['devices']), 1, 'NVML hangs: the driver names its device')
        print(f'NVML hangs: {time.monotonic() - began:.1f} s', flush=True)


def exits():
    """The program ends while a call is under way: it is waited for, no other begins."""
    with gs.scratch() as where:
        path = os.path.join(where, 'calls')
        done = prof.run([STORM, 'until', path, 'GetMemoryInfo'], where, GPUSIM_NVML='slow:60',
                        GPUSIM_NVML_CALLS=path)
        gs.equal(done.returncode, 0, f'exit: {done.stderr.decode()[-500:]}')
        seen = [c[1] for c in calls(where)]
        gs.check('nvmlDeviceGetMemoryInfo' in seen, f'exit: NVML was asked: {seen}')
        gs.check('destroyed-beside-a-call' not in seen, f'exit: NVML ended beside a call: {seen}')


def asked_since(where, line):
    """(pid, UUID) of the questions about memory from a line of the file on."""
    return [(int(c[0]), c[2]) for c in calls(where)[line:] if c[1] == 'nvmlDeviceGetMemoryInfo']


def shares():
    """Of three ranks on one of two devices each asks NVML once, about that device alone; from then on
    one of them does. When it is killed another comes in for it at once. A process of another run
    asks for itself."""
    with gs.scratch() as where:
        path = os.path.join(where, 'calls')
        env = prof.environment(where, GPUSIM_NVML_CALLS=path, GPUSIM_DEVICES=2, CUDA_VISIBLE_DEVICES='1,0',
                               GPUSIM_SHM=os.path.join(where, 'shm'), GPUSTARVE_RUN_ID='shared')
        argv = [gs.WITH_GPUSIM, STORM, 'until', path, 'no-such-word']
        ranks = [subprocess.Popen(argv, env=env, cwd=where) for _ in range(3)]
        other = subprocess.Popen(argv, env=dict(env, GPUSTARVE_RUN_ID='other'), cwd=where)
        pids = {p.pid for p in ranks}
        try:
            if not gs.until('first looks', lambda: len({p for p, _ in asked_since(where, 0)}) == 4):
                return
            first = len(calls(where))
            # Time goes by: one of the run asks again, and the other run's process.
            if not gs.until('the next look', lambda: len({p for p, _ in asked_since(where, first)}) >= 2):
                return
            time.sleep(2)
            again = asked_since(where, first)
            gs.equal(len({u for _, u in asked_since(where, 0)}), 1, 'devices that were asked about')
            gs.equal(sorted(p in pids for p, _ in again), [False, True], f'looks after the first: {again}')
            asker = next(p for p, _ in again if p in pids)
            next(r for r in ranks if r.pid == asker).kill()
            killed, count = time.monotonic(), len(calls(where))
            gs.until('another comes in', lambda: {p for p, _ in asked_since(where, count)} & pids - {asker})
            print(f'shared: {len(asked_since(where, 0))} questions; another came in after '
                  f'{time.monotonic() - killed:.1f} s', flush=True)
        finally:
            for p in [*ranks, other]:
                p.kill()
                p.wait()


gs.side_by_side([hangs, exits, shares])
gs.finish()
