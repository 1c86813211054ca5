#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=3600
"""PyTorch's own list of its operators on the simulated GPU (a model), forward and backward: the program ends well, what stops
does so in a library that is only there to be loaded or over a value that nobody computed, and the trace is the truth. With
and without libprof. A campaign: GS_BIG=1."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
import torches

PROGRAM = os.path.join(gs.SOURCE, 'tests', 'programs', 'opinfo.py')
# Sizes its result by a value on the device, and divides by zero where that is absurd: a signal.
WITHOUT = ['bincount']
LIBRARIES = r'cusolver error|cuFFT error|CUFFT_NOT|when calling `cusparse|CUDNN_STATUS_NOT_SUPPORTED'
# Not of CUDA, or not of these types: as on any device.
NOWHERE = r"^NotImplementedError|expected scalar type Float but found Half"
# A stand-in's or the simulator's own: nothing but what is above may be one.
OURS = r'CUDA error|CUBLAS|CUDNN|cuDNN|cudaError|NCCL'


def command(torch):
    return [torch.python, '-W', 'ignore', PROGRAM] + [f'--without={name}' for name in WITHOUT]


def run(torch, where, preload):
    done = prof.run(command(torch), where, preload=preload, timeout=1200, GPUSIM_QUIET=1)
    gs.equal(done.returncode, 0, f'{torch.name}: {done.stdout.decode()[-300:]} {done.stderr.decode()[-2000:]}')
    return [line.split(': ', 1) for line in done.stdout.decode().splitlines()]


def judge(what, lines):
    """Counts what went through and by library what stopped; the rest took a size, an index or a condition from the
    device, and which of them get an absurd one depends on what lies in memory that is used again."""
    done = [line for line in lines if line[1] == 'done']
    stopped = [line for line in lines if re.search(LIBRARIES, line[1]) or re.search(NOWHERE, line[1])]
    rest = [line for line in lines if line not in done and line not in stopped]
    print(f'{what}: {len(done)} of {len(lines)} went through, {len(stopped)} want a library, {len(rest)} a value')
    for name, how in rest:
        gs.check(not re.search(OURS, how), f'{what}: {name}: {how}')
    gs.check(len(done) > 0.85 * len(lines) > 800, f'{what}: {len(done)} of {len(lines)}')
    gs.check(len(rest) < 0.03 * len(lines), f'{what}: {rest}')


def play(torch):
    with gs.scratch() as where:
        lines = run(torch, where, preload=True)
        judge(torch.name, lines)
        # those without a device are compilers, which a few operators start
        found = [t for t in prof.traces(where) if t.ops]
        gs.equal(len(found), 1, f'{torch.name}: traces with operations')
        if found:
            gs.check(len(found[0].ops) > 2 * len(lines), f'{torch.name}: {len(found[0].ops)} operations')
            prof.expect_exact(where, found[0], torch.name, found[0].hello['pid'])
    with gs.scratch() as where:
        judge(f'{torch.name} without libprof', run(torch, where, preload=False))


def test_operators():
    for torch in torches.some():
        if torch.name == f'torch-{torch.minor}':
            play(torch)


if not os.environ.get('GS_BIG'):
    gs.skip('a campaign: GS_BIG=1')
gs.run_tests(globals())
