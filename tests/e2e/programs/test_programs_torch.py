#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=600
"""PyTorch's unchanged CUDA wheels on the simulated GPU: each that is here imports and finds the device, and a few training
steps are the same in the simulator's truth, in the trace and to torch.profiler. GS_BIG=1: with every PyTorch; else with
the newest of Debian's Python."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import playing
import torches

NAME = 'import torch; print(torch.cuda.get_device_name()); print(torch.version.cuda is not None, torch.cuda.device_count())'
WANT = 'NVIDIA H100 80GB HBM3 (simulated)\nTrue 1\n'

ALL = torches.some()
PLAYED = ALL if gs.BIG else [t for t in ALL if t.number == '3.11'][-1:]


def device(torch):
    with gs.scratch() as where:
        bare = playing.play(torch, os.path.join(where, 'bare'), '-c', NAME, ours=False)
        ours = playing.play(torch, os.path.join(where, 'ours'), '-c', NAME)
        for play in (bare, ours):
            playing.expect_ended(play, WANT)
            playing.expect_nothing_missing(play)
        playing.expect_alike(bare, ours)


def steps(torch):
    with gs.scratch() as where:
        what = ('transformer.py', '--steps', '4')
        bare = playing.play(torch, os.path.join(where, 'bare'), *what, ours=False)
        ours = playing.play(torch, os.path.join(where, 'ours'), *what)
        profiled = playing.play(torch, os.path.join(where, 'profiled'), *what, ours=False, profile=True)
        for play in (bare, ours, profiled):
            if not playing.expect_ended(play, 'trained 4 steps\n'):
                return
            playing.expect_nothing_missing(play)
        playing.expect_alike(bare, ours)
        n = playing.expect_exact(ours)
        gs.check(n > 500, f'{ours.what}: only {n} operations')
        counts = playing.counted(playing.in_truth(ours))
        playing.expect_trace(ours)
        playing.expect_same(playing.counted(playing.in_truth(bare)), counts, f'{ours.what}: a run without gpustarve')
        playing.expect_profile(ours, profiled)
        playing.expect_arithmetic(ours)
        playing.expect_classes(ours)


def test_compare():
    """The comparison itself sees what differs."""
    some = playing.counted([('kernel', 'a'), ('kernel', 'a'), ('memset', 'Memset (Device)')])
    gs.equal(playing.differences(some, some), [], 'the same')
    gs.equal(playing.differences(some, {'kernel': {'a': 1, 'b': 1}}),
             ['kernel a: 2, not 1', 'kernel b: 0, not 1', 'memset Memset (Device): 1, not 0'], 'differences')
    gs.equal(playing.demangled('_ZN2at6native12_GLOBAL__N_14someEPf'), 'at::native::(anonymous namespace)::some(float*)', 'name')
    gs.equal(playing.demangled('gemm'), 'gemm', 'no mangled name')


def test_device():
    for torch in PLAYED:
        device(torch)


def test_steps():
    for torch in PLAYED:
        steps(torch)


for torch in ALL:
    if torch not in PLAYED:
        gs.left_out(f'{torch.name} (GS_BIG=1 plays it)')
gs.run_tests(globals())
