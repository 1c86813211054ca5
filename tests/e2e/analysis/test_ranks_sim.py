#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,ranks timeout=600
"""Four real processes with real DataLoaders on four simulated GPUs, rank 2's asleep: what the other
three waited in collectives for it is priced once, under the class that rank 2 had, and rank 2 and its
line are named. Held against the simulator's own truth, for the machine may be busy. Then a rank that
is killed and one that hangs.

    test_ranks_sim.py [RANKS...]      with so many ranks each instead of 4"""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranks

LINE = next(i + 1 for i, line in enumerate(open(ranks.TRAIN)) if '# the slow source' in line)
STEPS, SLEEP_MS = 24, 125
PLAIN = '''
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
import gpudev
rank, world, fate = int(os.environ['RANK']), int(os.environ['WORLD_SIZE']), sys.argv[2]
s = gpudev.Stream(gpudev.Device(rank))
for step in range(400):
    if step == 300 and rank == 1:
        time.sleep(1.5)                     # so that what it did is on its way
        if fate == 'kill':
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(6)
        os.kill(os.getppid(), signal.SIGTERM)  # nobody fails: a user gives up
        time.sleep(3600)
    s.kernel(10_000_000, 'forward')
    s.collective(200_000, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 1, world)
    s.synchronize()
'''


def asleep(n):
    late = 2 if n > 2 else 1
    with gs.scratch() as where:
        own, meet = os.path.join(where, 'own'), os.path.join(where, 'meet')
        os.mkdir(own), os.mkdir(meet)
        done, run, folder = gs.traced(
            [gs.PYTHON, ranks.LAUNCH, '--ranks', n, gs.PYTHON, ranks.TRAIN, '--steps', STEPS, '--late', late,
             '--sleep-ms', SLEEP_MS, '--meet', meet, '--own-ledger', own], where,
            ['--quiet', '--price', ranks.PRICE], timeout=500, GPUSIM_DEVICES=n, GPUSIM_NCCL_PARAM=1,
            OMP_NUM_THREADS=1)
        gs.equal(done.returncode, 0, f'{n} ranks: {done.stderr.decode()[-800:]}')
        s = run and gs.summary(run)
        if not s:
            return
        truth, waits = ranks.Truth(folder), ranks.own_waits(own)
        gs.equal(len(truth.devices), n, 'devices')
        gs.equal(len(truth.meetings), 2 * STEPS, 'collectives')
        skew = ranks.charged_once(s, f'{n} ranks')
        for g in s['gpus']:
            gs.equal(g['busy_ns'], gs.measure(truth.busy[g['index']]), f'busy time of GPU {g["index"]}')

        # What the others waited, to the nanosecond: one host, one clock.
        true = truth.skew()
        for g in s['gpus']:
            gs.equal(g['classes'].get('comm.skew', 0), true[g['index']], f'comm.skew of GPU {g["index"]}')
        if not gs.check('ranks' in s, f'{n} ranks: the summary tells of ranks'):
            return
        gs.equal(s['ranks']['matched'], 2 * STEPS, 'collectives matched')
        gs.equal(s['ranks']['refused'], 0, 'collectives refused')

        # Starved: what all waited for their loaders, and what they waited for rank 2.
        exposed = {r: gs.measure(gs.intersect(truth.gaps(r), gs.union(waits[r]))) for r in waits}
        want = sum(exposed.values()) + sum(truth.skew(late).values())
        most = sum(exposed.values()) + sum(true.values())
        starved, dollars = s['ledger']['starved_ns'], s['cost']['starved_usd']
        # Where others were late, that may have been their loaders' doing, too, or the busy machine's.
        gs.check(.9 * want <= starved <= 1.05 * most, f'starved {starved}, by the truth {want} to {most}')
        gs.check(abs(dollars - starved * ranks.PRICE / 3.6e12) <= 1e-7, f'starved ${dollars} for {starved} ns')

        rows = ranks.rows(s)
        row = rows[late]
        gs.check(row['culprit'] != 'none', f'rank {late} is named: {row}')
        gs.check(all(rows[r]['culprit'] != 'stable' for r in rows if r != late), 'no other, again and again')
        gs.equal(max(rows, key=lambda r: rows[r]['caused_ns']), late, 'it made the others wait most')
        gs.check(str(row['top_cause']).startswith('input.fetch'), f'its cause: {row["top_cause"]}')
        gs.check(row['where'] and os.path.basename(row['where']['file'] or '') == 'ranks_train.py' and
                 row['where']['line'] == LINE, f'its line {LINE}: {row["where"]}')
        gs.check(row['caused_ns'] >= .8 * sum(truth.skew(late).values()), f'what it caused: {row["caused_ns"]}')
        gs.equal([r for r in rows if rows[r]['state'] != 'ended'], [], 'nobody is dead')
        text = gs.gpustarve('report', run).stdout.decode()
        gs.check(f'rank {late}' in text, f'rank {late} in the text:\n{text[:2000]}')
        gs.equal(gs.gpustarve('verify', run).returncode, 0, 'verify')
        x = gs.measure(gs.union(waits[late]))
        print(f'{n} ranks: rank {late} asleep {x / 1e9:.3f} s, comm.skew {skew / 1e9:.3f} s, starved '
              f'{starved / 1e9:.3f} s = {starved / x:.3f} times that, off the truth by '
              f'{100 * abs(starved - want) / want:.2f} %, {row["top_cause"]} {row["where"]}', flush=True)


