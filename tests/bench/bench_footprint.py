#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What libprof costs a Python process that never touches a GPU: `python3 -c pass` with it preloaded
and without, in turn. CPU time (user and system) and minor faults from wait4; the largest resident
set, the proportional set and the private memory from /proc, read by the program itself as its last
act. Then what a loader worker's own sampler adds to its worker, on the simulated GPU.

    bench_footprint.py [ROUNDS]"""
import os
import re
import statistics
import subprocess
import sys
import time

SOURCE = os.environ.get('GPUSTARVE_SOURCE') or os.path.abspath(
    os.path.join(os.path.dirname(__file__), '..', '..'))
sys.path.insert(0, os.path.join(SOURCE, 'tests', 'lib'))
import gs  # noqa: E402

PROGRAMS = {
    'python3 -c pass': [gs.PYTHON, '-c', 'pass'],
    'python3 -S -c pass': [gs.PYTHON, '-S', '-c', 'pass'],
    'true': ['/bin/true'],
}
LAST = """
import sys
sys.stdout.write(open('/proc/self/smaps_rollup').read() + open('/proc/self/status').read())
"""
WORKERS = 4
JOB = """
import os, re, sys, time
import torch
from torch.utils.data import DataLoader, Dataset
sys.path.insert(0, os.environ['WORKLOADS'])
import gpudev
class Slow(Dataset):
    def __len__(self):
        return 400
    def __getitem__(self, i):
        time.sleep(0.1)
        return torch.zeros(4)
stream = gpudev.Stream(gpudev.Device(0))
stream.kernel(1000, 'first')
stream.synchronize()
batches = iter(DataLoader(Slow(), batch_size=1, num_workers=int(sys.argv[1])))
for _ in range(100):  # the GPU starves all the time
    next(batches)
for w in batches._workers:
    text = open(f'/proc/{w.pid}/smaps_rollup').read()
    print(*[sum(int(kb) for kb in re.findall(rf'^{name}: +(\\d+) kB', text, re.M))
            for name in ('Pss', 'Private_(?:Clean|Dirty)')], len(os.listdir(f'/proc/{w.pid}/task')))
os._exit(0)
"""
VARIANTS = {
    'without': {},
    'with': {'LD_PRELOAD': gs.LIBPROF},
    'no shim': {'LD_PRELOAD': gs.LIBPROF, 'GPUSTARVE_SHIM': '0'},
}


def environment(more):
    return dict(gs.environment(), GPUSTARVE_OUT='/tmp', **more)


def once(argv, env):
    """(CPU microseconds, minor faults, wall microseconds)."""
    begin = time.monotonic_ns()
    pid = os.posix_spawn(argv[0], argv, env)
    _, status, use = os.wait4(pid, 0)
    if status:
        sys.exit(f'{argv}: status {status}')
    return ((use.ru_utime + use.ru_stime) * 1e6, use.ru_minflt,
            (time.monotonic_ns() - begin) / 1e3)


def sets(env):
    """KiB of a Python that reads them and does no more: proportional, private, largest resident."""
    text = subprocess.run([gs.PYTHON, '-c', LAST], env=env, stdout=subprocess.PIPE).stdout.decode()
    size = dict(re.findall(r'^(\w+):\s+(\d+) kB', text, re.M))
    return int(size['Pss']), int(size['Private_Clean']) + int(size['Private_Dirty']), int(size['VmHWM'])


def compare(name, argv, rounds):
    found = {v: [] for v in VARIANTS}
    envs = {v: environment(more) for v, more in VARIANTS.items()}
    for _ in range(rounds):
        for v in VARIANTS:
            found[v].append(once(argv, envs[v]))
    base = [statistics.median(x) for x in zip(*found['without'])]
    for v, rows in found.items():
        mine = [statistics.median(x) for x in zip(*rows)]
        pairs = [a[0] - b[0] for a, b in zip(rows, found['without'])]
        print(f'{name:20} {v:8} cpu {mine[0]:8.0f} us, {mine[0] - base[0]:+6.0f} (pairs '
              f'{statistics.median(pairs):+6.0f})  faults {mine[1]:6.0f} {mine[1] - base[1]:+5.0f}  '
              f'wall {mine[2]:8.0f} us {mine[2] - base[2]:+6.0f}', flush=True)


def compare_sets(rounds):
    found = {v: [sets(environment(more)) for _ in range(rounds)] for v, more in VARIANTS.items()}
    base = [statistics.median(x) for x in zip(*found['without'])]
    for v, rows in found.items():
        mine = [statistics.median(x) for x in zip(*rows)]
        print(f'{"python3, its sets":20} {v:8} proportional {mine[0]:6.0f} KiB {mine[0] - base[0]:+5.0f}  '
              f'private {mine[1]:6.0f} KiB {mine[1] - base[1]:+5.0f}  largest resident '
              f'{mine[2]:6.0f} KiB {mine[2] - base[2]:+5.0f}', flush=True)


def compare_workers(rounds):
    found = {'0': [], '1': []}
    for _ in range(rounds):
        for sampler, rows in found.items():
            env = dict(environment(VARIANTS['with']), GPUSTARVE_SAMPLER=sampler,
                       WORKLOADS=gs.WORKLOADS)
            with gs.scratch() as where:
                env['GPUSTARVE_OUT'] = where
                done = subprocess.run([gs.WITH_GPUSIM, gs.PYTHON, '-c', JOB, str(WORKERS)], env=env,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            rows += [tuple(map(int, line.split())) for line in done.stdout.decode().splitlines()]
    if not all(found.values()):
        print('a loader worker: needs torch')
        return
    for sampler, rows in found.items():
        mine = [statistics.median(x) for x in zip(*rows)]
        print(f'a loader worker, sampler {sampler}: proportional {mine[0]:6.0f} KiB, private '
              f'{mine[1]:6.0f} KiB, {mine[2]:.0f} threads', flush=True)


rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
for name, argv in PROGRAMS.items():
    compare(name, argv, rounds)
compare_sets(max(5, rounds // 8))
compare_workers(max(1, rounds // 20))
