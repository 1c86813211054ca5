#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=600
"""PyTorch on the stand-in for the CUDA runtime (a model), under libprof: its allocators, streams, events, graphs, pinned memory, loader and
threads; what the trace has of it is what the truth file has. A campaign (GS_BIG=1)."""
import collections
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
import torches

torches.campaign()

PROGRAM = os.path.join(gs.SOURCE, 'tests', 'programs', 'runtime.py')
# In torch's second allocator, graphs have memory of their own, which there is none of.
ASYNC_STOPS = {'graphs', 'graphed'}
ALLOCATORS = {'expandable_segments:True': set(), 'backend:cudaMallocAsync': ASYNC_STOPS,
              'pinned_use_cuda_host_register:True,pinned_num_register_threads:2': set()}


def rows(where):
    return gs.truth_lines(os.path.join(where, 'truth'))


def play(torch, what, stops=(), **env):
    """{kind: operations} of the process itself."""
    with gs.scratch() as where:
        done = prof.run([torch.python, PROGRAM], where, GPUSIM_DEVICES=2, PYTORCH_KERNEL_CACHE_PATH=where, **env)
        gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()}')
        said = dict(line.split(': ', 1) for line in done.stdout.decode().splitlines())
        gs.equal({name for name, how in said.items() if how != 'done'}, set(stops), f'{what}: {said}')
        gs.check(b'linked statically' not in done.stderr, f'{what}: of a compiler: {done.stderr.decode()}')
        gs.equal([row for row in rows(where) if 'missing' in row], [], f'{what}: without a body')
        prof.expect_exact(where, prof.trace(where), what)
        return [row for row in rows(where) if 'kind' in row]


def test_runtime():
    for torch in torches.some():
        ops = play(torch, torch.name)
        kinds = collections.Counter(op['kind'] for op in ops)
        # two graphs thrice; a model forward and backward thrice
        gs.equal(kinds['graph'], 6 + 6, f'{torch.name}: graphs')
        p2p = [(op['from'], op['peer']) for op in ops if op.get('copy') == 'p2p']
        gs.equal(p2p, [(0, 1), (0, 1)], f'{torch.name}: copies between devices')
        fills = [op for op in ops if op['kind'] == 'kernel' and 'FillFunctor' in op['name']]
        gs.check(len(fills) >= 100, f'{torch.name}: {len(fills)} fills')
        gs.equal(sum('bessel' in op['name'] for op in ops if op['kind'] == 'kernel'), 1, f'{torch.name}: compiled')


def test_allocators():
    torch = torches.some()[0]
    for conf, stops in ALLOCATORS.items():
        play(torch, conf, stops, PYTORCH_ALLOC_CONF=conf)


gs.run_tests(globals())
