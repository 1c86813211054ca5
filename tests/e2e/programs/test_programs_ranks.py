#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e ranks waits timeout=3600
"""PyTorch's unchanged CUDA wheels over several simulated GPUs, under torchrun: all collectives of torch.distributed give
the right values, and training by DistributedDataParallel and fully_shard runs; operations of the truth are in the trace
and in NCCL's ranges, collectives end together, and a late rank is the one at fault, by its line. GS_BIG=1: with each
PyTorch of Debian's Python, 2 and 4 ranks, communicators with and without blocking; else 2 ranks of the newest."""
import collections
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import playing
import prof
import ranges
import torches

ALL = [t for t in torches.some() if t.number == '3.11']
PLAYED = [(t, n) for t in ALL for n in (2, 4)] if gs.BIG else [(t, 2) for t in ALL[-1:]]
EACH = (False, True) if gs.BIG else (False,)
# What varies on stderr: who says it, when, and of which process.
MASKS = ((re.compile(rb'\n?\[rank\d+\]:\[W[^\n]*'), b''), (re.compile(rb'(?m)^[^\n]*OMP_NUM_THREADS[^\n]*\n'), b''))


def play(torch, n, where, program, *args, ours=True, **more):
    launcher = '-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', str(n)
    return playing.play(torch, os.path.join(where, 'ours' if ours else 'bare'), program, *args, ours=ours,
                        launcher=launcher, GPUSIM_DEVICES=n, GPUSIM_QUIET=1, **more)


def meetings(play, n):
    """[[op of each device]]: the collectives of everybody, in order."""
    by = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in sorted(gs.truth_ops(play.truth), key=lambda row: row['launch_ns']):
        if 'ncclDevKernel' in row.get('name', ''):
            by[row['name'], row['end_ns']][row['device']].append(row)
    return [[ops[0] for ops in each.values()] for each in by.values() if len(each) == n]


def ranges_of_nccl(play):
    """Names of NVTX ranges of NCCL's, and how many."""
    names = collections.Counter()
    for trace in playing.with_gpu(play):
        for row in ranges.joined(trace.events[prof.RANGE]):
            if re.match(r'nccl[A-Z]', row['name']):
                names[row['name']] += 1
    return names


def expect(play, n, stdout):
    """What is asked of every play; whether it ended well."""
    if not playing.expect_ended(play, stdout * n):
        return False
    playing.expect_nothing_missing(play)
    playing.expect_exact(play, n)
    playing.expect_trace(play)
    playing.expect_classes(play)
    return True


def collectives(torch, n, eager):
    what = ('collectives.py', *(['--eager'] if eager else []))
    with gs.scratch() as where:
        ours = play(torch, n, where, *what)
        if not expect(ours, n, 'all values are right\n'):
            return
        together = meetings(ours, n)
        gs.check(len(together) > 15, f'{ours.what}: {len(together)} collectives of all ranks')
        for each in together:
            last = max(row['start_ns'] for row in each)
            gs.check(all(row['start_ns'] <= row['end_ns'] - 15000 for row in each) and last < each[0]['end_ns'],
                     f'{ours.what}: a collective that ends before all have begun: {each}')
        names = ranges_of_nccl(ours)
        gs.check({'ncclAllReduce', 'ncclBroadcast', 'ncclAllGather', 'ncclSend', 'ncclRecv', 'ncclReduce',
                  'ncclReduceScatter', 'ncclGroupStart', 'ncclGroupEnd', 'ncclCommInitRankConfig',
                  'ncclCommDestroy'} <= set(names), f'{ours.what}: ranges: {names}')
        gs.equal(names['ncclSend'], names['ncclRecv'], f'{ours.what}: as many sent as received')
        if gs.BIG:
            bare = play(torch, n, where, *what, ours=False)
            playing.expect_alike(bare, ours, MASKS)


def waited(play, n, rank):
    """By the truth: how long the rank was in collectives before the last had begun."""
    total = 0
    for each in meetings(play, n):
        last = max(row['start_ns'] for row in each)
        total += sum(last - row['start_ns'] for row in each if row['device'] == rank)
    return total


def training(torch, n, *how):
    with gs.scratch() as where:
        ours = play(torch, n, where, 'ranks.py', '--late', '1', *how)
        if not expect(ours, n, f'trained 20 steps with {n} ranks\n'):
            return
        told = [ours.told(rank) for rank in range(n)]
        gs.equal([t['ranks'] for t in told], [[f'rank {k}' for k in range(n)]] * n, f'{ours.what}: names of ranks')
        have = ours.summary['ranks']
        rows = {row['rank']: row for row in have['rows']}
        gs.equal(sorted(rows), list(range(n)), f'{ours.what}: ranks')
        for rank, row in rows.items():
            truth = waited(ours, n, rank)
            gs.check(row['waited_ns'] <= truth <= row['waited_ns'] + have['refused_ns'],
                     f'{ours.what}: rank {rank} waited {truth} ns, {row["waited_ns"]} in the report')
        late = max(rows.values(), key=lambda row: row['caused_ns'])
        gs.equal(late['rank'], 1, f'{ours.what}: the rank that others waited for')
        at = late['where'] or {}
        gs.equal([at.get('file'), at.get('line')], told[1]['line'], f'{ours.what}: its line')
        if gs.BIG:
            bare = play(torch, n, where, 'ranks.py', '--late', '1', *how, ours=False)
            playing.expect_alike(bare, ours, MASKS)


def test_collectives():
    for torch, n in PLAYED:
        for eager in EACH:
            collectives(torch, n, eager)


def test_data_parallel():
    for torch, n in PLAYED:
        training(torch, n)


def test_fully_sharded():
    if not gs.BIG:
        return gs.left_out('fully_shard over several GPUs (GS_BIG=1 plays it)')
    for torch, n in PLAYED:
        training(torch, n, '--fsdp')


gs.run_tests(globals())
