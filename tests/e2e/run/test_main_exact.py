#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e first timeout=900
"""The whole chain against the simulator's truth, to the nanosecond: half a million operations and
more of four processes on four devices, and of three processes on one, with several streams, waits,
graphs, copies and collectives, for every CUPTI there is, with correlation ids that wrap. Every
number of summary.json is worked out here anew from the truth. The smaller runs are also judged by
the independent reference. GS_BIG=1: the big size for every CUPTI, and for both kinds of run;
GS_PATIENCE: sizes are so many times smaller."""
import collections
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import oracle
import truth_to_kineto

MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')
EVERYWHERE = os.environ.get('GS_BIG') == '1'
NODES = ('12.4', '11.8')  # no graphs as wholes before 12.5
BIG, MEDIUM, SMALL = (int(n / gs.PATIENCE) for n in (510_000, 120_000, 24_000))
CASES = {
    'four processes, four devices': (4, ['--devices', 4, '--peer', 5, '--collective-every', 1000,
                                         '--pageable', 10], {}),
    'four ranks that meet': (4, ['--devices', 4, '--collective-every', 1000], {'GPUSIM_NCCL_RANKS': 4}),
    'three processes, one device': (3, ['--pageable', 10, '--exec'], {}),
}
COPIES = ('h2d', 'd2h', 'd2d', 'p2p')
reference = None


def collective(op):
    return op['kind'] == 'kernel' and ('nccl' in op['name'] or 'rccl' in op['name'])


def spans(ops, *kinds):
    return gs.union([o['start_ns'], o['end_ns']] for o in ops if o['kind'] in kinds)


def queued(ops, gaps):
    """Of each gap, what lies behind the earliest launch of any operation that starts at or after
    its end."""
    later, earliest, total = sorted(ops, key=lambda o: o['start_ns']), None, 0
    for begin, end in reversed(gaps):
        while later and later[-1]['start_ns'] >= end:
            launch = later.pop()['launch_ns']
            earliest = launch if earliest is None else min(launch, earliest)
        total += end - min(max(earliest, begin), end)
    return total


def device_truth(ops):
    busy = gs.union([o['start_ns'], o['end_ns']] for o in ops)
    work = gs.union([o['start_ns'], o['end_ns']] for o in ops
                    if o['kind'] == 'graph' or o['kind'] == 'kernel' and not collective(o))
    comm = gs.union([o['start_ns'], o['end_ns']] for o in ops if collective(o))
    gaps = [[a[1], b[0]] for a, b in zip(busy, busy[1:])]
    out = {'ops': len(ops), 'span_ns': busy[-1][1] - busy[0][0], 'busy_ns': gs.measure(busy),
           'compute_ns': gs.measure(work), 'gaps': len(gaps), 'idle_ns': gs.measure(gaps),
           'queued_ns': queued(ops, gaps), 'ops_without_launch': 0,
           'streams': len({(o['pid'], o['stream']) for o in ops})}
    out['comm_exposed_ns'] = gs.measure(gs.union(work + comm)) - out['compute_ns']
    out['copy_exposed_ns'] = out['busy_ns'] - out['compute_ns'] - out['comm_exposed_ns']
    out['empty_ns'] = out['idle_ns'] - out['queued_ns']
    return out


def copy_truth(devices, direction):
    picked = [[o for o in ops if o.get('copy') == direction] for ops in devices.values()]
    flat = [o for ops in picked for o in ops]
    paged = [o for o in flat if 'pageable' in (o['src'], o['dst'])]
    exposed = 0
    for ops, copies in zip(devices.values(), picked):
        exposed += gs.measure(gs.subtract(spans(copies, 'memcpy'), spans(ops, 'kernel', 'graph')))
    return {'count': len(flat), 'bytes': sum(o['bytes'] for o in flat),
            'ns': sum(o['end_ns'] - o['start_ns'] for o in flat), 'exposed_ns': exposed,
            'pageable_count': len(paged), 'pageable_bytes': sum(o['bytes'] for o in paged)}


def by_device(truth, nodes):
    out = collections.defaultdict(list)
    for o in gs.truth_ops(truth):
        if o['kind'] in ('kernel', 'memcpy', 'memset', 'graph') and \
                truth_to_kineto.traced(o, nodes):
            out[o['uuid'].lower()].append(o)
    return out


