#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the GPU check's part on overhead computes and how it plays, without a GPU: made-up step times
whose ratios are known; turns that never overlap, players that die; and GPUSTARVE_ONLY, by which it
switches on one kind of record after the other, on the simulated GPU."""
import os
import random
import sys
import time

sys.path[:0] = [sys.path[0] + '/../../lib', sys.path[0] + '/../../gpu']
import gs
import prof
import ratios
import turns

STEPPER = os.path.join(gs.BUILD, 'workloads', 'stepper')

WHOLE = {'kernel', 'copy', 'memset', 'graph', 'api', 'sync'}
ONLY = {'all': WHOLE, 'none': set(), 'kernel': {'kernel'}, 'copy,set': {'copy', 'memset'}, 'sync': {'sync'},
        'graph': {'graph'}, 'driver': {'api'}, 'runtime': set(), 'kernel,tea': WHOLE}

# Answers at once, but for what its name says; a line in LOG for the begin and end of each block.
PLAYER = '''
import json, os, sys, time
mode, log = sys.argv[1:]
print('some talk'); print(json.dumps(dict(pid=os.getpid())), flush=True)
played = 0
for line in sys.stdin:
    if line == 'quit\\n':
        break
    played += 1
    if mode == 'dies' and played == 3:
        sys.exit('no more')
    if mode == 'hangs' and played == 2:
        time.sleep(60)
    begin = time.monotonic()
    time.sleep(0.002)
    with open(log, 'a') as f:
        f.write(f'{mode} {begin} {time.monotonic()}\\n')
    print('12\\nnull\\n' + json.dumps(dict(total=[1000] * 8, enqueue=[10] * 8)), flush=True)
'''


def block(median, rng, spread=0.001, n=50):
    return dict(total=[9 * median] * 2 + [median * (1 + rng.gauss(0, spread)) for _ in range(n)])


def near(got, want, by, what):
    gs.check(abs(got - want) <= by, f'{what}: got {got}, want {want} within {by}')


def statistics():
    rng = random.Random(7)
    rounds = []
    for i in range(12):
        speed = 1e6 * (1 + 0.1 * i)  # the machine becomes slower from round to round
        rounds.append(dict(off=block(speed, rng), off2=block(speed, rng), same=block(1.002 * speed, rng),
                           dear=block(1.02 * speed, rng)))
        tail = block(speed, rng)
        tail['total'][::10] = [1.3 * speed] * len(tail['total'][::10])
        rounds[-1]['tail'] = tail
    off2, same, dear, tail = (ratios.compare(rounds, m) for m in ('off2', 'same', 'dear', 'tail'))
    near(off2['median'], 0, 0.05, 'noise')
    near(same['median'], 0.2, 0.05, '0.2 %')
    near(dear['median'], 2, 0.05, '2 %')
    near(dear['p95'], 2, 0.1, '2 %: p95')
    gs.check(dear['p25'] <= dear['median'] <= dear['p75'] and dear['p95_low'] <= dear['p95'] <= dear['p95_high'],
             f'brackets {dear}')
    near(tail['median'], 0, 0.1, 'a tail: median')
    near(tail['p95'], 30, 1, 'a tail: p95')
    gs.equal(ratios.judge(same, off2)[0], True, '0.2 % is within the goal')
    gs.equal(ratios.judge(dear, off2)[0], False, '2 % is not')
    gs.equal(ratios.judge(tail, off2)[0], False, 'nor is the tail')
    loud = dict(off2, p25=-3, p75=3)
    gs.equal(ratios.judge(same, loud)[0], None, 'noise of 3 % hides 0.2 %')
    gs.equal(ratios.judge(dict(dear, p95=0.1), loud)[0], None, '... and 2 %')
    gs.equal(ratios.judge(dict(dear, median=8), loud)[0], False, '... not 8 %')
    gs.equal(ratios.judge(None, off2)[0], None, 'not measured')
    gs.equal(ratios.judge(same, None)[0], None, 'without noise nothing is known')


def left_out():
    rng = random.Random(3)
    rounds = [dict(off=block(1e6, rng), L1=block(1.1e6, rng)) for _ in range(5)]
    rounds[1]['L1'] = None
    del rounds[2]['off']
    rounds[3]['L1'] = dict(total=[7e6] * 5)  # three are left behind the first two
    got = ratios.compare(rounds, 'L1')
    gs.equal(got['rounds'], 2, 'rounds that are whole')
    near(got['median'], 10, 0.1, 'of whole rounds')
    gs.equal(ratios.compare(rounds, 'L2'), None, 'a mode that never played')
    gs.equal(ratios.percent(None), 'not measured', 'said so')
    rounds = [dict(off=dict(enqueue=[100] * 9), L1=dict(enqueue=[100 + d] * 9)) for d in (400, 600, 800)]
    gs.equal(ratios.difference(rounds, 'L1', 20), dict(median=30, p25=25, p75=35, rounds=3), 'per call')
    gs.equal(ratios.quantile([3, 1, 2], 0.5), 2, 'median')


def told():
    from parts import overhead
    rng = random.Random(5)
    for case in (dict(median=1.001, host=0.2, ok=True), dict(median=1.03, host=0.2, ok=False),
                 dict(median=1.03, host=0.9, ok=None)):
        rounds = []
        for _ in range(10):
            row = {m: block(1e6 * k, rng, 0.0005) for m, k in (('off', 1), ('off2', 1), ('L1', case['median']))}
            row['off']['enqueue'] = [case['host'] * 1e6] * 52
            rounds.append(row)
        rows = []

        class Report:
            def put(self, *row, **data):
                rows.append(row)

        simulated, overhead.SIM = overhead.SIM, False
        overhead.tell_loop(Report(), 'made up', rounds, 40, ['off2', 'L1'], True)
        overhead.SIM = simulated
        gs.equal(rows[0][3], case['ok'], f'{case}: {rows[0][2]}')
        gs.check('10 rounds, 40,0' in rows[0][2] or '10 rounds, 39,9' in rows[0][2], f'rate: {rows[0][2]}')
    gs.equal(overhead.settled([50, 40, 0.9, 3, 0.5, 1.2], 1.0, 0.3), 4, 'settled')
    gs.equal(overhead.settled([50, 40], 1.0, 0.3), 2, 'never settled')
    rows = [{'at': i, 'ends': i + 1, 'off': block(1e6, rng), 'L1g': dict(total=[2e6] * 400)} for i in range(12)]
    ok, words = overhead.claimed(rows, ['under 1.00 %: no API calls; it cost 39.0 %'])
    gs.equal((ok, '40.0 %' in words), (True, True), f'half of 80 % of the time: {words}')
    gs.equal(overhead.claimed(rows, ['under 1.00 %: no API calls; it cost 3.9 %'])[0], False, 'a tenth of it')
    gs.equal(overhead.claimed(rows, [])[0], None, 'nothing said')
    for i, row in enumerate(rows):
        row['L1g'] = dict(total=[(1.5e6, 1.2e6)[i > 5]] * 50)
    levels = [(i * 10**9 + 5 * 10**8, '1' if i < 6 else 'copies', 0) for i in range(13)]
    got = overhead.by_level(rows, levels, 0)
    gs.equal(sorted(got), ['1', 'copies'], 'levels')
    near(got['1'], 50, 0.2, 'at level 1')
    near(got['copies'], 20, 0.2, 'with copies alone')
    rows = [(0, '1', 0), (10**10, '0', 0), (11 * 10**9, '0', 0), (2 * 10**10, 'copies', 0)]
    gs.equal(overhead.changes(rows, 0), '1, from 10.0 s 0, from 20.0 s copies', 'levels')


def played():
    with gs.scratch() as where:
        script, log = os.path.join(where, 'player.py'), os.path.join(where, 'log')
        with open(script, 'w') as f:
            f.write(PLAYER)
        modes = ['off', 'off2', 'dies', 'hangs']
        cast = turns.Troupe(modes, lambda mode: [sys.executable, script, mode, log], where, 'cast')
        gs.equal(sorted(cast.hello), sorted(modes), 'all began')
        loops = dict(loop=('kernel 0 1 0', modes))
        first = cast.play(loops, 1, 1, time.time() + 60)['loop']
        gs.equal(sorted(first[0]), sorted(modes), 'a whole round')
        player = cast.players['hangs']
        try:
            player.ask('block 1 kernel 0 1 0', 0.3)
            gs.check(False, 'one that hangs is waited for')
        except turns.Lost:
            pass
        cast.guarded('hangs', lambda p: p.ask('block 1', 0.1))
        gs.check('hangs' in cast.lost, f'lost: {cast.lost}')
        rest = cast.play(loops, 1, 4, time.time() + 60)['loop']
        gs.check('no more' in cast.lost.get('dies', ''), f'its last words: {cast.lost}')
        gs.equal([sorted(r) for r in rest], [['dies', 'off', 'off2']] + 3 * [['off', 'off2']], 'the others play on')
        gs.equal(len(cast.play(loops, 1, 50, time.time() - 1)['loop']), 0, 'nothing behind the deadline')
        gs.equal(sorted(cast.end()), ['off', 'off2'], 'ended')
        with open(log) as f:
            spans = sorted((float(b), float(e), m) for m, b, e in (line.split() for line in f))
        gs.check(all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), 'two played at once')
        order = [m for _, _, m in spans if m in ('off', 'off2')]
        gs.equal(len(set(order[i] for i in range(0, len(order), 2))), 2, f'nobody is always first: {order}')
        gs.check(turns.threads(os.getpid())['program'] > 0, 'CPU by thread')


def only(names, want, *library):
    """The kinds of events in the trace of a program that makes all of them."""
    script = ('block 1 kernel 1000 5 0', 'block 1 h2d 0 5 0', 'block 1 memset 0 5 0', 'block 1 sync 0 5 0',
              'block 1 graph 1000 2 3', 'quit')
    words = {prof.KERNEL: 'kernel', prof.COPY: 'copy', prof.MEMSET: 'memset', prof.GRAPH: 'graph'}
    with gs.scratch() as where:
        env = prof.environment(where, GPUSTARVE_ONLY=names, GPUSTARVE_SAMPLER=0)
        done = gs.command([gs.WITH_GPUSIM, STEPPER, *library], env=env, cwd=where,
                          input=('\n'.join(script) + '\n').encode())
        gs.equal((done.returncode, done.stdout.count(b'"total"')), (0, 5), f'{names}: {done.stderr[-300:]}')
        found = prof.traces(where)
        got = {words[e['op']] for t in found for e in t.ops}
        got |= {'api' for t in found if t.events[prof.API]} | {'sync' for t in found if t.events[prof.SYNC]}
        gs.equal(got, want, f'GPUSTARVE_ONLY={names}')
        notes = ' '.join(n for t in found for n in t.bye['notes'])
        if found:
            gs.equal('GPUSTARVE_ONLY left out' in notes, want != WHOLE, f'{names}: {notes}')
            gs.equal('value of GPUSTARVE_ONLY' in notes, names == 'kernel,tea', f'{names}: {notes}')


statistics()
left_out()
told()
played()
if os.path.exists(STEPPER):
    gs.side_by_side([lambda names=names, want=want: only(names, want) for names, want in ONLY.items()]
                    + [lambda: only('runtime', {'api'}, 'libgpusimrt.so')])
gs.finish()
