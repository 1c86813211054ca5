#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=240
"""The files of a run: nobody but their owner may write them, whatever the job's umask is, and the job
sees its own umask. They take no descriptor that the program counts on, and hold none of its own."""
import ctypes
import functools
import os
import stat
import struct
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
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


LOWFD = os.path.join(gs.BUILD, 'workloads', 'lowfd')
CLOSE_RANGE, UNSHARE = 436, {'x86_64': 272, 'aarch64': 97}.get(os.uname().machine)
LIBC = ctypes.CDLL(None, use_errno=True)


def refuse(*numbers):
    """In a child, before the program: these system calls answer ENOSYS to it, as on an old kernel."""
    code = [(0x20, 0, 0, 0), *((0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)),
            (0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x00050026)]
    text = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *c) for c in code))
    program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(code), ctypes.addressof(text)))
    if LIBC.prctl(38, 1, 0, 0, 0) or LIBC.prctl(22, 2, program, 0, 0):
        os._exit(99)


def numbers(what, without=(), apart=True):
    """@without: system calls that the kernel does not have; @apart: a table of its own is to be had."""
    with gs.scratch() as where:
        done = gs.command([gs.WITH_GPUSIM, LOWFD, '0.8' if apart else '0.1'], cwd=where, timeout=120,
                          env=dict(prof.environment(where), GPUSIM_TRUTH=''),
                          preexec_fn=functools.partial(refuse, *without) if without else None)
        if done.returncode == 99 and without:
            print(f'{what}: no filters here')
            return
        gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-300:]}')
        wrong, _, rounds = done.stdout.decode(errors='replace').partition(' of ')
        if apart:
            gs.equal(done.stderr, b'', f'{what}: stderr')
            gs.equal(wrong, '0 0 0 0', f'{what}: wrong numbers in {rounds.strip()} rounds')
        print(f'{what}: {wrong} wrong of {rounds.strip()}', flush=True)
        found = prof.traces(where, damaged=not apart)
        gs.check(found and len(found[0].ops) > 1000, f'{what}: operations')


def end_of_output():
    """A reader of what the program writes sees its end when the program closes it."""
    with gs.scratch() as where:
        job = JOB.replace('print(oct(mask))', 'os.close(1); time.sleep(2)')
        p = subprocess.Popen([gs.WITH_GPUSIM, gs.PYTHON, '-c', job], cwd=where,
                             env=prof.environment(where, WORKLOADS=gs.WORKLOADS),
                             stdout=subprocess.PIPE, preexec_fn=lambda: refuse(CLOSE_RANGE))
        p.stdout.read()
        gs.equal(p.poll(), None, 'the program goes on when its output has ended')
        gs.equal(p.wait(timeout=60), 0, 'status')


cases = [functools.partial(numbers, 'spool'),
         functools.partial(numbers, 'spool, Linux before 5.9', without=[CLOSE_RANGE]), end_of_output]
if UNSHARE:
    cases.append(functools.partial(numbers, 'spool, no table of its own', apart=False,
                                   without=[CLOSE_RANGE, UNSHARE]))
gs.side_by_side(cases)
gs.side_by_side([functools.partial(how, *modes) for how in [bare, wrapped]
                 for modes in [(0, 0o644, 0o755), (0o77, 0o600, 0o700)]])
gs.finish()
