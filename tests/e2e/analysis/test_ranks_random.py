#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,ranks timeout=300
"""comm.skew and its causes against the independent reference (ref_skew.py), on random small runs of
several communicators whose every class is known by how they were made: equal to the nanosecond.

    test_ranks_random.py [FIRST_SEED [COUNT]]      keeps the lines of a seed that differs"""
import collections
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ref_skew

MAKE = os.path.join(gs.BUILD, 'tests', 'ranks_make')
US, MS, BASE = 1000, 10**6, 1_780_000_000_000_000_000
QUEUED = 5 * US
LOADER, GC, CHECKPOINT, ITER = 1, 6, 7, 8
RANGES = {'input.unknown': LOADER, 'host.gc': GC, 'host.checkpoint': CHECKPOINT, 'input.epoch': ITER}
CLASSES = [*RANGES, 'host.sync']
NAMES = ['ncclDevKernel_AllReduce_Sum_f32_RING_LL', 'ncclDevKernel_AllGather_RING_LL',
         'ncclDevKernel_ReduceScatter_Sum_f32_RING_LL', 'ncclDevKernel_Broadcast_RING_LL']
SEND = 'ncclDevKernel_SendRecv'


def class_order():
    """The classes' names in the engine's order."""
    with open(os.path.join(gs.SOURCE, 'facts', 'classes.def'), encoding='utf-8') as f:
        return re.findall(r'^CLASS\(\w+, "([a-z0-9_.]+)"', f.read(), re.M)


class Rank:
    def __init__(self, number, world, r):
        self.number, self.pid, self.corr, self.r = number, 100 + number, 0, r
        self.start, self.t = 0, r.randrange(1, 30 * MS)
        self.lines = [f'stream {number} {world} {self.pid} {BASE} here']
        self.pieces = [(0, self.t, 'excluded.startup')]

    def idle(self, ns, cls):
        """A stretch of an EMPTY gap, with the row that says of which class it is."""
        a, b = BASE + self.t, BASE + self.t + ns
        if cls == 'host.sync':
            self.lines.append(f'api {a} {b} 0 {self.pid} cudaStreamSynchronize')
        else:
            text = 'enumerate(DataLoader)#x.__next__' if cls == 'input.unknown' else ''
            self.lines.append(f'range {RANGES[cls]} {a} {b} {self.pid} 0 {text}')
        self.piece(self.t, self.t + ns, cls)
        self.t += ns

    def piece(self, start, end, cls):
        if start < end:
            self.pieces.append((start, end, cls))

    def launch(self, at):
        """The call of an op that starts 5 us later; its correlation id."""
        self.corr += 1
        self.lines.append(f'api {BASE + at} {BASE + at + 2 * US} {self.corr} {self.pid} cudaLaunchKernel')
        return self.corr

    def op(self, start, end, corr, stream, name):
        self.lines.append(f'op {BASE + start} {BASE + end} {corr} {stream} {name}')

    def gap(self):
        for _ in range(self.r.choice([0, 1, 1, 2, 3])):
            self.idle(self.r.choice([self.r.randrange(1, 50 * US), self.r.randrange(1, 4 * MS)]),
                      self.r.choice(CLASSES))

    def queued(self):
        """From the next op's launch to its start."""
        first = len(self.pieces) == 1
        self.pieces[0] = (0, self.t + QUEUED, 'excluded.startup') if first else self.pieces[0]
        if not first:
            self.piece(self.t, self.t + QUEUED, 'device.turnaround')
        corr = self.launch(self.t)
        self.t += QUEUED
        return corr

    def kernel(self):
        corr = self.queued()
        ns = self.r.randrange(10 * US, 3 * MS)
        self.op(self.t, self.t + ns, corr, 7, 'gemm')
        self.piece(self.t, self.t + ns, 'compute')
        self.t += ns


