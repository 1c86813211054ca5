# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""A run that was started again under its own id has a wrapper for each start: how a start ended is what its own
wrapper saw, not the first one's."""
import itertools
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

S, MS = 10**9, 10**6
BASE = 1_700_000_000 * S
HELD = 8 * S
APART = 11 * S


def process(pid, begin, bye):
    end = begin + HELD
    lines = [f'stream node {pid} {begin} {end if bye else -1} -1 0 trainer python', 'device 0 1 GPU']
    for t in range(begin + 100 * MS, end, 500 * MS):
        lines += [f'api {t - 20000} {t - 10000} {t % 10**6} {pid} cudaLaunchKernel',
                  f'kernel {t} {t + 300 * MS} {t % 10**6} 7 0 gemm', f'pulse {t + 310 * MS} {t + 305 * MS} 0']
    t = begin + 5 * S
    return lines + [f'save 1 1 {t} 0 0 0 /ckpt/last.pt', f'save 2 1 {t} {t + 10 * MS} 1000 {begin % 10**6 + 9} /ckpt/last.pt']


def ends(where, name, statuses, byes, pids, child):
    """Starts one after the other; @child: the wrapper's child, if that is not what holds the GPU."""
    run = os.path.join(where, name + '.gst')
    os.makedirs(run)
    lines = []
    for k, (status, bye, pid) in enumerate(zip(statuses, byes, pids)):
        begin = BASE + k * APART
        lines += process(pid, begin, bye)
        exits = [dict(host='node', pid=pid - (1 if child else 0), start_ns=begin - 3 * MS, end_ns=begin + HELD + MS, status=status)]
        with open(os.path.join(run, f'exit-node-{k}.json' if k else 'run.json'), 'w', encoding='utf-8') as f:
            json.dump(dict(id=name, command=['python'], start_unix_ns=begin - 3 * MS, wall_ns=HELD + 4 * MS, exit_status=status,
                           labels={}, exits=exits), f)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), run], input='\n'.join(lines).encode(), check=True)
    s = gs.summary(run, '--price', '3.60')
    gs.equal(schema.errors(schema.ours(), s), [], f'{name}: schema')
    parts = {k: v['ns'] for k, v in s['saves']['parts'].items()}
    got = [x['end'] for x in s['saves']['segments']]
    gs.equal(sum(parts.values()), s['ledger']['gpu_ns'], f'{name}: held')
    gs.equal(s['saves']['kills'], got.count('killed'), f'{name}: kills')
    gs.equal(s['saves']['failures'], got.count('failed'), f'{name}: failures')
    gs.equal(parts['lost'] > 0, got[-1] != 'ordered', f'{name}: lost')
    return got


with gs.scratch() as where:
    for n, statuses in enumerate(itertools.product((0, 1, 137), repeat=3)):
        want = ['failed' if s == 1 else 'killed' if s else 'ordered' for s in statuses]
        byes = [s != 137 for s in statuses]
        for how, pids, child in (('', (10, 20, 30), False), (' by a shell', (10, 20, 30), True), (' of one number', (10, 10, 10), False)):
            gs.equal(ends(where, f'{n}{how.replace(" ", "-")}', statuses, byes, pids, child), want, f'{statuses}{how}')
gs.finish()
