#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=400
"""CUPTI's second interface in the process: clients of it that come and go beside us, in the manner of XLA,
of torch's and of a tool that allows nobody beside it, and one that was there first. The program's own calls
answer as without us where they can; we step aside at once, say for whom, lose nothing outside of a stated
span, and come back where CUPTI lets us."""
import json
import os
import sys
import textwrap

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
from prof import FOREIGN, SECOND

JOB = textwrap.dedent('''
    import ctypes as c, json, os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    class Params(c.Structure):
        _fields_ = [('size', c.c_size_t), ('name', c.c_char_p), ('old', c.c_void_p), ('old_size', c.c_size_t),
                    ('allow', c.c_uint8), ('padding', c.c_uint8 * 7)]
    old = c.create_string_buffer(64)
    def subscribe(allow, name):
        h = c.c_void_p()
        p = Params(c.sizeof(Params), name, c.cast(old, c.c_void_p), 64, allow)
        return cupti.cuptiSubscribe_v2(c.byref(h), None, None, c.byref(p)), h
    if sys.argv[2] == 'first':  # before cuInit, and so before libprof
        cupti = c.CDLL('libcupti.so.13')
        rc, handle = subscribe(1, b'made up')
        assert rc == 0, rc
    import gpudev
    s = gpudev.Stream(gpudev.Device(0))
    begin = time.time()
    end, leave = begin + float(sys.argv[1]), begin + 2
    while time.time() < end:
        for k in range(3):
            s.kernel(300_000, name='layer')
        s.synchronize()
        time.sleep(0.005)
        if sys.argv[2] == 'first' and leave and time.time() > leave:
            assert cupti.cuptiUnsubscribe(handle) == 0
            leave = 0
    print('well')
    ''')


def play(what, seconds, fault='', how='-', driver=13040, version='13.4', **env):
    """The trace, what is missing, what is missing outside of all spans, and the clients' own words."""
    with gs.scratch() as where:
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(JOB)
        done = prof.run([gs.PYTHON, 'job.py', str(seconds), how], where, WORKLOADS=gs.WORKLOADS, GPUSIM_FAULT=fault,
                        GPUSIM_CUPTI=version, GPUSIM_DRIVER_VERSION=driver, GPUSTARVE_REARM_SECONDS=1, **env)
        gs.equal((done.returncode, done.stdout), (0, b'well\n'), f'{what}: {done.stderr.decode()[-400:]}')
        t = prof.trace(where)
        lack, extra = prof.missing(where, t)
        bare = [k for k in lack.elements() if gs.subtract([[k[3], k[4]]], t.lost())]
        clients = sorted((r for r in gs.truth_lines(where + '/truth') if r.get('fault') == 'foreign'),
                         key=lambda r: r['start_ns'])
    gs.equal(len(bare), 0, f'{what}: outside of all spans, {t.lost()}; {t.bye["notes"]}')
    gs.equal(sum(extra.values()), 0, f'{what}: operations that never were')
    gs.check(all(not c['wrong'] for c in clients), f'{what}: records of clients {clients}')
    return t, sum(lack.values()), clients


def said(t, words):
    return any(words in n for n in t.bye['notes'])


