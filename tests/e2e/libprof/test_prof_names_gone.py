#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=300
"""Names of kernels whose module was unloaded, as CUPTI before 13.4 update 1 goes on giving them: memory that
is gone costs the name and nothing else, and a name at the same address as an older one is not taken for it."""
import sys
import textwrap

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

JOB = textwrap.dedent('''
    import ctypes, os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    device = gpudev.Device(0)
    stream = gpudev.Stream(device)
    cuda = gpudev.driver()
    P = ctypes.c_void_p
    def launch(module, name):
        f, ns = P(), ctypes.c_uint64(100_000)
        cuda.cuModuleGetFunction(ctypes.byref(f), module, name.encode())
        params = (P * 1)(ctypes.addressof(ns))
        cuda.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream.handle, params, None)
    def load():
        m = P()
        cuda.cuModuleLoadData(ctypes.byref(m), b'names and nothing else')
        return m
    for i in range(3):
        module = load()
        launch(module, f'jit_{i}')
        stream.synchronize()
        time.sleep(2.5)  # its record has come back, which takes half a second, and on a busy machine longer
        launch(module, f'jit_{i}')
        stream.synchronize()
        cuda.cuModuleUnload(module)
    if sys.argv[1] == 'late':
        module = load()
        launch(module, 'never_seen')
        stream.synchronize()
        cuda.cuModuleUnload(module)
    print('well')
    ''')


def run(what, names, *args, **env):
    """(kernels by name in the trace, lines of the trace's end)"""
    with gs.scratch() as where:
        with open(where + '/job.py', 'w') as f:
            f.write(JOB)
        done = prof.run([gs.PYTHON, 'job.py', *args], where, WORKLOADS=gs.WORKLOADS, GPUSIM_NAMES=names, **env)
        if not gs.equal((done.returncode, done.stdout, done.stderr), (0, b'well\n', b''), what):
            return [], []
        t = prof.trace(where)
        return [o['name'] for o in sorted(t.ops, key=lambda o: o['start'])], t.bye['notes']


def gone(level):
    what = f'memory that is gone, level {level}'
    names, notes = run(what, 'unmap', 'late', GPUSTARVE_LEVEL=level)
    gs.equal(len(names), 7, f'{what}: kernels')
    gs.equal(names[:6:2], ['jit_0', 'jit_1', 'jit_2'], f'{what}: names that were there')
    gs.check(all(n in ('', f'jit_{i}') for i, n in enumerate(names[1:6:2])), f'{what}: {names}')
    gs.equal(names[6:], [''], f'{what}: a name that was gone before anybody looked')
    lost = names.count('')
    gs.check(f'kernels without a name, which could not be read or found no room: {lost}' in notes, f'{what}: {notes}')


def reused(level, version):
    what = f'memory that is used again, level {level}, CUPTI {version}'
    names, notes = run(what, 'reuse', 'soon', GPUSTARVE_LEVEL=level, GPUSIM_CUPTI=version)
    gs.equal(names[::2], ['jit_0', 'jit_1', 'jit_2'], f'{what}: names')
    gs.check(not any('without a name' in n for n in notes), f'{what}: {notes}')


gs.side_by_side([lambda: gone(1), lambda: gone(0), lambda: reused(1, '13'), lambda: reused(0, '11.8')], 4)
gs.finish()
