#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""From when on a process holds its GPU: from its program's start, not from the fork of the shell that waited before it; of a
child that was forked without a program of its own, from that fork. Where libprof comes with CUDA alone the fork is all it knows."""
import os
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

TICK, SECOND = 20_000_000, 10**9  # /proc tells of a fork in hundredths of a second
USE = 'sys.path.insert(0, sys.argv[1]); import gpudev; s = gpudev.Stream(gpudev.Device(0)); s.kernel(1000); s.synchronize()\n'
NOW = 'import os, sys, time; note = lambda what: print(what, time.time_ns(), file=open(sys.argv[2], "a"))\n'
PROGRAM = NOW + 'note("main")\n' + USE + 'time.sleep(0.2)'
CHILD = NOW + ('note("before")\n'
               'if not (child := os.fork()):\n note("main"); time.sleep(0.7)\n ' + USE.strip() + '\n os._exit(0)\n'
               'os.waitpid(child, 0); time.sleep(0.5)')
STAMP = 'echo before $(date +%s%N) >>"$0"; '


def held(where, name, script, *options, program=PROGRAM, **env):
    """[from, to) in which the GPU was held, and what the processes wrote down, in ns since 1970."""
    notes, asked = os.path.join(where, name + '.notes'), time.time_ns()
    done, run, _ = gs.traced(['bash', '-c', STAMP + script, notes, gs.PYTHON, '-c', program, gs.WORKLOADS, notes],
                             os.path.join(where, name), options, GPUSIM_DEVICES=1, **env)
    gs.equal(done.returncode, 0, f'{name}: {done.stderr.decode()[-500:]}')
    s = gs.summary(run)
    gs.equal(sum(s['gpus'][0]['classes'].values()), s['gpus'][0]['held_ns'], f'{name}: classes')
    gs.equal([type(n) for n in s['gpus'][0]['classes'].values()], [int] * len(s['gpus'][0]['classes']), f'{name}: nanoseconds')
    with open(notes, encoding='utf-8') as f:
        told = dict(((k, int(v)) for k, v in map(str.split, f)), asked=asked)
    return s['gpus'][0]['held_start_ns'], told


def between(what, begin, first, last, slack):
    gs.check(first - slack <= begin <= last + slack,
             f'{what}: held from {(begin - first) / 1e6:.1f} ms behind the first moment that it may be, the last is {(last - first) / 1e6:.1f} ms')


def check_exec(where):
    begin, told = held(where, 'exec', 'sleep 1; ' + STAMP + 'exec "$@"')
    between('a shell that waits and execs', begin, told['before'], told['main'], SECOND // 1000)


def check_fork_and_exec(where):
    begin, told = held(where, 'fork', 'sleep 1; ' + STAMP + '"$@"; true')
    between('a shell that waits and starts', begin, told['before'], told['main'], SECOND // 1000)


def check_forked_child(where):
    begin, told = held(where, 'child', 'sleep 1; exec "$@"', program=CHILD)
    between('a child without a program of its own', begin, told['before'], told['main'], TICK)


def check_late_library(where):
    begin, told = held(where, 'late', 'sleep 1; exec "$@"', GPUSTARVE_PRELOAD=0)
    between('libprof by CUDA alone', begin, told['asked'], told['before'], TICK)


with gs.scratch() as top:
    gs.side_by_side([lambda c=c: c(top) for c in (check_exec, check_fork_and_exec, check_forked_child, check_late_library)], 2)
gs.finish()
