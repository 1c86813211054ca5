# SPDX-License-Identifier: Apache-2.0
"""What the GPU truly waited for: the device's idle intervals, cut by the workload's own ledger.

Every idle nanosecond of the span goes to one group: ('sample/0', 'cpu') is the planted activity 0
of the samples while its thread ran on a CPU, 'delay' while it could have run and had none, 'blocked'
the rest. Which thread counts: the trainer's own inside its activities; inside next() with workers
that of the worker which owns the awaited batch. Other groups: 'iter', 'first' and 'last' (making an
iterator, its first batch, its end), 'order' (the awaited batch is being made while a later one is
ready), 'late/...' (made, not yet here, its worker at that), 'handoff' (made, not yet here), 'wait' (in next(), none of these), 'preload' (all batches ahead of the loop), 'gpu' (launching, waiting
for the device), 'queued' (planted on the device: idle although something was submitted), 'stopped',
and 'rest'."""
import collections
import json
import os

import gs


def rows(folder):
    out = []
    for name in sorted(os.listdir(folder)):
        if name.endswith('.jsonl'):
            with open(os.path.join(folder, name)) as f:
                out += [json.loads(line) for line in f]
    return out


def idle(ops):
    """The idle intervals between the first and the last operation, and the span."""
    busy = gs.union([o['start_ns'], o['end_ns']] for o in ops)
    span = [busy[0][0], busy[-1][1]]
    return gs.subtract([span], busy), span


def split(row, pieces, groups, place):
    """Shares the ns of pieces, inside the row, by what the row's thread did altogether."""
    ns, dur = gs.measure(pieces), max(1, row['end'] - row['begin'])
    cpu = min(1.0, row['cpu'] / dur)
    delay = min(1.0 - cpu, row['delay'] / dur)
    for state, share in (('cpu', cpu), ('delay', delay), ('blocked', 1 - cpu - delay)):
        groups[place, state] += ns * share


class Wait:
    """One next() with workers: when its batch was made, by whom, and what else was ready."""

    def __init__(self, row, k, batches):
        self.row, self.made = row, batches.get(k)
        later = [b['end'] for n, b in batches.items() if n > k]
        self.later = min(later, default=None)


