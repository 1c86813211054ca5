#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""dump: every operation of the truth is a line, and the lines hold what the truth holds; steps as
they are in the trace."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny

with gs.scratch() as where:
    done, run, truth = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps',
                                  '25', '--sample-ms', '0.2'], where, ['--quiet'])
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    done = gs.gpustarve('dump', run)
    gs.equal((done.returncode, done.stderr), (0, b''), 'dump')
    lines = done.stdout.decode().splitlines()
    rows = [l.split('\t') for l in lines if not l.startswith('#')]
    looks = [r for r in rows if r[1] == 'sample']
    batches = [r for r in rows if r[1].startswith('batch-')]
    rows = [r for r in rows if not r[1].startswith(('sample', 'batch-'))]
    gs.check(all(len(r) == 8 for r in rows), 'eight columns')
    mine = sorted((int(r[2]), int(r[2]) + int(r[3])) for r in rows
                  if r[1] in ('kernel', 'memset', 'graph') or r[1].startswith('copy'))
    gs.equal(mine, sorted((o['start_ns'], o['end_ns']) for o in gs.truth_ops(truth)), 'operations')
    for option, some, columns in ('--samples', looks, 19), ('--batches', batches, 15):
        gs.check(all(len(r) == columns for r in some), f'{option}: {columns} columns')
        only = gs.gpustarve('dump', option, run).stdout.decode().splitlines()
        gs.equal(only, ['\t'.join(r) for r in some], option)
    gs.check(any(r[1] == 'loader' for r in rows), 'loader waits')
    gs.check(any(l.startswith('# stream\t') and '\tcpus ' in l for l in lines), 'streams')
    told = [l.split('\t')[2:4] for l in lines if l.startswith('# evidence\t')]
    if looks or batches:
        gs.equal(told, [[f'samples {len(looks)}', f'batches {len(batches)}']], 'none is lost')
    short = gs.gpustarve('dump', '--streams', run).stdout.decode().splitlines()
    gs.equal(short, [l for l in lines if l.startswith('#')], '--streams')

    # Rows that do not fit into what the trace may grow to are counted.
    done, small, _ = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps',
                                '25'], where, ['--quiet', '--max-trace', '8K'])
    told = [dict(w.split(' ') for w in l.split('\t')[2:]) for l in
            gs.gpustarve('dump', '--streams', small).stdout.decode().splitlines()
            if l.startswith('# evidence\t')]
    kept = sum(len(gs.gpustarve('dump', o, small).stdout.decode().splitlines())
               for o in ('--samples', '--batches'))
    if gs.check(len(told) == 1, f'counts of a small trace: {told}'):
        told = {k: int(v) for k, v in told[0].items()}
        gs.equal(told['samples'] + told['batches'], kept + told['dropped'], 'taken: kept or dropped')
        gs.check(told['dropped'] > 0, f'some are dropped: {told}')

    marked = tiny.imported(where, steps=6)
    steps = [list(map(int, l.split('\t')))
             for l in gs.gpustarve('dump', '--steps', marked).stdout.decode().splitlines()]
    gs.equal(len(steps), 6, 'a line per step')
    gs.equal([s[1] for s in steps], [9_900_000] * 6, 'their durations')
    gs.check(all(s[2] > 3_900_000 for s in steps[1:]), f'and what they waited exposed: {steps}')

    # A reader that goes away is no error of ours.
    pipe = gs.command(['bash', '-c', '"$0" dump "$1" | head -1; echo ${PIPESTATUS[0]}', gs.CLI, run])
    gs.check(pipe.stdout.split()[-1] in (b'0', b'141') and not pipe.stderr, f'head: {pipe}')
gs.finish()
