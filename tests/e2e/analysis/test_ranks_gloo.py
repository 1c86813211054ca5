#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,ranks waits timeout=600
"""A torch.distributed script (gloo, CPU) with a real DataLoader on the simulated GPU, started as
torchrun does: one run, one report, the late rank named. Then the same on two nodes: two network
namespaces, hosts of other names, whose clocks are 3 s apart and drift 50 ppm; skipped with a message
where namespaces are not to be had."""
import contextlib
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranks

LATE, STEPS, SLEEP_MS = 2, 24, 125
OFFSET, DRIFT = 3_000_000_000, 50_000
LINE = next(i + 1 for i, line in enumerate(open(ranks.TRAIN)) if '# the slow source' in line)


def train(own, *launch):
    return [gs.PYTHON, ranks.LAUNCH, *launch, gs.PYTHON, ranks.TRAIN, '--gloo', '--late', LATE, '--steps',
            STEPS, '--sleep-ms', SLEEP_MS, '--own-ledger', own]


def true_time(t, epoch):
    """What the second node's clock showed, on the true one."""
    t -= OFFSET
    return t - (t - epoch) * DRIFT // 10**9


def right(s, folder, own, what, epoch=None):
    """The late rank, its cause and its line; starved by the simulator's truth."""
    truth, waits = ranks.Truth(folder), ranks.own_waits(own)
    for r in (2, 3) if epoch else ():
        waits[r] = [[true_time(a, epoch), true_time(b, epoch)] for a, b in waits[r]]
    gs.equal(len(truth.meetings), 2 * STEPS, f'{what}: collectives')
    ranks.charged_once(s, what)
    rows = ranks.rows(s)
    if not gs.equal(sorted(rows), [0, 1, 2, 3], f'{what}: ranks of one report'):
        return {}
    row = rows[LATE]
    # On a busy machine others are late, too, at times; but none so often, and none for so long.
    gs.check(row['culprit'] != 'none', f'{what}: rank {LATE} is named: {row}')
    gs.check(all(rows[r]['culprit'] != 'stable' for r in rows if r != LATE), f'{what}: no other, again and again')
    gs.equal(max(rows, key=lambda r: rows[r]['caused_ns']), LATE, f'{what}: it made the others wait most')
    gs.equal(row['top_cause'], 'input.fetch', f'{what}: its cause')
    gs.check(row['where'] and os.path.basename(row['where']['file'] or '') == 'ranks_train.py' and
             row['where']['line'] == LINE, f'{what}: its line {LINE}: {row["where"]}')
    gs.equal(s['ranks']['matched'], 2 * STEPS, f'{what}: matched')
    own = sum(gs.measure(gs.intersect(truth.gaps(r), gs.union(waits[r]))) for r in waits)
    want, most = own + sum(truth.skew(LATE).values()), own + sum(truth.skew().values())
    starved = s['ledger']['starved_ns']
    # Where a rank had its batch and no CPU to go on with, it or who waits for it was not starved.
    without = sum(g['classes'].get('host.cpu_starved', 0) for g in s['gpus'])
    without += s['ledger'].get('skew_causes', {}).get('host.cpu_starved', 0)
    # Where others were late, that may have been their loaders' doing, too, or the busy machine's.
    gs.check(.9 * want - without <= starved <= 1.05 * most,
             f'{what}: starved {starved}, by the truth {want} to {most}, without a CPU {without}')
    clocks = {c['host']: c for c in s['ranks']['clocks']}
    print(f'{what}: starved {starved / 1e9:.3f} s, by the truth {want / 1e9:.3f} s; clocks {clocks}', flush=True)
    return clocks


def one_node():
    with gs.scratch() as where:
        own = os.path.join(where, 'own')
        os.mkdir(own)
        done, run, folder = gs.traced(
            train(own, '--ranks', 4, '--master', f'127.0.0.1:{gs.free_ports(1)[0]}'), where, ['--quiet', '--price', 2],
            timeout=500, GPUSIM_DEVICES=4, GPUSIM_NCCL_PARAM=1, OMP_NUM_THREADS=1)
        gs.equal(done.returncode, 0, f'one node: {done.stderr.decode()[-800:]}')
        s = run and gs.summary(run)
        if s:
            right(s, folder, own, 'one node')


