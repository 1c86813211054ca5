#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=3600
"""Training programs that know nothing of gpustarve nor of the simulated GPU, with PyTorch's unchanged CUDA wheel: what the
simulator did, the trace, torch.profiler in a run of its own, and the program's own arithmetic agree on every operation, and
each program prints and ends as without us. A campaign (GS_BIG=1); test_programs_torch has the part for CI."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import playing
import torches

# Programs that need more than PyTorch are played with the newest, which has it.
CORE = {
    'CNN on JPEGs': ('cnn.py', '--steps', '12'),
    'transformer, autocast, fused AdamW': ('transformer.py', '--steps', '8'),
    'the same as a CUDA graph': ('transformer.py', '--steps', '8', '--graph'),
}
COMPILED = ('transformer.py', '--steps', '6', '--compile')
MORE = {
    'Lightning': ('lightned.py', '--steps', '12'),
    'Accelerate': ('accelerated.py', '--steps', '12'),
    'Hugging Face Trainer': ('hf_trainer.py', '--steps', '12'),
    'DALI on the CPU': ('dali_loader.py', '--steps', '6'),
}
# Lines that differ between any two starts.
MASKS = [(re.compile(rb'[0-9]+(\.[0-9]+)?'), b'N')]


def three(torch, where, program, **env):
    """The program alone, under gpustarve, and inside torch.profiler; None where one did not end well."""
    bare = playing.play(torch, os.path.join(where, 'bare'), *program, ours=False, **env)
    ours = playing.play(torch, os.path.join(where, 'ours'), *program, options=('--max-overhead', '0'), **env)
    profiled = playing.play(torch, os.path.join(where, 'profiled'), *program, ours=False, profile=True, **env)
    if all([playing.expect_ended(play) for play in (bare, ours, profiled)]):
        return bare, ours, profiled
    return None


def expect_agreement(bare, ours, profiled):
    """All that is asked of a program whose graphs, if any, are one operation in the trace."""
    playing.expect_alike(bare, ours, MASKS)
    for play in (bare, ours, profiled):
        playing.expect_nothing_missing(play)
    n = playing.expect_exact(ours)
    gs.check(n > 100, f'{ours.what}: only {n} operations')
    playing.expect_trace(ours)
    playing.expect_same(playing.counted(playing.in_truth(bare)), playing.counted(playing.in_truth(ours)),
                        f'{ours.what}: a run without gpustarve')
    playing.expect_profile(ours, profiled)
    playing.expect_arithmetic(ours)
    playing.expect_classes(ours)
    print(f'{ours.what}: {n} operations, {playing.totals(playing.counted(playing.in_truth(ours)))}', flush=True)


def agree(torch, program):
    with gs.scratch() as where:
        plays = three(torch, where, program)
        if plays:
            expect_agreement(*plays)


def test_core():
    for torch in PLAYED:
        for program in CORE.values():
            agree(torch, program)


def test_compiled():
    """Inductor tries kernels as often as a clock lets it, once: the plays find in its cache what it chose."""
    for torch in PLAYED:
        with gs.scratch() as where:
            kept = dict(TORCHINDUCTOR_CACHE_DIR=os.path.join(where, 'inductor'), TRITON_CACHE_DIR=os.path.join(where, 'triton'),
                        TORCHINDUCTOR_COMPILE_THREADS='1')
            first = playing.play(torch, os.path.join(where, 'first'), *COMPILED, ours=False, **kept)
            plays = playing.expect_ended(first) and three(torch, where, COMPILED, **kept)
            if plays:
                expect_agreement(*plays)


def test_more():
    for program in MORE.values():
        agree(PLAYED[-1], program)


def test_numba():
    """No torch.profiler to compare with: the loop knows all that it launches."""
    with gs.scratch() as where:
        bare, ours = (playing.play(PLAYED[-1], os.path.join(where, str(i)), 'numba_kernels.py', ours=bool(i)) for i in range(2))
        if playing.expect_ended(bare) and playing.expect_ended(ours):
            playing.expect_alike(bare, ours)
            playing.expect_exact(ours)
            gs.equal(playing.totals(playing.counted(playing.in_truth(ours))), ours.told()['each'], ours.what)
            playing.expect_classes(ours)


if not gs.BIG:
    gs.skip('a campaign: GS_BIG=1')
PLAYED = [t for t in torches.some() if t.number == '3.11']
gs.run_tests(globals())
