#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=1800
"""What real programs ask of the simulated driver (a model), with the packages that `scripts/setup --campaigns` makes:
kernels that Triton and numba compiled run under their own names and are in the trace as in the truth; PyTorch's allocator
works on virtual memory by hand; a CUDA runtime that is linked statically ends with one line that says so. torch.compile
runs, with graphs of its own too. A campaign (GS_BIG=1)."""
import collections
import functools
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
import torches

torches.campaign()

PROGRAMS = os.path.join(gs.SOURCE, 'tests', 'programs')
STEPS = 7


def has(torch, package):
    return os.path.isdir(os.path.join(torch.packages, *package.split(".")))


def kernels(torch, program, names, **env):
    """`names` are parts of what the kernels are called, each launched once per step."""
    what = f'{torch.name}: {program}'
    with gs.scratch() as where:
        done = prof.run([torch.python, os.path.join(PROGRAMS, program), '--steps', str(STEPS)], where,
                        TRITON_CACHE_DIR=os.path.join(where, 'triton'), NUMBA_CACHE_DIR=os.path.join(where, 'numba'),
                        TRITON_HOME=where, **env)
        gs.equal((done.returncode, done.stdout), (0, f'{STEPS} steps\n'.encode()), f'{what}: {done.stderr.decode()}')
        gs.check(done.stderr.count(b'garbage') == 1 and b'private tables' not in done.stderr,
                 f'{what}: {done.stderr.decode()}')
        # ptxas and gcc, which the program runs, are no part of it
        t = max(prof.traces(where), key=lambda t: len(t.ops))
        pid = t.hello['pid']
        prof.expect_exact(where, t, what, pid)
        seen = collections.Counter(name for op in t.ops for name in names if name in op['name'])
        gs.equal(seen, collections.Counter({name: STEPS for name in names}), f'{what}: kernels')
        for row in prof.truth(where, pid):
            if row['kind'] == 'kernel':
                gs.check(0 < row['end_ns'] - row['start_ns'] < 1_000_000, f'{what}: a kernel of {row}')


ALLOCATOR = '''
import torch
some = [torch.zeros(3_000_000, device='cuda') for _ in range(20)]
there = torch.arange(30_000_000).cuda()          # over many mappings
assert [there[i].item() for i in (0, 2_621_440, 15_000_000, 29_999_999)] == [0, 2_621_440, 15_000_000, 29_999_999]
before = torch.cuda.memory_reserved()
del some
torch.cuda.empty_cache()
assert torch.cuda.memory_reserved() < before
assert torch.empty(60_000_000, device='cuda')[7].item() == 0
try:
    torch.empty(100_000_000_000, device='cuda')
except torch.OutOfMemoryError as e:
    assert 'this process has' in str(e), e       # NVML knows the process
print(len(torch.cuda.memory_snapshot()) > 0, any(s['is_expandable'] for s in torch.cuda.memory_snapshot()))
'''


def allocator(torch, expandable):
    what = f'{torch.name}: expandable_segments:{expandable}'
    done = gs.command([gs.WITH_GPUSIM, torch.python, '-c', ALLOCATOR],
                      env=gs.environment(PYTORCH_CUDA_ALLOC_CONF=f'expandable_segments:{expandable}'), timeout=240)
    gs.equal((done.returncode, done.stdout), (0, f'True {expandable}\n'.encode()), f'{what}: {done.stderr.decode()}')


COMPILED = '''
import sys
import torch
from torch import nn
model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 10)).cuda()
opt = torch.optim.AdamW(model.parameters(), fused=True)
forward = torch.compile(model, mode=sys.argv[1])
for _ in range(6):
    x, y = torch.randn(128, 256).cuda(), torch.randint(0, 10, (128,)).cuda()
    with torch.autocast('cuda', torch.bfloat16):
        loss = nn.functional.cross_entropy(forward(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
torch.cuda.synchronize()
print('6 steps')
'''


def compiled(torch, mode, graphs):
    """torch.compile with its compiling processes, autotuning by events and, in one mode, graphs that it captures."""
    what = f'{torch.name}: torch.compile, {mode}, graphs by {graphs}'
    with gs.scratch() as where:
        done = prof.run([torch.python, '-c', COMPILED, mode], where, GPUSTARVE_GRAPHS=graphs,
                        TRITON_CACHE_DIR=os.path.join(where, 'triton'),
                        TORCHINDUCTOR_CACHE_DIR=os.path.join(where, 'inductor'))
        gs.equal((done.returncode, done.stdout), (0, b'6 steps\n'), f'{what}: {done.stderr.decode()}')
        t = max(prof.traces(where), key=lambda t: len(t.ops))
        prof.expect_exact(where, t, what, t.hello['pid'])
        gs.equal(t.losses, [], f'{what}: losses')
        names = ' '.join(op['name'] for op in t.ops)
        gs.check('triton_' in names or graphs == 'graph', f'{what}: no kernel of Triton')


STATIC = '''
from cuda.bindings import runtime
for call in runtime.cudaGetDeviceCount, runtime.cudaDeviceSynchronize, lambda: runtime.cudaMalloc(512):
    print(int(call()[0]))
'''


def static_runtime(torch):
    """It is told an error by each call, and ends itself."""
    done = gs.command([gs.WITH_GPUSIM, torch.python, '-c', STATIC], env=gs.environment(), timeout=240)
    gs.equal((done.returncode, done.stdout), (0, b'500\n' * 3), f'{torch.name}: {done.stderr.decode()}')
    gs.equal(done.stderr.count(b'\n'), 1, f'{torch.name}: {done.stderr.decode()}')
    gs.check(b'do not run on the simulated GPU' in done.stderr, f'{torch.name}: {done.stderr.decode()}')


def main():
    newest = {torch.minor: torch for torch in reversed(torches.some())}
    cases = []
    for torch in newest.values():
        cases += [functools.partial(allocator, torch, True), functools.partial(allocator, torch, False)]
        for package, case in (('triton', functools.partial(kernels, torch, 'triton_add.py', ('triton_add', 'triton_rows'))),
                              ('numba_cuda', functools.partial(kernels, torch, 'numba_kernels.py', ('scale', 'add'))),
                              ('cuda.bindings', functools.partial(static_runtime, torch))):
            if has(torch, package):
                cases.append(case)
            else:
                gs.left_out(f'no {package} in {torch.name}')
        cases += [functools.partial(compiled, torch, mode, graphs)
                  for mode in ('default', 'reduce-overhead') for graphs in ('graph', 'node')]
    gs.side_by_side(cases)


main()
gs.finish()
