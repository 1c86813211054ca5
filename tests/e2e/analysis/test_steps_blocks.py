#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=60
"""Where a run's blocks end is chance (a flush came); the steps that are found do not depend on it:
the same operations, cut at different places, make the same numbers. The run has no steps at all,
though its last operations, looked at alone, seem to have a rhythm."""
import os
import random
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

OPS, TAIL = 2000, 60


def lines(cuts):
    """The run as run_make reads it, with a pulse, which ends a block, before each of @cuts."""
    rng = random.Random(7)
    out = ['stream node1 10 0 50000000 -1 0 - train', 'device 0 1 NVIDIA%20H100']
    for i in range(OPS):
        name = 'abcde'[i % 5] if i >= OPS - TAIL else rng.choice('abcdefghijkl')
        t = 1_000_000 + i * 20_000
        if i in cuts:
            out.append(f'pulse {t} {t} 0')
        out.append(f'kernel {t} {t + 10_000} {i + 1} 7 0 {name}')
    return '\n'.join(out) + '\n'


def steps(where, cuts):
    run = os.path.join(where, f'cut{len(cuts)}.gst')
    os.mkdir(run)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), run], input=lines(cuts).encode(),
                   check=True)
    got = gs.summary(run)
    gs.equal(sum(g['ops'] for g in got['gpus']), OPS, f'cut at {cuts}: operations')
    return got['steps']


with gs.scratch() as where:
    whole = steps(where, [])
    gs.equal(whole['source'], 'none', 'noise has no steps')
    for cuts in ([OPS - TAIL], [OPS // 2, OPS - TAIL], [500, 1000, OPS - TAIL]):
        gs.equal(steps(where, cuts), whole, f'steps of blocks cut at {cuts}')
gs.finish()
