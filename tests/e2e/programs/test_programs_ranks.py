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
LATE = '--late', '1', '--late-ms', '60'
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
    """By the truth: how long the rank was in collectives before the last had begun; at least (nothing else going on) and at
    most."""
    waits, other = [], []
    for each in meetings(play, n):
        last = max(row['start_ns'] for row in each)
        for row in each:
            if row['device'] == rank:
                waits.append((row['start_ns'], last))
                other.append((last, row['end_ns']))
    other += [(row['start_ns'], row['end_ns']) for row in gs.truth_ops(play.truth)
              if row['device'] == rank and 'ncclDevKernel' not in row.get('name', '')]
    waits = gs.union(waits)
    return gs.measure(gs.subtract(waits, gs.union(other))), gs.measure(waits)


def blamed(play, n):
    """By the truth: the rank whose being the last cost the others most, and [[begin, end]] of each wait for it."""
    waits = collections.defaultdict(list)
    for each in meetings(play, n):
        last = max(each, key=lambda row: row['start_ns'])
        waits[last['device']] += [[row['start_ns'], last['start_ns']] for row in each if row is not last]
    return max(waits.items(), key=lambda item: sum(end - begin for begin, end in item[1]))


def planted_share(waits, planted):
    """How much of what others waited for a rank went by while it was where it was made late."""
    waits = gs.union(waits)
    return gs.measure(gs.intersect(waits, planted)) / max(1, gs.measure(waits))


def expect_line(what, late, told, share):
    """Where others have the cores, ranks are late by that as well, each where it was just then."""
    at = late['where'] or {}
    print(f'{what}: rank {late["rank"]} at line {at.get("line")}, {100 * share:.0f} % of the wait planted', flush=True)
    if late['rank'] == 1 and share > 0.5:
        gs.equal([at.get('file'), at.get('line')], told['line'], f'{what}: its line, {100 * share:.0f} % planted')
    else:
        gs.left_out(f'{what}: the line of the late rank: the machine kept one back for longer than what was planted')


def training(torch, n, *how):
    with gs.scratch() as where:
        ours = play(torch, n, where, 'ranks.py', *LATE, *how)
        if not expect(ours, n, f'trained 20 steps with {n} ranks\n'):
            return
        told = [ours.told(rank) for rank in range(n)]
        gs.equal([t['ranks'] for t in told], [[f'rank {k}' for k in range(n)]] * n, f'{ours.what}: names of ranks')
        have = ours.summary['ranks']
        rows = {row['rank']: row for row in have['rows']}
        gs.equal(sorted(rows), list(range(n)), f'{ours.what}: ranks')
        for rank, row in rows.items():
            least, most = waited(ours, n, rank)
            gs.check(least - have['refused_ns'] <= row['waited_ns'] <= most,
                     f'{ours.what}: rank {rank} waited {least} to {most} ns, {row["waited_ns"]} in the report')
        late = max(rows.values(), key=lambda row: row['caused_ns'])
        want, waits = blamed(ours, n)
        gs.equal(late['rank'], want, f'{ours.what}: the rank that others waited for')
        expect_line(f'{ours.what}, {n} ranks', late, told[1], planted_share(waits, told[1]['planted_ns']))
        if gs.BIG:
            bare = play(torch, n, where, 'ranks.py', *LATE, *how, ours=False)
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
