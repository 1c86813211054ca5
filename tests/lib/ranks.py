# SPDX-License-Identifier: Apache-2.0
"""What the tests of many ranks share: the simulator's truth of who waited for whom in collectives,
and what a summary says of its ranks."""
import json
import os
import sys

import gs

sys.path.insert(0, os.path.join(gs.SOURCE, 'tests', 'ranks'))

TRAIN = os.path.join(gs.WORKLOADS, 'ranks_train.py')
LAUNCH = os.path.join(gs.WORKLOADS, 'launch_ranks.py')
PRICE = 3.6


def is_collective(op):
    return op['kind'] == 'kernel' and 'nccl' in op['name']


class Truth:
    """By device: kernels, other work, and its waits inside collectives for each later device."""

    def __init__(self, folder):
        ops = [o for o in gs.truth_ops(folder) if 'fault' not in o]
        self.devices = sorted({o['device'] for o in ops})
        self.ops = {d: [o for o in ops if o['device'] == d] for d in self.devices}
        self.compute = {d: gs.union([o['start_ns'], o['end_ns']] for o in self.ops[d]
                                    if o['kind'] in ('kernel', 'graph') and not is_collective(o))
                        for d in self.devices}
        self.busy = {d: gs.union([o['start_ns'], o['end_ns']] for o in self.ops[d]) for d in self.devices}
        self.meetings = self.meet()

    def meet(self):
        """Collectives by their name, order and end, which the simulator gives to all at once."""
        groups = {}
        for d in self.devices:
            for o in self.ops[d]:
                if is_collective(o):
                    groups.setdefault((o['name'], o['end_ns']), {})[d] = o
        return [g for g in groups.values() if len(g) > 1]

    def gaps(self, device):
        busy = self.busy[device]
        return gs.subtract([[busy[0][0], busy[-1][1]]], busy)

    def skew(self, late=None):
        """ns by device that it waited in a collective and computed nothing; @late: for this one."""
        waits = {d: [] for d in self.devices}
        for m in self.meetings:
            last = max(m, key=lambda d: m[d]['start_ns'])
            for d in m:
                if d != last and late in (None, last):
                    waits[d].append([m[d]['start_ns'], m[last]['start_ns']])
        return {d: gs.measure(gs.subtract(gs.union(w), self.compute[d])) for d, w in waits.items()}


def own_waits(folder):
    """By rank: what the scripts waited for their loaders, by their own clocks."""
    out = {}
    for name in sorted(os.listdir(folder)):
        for line in open(os.path.join(folder, name)):
            r = json.loads(line)
            out.setdefault(r['rank'], []).append([r['wait_begin_ns'], r['wait_end_ns']])
    return out


def rows(s):
    """The summary's rows by rank."""
    return {r['rank']: r for r in s.get('ranks', {}).get('rows', [])}


def charged_once(s, what):
    """Each rank-second has one class, comm.skew one cause, and the sums are sums."""
    causes = s['ledger'].get('skew_causes', {})
    skew = sum(g['classes'].get('comm.skew', 0) for g in s['gpus'])
    gs.equal(sum(causes.values()), skew, f'{what}: causes sum to comm.skew')
    for g in s['gpus']:
        c = g['classes']
        gs.equal(sum(c.values()), g['held_ns'], f'{what}: classes sum to the held time')
        gs.equal(c.get('comm', 0) + c.get('comm.skew', 0), g['comm_exposed_ns'],
                 f'{what}: comm and comm.skew are the exposed collectives')
        gs.equal(sum(g.get('skew_causes', {}).values()), c.get('comm.skew', 0), f'{what}: per GPU')
    starved = sum(v for g in s['gpus'] for k, v in g['classes'].items() if k.startswith('input.')) + \
        sum(v for k, v in causes.items() if k.startswith('input.'))
    gs.equal(s['ledger']['starved_ns'], starved, f'{what}: starved is input.* and its skew')
    if 'ranks' in s:
        gs.equal(sum(r['caused_ns'] for r in s['ranks']['rows']) + causes.get('comm', 0), skew,
                 f'{what}: ranks caused comm.skew, or nobody is known to have')
        gs.equal(sum(r['waited_ns'] for r in s['ranks']['rows']), skew, f'{what}: ranks waited comm.skew')
    return skew
