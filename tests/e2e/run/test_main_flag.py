#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""Four simulated GPUs of which one starves: that UUID, and no other, is flagged. One process per
GPU, started by one launcher as torchrun would: one run with all ranks. Steps of 100 ms leave the
healthy ranks time for their batches where four of them share a busy core."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

LAUNCHER = r'''
import os, subprocess, sys
ranks = []
for rank in range(4):
    env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE='4')
    slow = '100' if rank == 2 else '0.05'
    ranks.append(subprocess.Popen([sys.executable, sys.argv[1], '--steps', '30', '--batch', '2',
                                   '--dataset', 'sleep', '--sample-ms', slow, '--gpu-ms', '100',
                                   '--sync', 'late', '--own-ledger', f'{sys.argv[2]}.{rank}'], env=env))
sys.exit(max(p.wait() for p in ranks))
'''


def plain(uuid):
    return uuid.lower().removeprefix('gpu-')


def idle_share(ops):
    """Of the time from a device's first operation to its last."""
    busy = gs.union([o['start_ns'], o['end_ns']] for o in ops)
    return 1 - gs.measure(busy) / (busy[-1][1] - busy[0][0])


def first_wait_ns(ledger):
    """What the program itself says it waited for its first batch: its loader's workers start then."""
    with open(ledger) as f:
        row = json.loads(f.readline())
    return row['wait_end_ns'] - row['wait_begin_ns']


with gs.scratch() as where:
    ledger = os.path.join(where, 'ledger')
    done, run, truth = gs.traced(
        [gs.PYTHON, '-c', LAUNCHER, os.path.join(gs.WORKLOADS, 'train_loader.py'), ledger], where,
        ['--quiet'], GPUSIM_DEVICES=4)
    gs.equal(done.returncode, 0, done.stderr.decode()[-800:])
    gs.equal(len(gs.runs(os.path.join(where, 'runs'))), 1, 'one run')
    s = gs.summary(run)
    if s:
        gs.equal(s['run']['ranks'], 4, 'ranks')
        gs.equal(len(s['gpus']), 4, 'GPUs')
        uuid = {o['device']: o.get('uuid') for o in gs.truth_ops(truth)}
        flagged = [g['uuid'] for g in s['gpus'] if g['flagged']]
        ranks = {p['rank']: p['pid'] for p in s['run']['processes'] if p.get('rank') is not None}
        starving = {o['device'] for o in gs.truth_ops(truth) if o['pid'] == ranks.get(2)}
        gs.equal(len(starving), 1, 'rank 2 uses one device')
        slow = {plain(uuid[d]) for d in starving}
        idle = {plain(uuid[d]): idle_share([o for o in gs.truth_ops(truth) if o.get('device') == d])
                for d in uuid if uuid[d]}
        gs.equal(max(idle, key=idle.get), *slow, 'the simulator says, too, that this one waited most')
        # Where others have the cores, healthy ranks wait for their loaders too, and are told so.
        rank_of = {pid: rank for rank, pid in ranks.items()}
        user = {plain(uuid[o['device']]): rank_of[o['pid']] for o in gs.truth_ops(truth)
                if uuid.get(o['device']) and o['pid'] in rank_of}
        held = {plain(g['uuid']): g['held_ns'] for g in s['gpus']}
        waited = {u: idle[u] + first_wait_ns(f'{ledger}.{user[u]}') / held[u] for u in idle}
        others = {u for u, share in waited.items() if share >= 0.03} - slow
        gs.check(slow <= {plain(u) for u in flagged} <= slow | others,
                 f'the flagged GPU: {flagged}, slow {slow}, idle {idle}, with the first wait {waited}')
        gs.equal({plain(g['uuid']) for g in s['gpus'] if g['severity'] == 'critical'} - others, slow,
                 'critical')
        for g in s['gpus']:
            print(g['uuid'], g['verdict'], g['severity'], g['flagged'],
                  f'{100 * sum(v for k, v in g["classes"].items() if k.startswith("input.")) / g["held_ns"]:.1f} % input')
gs.finish()
