#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""Four simulated GPUs of which one starves: that UUID, and no other, is flagged. One process per
GPU, started by one launcher as torchrun would: one run with all ranks."""
import os
import sys

import gs

LAUNCHER = r'''
import os, subprocess, sys
ranks = []
for rank in range(4):
    env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE='4')
    slow = '12' if rank == 2 else '0.05'
    ranks.append(subprocess.Popen([sys.executable, sys.argv[1], '--steps', '60', '--batch', '2',
                                   '--dataset', 'sleep', '--sample-ms', slow, '--gpu-ms', '12',
                                   '--sync', 'late'], env=env))
sys.exit(max(p.wait() for p in ranks))
'''

with gs.scratch() as where:
    done, run, truth = gs.traced(
        [gs.PYTHON, '-c', LAUNCHER, os.path.join(gs.WORKLOADS, 'train_loader.py')], where,
        ['--quiet'], GPUSIM_DEVICES=4)
    gs.equal(done.returncode, 0, done.stderr.decode()[-800:])
    gs.equal(len(gs.runs(os.path.join(where, 'runs'))), 1, 'one run')
    s = gs.summary(run)
    if s:
        gs.equal(s['run']['ranks'], 4, 'ranks')
        gs.equal(len(s['gpus']), 4, 'GPUs')
        uuid = {o['device']: o.get('uuid') for o in gs.truth_ops(truth)}
        slow = [o['device'] for o in gs.truth_ops(truth) if 'device' in o]
        flagged = [g['uuid'] for g in s['gpus'] if g['flagged']]
        ranks = {p['rank']: p['pid'] for p in s['run']['processes'] if p.get('rank') is not None}
        starving = {o['device'] for o in gs.truth_ops(truth) if o['pid'] == ranks.get(2)}
        gs.equal(len(starving), 1, 'rank 2 uses one device')
        gs.equal([u.lower().removeprefix('gpu-') for u in flagged],
                 [uuid[d].lower().removeprefix('gpu-') for d in starving], 'the flagged GPU')
        for g in s['gpus']:
            print(g['uuid'], g['verdict'], g['severity'], g['flagged'],
                  f'{100 * sum(v for k, v in g["classes"].items() if k.startswith("input.")) / g["held_ns"]:.1f} % input')
gs.finish()
