#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""The hooks of libprof/python/lend.py sit where the real JAX and Triton begin and end sessions, as far as
these go without a GPU. Needs the Python that `scripts/setup --campaigns` makes."""
import os
import sys
import textwrap

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

PYTHON = os.path.join(gs.BUILD, 'campaigns', 'bin', 'python')
JAX = textwrap.dedent('''
    import os, sys
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    stream = gpudev.Stream(gpudev.Device(0))
    def work(name):
        for _ in range(50):
            stream.kernel(100_000, name=name)
        stream.synchronize()
    work('before')
    import jax, jax.numpy
    print(jax.profiler.start_trace.__wrapped__.__code__.co_filename.endswith('jax/_src/profiler.py'))
    jax.profiler.start_trace('one')
    work('session')
    try:
        jax.profiler.start_trace('again')
    except RuntimeError as e:
        print(e)
    print(jax.jit(lambda x: x + 1)(jax.numpy.zeros(2)))
    jax.profiler.stop_trace()
    work('between')
    with jax.profiler.trace('two'):
        work('session')
    work('after')
    print(any('xplane' in f for _, _, files in os.walk('one') for f in files))
    ''')
TRITON = textwrap.dedent('''
    import os, sys
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    stream = gpudev.Stream(gpudev.Device(0))
    stream.kernel(100_000, name='before'); stream.synchronize()
    import triton.profiler as proton
    print([f.__wrapped__.__code__.co_filename.endswith('triton/profiler/profile.py')
           for f in (proton.start, proton.finalize)])
    print(proton.start('name', backend='cupti'))  # switched off by the environment
    stream.kernel(100_000, name='after'); stream.synchronize()
    ''')


def ran(program, package, who, want_out, want_ops, **env):
    with gs.scratch() as where:
        done = prof.run([PYTHON, '-c', program], where, WORKLOADS=gs.WORKLOADS, JAX_PLATFORMS='cpu', **env)
        out = done.stdout.decode().splitlines()
        gs.equal((done.returncode, out), (0, want_out), f'{package}: {done.stderr.decode()[-800:]}')
        t = prof.trace(where)
        gs.equal([o['name'] for o in t.ops], want_ops, f'{package}: operations')
        notes = [n for n in t.bye['notes'] if 'CUPTI was lent' in n]
        gs.check(len(notes) == 1 and f'lent to {who}:' in notes[0], f'{package}: told in {notes}')
        print(f'{package}: lent, {len(t.ops)} operations')


def has(package):
    return os.path.exists(PYTHON) and not gs.command([PYTHON, '-c', f'import {package}']).returncode


found = [p for p in ('jax', 'triton.profiler') if has(p)]
if not found:
    gs.skip('neither jax nor triton: scripts/setup --campaigns installs them')
if 'jax' in found:
    ran(JAX, 'jax', 'jax.profiler',
        ['True', 'Profile has already been started. Only one profile may be run at a time.', '[1. 1.]', 'True'],
        ['before'] * 50 + ['between'] * 50 + ['after'] * 50)
if 'triton.profiler' in found:
    ran(TRITON, 'triton', "Triton's Proton", ['[True, True]', 'None'], ['before', 'after'],
        TRITON_PROTON_DISABLE=1)
gs.finish()
