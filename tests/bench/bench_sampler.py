#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_sampler.py: how much of a core the host sampler takes while the (simulated) GPU is busy
(goal: 0.1 %) and while it starves (2 %), by the sampler thread's own CPU time; and how many samples
that gave; then the same beside a crowd, of 200 threads and a pool of 64 processes, that may hold what the
trainer waits for, whose processes are found and opened at first. The machine's load is printed, for a busy
machine makes waking up dearer."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))

import json  # noqa: E402

import gs  # noqa: E402
import hostsampler as hs  # noqa: E402
import prof  # noqa: E402

CASES = [
    ('busy', 'busy', ['--steps', '300']),
    ('starving: loader of 2 workers sleeps', 'sleep', ['--steps', '500']),
    ('starving: loader without workers sleeps', 'sleep', ['--steps', '500', '--workers', '0']),
    ('starving: main thread computes', 'main', ['--steps', '150']),
]

CROWD = [('busy: 200 threads, 64 processes', ['--busy']),
         ('starving: 200 threads, 64 processes', [])]


def crowd(name, args):
    with gs.scratch() as where:
        done = prof.run([gs.PYTHON, os.path.join(gs.WORKLOADS, 'handing.py'), 'crowd', '--seconds', '30', *args],
                        where, HANDING_LOG=os.path.join(where, 'told'))
        if not gs.equal(done.returncode, 0, f'{name}: {done.stderr.decode()[-800:]}'):
            return
        said = json.loads(done.stdout.decode().splitlines()[-1])
        trace, = [t for t in prof.traces(where) if t.hello['pid'] == said['pid']]
        joined = {s['pid'] for s in trace.samples if '!' in (s.get('links') or '')} - {said['pid']}
        later = f' ({said["looked_later"]:.3%} after its first 5 s)' if '--busy' in args else ''
        print(f'{name:<42} {said["looked"]:8.3%} of a core{later}, {len(trace.samples):5d} samples, {len(joined)} '
              f'processes joined, load {os.getloadavg()[0]:.1f}', flush=True)


NATIVE = [('starving: native threads, 200 more stand by', 'sleep', ['--steps', '500', '--crowd', '200'])]


def native(where, mode, args):
    done = prof.run([gs.PYTHON, os.path.join(gs.WORKLOADS, 'nativeloop.py'), mode, *args], where)
    gs.equal(done.returncode, 0, f'nativeloop.py: {done.stderr.decode()[-500:]}')
    found = prof.traces(where)
    return json.loads(done.stdout.decode().splitlines()[-1]), found[0] if found else None


def tell(name, said, trace):
    if trace:
        print(f'{name:<46} {said["looked"]:8.3%} of a core, {len(trace.samples):5d} samples, '
              f'load {os.getloadavg()[0]:.1f}', flush=True)


if __name__ == '__main__':
    for name, mode, args in CASES:
        with gs.scratch() as where:
            tell(name, *hs.run(where, mode, *args))
    for name, args in CROWD:
        crowd(name, args)
    for name, mode, args in NATIVE:
        with gs.scratch() as where:
            tell(name, *native(where, mode, args))
    gs.finish()