def left_behind(s, rows, grace, run):
    """Both others waited for rank 1, from its end to theirs."""
    death, others = rows[1]['death'], [rows[0], rows[2]]
    ends = {p['rank']: p['end_ns'] for p in s['run']['processes'] if p['rank'] is not None and p['role'] == 'trainer'}
    gs.equal((death['waiting'], death['ended_ns']), (2, ends[1]), 'those who waited for it, and since when')
    gs.equal([s['ranks']['rows'][r['behind_death']['row']]['rank'] for r in others], [1, 1], 'for whom they waited')
    gs.equal(sum(r['behind_death']['ns'] for r in others), death['waited_ns'], 'how long, in all')
    for r in others:
        # What was complete last may have been so just after the death.
        before = ends[r['rank']] - ends[1] - r['behind_death']['ns']
        gs.check(0 <= before <= 10**9, f'rank {r["rank"]} waited until its end, but for {before} ns')
        gs.check(r['behind_death']['ns'] >= (grace - 1) * 10**9, f'rank {r["rank"]} waited {r["behind_death"]["ns"]} ns')
    gs.check(abs(death['waited_usd'] - death['waited_ns'] * ranks.PRICE / 3.6e12) <= 1e-7, f'dollars: {death}')
    text = ' '.join(gs.gpustarve('report', run, '--price', ranks.PRICE).stdout.decode().split())
    gs.check('rank 1 died at 20' in text and '2 others waited for it until they ended: ' in text, f'the sentence: {text[:1500]}')
    gs.check('GPUs waited for rank 1, which had died' in text, f'what was unobserved: {text[:1500]}')


def gone(fate, *states):
    """A rank that is killed, or hangs, amid the run; the others wait in a collective for it. What they
    did in their last half second stays with CUPTI, behind the kernel that has no end."""
    with gs.scratch() as where:
        grace = 4 if fate == 'kill' else 0
        argv = [gs.PYTHON, ranks.LAUNCH, '--ranks', 3, '--grace', grace, gs.PYTHON, '-c', PLAIN,
                gs.WORKLOADS, fate]
        done, run, folder = gs.traced(argv, where, ['--quiet'], timeout=300, GPUSIM_DEVICES=3,
                                      GPUSIM_NCCL_PARAM=1)
        gs.check(done.returncode != 0, f'{fate}: the job fails')
        s = run and gs.summary(run)
        if not s:
            return
        ranks.charged_once(s, fate)
        rows = ranks.rows(s)
        if not gs.equal(sorted(rows), [0, 1, 2], f'{fate}: ranks of the report'):
            return
        gs.check(rows[1]['state'] in states, f'{fate}: state {rows[1]["state"]}')
        gs.equal([rows[r]['state'] for r in (0, 2)], ['ended', 'ended'], f'{fate}: the others')
        gs.check(150 <= rows[1]['matched'] <= 300, f'{fate}: the collectives it was in: {rows[1]["matched"]}')
        if fate == 'kill':
            s = gs.summary(run, '--price', ranks.PRICE)
            left_behind(s, ranks.rows(s), grace, run)
        else:
            gs.equal([r['death'] or r['behind_death'] for r in rows.values()], [None] * 3, f'{fate}: nobody died')
        print(f'{fate}: {rows[1]["state"]}, {rows[1]["matched"]} collectives matched', flush=True)


for count in [int(a) for a in sys.argv[1:]] or [4]:
    asleep(count)
gone('kill', 'dead')
# Where the others' buffers stay with CUPTI, so does the launch that tells that they are stuck.
gone('hang', 'hung', 'ended')
gs.finish()
