#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,ranks timeout=60
"""Ranks of which one dies, in made-up runs: those that have work under way from then on that never ends waited for it, to
the nanosecond; those that go on, say goodbye, or stop long after it, did not; and of two that die the first one was waited for."""
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

S, MS = 10**9, 10**6
BEGIN, STEPS, STEP = S, 100, 20 * MS
DEATH = BEGIN + STEPS * STEP + 100 * MS
END = DEATH + 10 * S
PRICE = 3.6


def rank(number, last, complete, bye=False):
    """Steps with a collective each, then pulses until @last, which tell @complete(their time)."""
    out = [f'stream node1 {100 + number} {BEGIN - MS} {last if bye else -1} {number} 3 train -', f'device {number} {number + 1} GPU']
    for i in range(STEPS):
        t = BEGIN + i * STEP
        for k, (name, start, end) in enumerate((('work', MS, 5 * MS), ('ncclDevKernel_AllReduce_Sum', 6 * MS + number * 1000, 9 * MS))):
            out += [f'api {t + start - 9000} {t + start - 5000} {2 * i + k + 1} 5 cudaLaunchKernel',
                    f'kernel {t + start} {t + end} {2 * i + k + 1} 7 {number} {name}']
    t = BEGIN + STEPS * STEP
    while t < last:
        out.append(f'pulse {t} {min(t, complete(t))} 0')
        t += 500 * MS
    out.append(f'pulse {last} {min(last, complete(last))} 0')
    return out


def stuck(since):
    return lambda t: min(t, since)


def deaths(where, name, *ranks):
    """By rank: who waited for it, how long; and for whom it waited."""
    run = os.path.join(where, name + '.gst')
    os.mkdir(run)
    lines = [line for r in ranks for line in r]
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), run], input='\n'.join(lines).encode(), check=True)
    s = gs.summary(run, '--price', PRICE)
    rows = s['ranks']['rows']
    for r in rows:
        d = r['death']
        gs.equal(d is not None, r['state'] == 'dead', f'{name}: rank {r["rank"]} is {r["state"]}')
        gs.check(not d or abs(d['waited_usd'] - d['waited_ns'] * PRICE / 3.6e12) <= 1e-9, f'{name}: dollars of {d}')
    kept = os.path.join(where, name + '.json')
    with open(kept, 'wb') as f:
        f.write(gs.gpustarve('report', run, '--price', PRICE, '--format', 'json').stdout)
    with open(kept, 'rb') as f:
        gs.check(f.read() == gs.gpustarve('report', kept, '--format', 'json').stdout, f'{name}: told again from its summary')
    text = ' '.join(gs.gpustarve('report', run, '--price', PRICE).stdout.decode().split())
    return ({r['rank']: (r['death']['ended_ns'], r['death']['waiting'], r['death']['waited_ns']) for r in rows if r['death']},
            {r['rank']: (rows[r['behind_death']['row']]['rank'], r['behind_death']['ns']) for r in rows if r['behind_death']}, text)


with gs.scratch() as where:
    dead = rank(1, DEATH, lambda t: t)
    for name, since in (('before', DEATH - 50 * MS), ('just after', DEATH + 300 * MS)):
        waited = END - max(DEATH, since)
        got = deaths(where, name, rank(0, END, stuck(since)), dead, rank(2, END, stuck(since)))
        gs.equal(got[:2], ({1: (DEATH, 2, 2 * waited)}, {0: (1, waited), 2: (1, waited)}), f'work under way since {name}')
        gs.check('rank 1 died at 1970-01-01 00:00:03 UTC; 2 others waited for it until they ended: ' in got[2], f'{name}: {got[2][:1200]}')

    going = lambda t: t
    for name, others in (('go on', (rank(0, END, going), rank(2, END, going))),
                         ('stop long after', (rank(0, END, stuck(DEATH + 5 * S)), rank(2, END, stuck(DEATH + 5 * S)))),
                         ('say goodbye', (rank(0, END, stuck(DEATH), True), rank(2, END, stuck(DEATH), True)))):
        got = deaths(where, name, others[0], dead, others[1])
        gs.equal(got[:2], ({1: (DEATH, 0, 0)}, {}), f'those that {name}')
        gs.check('rank 1 died while the others went on' in got[2], f'{name}: {got[2][:1200]}')

    got = deaths(where, 'one goes on', rank(0, END, stuck(DEATH)), dead, rank(2, END, going))
    gs.equal(got[:2], ({1: (DEATH, 1, 10 * S)}, {0: (1, 10 * S)}), 'one of them goes on')
    gs.check('; 1 other waited for it until it ended: ' in got[2], f'one: {got[2][:1200]}')

    second = DEATH + 4 * S
    got = deaths(where, 'two die', rank(0, END, stuck(DEATH)), dead, rank(2, second, stuck(DEATH)))
    gs.equal(got[:2], ({1: (DEATH, 2, 14 * S), 2: (second, 0, 0)}, {0: (1, 10 * S), 2: (1, 4 * S)}), 'two die, and are waited for once')
    got = deaths(where, 'the other first', rank(0, END, stuck(DEATH)), rank(1, second, stuck(DEATH)), rank(2, DEATH, going))
    gs.equal(got[:2], ({2: (DEATH, 2, 14 * S), 1: (second, 0, 0)}, {0: (2, 10 * S), 1: (2, 4 * S)}), 'the first one that died is waited for')
gs.finish()
