#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wall time of a program on the simulated GPU with and without libprof, in turn, and the ratio within
each pair. The simulator is a model: it does not charge what CUPTI costs on a real launch, so this shows
what our own threads and callbacks take."""
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import gs  # noqa: E402

MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')
PAIRS, OPS = 5, 300000


def wall(where, preload):
    env = dict(LD_PRELOAD=gs.LIBPROF, GPUSTARVE_OUT=where) if preload else {}
    begin = time.monotonic()
    done = gs.command([gs.WITH_GPUSIM, MIXLOOP, f'--ops={OPS}'], env=gs.environment(**env), cwd=where)
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    return time.monotonic() - begin


with gs.scratch() as where:
    if not os.path.exists(MIXLOOP):
        gs.skip('no mixloop')
    wall(where, False)
    pairs = []
    for i in range(PAIRS):
        order = (False, True) if i % 2 == 0 else (True, False)
        got = {p: wall(where, p) for p in order}
        pairs.append((got[False], got[True]))
    ratios = [b / a for a, b in pairs]
    print(f'{OPS} operations on the simulator (a model), {PAIRS} pairs in turn: without libprof '
          f'{statistics.median(a for a, _ in pairs):.3f} s, with {statistics.median(b for _, b in pairs):.3f} s, '
          f'ratio {statistics.median(ratios):.3f} [{min(ratios):.3f}..{max(ratios):.3f}]')
gs.finish()
