#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program pays for libprof that calls cuInit and launches nothing: time in cuInit, memory of its
own, threads. On the simulated GPU, whose own cuInit is short; the libraries are taken in turn.

    bench_arm.py [--rounds N] [LIBPROF...]      others to compare beside the built one"""
import argparse
import json
import os
import statistics
import subprocess

BUILD = os.environ.get('GPUSTARVE_BUILD') or os.path.join(os.path.dirname(__file__), '..', '..', 'build')
WITH = os.path.join(os.path.dirname(__file__), '..', '..', 'scripts', 'with-gpusim')
PROGRAM = '''
import ctypes, json, os, time
cuda = ctypes.CDLL('libcuda.so.1')
ctypes.CDLL('libcupti.so.13')
def private():
    with open('/proc/self/smaps_rollup') as f:
        rows = dict(line.split(':') for line in f.read().splitlines()[1:])
    return sum(int(rows[k].split()[0]) for k in ('Private_Clean', 'Private_Dirty'))
before, threads = private(), len(os.listdir('/proc/self/task'))
t = time.perf_counter_ns()
cuda.cuInit(0)
t = time.perf_counter_ns() - t
time.sleep(0.05)
print(json.dumps([t / 1000, private() - before, len(os.listdir('/proc/self/task')) - threads]))
'''


def once(libprof):
    env = {k: v for k, v in os.environ.items() if not k.startswith(('GPUSTARVE_', 'GPUSIM_', 'CUDA_'))}
    env.update(GPUSTARVE_BUILD=BUILD, GPUSTARVE_OUT='/nowhere')
    env.update({'LD_PRELOAD': libprof} if libprof else {'GPUSTARVE': '0'})
    out = subprocess.run([WITH, '/usr/bin/python3', '-c', PROGRAM], env=env, stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--rounds', type=int, default=40)
    p.add_argument('libprof', nargs='*')
    args = p.parse_args()
    libraries = [None, os.path.join(os.path.abspath(BUILD), 'lib', 'libprof.so'), *map(os.path.abspath, args.libprof)]
    seen = {lib: [] for lib in libraries}
    for _ in range(args.rounds):
        for lib in libraries:
            seen[lib].append(once(lib))
    for lib, rows in seen.items():
        us, kib, threads = (statistics.median(column) for column in zip(*rows))
        print(f'{lib or "without libprof"}: cuInit {us:.0f} us [{min(r[0] for r in rows):.0f}], '
              f'{kib:.0f} KiB more, {threads:.0f} threads more')


main()
