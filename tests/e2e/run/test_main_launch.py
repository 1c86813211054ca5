#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=200
"""Launchers: one that spawns four ranks, as torchrun does, below one wrapper, with and without an
id of its own; a wrapper around each rank, as with srun; and ranks with libprof preloaded and no
wrapper at all. Each makes one run with all ranks, all GPUs and one verdict, and misses nothing."""
import json
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

LAUNCHER = r'''
import os, subprocess, sys
count, command = int(sys.argv[1]), sys.argv[2:]
ranks = []
for rank in range(count):
    env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count),
               LOCAL_WORLD_SIZE=str(count), GROUP_RANK='0', MASTER_ADDR='127.0.0.1',
               MASTER_PORT='29500')
    env.update(a.split('=', 1) for a in os.environ.get('EACH', '').split() if a)
    ranks.append(subprocess.Popen([sys.executable if a == 'PYTHON' else a for a in command], env=env))
sys.exit(max(p.wait() for p in ranks))
'''
RANK = r'''
import os, sys, time
sys.path.insert(0, sys.argv[1])
import gpudev, nvtxmini
dev = gpudev.Device(int(os.environ['LOCAL_RANK']))
stream, marks = gpudev.Stream(dev), nvtxmini.Nvtx()
buffer, pinned = dev.malloc(1 << 20), dev.host_alloc(1 << 20)
for i in range(80):
    marks.push('enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__')
    time.sleep(0.008)
    marks.pop()
    dev.h2d(buffer, pinned, 1 << 20, stream)
    for k in range(4):
        stream.kernel(1_000_000, 'forward')
    stream.kernel(200_000, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL')
    stream.synchronize()
os.write(1, b'trained\n')
'''
LIGHT = ['PYTHON', '-c', RANK, gs.WORKLOADS]
TORCH = ['PYTHON', os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps', '25', '--batch', '2',
         '--dataset', 'sleep', '--sample-ms', '4', '--gpu-ms', '4', '--allreduce']
ELASTIC = {'EACH': 'TORCHELASTIC_RUN_ID=elastic-7 TORCHELASTIC_RESTART_COUNT=0'}


def launch(where, argv, **env):
    truth = os.path.join(where, 'truth')
    os.makedirs(truth, exist_ok=True)
    done = gs.command([gs.WITH_GPUSIM, *argv], cwd=where,
                      env=gs.environment(GPUSIM_DEVICES=4, GPUSIM_TRUTH=truth, **env))
    return done, gs.runs(os.path.join(where, 'runs'))


def check_run(what, where, done, found, verdicts):
    gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-500:]}')
    gs.equal(done.stdout.count(b'trained'), 4, f'{what}: stdout')
    if not gs.equal(len(found), 1, f'{what}: runs {found}'):
        return None
    told = len(re.findall(r'^gpustarve: ', done.stderr.decode(), re.M))
    gs.equal(told, verdicts, f'{what}: verdicts: {done.stderr.decode()}')
    s = gs.summary(found[0])
    if not s:
        return None
    ops = {}
    for o in prof.truth(where):
        ops.setdefault(o['uuid'].lower(), []).append(o)
    gs.equal({g['uuid'].lower(): g['ops'] for g in s['gpus']}, {u: len(v) for u, v in ops.items()},
             f'{what}: operations of each GPU')
    gs.equal(s['run']['ranks'], 4, f'{what}: ranks')
    ranks = {p['rank']: p['pid'] for p in s['run']['processes'] if p.get('rank') is not None}
    gs.equal({ops[u][0]['pid'] for u in ops}, set(ranks.values()), f'{what}: who the ranks are')
    gs.equal(sorted(ranks), [0, 1, 2, 3], f'{what}: their numbers')
    gs.check(s['run']['complete'], f'{what}: complete')
    gs.equal(s['verdict'], 'input-bound', f'{what}: verdict')
    gs.check(all(v['rank'] is None or v['role'] == 'trainer' for v in s['run']['processes']),
             f'{what}: roles')
    print(f'{what}: {os.path.basename(found[0])}, {sum(map(len, ops.values()))} operations, '
          f'{s["verdict"]}', flush=True)
    return s


def torchrun(where, what, train, **env):
    out = os.path.join(where, 'runs')
    done, found = launch(where, [gs.CLI, 'run', '-o', out, '--', gs.PYTHON, '-c', LAUNCHER, 4, *train],
                         **env)
    s = check_run(what, where, done, found, 1)
    if s:
        with open(os.path.join(found[0], 'summary.json')) as f:
            gs.equal(json.load(f)['gpus'], s['gpus'], f'{what}: summary.json')
        gs.equal(gs.gpustarve('verify', found[0]).returncode, 0, f'{what}: verify')


def srun(where, what, train, **env):
    """The launcher starts a wrapper for each rank; an id that they share makes them one run."""
    out = os.path.join(where, 'runs')
    done, found = launch(where, [gs.PYTHON, '-c', LAUNCHER, 4, gs.CLI, 'run', '-o', out, '--', *train],
                         **env)
    s = check_run(what, where, done, found, 1)
    if s:
        gs.equal(gs.gpustarve('verify', found[0]).returncode, 0, f'{what}: verify')
        with open(os.path.join(found[0], 'summary.json')) as f:
            gs.equal(json.load(f)['run']['ranks'], 4, f'{what}: the summary at the end')


def preloaded(where, what, train, **env):
    """No wrapper: spool files, and a report when one is asked for."""
    done, found = launch(where, [gs.PYTHON, '-c', LAUNCHER, 4, *train], LD_PRELOAD=gs.LIBPROF,
                         GPUSTARVE_OUT=os.path.join(where, 'runs'), **env)
    gs.equal(done.stderr, b'', f'{what}: stderr')
    s = check_run(what, where, done, found, 0)
    if s:
        names = os.listdir(found[0])
        gs.check(names and all(n.endswith('.spool') for n in names), f'{what}: files {names}')
        text = gs.gpustarve('report', found[0])
        gs.equal(text.returncode, 0, f'{what}: report')
        gs.check(b'input-bound' in text.stdout, f'{what}: {text.stdout.decode()[:300]}')


CASES = [
    (torchrun, 'one wrapper', LIGHT, {}),
    (torchrun, 'one wrapper, an elastic id', TORCH, ELASTIC),
    (srun, 'wrappers, an elastic id', TORCH, ELASTIC),
    (srun, 'wrappers, a SLURM step', LIGHT,
     dict(SLURM_JOB_ID='77', SLURM_JOBID='77', SLURM_STEP_ID='0', SLURM_STEPID='0',
          SLURM_CLUSTER_NAME='c', SLURM_NTASKS='4')),
    (preloaded, 'preloaded below a shell', LIGHT, {}),
    (preloaded, 'preloaded, an elastic id', LIGHT, ELASTIC),
]
for test, what, train, env in CASES:
    with gs.scratch() as folder:
        test(folder, what, train, **env)
gs.finish()
