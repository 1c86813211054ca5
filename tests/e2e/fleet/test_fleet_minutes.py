#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""How busy each whole minute was: known operations over ten minutes and a half;
the digest takes them over, with what the idle ones cost."""
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

S = 10**9
T0 = 1700000000 * S
BUSY_S = [0, 2.9, 3, 11, 13, 30, 36, 47, 48, 60]  # of each minute; then half a minute, which is none
WANT = [2, 2, 1, 1, 2, 2]


def ops():
    """Each minute's work in one piece, or cut into seconds; one piece lies across two minutes."""
    for i, busy in enumerate(BUSY_S):
        start = T0 + i * 60 * S
        pieces = int(busy) if i % 2 and busy > 3 else 1
        for k in range(pieces):
            if busy:
                yield start + k * S, start + k * S + int(busy * S) // pieces
    yield T0 + 615 * S, T0 + 616 * S


def make(run):
    os.makedirs(run)
    lines = [f'process 100 {T0} {T0 + 630 * S}']
    for n, (start, end) in enumerate(sorted(ops()), 1):
        lines += [f'op {start} {end} {n} 7', f'api {start} {start + 1} {n} 100 cudaLaunchKernel']
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'evidence_make'), run], text=True, check=True,
                   input='\n'.join(lines) + '\n')
    return run


def summary(run, *options):
    done = gs.gpustarve('report', run, '--format', 'json', *options)
    gs.equal(done.returncode, 0, f'report: {done.stderr.decode()}')
    return json.loads(done.stdout)


with gs.scratch() as where:
    run = make(os.path.join(where, 'a.gst'))
    told = summary(run, '--price', '36')
    gs.equal(told['gpus'][0]['minutes'], WANT, 'minutes of the summary')
    stored = os.path.join(where, 'summary.json')
    with open(stored, 'w', encoding='utf-8') as f:
        json.dump(told, f)
    digest = json.loads(gs.gpustarve('digest', stored, '--revision', '1').stdout)
    gs.equal(digest['gpus'][0]['minutes'], WANT, 'minutes of the digest')
    gs.equal(digest['gpus'][0]['idle_usd'], 2 * 36 * 10**9 // 60, 'what two idle minutes cost')
    store = 'sqlite:' + os.path.join(where, 'f.sqlite')
    gs.equal(gs.gpustarve('digest', stored, '--store', store).returncode, 0, 'digest')
    text = gs.gpustarve('fleet', '--store', store).stdout.decode()
    gs.check('idle: $1.20' in text and '60-80 %' in text, f'the fleet tells them: {text}')
    # Another price than the stored summary's, which holds where none is given.
    os.rename(stored, os.path.join(run, 'summary.json'))
    gs.equal(gs.gpustarve('digest', run, '--store', store).returncode, 0, 'digest of the directory')
    gs.check('$6.30, of which' in gs.gpustarve('fleet', '--store', store).stdout.decode(), 'as it was reported')
    gs.equal(gs.gpustarve('digest', run, '--store', store, '--price', '72').returncode, 0, 'digest --price')
    text = gs.gpustarve('fleet', '--store', store).stdout.decode()
    gs.check('1 run, 10.5 GPU-minutes' in text and '$12.60, of which' in text, f'the run counts once, anew: {text}')
    done = gs.gpustarve('digest', os.path.join(run, 'summary.json'), '--price', '72')
    gs.check(done.returncode == 1 and b'keeps its prices' in done.stderr, f'a summary alone: {done.stderr}')
gs.finish()