class Case:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        n = r.choice([2, 3, 4, 6])
        self.ranks = [Rank(k, n, r) for k in range(n)]
        # Names of their own: which of two collectives that end together is which is the campaign's to ask.
        self.comms = [(sorted(r.sample(range(n), r.randrange(2, n + 1))), name)
                      for name in r.sample(NAMES, r.choice([0, 1, 1, 2, 3]))]
        pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
        self.comms += [(list(p), SEND) for p in r.sample(pairs, min(len(pairs), r.choice([0, 1, 2, 3])))]
        self.comms = self.comms or [([0, 1], NAMES[0])]
        also = random.Random(f'all-to-all {seed}')
        if n > 2 and also.random() < .4:
            self.comms.append((sorted(also.sample(range(n), also.randrange(3, n + 1))), SEND))
        self.shared = r.random() < .5
        self.collectives, self.sends = [], []
        self.exchanges = self.exchanged = 0         # all-to-alls, and their kernels
        for rank in self.ranks:
            rank.kernel()
        for _ in range(r.choice([20, 40])):
            self.round()
        for rank in self.ranks:
            rank.kernel()
        over = max(rank.t for rank in self.ranks) + MS
        for rank in self.ranks:
            rank.piece(rank.t, over, 'excluded.teardown')
            rank.lines += [f'pulse {BASE + over}', f'bye {BASE + over}']

    def round(self):
        """Each rank works; then some communicators and some who send meet, all that a rank is in at about one time."""
        r = self.r
        for rank in self.ranks:
            for _ in range(r.choice([0, 1, 2])):
                rank.gap()
                rank.kernel()
            rank.gap()
        meeting = [c for c in range(len(self.comms)) if r.random() < (.5 if self.is_pair(c) else .8)]
        r.shuffle(meeting)
        open_ = {rank.number: [] for rank in self.ranks}    # (start, communicator, corr)
        for c in meeting:
            for m in self.comms[c][0]:
                rank = self.ranks[m]
                if not open_[m]:
                    corr = rank.queued()
                    open_[m].append((rank.t, c, corr))
                else:
                    at = open_[m][-1][0] + r.randrange(1, 20 * US)
                    open_[m].append((at, c, rank.launch(at - QUEUED)))
        ends = {c: max(s for v in open_.values() for s, k, _ in v if k == c) + r.randrange(40 * US, MS)
                for c in meeting}
        spans = {c: {} for c in meeting}
        for m, mine in open_.items():
            for start, c, corr in mine:
                spans[c][m] = start, ends[c]
                self.ranks[m].op(start, ends[c], corr, self.stream(c), self.comms[c][1])
            if mine:
                self.within(self.ranks[m], [(s, ends[c]) for s, c, _ in mine])
        self.sends += [s for c, s in spans.items() if s and self.is_pair(c)]
        self.collectives += [s for c, s in spans.items() if s and not self.is_pair(c)]
        self.exchanged += sum(len(s) for c, s in spans.items() if self.comms[c][1] == SEND and not self.is_pair(c))
        self.exchanges += sum(self.comms[c][1] == SEND and not self.is_pair(c) for c in meeting)

    def stream(self, c):
        """Sends share one, unless each has its own: then a rank's meet one other rank by turns."""
        return 40 if self.shared and self.is_pair(c) else 20 + c

    def is_pair(self, c):
        return self.comms[c][1] == SEND and len(self.comms[c][0]) == 2

    def within(self, rank, spans):
        """The rank's time from the first collective's start on, in which it may compute."""
        r = self.r
        comm, compute = gs.union(spans), []
        if r.random() < .5:
            start = rank.t + r.randrange(1, 2 * MS)
            start = min(start, comm[-1][1] - 1)
            compute = [[start, start + r.randrange(10 * US, 2 * MS)]]
            rank.op(*compute[0], rank.launch(start - QUEUED), 7, 'gemm')
        all_ = [(s, e, 'comm') for s, e in gs.subtract(comm, compute)] + [(s, e, 'compute') for s, e in compute]
        for s, e, cls in sorted(all_):
            rank.piece(s, e, cls)
        rank.t = max(e for _, e, _ in all_)

    def text(self):
        return '\n'.join('\n'.join(rank.lines) for rank in self.ranks) + '\n'


def one(seed, where, order):
    case = Case(seed)
    run = os.path.join(where, f'{seed}.gst')
    os.mkdir(run)
    subprocess.run([MAKE, run], input=case.text().encode(), check=True)
    s = gs.summary(run)
    if not s or not gs.check('ranks' in s, f'seed {seed}: no ranks in the summary'):
        return None
    rows = {r['rank']: r for r in s['ranks']['rows']}
    want = ref_skew.skew(case.collectives, case.sends, {r.number: r.pieces for r in case.ranks}, order,
                        s['ranks']['step_ns'])
    good, total = True, 0
    good &= gs.equal(s['ranks']['matched'], len(case.collectives) - case.exchanges, f'seed {seed}: matched')
    good &= gs.equal(s['ranks'].get('p2p_matched', 0), 2 * len(case.sends) + case.exchanged,
                     f'seed {seed}: sends and receives')
    for number, row in sorted(rows.items()):
        gpu, w = s['gpus'][row['gpu']], want[number]
        known = collections.Counter()
        for a, b, cls in case.ranks[number].pieces:
            known[cls] += b - a
        known['comm'] -= w.waited
        known['comm.skew'] += w.waited
        total += w.waited
        what = f'seed {seed}, rank {number}'
        good &= gs.equal(gpu['classes'], {k: v for k, v in known.items() if v}, f'{what}: classes')
        good &= gs.equal(gpu.get('skew_causes', {}), {k: v for k, v in w.by_cause.items() if v},
                         f'{what}: what it waited, by cause')
        good &= gs.equal(row['causes'], {k: v for k, v in w.caused.items() if v},
                         f'{what}: what it made others wait, by cause')
        good &= gs.equal(row['waited_ns'], w.waited, f'{what}: waited')
    if not good:
        with open(f'ranks-{seed}.lines', 'w') as f:
            f.write(case.text())
        with open(f'ranks-{seed}.json', 'w') as f:
            json.dump([case.collectives, case.sends], f)
        print(f'the lines of seed {seed} are in {os.getcwd()}')
    return total


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    # 116: a stream whose sends to two ranks end beside each other
    seeds = list(range(first, first + count)) + ([116] if len(sys.argv) == 1 else [])
    order, totals = class_order(), []
    with gs.scratch() as where:
        for seed in seeds:
            totals.append(one(seed, where, order))
            if len(gs.failures) > 8:
                break
    gs.check(sum(t or 0 for t in totals) > 0, 'some rank waited for another')
    print(f'{len(totals)} runs, {sum(t or 0 for t in totals) / 1e9:.3f} s of comm.skew')
    gs.finish()


if __name__ == '__main__':
    main()
