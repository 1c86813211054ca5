#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=14400
"""Real programs print the same and end the same with gpustarve around them as without, round after round, on the
simulated GPU (a model). Those of PyTorch alone are played with each version of it in turn, the others with the newest,
which has what they need. GS_BIG=1 alone: 50 rounds of each; GS_ROUNDS says how many, GS_ONLY names some programs."""
import collections
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import playing
import torches

ROUNDS = int(os.environ.get('GS_ROUNDS', 50))
ONLY = os.environ.get('GS_ONLY', '').split()
ALONE = {
    'cnn': ('cnn.py', '--steps', '4', '--batch', '4'),
    'transformer': ('transformer.py', '--steps', '4'),
    'graph': ('transformer.py', '--steps', '4', '--graph'),
    'sessions': ('sessions.py', '--steps', '4'),
    'scheduled': ('sessions.py', '--steps', '4', '--schedule'),
}
NEWEST = {
    'lightning': ('lightned.py', '--steps', '4'),
    'accelerate': ('accelerated.py', '--steps', '4'),
    'trainer': ('hf_trainer.py', '--steps', '4'),
    'dali': ('dali_loader.py', '--steps', '4'),
    'numba': ('numba_kernels.py', '--steps', '4'),
}
VARIES = [(re.compile(rb'USDT:.*\n'), b'')]  # torch 2.13 says by the clock when a profiler starts
TIMES = [(re.compile(rb'[0-9]+(\.[0-9]+)?'), b'N')]  # frameworks print how long they took


def alike(torch, program, masks):
    """Whether this round was."""
    before = len(gs.failures)
    with gs.scratch() as where:
        bare = playing.play(torch, os.path.join(where, 'bare'), *program, ours=False)
        ours = playing.play(torch, os.path.join(where, 'ours'), *program)
        gs.equal(bare.done.returncode, 0, f'{bare.what}: {bare.done.stderr.decode(errors="replace")[-2000:]}')
        playing.expect_alike(bare, ours, masks)
        gs.check(ours.run, f'{ours.what}: no trace')
    return len(gs.failures) == before


def played(torches_here, i):
    """(torch, name, program, masks) of each of round i."""
    for name, program in ALONE.items():
        yield torches_here[i % len(torches_here)], name, program, VARIES
    for name, program in NEWEST.items():
        yield torches_here[0], name, program, TIMES


def test_alike():
    if not gs.BIG:
        gs.skip('GS_BIG=1 plays it')
    newest = list({torch.minor: torch for torch in reversed(torches.some())}.values())
    same = collections.Counter()
    for i in range(ROUNDS):
        for torch, name, program, masks in played(newest, i):
            if not ONLY or name in ONLY:
                same[name] += alike(torch, program, masks)
        print(f'of {i + 1} rounds alike: {dict(same)}', flush=True)


gs.run_tests(globals())
