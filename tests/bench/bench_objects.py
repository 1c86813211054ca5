#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=bench
"""What the report of a run in an object store costs beside that of its folder: CPU of ours, wall, requests, bytes
asked for. The run is made (tests/browser/long says how), the store a server of Python's on this machine that
checks nothing, so its own CPU is not counted; its answers come over plain HTTP. What it holds lies in TMPDIR.

    bench_objects.py [EVENTS [MS [ROUNDS]]]     default 4,000,000 events, 3 rounds; MS: how long the store takes to begin each
                                                answer. 10 GB are 3,100,000,000 events: half an hour, 21 GB in TMPDIR"""
import mmap
import os
import resource
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../lib')
import gs
import objectstore

EVENTS = int(sys.argv[1]) if len(sys.argv) > 1 else 4000000
FAR_S = int(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3


class OnDisk(dict):
    """Objects as files without names: of a large run memory has room for one copy in the cache of the system, at most."""

    def __setitem__(self, key, value):
        if value:
            with tempfile.TemporaryFile() as f:
                f.write(value)
                f.flush()
                value = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        super().__setitem__(key, value)


def spent(argv, env):
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = gs.command(argv, env=env, timeout=3000)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
    gs.equal(done.returncode, 0, f'{argv}: {done.stderr}')
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, done.stdout


def later(self, do=objectstore.Asked.do_GET):
    time.sleep(FAR_S)
    do(self)


objectstore.Asked.do_GET = later
objectstore.Checked.signature = lambda self, method, url, headers, body: headers['Authorization']
with gs.scratch() as where, objectstore.Checked() as store:
    store.objects = OnDisk()
    run = os.path.join(where, 'long.gst')
    os.mkdir(run)
    gs.equal(gs.command([os.path.join(gs.BUILD, 'tests', 'long_make'), run, str(EVENTS), '8'], timeout=3000).returncode, 0, 'made')
    env = gs.environment(HOME='/nowhere', **store.environment())
    cpu, wall, _ = spent([gs.CLI, 'put', run, 's3://traces'], env)
    size = sum(len(v) for v in store.objects.values())
    print(f'put: {EVENTS:,} events, {size:,} bytes in {len(store.objects)} objects: {cpu:.2f} s of CPU, {wall:.2f} s')
    for _ in range(ROUNDS):
        store.asked.clear()
        far = spent([gs.CLI, 'report', 's3://traces/long', '--format', 'json'], env)
        near = spent([gs.CLI, 'report', run, '--format', 'json'], env)
        spans = [(p, [int(n) for n in h['Range'][6:].split('-')]) for _, p, h in store.asked if 'Range' in h]
        read = sum(min(b + 1, len(store.objects['traces', p[len('/traces/'):]])) - a for p, (a, b) in spans)
        print(f'report: {far[0]:.2f} s of CPU, {far[1]:.2f} s; of the folder {near[0]:.2f}, {near[1]:.2f}; CPU {far[0] / near[0]:.3f} '
              f'times; {len(store.asked)} requests, {read / size:.4f} of the bytes')
        gs.equal(far[2], near[2], 'the same bytes')
gs.finish()
