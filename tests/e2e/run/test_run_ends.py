#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""How runs end. A run of several wrappers has failed if one of them has, whichever was first."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

JOB = ('import sys, time; sys.path.insert(0, sys.argv[1]); import gpudev\n'
       's = gpudev.Stream(gpudev.Device(0)); s.kernel(1000); s.synchronize(); print("on", flush=True)\n'
       'time.sleep(float(sys.argv[2])); sys.exit(int(sys.argv[3]))')


def job(seconds, status=0):
    return [gs.PYTHON, '-c', JOB, gs.WORKLOADS, str(seconds), str(status)]


def wrapper(where, rank, *command):
    """One of several of a run; it has begun, and its command is on the GPU."""
    p = subprocess.Popen([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', where, '--', *command], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=gs.environment(GPUSTARVE_RUN_ID='together', RANK=rank, WORLD_SIZE=2))
    gs.equal(p.stdout.readline(), b'on\n', f'rank {rank} has begun')
    return p


def ended(p):
    told = p.communicate(timeout=120)[1]
    return p.returncode, told.decode()


def digest_of(path):
    return json.loads(gs.gpustarve('digest', path).stdout.decode())


def check_failed_rank(where):
    for first, second, want in ((0, 9, 9), (9, 0, 9), (0, 0, 0), (3, 9, 3)):
        base = os.path.join(where, f'{first}-{second}')
        a = wrapper(base, 0, *job(3 if first != 3 else 1, first))
        b = wrapper(base, 1, *job(2, second))
        what = f'wrappers that end {first} and {second}'
        gs.equal((ended(a)[0], ended(b)[0]), (first, second), f'{what}: theirs')
        path = os.path.join(base, 'together.gst')
        gs.equal(gs.summary(path)['run']['exit_status'], want, f'{what}: summary')
        gs.check(f'exit status: {want}\n' in gs.gpustarve('report', path).stdout.decode(), f'{what}: report')
        gs.equal((d := digest_of(path))['exit_status'], want, f'{what}: digest')
        gs.equal(d['end'], 'failed' if want else 'ok', f'{what}: digest\'s end')
        gs.equal('Runs that failed' in gs.gpustarve('fleet', base).stdout.decode(), bool(want), f'{what}: fleet')
        page = os.path.join(path, 'summary.json')
        if second == 0:
            with open(page, encoding='utf-8') as f:
                gs.equal(json.load(f)['run']['exit_status'], want, f'{what}: summary.json as it was left')


def check_killed_wrapper(where):
    """Of one that is killed nobody knows the end: not that it went well, either."""
    a = wrapper(where, 0, *job(2))
    b = wrapper(where, 1, *job(2))
    b.kill()
    gs.equal(ended(a)[0], 0, 'the first one')
    b.communicate()
    path = os.path.join(where, 'together.gst')
    gs.equal(gs.summary(path)['run']['exit_status'], None, 'a killed wrapper: not known')


with gs.scratch() as top:
    check_failed_rank(os.path.join(top, 'failed'))
    check_killed_wrapper(os.path.join(top, 'killed'))
gs.finish()
