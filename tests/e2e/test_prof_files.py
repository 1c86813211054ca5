#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=240
"""The files of a run: nobody but their owner may write them, whatever the job's umask is, and the job
sees its own umask."""
import functools
import os
import stat

import gs
import prof

JOB = '''
import os, sys, time
sys.path.insert(0, os.environ['WORKLOADS'])
import gpudev
dev = gpudev.Device(0)
s = gpudev.Stream(dev)
for i in range(30):
    s.kernel(1_000_000, name=f'layer{i}')
s.synchronize()
mask = os.umask(0)
os.umask(mask)
print(oct(mask))
os.close(os.open('of-the-job', os.O_CREAT | os.O_WRONLY, 0o666))
'''


def entries(top):
    """What lies at or below top, with its mode."""
    for folder, _, names in os.walk(top):
        yield folder, stat.S_IMODE(os.stat(folder).st_mode)
        for name in names:
            path = os.path.join(folder, name)
            yield path, stat.S_IMODE(os.lstat(path).st_mode)


def judge(where, what, done, mask, most_file, most_folder):
    gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-300:]}')
    gs.equal(done.stdout.decode().split()[-1:], [oct(mask)], f"{what}: the job's umask")
    gs.equal(stat.S_IMODE(os.stat(os.path.join(where, 'of-the-job')).st_mode), 0o666 & ~mask,
             f"{what}: the job's file")
    found = list(entries(os.path.join(where, 'runs')))
    gs.check(len(found) > 2, f'{what}: files')
    for path, mode in found:
        most = most_folder if os.path.isdir(path) else most_file
        gs.equal(mode & ~most, 0, f'{what}: {os.path.basename(path)} has mode {mode:o}')


def bare(mask, file, folder):
    """libprof writes spool files itself."""
    with gs.scratch() as where:
        done = prof.run([gs.PYTHON, '-c', JOB], where, WORKLOADS=gs.WORKLOADS, umask=mask)
        judge(where, f'umask {mask:o}, spool', done, mask, file, folder)


def wrapped(mask, file, folder):
    """With the wrapper's collector and its report."""
    with gs.scratch() as where:
        done, run, _ = gs.traced([gs.PYTHON, '-c', JOB], where, WORKLOADS=gs.WORKLOADS, umask=mask)
        judge(where, f'umask {mask:o}, wrapper', done, mask, file, folder)
        gs.check(run and os.path.exists(os.path.join(run, 'report.html')), 'a report')


gs.side_by_side([functools.partial(how, *modes) for how in [bare, wrapped]
                 for modes in [(0, 0o644, 0o755), (0o77, 0o600, 0o700)]])
gs.finish()