def same(got, want, what):
    for k, v in want.items():
        gs.equal(got.get(k), v, f'{what}: {k}')


def check_unknown(what, g):
    """Where ranks meet, the model itself lets work that waited behind a late rank start later than
    it could: its engines remember only so many holes of their past."""
    unknown = g['classes'].get('device.unknown', 0)
    gs.check('meet' in what or unknown * 50 <= g['held_ns'],
             f'{what}: device.unknown {unknown} of {g["held_ns"]}')


def against_truth(what, s, devices, copies):
    gs.equal(sorted(g['uuid'].lower() for g in s['gpus']), sorted(devices), f'{what}: devices')
    for g in s['gpus']:
        name = f'{what}: GPU {g["index"]}'
        same(g, devices.get(g['uuid'].lower(), {}), name)
        gs.equal(sum(g['classes'].values()), g['held_ns'], f'{name}: the classes make up the time')
        gs.equal(g['classes'].get('device.lost', 0), 0, f'{name}: nothing lost')
        check_unknown(name, g)
    for direction, want in copies.items():
        if want['count']:
            same(s['copies'].get(direction, {}), want, f'{what}: {direction}')
    gs.check(all(s['copies']['h2d'][k] for k in ('count', 'pageable_count', 'exposed_ns')),
             f'{what}: copies of each kind: {s["copies"]["h2d"]}')
    gs.equal((s['quality']['dropped'], s['quality']['invalid']), (0, 0), f'{what}: nothing dropped')


def against_reference(what, s, where, truth, nodes):
    path = os.path.join(where, 'truth.json')
    truth_to_kineto.write(truth, path, nodes=nodes)
    want = reference.ledger(path, 'device')
    got = sorted(s['gpus'], key=lambda g: g['index'])
    if not gs.equal(len(got), len(want), f'{what}: devices of the reference'):
        return
    for g, w in zip(got, want):
        g = gs.without_ranks(g, f'{what}: GPU {g["index"]}')  # it knows one GPU at a time
        same(g, {k: v for k, v in w.items() if k in g and k != 'index'},
             f'{what}: GPU {g["index"]} and the reference')


def one(version, what, size):
    processes, args, env = CASES[what]
    ops = size // processes
    what = f'CUPTI {version}, {what}'
    with gs.scratch() as where:
        done, run, truth = gs.traced(
            [MIXLOOP, '--processes', processes, '--ops', ops, *args], where,
            ['--quiet', '--no-report', '--max-overhead', 0], GPUSIM_DEVICES=4,
            GPUSIM_CUPTI=version, GPUSIM_TRUTH_API=1 if size == SMALL else None,
            GPUSTARVE_SAMPLER=0 if size == SMALL else None,  # the reference knows records alone
            GPUSIM_CORRELATION_START=2**32 - 7000, **env)
        if not gs.check(done.returncode == 0 and run, f'{what}: {done.stderr.decode()[-500:]}'):
            return
        ops = by_device(truth, version in NODES)
        devices = {uuid: device_truth(v) for uuid, v in ops.items()}
        copies = {direction: copy_truth(ops, direction) for direction in COPIES}
        total = sum(len(v) for v in ops.values())
        gs.check(total >= size, f'{what}: {total} operations')
        for window in 'job', 'device':
            s = gs.summary(run, '--window', window)
            if s:
                against_truth(f'{what}, window {window}', s, devices, copies)
        if s and reference and size == SMALL:
            against_reference(what, s, where, truth, version in NODES)
        print(f'{what}: {total} operations', flush=True)


def main():
    global reference
    if oracle.is_here():
        reference = oracle.ref_ledger()
    else:
        gs.left_out('no ../shared/oracle: the reference')
    for version in ('13', '12.6', '12.4', '11.8'):
        for what in CASES:
            one(version, what, SMALL)
            if EVERYWHERE:
                one(version, what, BIG)
    if not EVERYWHERE:
        one('13', 'four processes, four devices', BIG)
        one('13', 'three processes, one device', MEDIUM)
    gs.finish()


main()
