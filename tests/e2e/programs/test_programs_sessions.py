#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=900
"""torch.profiler's sessions within a training loop on the simulated GPU (a model), by hand and by a schedule that comes
round: each sees inside our run what it sees without us; our records and theirs make up the truth; what we lack was there
while a session was, and our blind time is the sessions'. RecordFunction's ranges are seen whole, the sessions' too.
With every PyTorch, and with CUPTI taken down after each session. A campaign (GS_BIG=1)."""
import functools
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import playing
import prof
import torches

torches.campaign()

STEPS, SESSIONS = 6, 2
EDGE_NS = 60_000_000  # how far beyond a session time may be lost: a flush before it, and when it is looked for again
TEARDOWN_NS = 3_000_000_000  # for as long after a teardown CUPTI is left alone
USDT = re.compile(rb'USDT:.*\n')  # torch 2.13 says by the clock when a profiler starts

ALL = torches.some()
NEWEST = list({torch.minor: torch for torch in reversed(ALL)}.values())


def added(counts):
    """Several {kind: {name: n}} as one."""
    return playing.counted((kind, name) for some in counts for kind, names in some.items()
                           for name, n in names.items() for _ in range(n))


def plain(seen):
    """By kind and demangled name, as in_truth has them."""
    return {kind: {playing.demangled(name): n for name, n in names.items()} for kind, names in seen.items()}


def expect_sees_all(ours, bare):
    """With and without us: the same sessions, and in each the same work."""
    mine, theirs = ours.told()['sessions'], bare.told()['sessions']
    gs.equal((len(mine), len(theirs)), (SESSIONS, SESSIONS), f'{ours.what}: sessions')
    for i, (one, two) in enumerate(zip(mine, theirs)):
        playing.expect_same(plain(one['seen']), plain(two['seen']), f'{ours.what}: session {i}')
        gs.check(one['seen'].get('kernel'), f'{ours.what}: session {i} saw no kernel')


def expect_whole(ours, teardown):
    """Each operation of the truth is ours or ran while a session was there, and what a session kept is not ours."""
    t, = playing.with_gpu(ours)
    told = ours.told()
    have = {op['corr'] for op in t.ops}
    truth = [row for row in prof.truth(ours.where, t.hello['pid'])]
    lacking = [row for row in truth if row['correlation'] not in have]
    after = TEARDOWN_NS if teardown else EDGE_NS
    spans = [(s['begin_ns'] - EDGE_NS, s['end_ns'] + after) for s in told['sessions']]
    stray = [row for row in lacking if not any(a < row['start_ns'] < b for a, b in spans)]
    gs.equal(stray[:2], [], f'{ours.what}: {len(stray)} of {len(lacking)} that we lack ran in no session')
    gs.equal(len(t.ops) + len(lacking), len(truth), f'{ours.what}: operations')
    kept = added([playing.counted(playing.in_trace([t])), *(plain(s['seen']) for s in told['sessions'])])
    whole = playing.counted(playing.in_truth(ours))
    if teardown:
        return
    if all(s['steps'] == s['kept'] for s in told['sessions']):
        playing.expect_same(kept, whole, f'{ours.what}: ours and theirs')
        return
    # What runs while a session warms up is nobody's.
    each = sum(sum(names.values()) for names in told['sessions'][0]['seen'].values()) / STEPS
    nobodys = sum(map(sum, (names.values() for names in whole.values()))) - sum(map(sum, (n.values() for n in kept.values())))
    gs.equal(nobodys, each * SESSIONS, f'{ours.what}: operations of steps that warm up')


def expect_blind(ours, teardown):
    """Time that nobody watched is the sessions' and no more."""
    gpu, = ours.summary['gpus']
    told = ours.told()
    longest = sum(s['end_ns'] - s['begin_ns'] + EDGE_NS + (TEARDOWN_NS if teardown else EDGE_NS) for s in told['sessions'])
    blind = gpu['classes'].get('excluded.unobserved', 0)
    gs.check(0 < blind <= longest, f'{ours.what}: {blind} ns unobserved, sessions of {longest} ns')


def expect_ranges(ours, bare):
    """What RecordFunction told the shim."""
    t, = playing.with_gpu(ours)
    steps, names = ours.told()['steps'], [e['name'] for e in t.events[prof.RANGE]]
    gs.equal(steps, bare.told()['steps'], f'{ours.what}: steps')
    gs.equal((names.count('one step'), names.count('Optimizer.step#SGD.step')), (steps, steps), f'{ours.what}: ranges')


def sessions(torch, schedule=False, teardown=False):
    what = ('sessions.py', '--steps', str(STEPS), '--sessions', str(SESSIONS), *(('--schedule',) if schedule else ()))
    env = dict(TEARDOWN_CUPTI=int(teardown))
    with gs.scratch() as where:
        bare = playing.play(torch, os.path.join(where, 'bare'), *what, ours=False, **env)
        ours = playing.play(torch, os.path.join(where, 'ours'), *what, **env)
        for play in (bare, ours):
            if not playing.expect_ended(play, f'{SESSIONS} sessions\n'):
                return
            playing.expect_nothing_missing(play)
        playing.expect_alike(bare, ours, [(USDT, b'')])
        expect_sees_all(ours, bare)
        expect_whole(ours, teardown)
        expect_blind(ours, teardown)
        expect_ranges(ours, bare)
        playing.expect_classes(ours)


def test_sessions():
    cases = [functools.partial(sessions, torch, schedule) for torch in ALL for schedule in (False, True)]
    cases += [functools.partial(sessions, torch, schedule, teardown=True) for torch in NEWEST for schedule in (False, True)]
    gs.side_by_side(cases, 2)


gs.run_tests(globals())
