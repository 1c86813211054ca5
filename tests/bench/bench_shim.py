#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python shim costs the program's thread: each call as the shim makes it, while libprof
records; and one next() of a DataLoader without workers with the shim and without, interleaved. The
GPU is simulated: a model, which has no part in these numbers."""
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))

import gs  # noqa: E402

ROUNDS, CALLS, PAIRS = 20, 1000, 5 if os.environ.get('GS_BIG') else 2


def arm():
    sys.path.insert(0, gs.WORKLOADS)
    import gpudev
    stream = gpudev.Stream(gpudev.Device(0))
    stream.kernel(1000, 'first')
    stream.synchronize()


def best(clock, call):
    """Of several rounds, nanoseconds per call: what is left is our own work."""
    import time
    times = []
    for _ in range(ROUNDS):
        start = clock()
        for _ in range(CALLS):
            call()
        times.append((clock() - start) / CALLS)
        time.sleep(0.05)  # the sender reads
    return min(times)


def calls():
    import ctypes
    import time
    arm()
    lib = ctypes.PyDLL(gs.LIBPROF)
    u32, u64, text = ctypes.c_uint, ctypes.c_ulonglong, ctypes.c_char_p

    def function(name, *types):
        f = getattr(lib, 'gpustarve_' + name)
        f.argtypes, f.restype = types, None
        return f

    take, took = function('take', u64, text, u32, u32, u64), function('took', u64, u32, u64)
    begin, end = function('begin', u32, u32), function('end', u32, u32, u64, u32, u32)
    collect = function('collect', ctypes.c_wchar_p, ctypes.py_object)
    name = b'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__'
    clock = time.perf_counter_ns
    nothing = best(clock, lambda: None)

    def wait():
        take(1, name, 0, 1, 5)
        took(1, 1, 5, 1)

    def fetch():
        begin(2, 0)
        end(2, 1, 5, 0, 4)

    def gc_run():
        collect('start', None)
        collect('stop', None)

    for what, call in (('a wait (take, took)', wait), ('a fetch (begin, end)', fetch),
                       ('a short collection (two calls)', gc_run)):
        print(f'{what}: {best(clock, call) - nothing:.0f} ns', flush=True)


def loop():
    import time
    import torch
    from torch.utils.data import DataLoader

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 4000

        def __getitem__(self, i):
            return i

    arm()
    start = time.perf_counter_ns()
    for _ in DataLoader(Data(), batch_size=None, collate_fn=int):
        pass
    print((time.perf_counter_ns() - start) / 4000)


def run(what, where, **env):
    env = gs.environment(LD_PRELOAD=gs.LIBPROF, GPUSTARVE_OUT=os.path.join(where, 'runs'), **env)
    return subprocess.run([gs.WITH_GPUSIM, gs.PYTHON, os.path.abspath(__file__), what], env=env,
                          cwd=where, stdout=subprocess.PIPE, check=True).stdout.decode()


def main():
    with gs.scratch() as where:
        print(run('calls', where), end='')
        pairs = [(float(run('loop', where, GPUSTARVE_SHIM=0)), float(run('loop', where)))
                 for _ in range(PAIRS)]
    without, with_ = ([p[i] / 1000 for p in pairs] for i in (0, 1))
    print(f'next() of a loader that does nothing, without workers: {statistics.median(without):.1f} us '
          f'without the shim ({min(without):.1f} to {max(without):.1f}), '
          f'{statistics.median(with_):.1f} us with it ({min(with_):.1f} to {max(with_):.1f}); '
          f'{PAIRS} pairs')


if len(sys.argv) > 1:
    {'calls': calls, 'loop': loop}[sys.argv[1]]()
else:
    main()
