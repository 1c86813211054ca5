#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=60
"""Busy time where a meter calls the device busy around each kernel, too, and kernels come closer once nothing
is recorded: what it says of multiprocessors counts, and where it was never held against anything the
interval is as wide as what nobody knows. Kernels of 20 ms, each 54 ms while all is recorded, then each 32:
the meter has the device busy for 23 ms more around each, as there is room."""
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

MS, S = 1_000_000, 1_000_000_000
PID, GOVERNOR, FOREIGN, START, LENGTH = 4000, 6, 3, 7 * S, 40 * S
KERNEL, AROUND = 20 * MS, 23 * MS
BIN = os.path.join(gs.BUILD, 'tests', 'evidence_make')


def run(where, recorded, fill=50, sm=True, reason=GOVERNOR):
    """(the estimate, what was busy in truth), recorded for so many seconds."""
    given_up, t, corr, ops = START + int(recorded * S), START, 0, []
    while t < START + LENGTH:
        corr += 1
        ops.append((t, t + KERNEL, corr))
        t += 54 * MS if t < given_up else 32 * MS
    lines = [f'process {PID} {START - S} {START + LENGTH}', f'loss {reason} {given_up} {START + LENGTH}']
    for a, b, c in ops:
        if a < given_up:
            lines += [f'op {a} {b} {c} 7', f'api {a - 5000} {a - 3000} {c} {PID} cudaLaunchKernel']
    for i in range(LENGTH // S):
        a, b = START + i * S, START + (i + 1) * S
        busy = sum(max(0, min(y, b) - max(x, a)) for x, y, _ in ops)
        said = sum(max(0, min(y, b) - max(x - (AROUND if x < given_up else 12 * MS), a)) for x, y, _ in ops)
        lines.append(f'meter {a} {b} {said // 100_000} 1' + (f' {round(busy * fill / 10_000_000)}' if sm else ''))
    os.makedirs(where)
    subprocess.run([BIN, where], input='\n'.join(lines) + '\n', text=True, check=True)
    done = gs.gpustarve('report', where, '--format', 'json')
    gs.equal(done.returncode, 0, done.stderr.decode())
    e = json.loads(done.stdout)['ledger']['estimated']
    return e, sum(max(0, b - max(a, given_up)) for a, b, _ in ops if b > given_up)


def check(what, e, truth, points, contains=True, widest=100):
    of, busy = e['of_ns'] / 100, e['busy']
    off, wide = (busy['ns'] - truth) / of, (busy['high_ns'] - busy['low_ns']) / of
    print(f'{what}: {busy["ns"] / of:.2f} % [{busy["low_ns"] / of:.2f}..{busy["high_ns"] / of:.2f}], in truth {truth / of:.2f} %')
    gs.check(points[0] <= off <= points[1], f'{what}: off by {off:.2f} points')
    gs.check(not contains or busy['low_ns'] <= truth <= busy['high_ns'], f'{what}: the interval has the truth')
    gs.check(wide <= widest, f'{what}: {wide:.1f} points wide')


with gs.scratch() as where:
    near = (-1, 1)
    check('small kernels', *run(f'{where}/a', 8), near, widest=20)
    check('full kernels', *run(f'{where}/b', 8, fill=100), near, widest=20)
    check('one block of 132', *run(f'{where}/h', 8, fill=.76), (-2, 2), widest=25)
    # Too little to go by: 62 % of a two-thousandth is 3 hundredths of a percent.
    check('next to nothing', *run(f'{where}/i', 8, fill=.05), (-20, -10), contains=False)
    check('two readings', *run(f'{where}/c', 2), near)
    check('one reading', *run(f'{where}/d', 1), near)
    check('never recorded', *run(f'{where}/e', .5, fill=100), (30, 40))
    # Nothing else is known, or nobody gave it up for its many launches: the correction is one factor, as ever.
    check('no multiprocessors', *run(f'{where}/f', 8, sm=False), (-20, -10), contains=False)
    check('another client', *run(f'{where}/g', .5, reason=FOREIGN), (30, 40), contains=False)
gs.finish()