def ip(*args):
    return subprocess.run(['ip', *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@contextlib.contextmanager
def two_namespaces():
    """Names of two network namespaces that reach each other at 10.211.7.1 and .2; None: not here."""
    names = [f'gs{os.getpid()}{x}' for x in 'ab']
    try:
        ok = all(not ip('netns', 'add', n).returncode for n in names) and \
            not ip('link', 'add', 've' + names[0], 'netns', names[0], 'type', 'veth', 'peer', 'name',
                   've' + names[1], 'netns', names[1]).returncode
        for i, n in enumerate(names if ok else []):
            for args in (['addr', 'add', f'10.211.7.{i + 1}/24', 'dev', 've' + n],
                         ['link', 'set', 've' + n, 'up'], ['link', 'set', 'lo', 'up']):
                ok = ok and not ip('-n', n, *args).returncode
        ok = ok and all(not ip('netns', 'exec', n, 'true').returncode for n in names)
        yield names if ok else None
    except FileNotFoundError:  # no ip
        yield None
    finally:
        for n in names:
            with contextlib.suppress(FileNotFoundError):
                ip('netns', 'del', n)


def node(i, name, where, epoch):
    """`gpustarve run` of the i-th node's two ranks, in its namespace and with its clock."""
    mine = os.path.join(where, f'node{i}')
    os.mkdir(mine)
    host = {} if i == 0 else dict(GPUSIM_CLOCK_OFFSET=OFFSET, GPUSIM_CLOCK_DRIFT=DRIFT)
    env = gs.environment(
        GPUSIM_DEVICES=4, GPUSIM_NCCL_PARAM=1, GPUSIM_SHM=os.path.join(where, 'shm'), OMP_NUM_THREADS=1,
        GPUSIM_TRUTH=os.path.join(where, 'truth'), GPUSIM_HOST=f'node{i}', GPUSIM_CLOCK_EPOCH=epoch,
        LD_PRELOAD=os.path.join(gs.plain(gs.BUILD), 'gpusim', 'gpusim-host.so'), GPUSTARVE_RUN_ID='two-nodes',
        CUDA_VISIBLE_DEVICES=f'{2 * i},{2 * i + 1}', GLOO_SOCKET_IFNAME='ve' + name, TMPDIR=mine,
        XDG_RUNTIME_DIR=mine, **host)
    argv = ['ip', 'netns', 'exec', name, gs.WITH_GPUSIM, gs.CLI, 'run', '-o', os.path.join(where, 'runs'),
            '--quiet', '--price', '2', '--',
            *train(os.path.join(where, 'own'), '--ranks', 2, '--first', 2 * i, '--world', 4, '--master',
                   '10.211.7.1:29511')]
    return subprocess.Popen([str(a) for a in argv], env=env, cwd=where, stderr=subprocess.PIPE)


def two_nodes(names):
    with gs.scratch() as where:
        for d in ('own', 'truth'):
            os.mkdir(os.path.join(where, d))
        epoch = time.time_ns()
        nodes = [node(i, n, where, epoch) for i, n in enumerate(names)]
        for n in nodes:
            err = n.communicate(timeout=500)[1].decode()
            gs.equal(n.returncode, 0, f'two nodes: {err[-800:]}')
        found = gs.runs(os.path.join(where, 'runs'))
        gs.equal(len(found), 1, 'two nodes: one run')
        s = found and gs.summary(found[0])
        if not s:
            return
        gs.equal(sorted(s['run']['hosts']), ['node0', 'node1'], 'two nodes: hosts')
        clocks = right(s, os.path.join(where, 'truth'), os.path.join(where, 'own'), 'two nodes', epoch)
        if not clocks:
            return
        # The second host's clock is to be set back by what it is ahead in the middle of the run.
        ends = [o['end_ns'] for m in ranks.Truth(os.path.join(where, 'truth')).meetings for o in m.values()]
        ahead = OFFSET + ((min(ends) + max(ends)) // 2 - epoch) * DRIFT // 10**9
        second = clocks['node1']
        print(f'two nodes: offset {second["offset_ns"]}, by the truth {-ahead}, off by '
              f'{second["offset_ns"] + ahead} ns, residual {second["residual_ns"]} ns')
        gs.check(second['aligned'] and abs(second['offset_ns'] + ahead) <= 50_000, f'two nodes: offset {second}')
        gs.check(second['residual_ns'] <= 50_000, f'two nodes: residual {second}')


one_node()
with two_namespaces() as spaces:
    if spaces:
        two_nodes(spaces)
    else:
        gs.left_out('two nodes: no network namespaces here (they need root and ip)')
gs.finish()