def goes_on(what, t, after):
    last = max([o['end'] for o in t.ops] + [0])
    gs.check(last - after > SECOND, f'{what}: recording went on, {last - after} ns after; {t.lost(FOREIGN)}; {t.bye["notes"]}')
    gs.equal(gs.subtract([[last - SECOND // 2, last]], t.lost(FOREIGN)), [[last - SECOND // 2, last]], f'{what}: its end is ours')


def alone():
    t, lack, _ = play('13.4 alone', 2)
    gs.equal((lack, t.lost(FOREIGN), t.hello['cupti']), (0, [], 130401), '13.4 alone')


def refused(kind):
    """We were first: who does not fall back is told so by CUPTI as ever, and takes nothing of ours."""
    t, lack, (c,) = play(f'{kind} refused', 3, f'foreign:from=1,for=0.5,kind={kind}')
    gs.equal((c['refused'], lack, t.lost(FOREIGN)), (39, 0, []), f'{kind} refused: {c}')
    gs.check(not said(t, 'second interface'), f'{kind} refused: {t.bye["notes"]}')


def falls_back(what, rc, **env):
    """XLA goes on by the first interface: a session like any other's, after which we go on."""
    t, lack, (c,) = play(what, 14, 'foreign:from=1,for=0.6,kind=xla', **env)
    gs.equal((c['refused'], c['strangers'] + c['own'] > 0), (rc, True), f'{what}: {c}')
    gs.check(lack > 0, f'{what}: it had its records')
    goes_on(what, t, c['end_ns'])


def has_it(kind, name):
    """Kinds without a subscriber do not count: it may subscribe, and we are refused from then on."""
    what = f'{kind} has it'
    t, lack, (c,) = play(what, 5, f'foreign:from=1,for=1,kind={kind}', GPUSIM_V2='counts=no')
    gs.check(not c['refused'] and c['records'] > 50, f'{what}: {c}')
    gs.check(said(t, f'"CUPTI for {name}" uses its second interface'), f'{what}: {t.bye["notes"]}')
    span = gs.union([s['start'], s['end']] for s in t.losses if s['reason'] == FOREIGN)
    gs.check(lack > 50 and span[0][0] < c['start_ns'] and c['start_ns'] - span[0][0] < SECOND, f'{what}: {span}')
    gs.check(span[-1][1] - c['end_ns'] > SECOND, f'{what}: it stays refused, CUPTI has no way back: {span}')
    meters = [p for p in t.frames['pulse'] if p['t'] > c['end_ns'] and any('meter' in d for d in p['devices'])]
    samples = [s for s in t.samples if s['sample'] > c['end_ns']]
    gs.check(meters and samples, f'{what}: NVML and samples go on: {len(meters)}, {len(samples)}')


def comes_back(kind):
    """The same where CUPTI is anybody's again afterwards."""
    what = f'{kind} comes and goes'
    t, lack, (c,) = play(what, 12, f'foreign:from=1,for=1,kind={kind}', GPUSIM_V2='counts=no,sticky=0')
    gs.check(not c['refused'] and c['records'] > 50 and lack > 50, f'{what}: {c}')
    goes_on(what, t, c['end_ns'])


def two_of_them():
    """Who allows others beside it has them, and the one that does not is refused."""
    t, _, clients = play('three', 4, 'foreign:from=1,for=2,kind=xla;foreign:from=1.3,for=1,kind=cuspy;'
                                     'foreign:from=1.6,for=0.3,kind=solo', GPUSIM_V2='counts=no')
    gs.equal([(c['kind'], c['refused']) for c in clients], [('xla', 0), ('cuspy', 0), ('solo', 39)], 'three')
    gs.check(said(t, 'uses its second interface'), f'three: {t.bye["notes"]}')


def there_first():
    """It was there before us: nothing of ours is on, and when it has gone we begin."""
    t, lack, _ = play('first', 3, how='first')
    gs.check(len(t.ops) == 0 and lack > 50, f'first: {len(t.ops)}')
    gs.check(said(t, 'uses its second interface'), f'first: {t.bye["notes"]}')
    t, lack, _ = play('first, and gone', 12, how='first', GPUSIM_V2='sticky=0')
    gs.check(len(t.ops) > 100 and lack > 50, f'first, and gone: {len(t.ops)}')


def lone_calls():
    """What the two interfaces answer each other, call by call, and what ending CUPTI does."""
    text = textwrap.dedent('''
        import sys; sys.argv = ['', '0', '-']
        exec(open('job.py').read().split("if sys.argv[2]")[0])
        cupti = c.CDLL('libcupti.so.13')
        import gpudev
        gpudev.Device(0)
        u8, size, n = c.c_uint8(9), c.c_size_t(1), c.c_size_t()
        def state():
            assert cupti.cuptiActivityGetAttribute_v2(None, 12, c.byref(size), c.byref(u8)) == 0
            return u8.value
        assert state() == 2
        rc, a = subscribe(1, b'one'); assert rc == 0 and old.value == b'' and state() == 1
        rc, b = subscribe(1, b'two'); assert rc == 0 and old.value == b'CUPTI for one', (rc, old.value)
        rc, _ = subscribe(0, b'three'); assert rc == 39 and old.value.startswith(b'CUPTI for '), rc
        v1 = (('cuptiActivityEnable', 10), ('cuptiActivityDisable', 10), ('cuptiActivityFlushPeriod', 100),
              ('cuptiActivityGetNumDroppedRecords', None, 0, c.byref(n)),
              ('cuptiActivityPushExternalCorrelationId', 1, c.c_uint64(1)),
              ('cuptiActivityRegisterTimestampCallback', None), ('cuptiGetTimestamp', c.byref(c.c_uint64())))
        assert [cupti[f](*a) for f, *a in v1] == [14, 14, 14, 14, 14, 14, 14]
        h = c.c_void_p(); assert cupti.cuptiSubscribe(c.byref(h), None, None) == 39
        on = c.c_uint8(1)
        assert cupti.cuptiActivityEnable_v2(a, 10, None) == 0
        assert cupti.cuptiActivitySetAttribute_v2(a, 11, c.byref(size), c.byref(on)) == 7
        assert cupti.cuptiActivitySetAttribute_v2(b, 11, c.byref(size), c.byref(on)) == 0
        assert cupti.cuptiActivitySetAttribute_v2(b, 12, c.byref(size), c.byref(on)) == 1
        assert cupti.cuptiActivityEnable_v2(b, 10, None) == 1           # user-defined, and nothing selected
        assert cupti.cuptiFinalize() == 0                               # two: nothing
        assert cupti.cuptiActivityDisable_v2(a, 10, None) == 0
        assert cupti.cuptiUnsubscribe(a) == 0 and cupti.cuptiUnsubscribe(a) == 1
        assert cupti.cuptiFinalize() == 0                               # one: it is gone
        assert cupti.cuptiActivityGetNumDroppedRecords_v2(b, None, 0, c.byref(n)) == 1
        assert cupti.cuptiActivityEnable(10) == 14 and subscribe(0, b'four')[0] == 0
        print('well')
        ''')
    with gs.scratch() as where:
        for name, body in (('job.py', JOB), ('calls.py', text)):
            with open(os.path.join(where, name), 'w') as f:
                f.write(body)
        done = prof.run([gs.PYTHON, 'calls.py'], where, preload=False, WORKLOADS=gs.WORKLOADS, GPUSIM_CUPTI='13.4',
                        GPUSIM_DRIVER_VERSION=13040)
        gs.equal(done.stdout, b'well\n', f'calls: {done.stderr.decode()[-600:]}')


CASES = [alone, lone_calls, there_first, two_of_them,
         *[lambda k=k: refused(k) for k in ('cuspy', 'solo')],
         lambda: falls_back('xla falls back', 39),
         *[lambda rc=rc: falls_back(f'driver too old, {rc}', rc, driver=13020, GPUSIM_V2=f'counts=no,low={rc}') for rc in (27, 999)],
         *[lambda k=k, n=n: has_it(k, n) for k, n in (('xla', 'XLA Profiler'), ('cuspy', 'torch-cuspy'), ('solo', 'A tool'))],
         *[lambda k=k: comes_back(k) for k in ('xla', 'cuspy')]]
if __name__ == '__main__':
    wanted = sys.argv[1:]
    gs.side_by_side([c for c in CASES if not wanted or c.__name__ in wanted], width=6)
    gs.finish()
