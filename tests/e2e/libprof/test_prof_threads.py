#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""What libprof's threads do not inherit from the thread of the program that starts them: its real-time
policy, its priority, the one CPU that it was pinned to, its signal mask."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

JOB = """
import json, os, sys, time
sys.path.insert(0, os.environ['WORKLOADS'])
import gpudev
what, always = sys.argv[1], set(sys.argv[2:])
done = True
try:
    if what == 'fifo':
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))
    elif what == 'nice':
        os.setpriority(os.PRIO_PROCESS, 0, -5)
    elif what == 'meek':
        os.setpriority(os.PRIO_PROCESS, 0, 7)
    elif what == 'pinned':
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
except PermissionError:
    done = False
stream = gpudev.Stream(gpudev.Device(0))
def work():
    for i in range(20):
        stream.kernel(100_000)
    stream.synchronize()
found, before = {}, None
end = time.monotonic() + 60
# A thread has its name first, and is what it is to be a moment later: once nothing has changed.
while done and not (always <= set(found) and found == before) and time.monotonic() < end:
    work()
    time.sleep(0.3)
    before, found = found, {}
    for tid in map(int, os.listdir('/proc/self/task')):
        name = open(f'/proc/self/task/{tid}/comm').read().strip()
        if not name.startswith('gpustarve'):
            continue
        status = open(f'/proc/self/task/{tid}/status').read()
        blocked = int(status.split('SigBlk:')[1].split()[0], 16)
        found[name] = dict(policy=os.sched_getscheduler(tid), nice=os.getpriority(os.PRIO_PROCESS, tid),
                           cpus=sorted(os.sched_getaffinity(tid)), deaf=bool(blocked >> 14 & 1))
print(json.dumps(dict(done=done, threads=found, main=dict(
    policy=os.sched_getscheduler(0), nice=os.getpriority(os.PRIO_PROCESS, 0),
    cpus=sorted(os.sched_getaffinity(0))))))
"""
ALWAYS = {'gpustarve-flush', 'gpustarve-look', 'gpustarve-send', 'gpustarve-write'}
ALL = sorted(os.sched_getaffinity(0))


def run(what, cpus=None, check=None):
    """What the threads of ours are, when the program does that before its first call of CUDA."""
    with gs.scratch() as where:
        with open(where + '/job.py', 'w') as f:
            f.write(JOB)
        prefix = ['taskset', '-c', ','.join(map(str, cpus))] if cpus else []
        done = prof.run([*prefix, gs.PYTHON, 'job.py', what, *ALWAYS], where, WORKLOADS=gs.WORKLOADS)
        gs.equal((done.returncode, done.stderr), (0, b''), what)
        told = json.loads(done.stdout)
        if not told['done']:
            gs.left_out(f'{what}: not allowed')
            return
        gs.check(ALWAYS <= set(told['threads']) <= ALWAYS | {'gpustarve-nvml'},
                 f'{what}: threads {sorted(told["threads"])}')
        for name, t in told['threads'].items():
            gs.check(t['deaf'], f'{what}: {name} takes signals of the program')
            gs.equal(t['policy'], os.SCHED_OTHER, f'{what}: policy of {name}')
            gs.equal(t['nice'], max(0, told['main']['nice']), f'{what}: niceness of {name}')
            pinned = told['main']['cpus'] if what == 'pinned' else []
            mine = cpus or ALL
            gs.equal(t['cpus'], [c for c in mine if c not in pinned] or mine, f'{what}: CPUs of {name}')


cases = [lambda: run('plain'), lambda: run('fifo'), lambda: run('nice'), lambda: run('meek'),
         lambda: run('pinned'), lambda: run('pinned', cpus=ALL[:1])]
gs.side_by_side(cases)
gs.finish()
