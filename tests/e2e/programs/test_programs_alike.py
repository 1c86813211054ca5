#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=7200
"""PyTorch's programs print the same and end the same with gpustarve around them as without, round after round, on the
simulated GPU (a model). GS_BIG=1 alone: 50 rounds of each; GS_ROUNDS says how many."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import playing
import torches

ROUNDS = int(os.environ.get('GS_ROUNDS', 50))
PROGRAMS = [('cnn.py', '--steps', '4', '--batch', '4'), ('transformer.py', '--steps', '4'),
            ('sessions.py', '--steps', '4'), ('sessions.py', '--steps', '4', '--schedule')]
VARIES = [(re.compile(rb'USDT:.*\n'), b'')]  # torch 2.13 says by the clock when a profiler starts


def alike(torch, program):
    with gs.scratch() as where:
        bare = playing.play(torch, os.path.join(where, 'bare'), *program, ours=False)
        ours = playing.play(torch, os.path.join(where, 'ours'), *program)
        gs.equal(bare.done.returncode, 0, f'{bare.what}: {bare.done.stderr.decode(errors="replace")[-2000:]}')
        playing.expect_alike(bare, ours, VARIES)
        gs.check(ours.run, f'{ours.what}: no trace')


def test_alike():
    if not gs.BIG:
        gs.skip('GS_BIG=1 plays it')
    newest = {torch.minor: torch for torch in reversed(torches.some())}
    played = list(newest.values())
    for i in range(ROUNDS):
        for program in PROGRAMS:
            alike(played[i % len(played)], program)
        print(f'{i + 1} rounds, {len(gs.failures)} failed', flush=True)


gs.run_tests(globals())
