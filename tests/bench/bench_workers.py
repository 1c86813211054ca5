#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=bench
"""What workers (gpustarve-collector --work) do that are held to a share of a core each, by a cgroup of its own each with the
children in it: one's runs a minute beside those of two, in turn; CPU and memory for one large run. The runs are made
(tests/browser/long says how); the store is a server of Python's on this machine that checks nothing and is in no cgroup.
Needs a cgroup with a quota of CPU time that may be made here (root, or one that was handed down).

    bench_workers.py [RUNS [EVENTS [LARGE]]]    default 16 runs of 4,000,000 events, and one of 40,000,000"""
import contextlib
import os
import re
import resource
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../lib')
import bucketruns as br
import gs
import objectstore
from daemon import die_with_parent

SHARE = .4
PERIOD_US = 100000
RUNS, EVENTS, LARGE = (int(sys.argv[i]) if len(sys.argv) > i else n for i, n in ((1, 16), (2, 4000000), (3, 40000000)))
# version 1 and 2
QUOTAS = (('/sys/fs/cgroup/cpu', (('cpu.cfs_period_us', f'{PERIOD_US}'), ('cpu.cfs_quota_us', f'{int(SHARE * PERIOD_US)}'))),
          ('/sys/fs/cgroup', (('cpu.max', f'{int(SHARE * PERIOD_US)} {PERIOD_US}'),)))


def write(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


@contextlib.contextmanager
def held(name):
    """A cgroup with SHARE of a core; None: there is none to be had."""
    for root, files in QUOTAS:
        path = os.path.join(root, f'gpustarve-bench-{os.getpid()}-{name}')
        try:
            os.mkdir(path)
        except OSError:
            continue
        try:
            for file, text in files:
                write(os.path.join(path, file), text)
        except OSError:
            os.rmdir(path)
            continue
        try:
            yield path
        finally:
            gs.until('the cgroup is empty', lambda: not open(os.path.join(path, 'cgroup.procs'), encoding='utf-8').read(), 30)
            os.rmdir(path)
        return
    yield None


def throttled_s(group):
    """How long it was held back."""
    with open(os.path.join(group, 'cpu.stat'), encoding='utf-8') as f:
        words = dict(line.split() for line in f)
    return int(words['throttled_time']) / 1e9 if 'throttled_time' in words else int(words['throttled_usec']) / 1e6


def peaks(pid, most):
    """The most that this process and each below it ever had, by whether it is the worker."""
    todo = [pid]
    while todo:
        p = todo.pop()
        with contextlib.suppress(OSError, StopIteration):
            with open(f'/proc/{p}/status', encoding='utf-8') as f:
                kib = next(int(line.split()[1]) for line in f if line.startswith('VmHWM'))
            most[p == pid] = max(most.get(p == pid, 0), kib)
            with open(f'/proc/{p}/task/{p}/children', encoding='utf-8') as f:
                todo += [int(w) for w in f.read().split()]


def work(store, where, workers, runs):
    """Wall, CPU and the largest process until @workers of them have done all; the marks go afterwards."""
    with contextlib.ExitStack() as stack:
        groups = [stack.enter_context(held(str(i))) for i in range(workers)]
        if None in groups:
            return None

        def join(group):
            die_with_parent()
            write(os.path.join(group, 'cgroup.procs'), str(os.getpid()))
        began, most = time.monotonic(), {}
        with open(os.path.join(where, 'log'), 'wb') as log:
            started = [subprocess.Popen(br.worker(where, '--once', '--verbose'), env=br.environment(store), stderr=log,
                                        preexec_fn=lambda g=g: join(g)) for g in groups]
        want = {m[:2] for m in runs}
        while {m[:2] for m in made.marks('digest')} < want and any(p.poll() is None for p in started):
            time.sleep(.02)
            for p in started:
                peaks(p.pid, most)
        wall = time.monotonic() - began
        ended = [os.wait4(p.pid, 0) for p in started]
        back = sum(throttled_s(g) for g in groups)
    gs.equal([status for _, status, _ in ended], [0] * workers, 'ended')
    gs.equal({m[:2] for m in made.marks('digest')}, want, 'all are done')
    with open(os.path.join(where, 'log'), encoding='utf-8') as f:
        told = [[float(w) for w in re.findall(r' in ([0-9.]+) s', line)] for line in f if ': analysed ' in line]
    for key in [k for k in store.objects if '/.work/' in k[1]]:
        del store.objects[key]
    os.unlink(os.path.join(where, 'fleet'))
    return wall, sum(r.ru_utime + r.ru_stime for _, _, r in ended), most, told, back


def make(where, name, events):
    run = os.path.join(where, name + '.gst')
    os.mkdir(run)
    gs.equal(gs.command([os.path.join(gs.BUILD, 'tests', 'long_make'), run, str(events), '8']).returncode, 0, 'made')
    return run


objectstore.Checked.signature = lambda self, method, url, headers, body: headers['Authorization']
with gs.scratch() as where, objectstore.Checked() as store:
    made = br.Runs(store, where, make(where, 'some', EVENTS))
    size = sum(len(v) for v in made.pieces.values())
    names = [('team', f'r{i}') for i in range(RUNS)]
    for team, run in names:
        made.add(team, run)
    rates = {1: [], 2: []}
    for workers in (1, 2) * 3:
        got = work(store, where, workers, names)
        if not got:
            gs.skip('no cgroup with a quota of CPU time can be made here')
        wall, cpu, _, told, back = got
        rates[workers].append(RUNS / wall * 60)
        print(f'{workers} held to {SHARE} of a core: {RUNS} runs of {size:,} bytes in {wall:.2f} s, {RUNS / wall * 60:.1f} a minute; CPU '
              f'{cpu:.2f} s ({cpu / wall / workers:.2f} of a core each), held back {back:.1f} s; {len(told)} analyses, each fetched in {sum(t[0] for t in told) / len(told):.2f} s and analysed in '
              f'{sum(t[1] for t in told) / len(told):.2f} s', flush=True)
    each = [b / a for a, b in zip(rates[1], rates[2])]
    print(f'two take {max(rates[2]) / max(rates[1]):.2f} times one\'s by the fastest of each, {min(each):.2f} to {max(each):.2f} pair by pair (goal 1.8)',
          flush=True)
    store.objects.clear()
    made = br.Runs(store, where, make(where, 'large', LARGE))
    size = sum(len(v) for v in made.pieces.values())
    made.add('team', 'large')
    wall, cpu, most, _, _ = work(store, where, 1, [('team', 'large')])
    print(f'one run of {size:,} bytes: {wall:.1f} s, CPU {cpu:.2f} s: {cpu / size * 1e9:.1f} s a GB; the worker had {most[True] / 1024:.0f} MiB at most, a '
          f'child of it {most[False] / 1024:.0f} MiB')
    print(f'this bench and its store: CPU {sum(resource.getrusage(resource.RUSAGE_SELF)[:2]):.1f} s')
gs.finish()
