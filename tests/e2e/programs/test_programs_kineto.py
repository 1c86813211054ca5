#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=1200
"""torch.profiler, unchanged, on the simulated CUPTI (a model): its sessions hold all that the truth has, at its times,
each kernel with its operator, also with TEARDOWN_CUPTI=1, after which it detaches CUPTI from within a callback; and
with libprof beside it, which lacks no more than what ran while CUPTI was the profiler's. The same of Triton's Proton,
which finds its scopes by callbacks. GS_BIG=1: with every PyTorch; else with the newest, and not all of it."""
import collections
import functools
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
import torches

PROGRAM, PROTON = (os.path.join(gs.SOURCE, 'tests', 'programs', name) for name in ('profiled.py', 'proton_add.py'))
SESSIONS, STEPS = 2, 20
OPERATORS = {'aten::add': STEPS, 'aten::mul': STEPS, 'aten::relu': STEPS}
NEAR_NS, LENGTH_NS = 300_000, 2_000  # Kineto's clock is the processor's, read while this machine is busy
EDGE_NS = 50_000_000  # a flush ends some time after the span that it tells


def command(torch, where, teardown):
    """After a teardown CUPTI is left alone for two seconds."""
    return [torch.python, PROGRAM, '--steps', STEPS, '--sessions', SESSIONS, '--traces', where,
            '--told', os.path.join(where, 'told'), '--between', 4 if teardown else 1]


def started(e):
    return e['start']


def events(session):
    """(device's work, operators by id, names of annotations on the device) of what Kineto wrote."""
    with open(session['file']) as f:
        trace = json.load(f)
    rows = [e for e in trace['traceEvents'] if e.get('ph') == 'X']
    for e in rows:
        e['start'] = trace['baseTimeNanoseconds'] + round(float(e['ts']) * 1000)
    device = [e for e in rows if e['cat'] in ('kernel', 'gpu_memcpy', 'gpu_memset')]
    ops = {e['args']['External id']: e['name'] for e in rows if e['cat'] == 'cpu_op'}
    return sorted(device, key=started), ops, [e['name'] for e in rows if e['cat'] == 'gpu_user_annotation']


def same(what, where, session):
    """Everything that began while the session went on is in it, once."""
    device, ops, phases = events(session)
    truth = sorted((r for r in prof.truth(where) if session['begin_ns'] < r['launch_ns'] < session['end_ns']),
                   key=lambda r: r['start_ns'])
    gs.equal(collections.Counter(e['cat'] for e in device),
             collections.Counter({'kernel': 3 * STEPS, 'gpu_memcpy': STEPS + 1}), f'{what}: in the session')
    gs.equal(len(truth), len(device), f'{what}: in the truth')
    off = max(abs(e['start'] - r['start_ns']) for e, r in zip(device, truth))
    longer = max(abs(float(e['dur']) * 1000 - (r['end_ns'] - r['start_ns'])) for e, r in zip(device, truth))
    gs.check(off < NEAR_NS and longer < LENGTH_NS, f'{what}: {off} ns off, lengths {longer} ns')
    of = collections.Counter(ops.get(e['args'].get('External id')) for e in device if e['cat'] == 'kernel')
    gs.equal({name.replace('clamp_min', 'relu'): n for name, n in of.items() if name}, OPERATORS, f'{what}: operators')
    gs.equal(phases.count('phase'), 1, f'{what}: annotations {phases}')


def checked(what, where, done, teardown):
    gs.equal((done.returncode, done.stdout), (0, f'{SESSIONS} sessions\n'.encode()),
             f'{what}: {done.stderr.decode()[-2000:]}')
    told = json.load(open(os.path.join(where, 'told')))
    gs.equal(len(told['sessions']), SESSIONS, what)
    for i, session in enumerate(told['sessions']):
        same(f'{what}, session {i}', where, session)
    gs.equal(done.stderr.count(b'teardownCupti complete'), SESSIONS if teardown else 0, f'{what}: taken down')
    for word in (b'ERROR:', b'WARNING:', b'out-of-order = 1'):
        gs.check(word not in done.stderr, f'{what}: {done.stderr.decode()[-3000:]}')


ENV = dict(KINETO_LOG_LEVEL=0, PYTHONDONTWRITEBYTECODE=1)


def alone(torch, teardown):
    what = f'{torch.name}{", taken down" if teardown else ""}'
    with gs.scratch() as where:
        os.mkdir(os.path.join(where, 'truth'))
        env = gs.environment(GPUSIM_TRUTH=os.path.join(where, 'truth'), TEARDOWN_CUPTI=int(teardown), **ENV)
        checked(what, where, gs.command([gs.WITH_GPUSIM, *map(str, command(torch, where, teardown))], env=env, timeout=300),
                teardown)