def batches_of(all_rows, batch, trainer):
    """Batch number -> begin, end, pid of its making, one map per epoch and loader."""
    epochs = [collections.defaultdict(dict)]
    made = sorted((r for r in all_rows if r['place'] == 'get' and r['pid'] != trainer),
                  key=lambda r: r['begin'])
    iters = sorted(r['begin'] for r in all_rows if r['place'] == 'iter')
    maps = [dict() for _ in iters]
    for r in made:
        e = max((i for i, t in enumerate(iters) if t <= r['begin']), default=0)
        b = maps[e].setdefault(r['key'] // batch, dict(begin=r['begin'], end=0, pid=r['pid']))
        b['end'] = max(b['end'], r['end'])
    for r in all_rows:  # what is folded was got last by that process
        if r['place'] == 'fold' and r['pid'] != trainer:
            mine = [b for m in maps for b in m.values()
                    if b['pid'] == r['pid'] and b['end'] <= r['begin']]
            if mine:
                last = max(mine, key=lambda b: b['end'])
                last['end'] = max(last['end'], r['end'])
    return iters, maps or epochs


def owner(groups, pieces, wait, spans):
    """The ns of one wait, by what the worker that owns the batch was doing."""
    made = wait.made
    if not made:
        groups['wait', ''] += gs.measure(pieces)
        return
    making = gs.intersect(pieces, [[made['begin'], made['end']]])
    if wait.later and wait.later < made['end']:
        late = gs.intersect(making, [[max(wait.later, made['begin']), made['end']]])
        groups['order', ''] += gs.measure(late)
        making = gs.subtract(making, gs.union(late))
    for row in spans.get(made['pid'], ()):
        if row['end'] <= made['begin'] or row['begin'] >= made['end']:
            continue
        part = gs.intersect(making, [[row['begin'], row['end']]])
        split(row, part, groups, row['place'])
        making = gs.subtract(making, gs.union(part))
    groups['making', ''] += gs.measure(making)
    after = gs.intersect(pieces, [[made['end'], 1 << 62]])
    for row in spans.get('trainer', ()):
        part = gs.intersect(after, [[row['begin'], row['end']]])
        if part:
            split(row, part, groups, row['place'])
            after = gs.subtract(after, gs.union(part))
    # Made and not here, its worker busy with the next one: that keeps the interpreter's lock from
    # the thread that sends, or the core, and sets the pace.
    for row in spans.get(made['pid'], ()):
        if row['end'] <= made['end']:
            continue
        part = gs.intersect(after, [[row['begin'], row['end']]])
        if part:
            split(row, part, groups, 'late/' + row['place'])
            after = gs.subtract(after, gs.union(part))
    groups['handoff', ''] += gs.measure(after)
    groups['before', ''] += gs.measure(gs.intersect(pieces, [[0, made['begin']]]))


PLANTED_INSIDE = ('sample', 'collate', 'lock')


def truth(ops, all_rows, plan, stops=()):
    """(groups: {(place, state): ns}, facts). ops: of planted/device.py."""
    gaps, span = idle(ops)
    trainer = next(r['pid'] for r in all_rows if r['place'] == 'iter')
    groups = collections.defaultdict(float)
    facts = dict(idle=gs.measure(gaps), span=span[1] - span[0],
                 busy=span[1] - span[0] - gs.measure(gaps),
                 before=sum(r['end'] - r['begin'] for r in all_rows
                            if r['place'].startswith('start/') and r['end'] <= span[0]),
                 kernels=sum(o['kind'] == 'kernel' for o in ops),
                 launched=next((r['key'] for r in all_rows if r['place'] == 'launched'), None))
    left = gaps
    stopped = gs.intersect(left, gs.union(stops))
    groups['stopped', ''] += gs.measure(stopped)
    left = gs.subtract(left, gs.union(stops))

    # Something submitted, not running: what is planted on the device.
    queued = gs.union([o['launch_ns'], o['start_ns']] for o in ops)
    facts['queued'] = gs.measure(gs.intersect(gaps, queued))

    mine = [r for r in all_rows if r['pid'] == trainer]
    waits = [r for r in mine if r['place'] in ('next', 'first', 'last')]
    facts['wait'] = gs.measure(gs.union([r['begin'], r['end']] for r in waits))
    facts['exposed'] = 0 if plan['preload'] else gs.measure(
        gs.intersect(gaps, gs.union([r['begin'], r['end']] for r in waits)))
    inside = collections.defaultdict(list)
    for r in sorted(all_rows, key=lambda r: r['end'] - r['begin']):  # the innermost first
        place = r['place'].split('/')[0]
        if r['pid'] != trainer and place in PLANTED_INSIDE:
            inside[r['pid']].append(r)
        elif r['pid'] == trainer and place in ('parcel', 'pin', 'unpack'):
            inside['trainer'].append(r)
    iters, maps = batches_of(all_rows, plan['batch'], trainer)
    for r in sorted(mine, key=lambda r: r['end'] - r['begin']):
        place = r['place'].split('/')[0]
        if place not in ('sample', 'collate', 'step', 'next', 'first', 'last', 'iter', 'gpu',
                         'preload'):
            continue
        part = gs.intersect(left, [[r['begin'], r['end']]])
        if not part:
            continue
        left = gs.subtract(left, gs.union(part))
        if place in ('sample', 'collate', 'step'):
            first = any(w['place'] == 'first' and w['begin'] <= r['begin'] and r['end'] <= w['end']
                        for w in waits)
            split(r, part, groups, 'first/' + r['place'] if first else r['place'])
        elif place == 'gpu':
            on = gs.intersect(part, queued)
            groups['queued', ''] += gs.measure(on)
            groups['gpu', ''] += gs.measure(gs.subtract(part, gs.union(on)))
        elif place == 'next' and plan['workers'] and not plan['preload']:
            e = max(i for i, t in enumerate(iters) if t <= r['begin'])
            owner(groups, part, Wait(r, r['key'] - e * plan['steps'], maps[e]), inside)
        else:
            groups[{'next': 'wait'}.get(place, place), ''] += gs.measure(part)
    groups['rest', ''] += gs.measure(left)
    return {k: round(v) for k, v in groups.items() if v}, facts