def beside(torch, teardown):
    what = f'{torch.name} beside libprof{", taken down" if teardown else ""}'
    with gs.scratch() as where:
        done = prof.run([*map(str, command(torch, where, teardown))], where, TEARDOWN_CUPTI=int(teardown), **ENV)
        checked(what, where, done, teardown)
        t = max(prof.traces(where), key=lambda t: len(t.ops))
        # By their ids: carried from Kineto's clock, times are not the same to the nanosecond.
        truth, have, spans = prof.truth(where, t.hello['pid']), {o['corr'] for o in t.ops}, t.lost(prof.FOREIGN)
        lacking = [r for r in truth if r['correlation'] not in have]
        bare = [r for r in lacking if not any(a - EDGE_NS < r['start_ns'] < b + EDGE_NS for a, b in spans)]
        print(f'{what}: {len(t.ops)} operations, {len(lacking)} lacking, {gs.measure(spans) / 1e9:.3f} s lost')
        gs.equal((len(t.ops), len(t.ops) + len(lacking)), (len(have), len(truth)), f'{what}: operations')
        gs.equal(bare[:2], [], f'{what}: of {len(lacking)} missing {len(bare)}, no word')
        gs.equal((t.bye['last']['invalid'], t.bye['last']['dropped']), (0, 0), f'{what}: unusable stamps, lost')
        if not teardown:  # what is lacking is the sessions' and no more; after a teardown two seconds' as well
            gs.equal(len(lacking), SESSIONS * (4 * STEPS + 1), f'{what}: lacking')
        told = json.load(open(os.path.join(where, 'told')))
        for session in told['sessions']:
            gs.check(any(o['start'] > session['end_ns'] for o in t.ops), f'{what}: never came back')


def proton(torch):
    what = f'{torch.name}: Proton'
    with gs.scratch() as where:
        # Triton's wheel brings NVIDIA's libcupti, of which it takes the one in this folder by this name.
        os.mkdir(os.path.join(where, 'cupti'))
        os.symlink(os.path.join(gs.plain(gs.BUILD), 'gpusim', 'cupti-13', 'libcupti.so.13'),
                   os.path.join(where, 'cupti', 'libcupti.so'))
        done = prof.run([torch.python, PROTON, '--steps', str(STEPS), '--session', os.path.join(where, 'session'),
                         '--told', os.path.join(where, 'told')], where, PYTHONDONTWRITEBYTECODE=1,
                        TRITON_CUPTI_LIB_PATH=os.path.join(where, 'cupti'), TRITON_HOME=where,
                        TRITON_CACHE_DIR=os.path.join(where, 'triton'))
        gs.equal((done.returncode, done.stdout), (0, f'{3 * STEPS} kernels\n'.encode()),
                 f'{what}: {done.stderr.decode()[-2000:]}')
        t = max(prof.traces(where), key=lambda t: len(t.ops))
        truth = [r for r in prof.truth(where, t.hello['pid']) if r.get('name') == 'triton_add']
        took = sum(r['end_ns'] - r['start_ns'] for r in truth[STEPS:2 * STEPS])
        gs.equal(json.load(open(os.path.join(where, 'told')))['counted'],
                 {'triton_add': {'count': STEPS, 'time (ns)': took}}, f'{what}: in its scope')
        lack, extra = prof.missing(where, t, t.hello['pid'])
        gs.equal((sorted(k[5] for k in lack.elements()), sum(extra.values())), (['triton_add'] * STEPS, 0),
                 f'{what}: missing in the trace')
        spans = t.lost(prof.FOREIGN)
        gs.check(not any(gs.subtract([[k[3], k[4]]], spans) for k in lack), f'{what}: no word of what is missing')


def cases(torch):
    yield functools.partial(alone, torch, True)
    yield functools.partial(beside, torch, False)
    if os.path.isdir(os.path.join(torch.packages, 'triton', 'profiler')):
        yield functools.partial(proton, torch)
    if gs.BIG:
        yield functools.partial(alone, torch, False)
        yield functools.partial(beside, torch, True)


def main():
    every = torches.some()
    played = every if gs.BIG else [torch for torch in every if torch.number == '3.11'][-1:]
    for torch in every:
        if torch not in played:
            gs.left_out(f'{torch.name} (GS_BIG=1 plays it)')
    gs.side_by_side([case for torch in played for case in cases(torch)], 3)


main()
gs.finish()
