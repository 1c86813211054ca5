#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse
"""Sums that a writer stores in ClickHouse: whatever comes, is replaced, is merged or is killed, the fleet with them is the
fleet without them and SQLite's, byte by byte; and it is of them that it is made. GS_BIG: more rounds."""
import datetime
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import clickhouse
from clickcheck import digest
import fleets
import fleetcheck
import fleetjobs
import gs
from rolledstores import ASKED, MONTHS, Stores, uses_sums

ROUNDS = 60 if gs.BIG else 8


def changed(rng, d, number):
    """A later digest of the run: of another team, time, end, or the same with other sums."""
    return dict(fleets.digest(rng, number), run=d['run'], revision=d['revision'] + 1)


def rest(d):
    """Of a job that nothing names: it is no run, and replaces none."""
    return dict({k: v for k, v in d.items() if k not in ('job', 'units')}, verdict='no_process',
                rest_of_job_ns=2 * sum(l['held_ns'] for l in d['gpus']), rest_spans=[[0, 0, d['wall_ns'], 1, d['wall_ns']]])


def step(rng, s):
    """Some runs come, some again, some with what is old."""
    found = []
    for _ in range(rng.choice([1, 3, 40, 200])):
        number = len(s.known)
        if s.known and rng.random() < .4:
            number = rng.randrange(len(s.known))
            d = s.known[number]
            d = rng.choice([changed(rng, d, number), changed(rng, d, number), d, dict(d, revision=0, end='lost')])
        else:
            d = fleets.digest(rng, number)
            d = rest(d) if rng.random() < .1 else d
        if number not in s.known or d['revision'] >= s.known[number]['revision']:
            s.known[number] = d
        found.append(d)
    s.put(found, rng.random() < .6)


def check_random(where, server, seed):
    rng, s = random.Random(seed), Stores(where, server, f'random{seed}')
    used = 0
    for n in range(ROUNDS):
        step(rng, s)
        if rng.random() < .2:
            s.ask('OPTIMIZE TABLE gpustarve_runs' + rng.choice(['', ' FINAL']))
        s.same(f'seed {seed}, round {n}', [MONTHS[n % len(MONTHS)], *rng.sample(ASKED, 3)[:2]])
        used += bool(s.generations())
    gs.check(used > ROUNDS // 2, f'seed {seed}: there were sums in {used} rounds')
    s.put([fleets.digest(rng, 10**6 + i) for i in range(400)])
    s.ask('OPTIMIZE TABLE gpustarve_runs FINAL')
    digest(s.rolled, [s.known[0]])
    s.same(f'seed {seed}, all')
    uses_sums(s)


def check_killed(where, server):
    """The writer is killed while it sums up, the server while rows come: nothing half-done is told."""
    s, rng = Stores(where, server, 'killed'), random.Random(5)
    s.put([fleets.digest(rng, i) for i in range(3000)], rolled=False)
    for n in range(12 if gs.BIG else 4):
        found = [fleets.digest(rng, i, revision=n + 2) for i in rng.sample(range(4000), 400)]
        work = subprocess.Popen([gs.CLI, 'digest', '--from', '-', '--store', s.rolled], stdin=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
        with open(os.devnull, 'wb'):
            try:
                work.stdin.write(fleets.text(found))
                work.stdin.close()
            except BrokenPipeError:
                pass
        time.sleep(rng.random() * 1.5)
        if n % 2:
            server.kill()
            work.wait()
            gs.check(server.start(), f'it comes back: {server.why()}')
        else:
            work.send_signal(signal.SIGKILL)
            work.wait()
        for gen in s.unfinished() if n % 4 else []:  # else an hour passes before it is tried again
            s.ask(f'ALTER TABLE gpustarve_rolled DROP PARTITION {gen}')
        s.put(found, rolled=bool(n % 3))
        s.same(f'killed, round {n}', ASKED[:4])


def check_taken(where, server):
    """Sums of before are taken away; those that nobody finished, later; what is being read is not."""
    s, rng = Stores(where, server, 'taken'), random.Random(6)
    s.put([fleets.digest(rng, i) for i in range(50)])
    first = s.generations()
    gs.equal(len(first), 1, 'summed up')
    # As if it had been made an hour ago, and another three days ago and never done.
    hour, days = (str(time.time_ns() - n * 10**9) for n in (3600, 3 * 86400))
    for table in 'generations', 'rolled':
        names = s.server.ask(f"SELECT name FROM system.columns WHERE database = 'taken' AND table = 'gpustarve_{table}'"
                             " AND name != 'gen' FORMAT TabSeparated").split('\n')
        for gen in [hour] + [days] * (table == 'rolled'):
            s.ask(f'INSERT INTO gpustarve_{table} (gen, {", ".join(names)}) SELECT toUInt64({gen}), {", ".join(names)}'
                  f' FROM gpustarve_{table} WHERE gen = {first[0]}')
    s.put([fleets.digest(rng, i) for i in range(50, 150)])
    now = s.generations()
    gs.check(hour not in now and len(now) == 2 and now[0] == first[0], f'the one of an hour ago is gone: {now}')
    gs.equal(sorted(s.ask('SELECT toString(gen) FROM (SELECT DISTINCT gen FROM gpustarve_rolled) FORMAT TabSeparated').split()), now,
             'and the sums that nobody finished')
    s.same('taken')


def check_failed(where, server):
    """All that failed are counted, those that never had a GPU, too, however few are listed."""
    s, rng = Stores(where, server, 'failed'), random.Random(8)
    found = [dict(fleets.digest(rng, i), end='failed', exit_status=1) for i in range(20)]
    for d in found[:5]:
        d['gpus'] = []
    s.put(found[3:])
    digest(s.at + '&rollup=0', found[:3])
    digest(s.lite, found[:3])
    for store in s.rolled, s.lite, s.at.replace('/failed?', '/fresh?'):
        if '/fresh?' in store:
            digest(store, found)
        for asked in [], ['--by', 'failed'], ['--by', 'failed', '--top', '2']:
            gs.equal(fleetcheck.as_json(store, *asked)['failed']['count'], 20, f'{store} {asked}: all that failed')
    s.same('some never had a GPU')


def edges(rng):
    """Runs about the ends of months, with whether their lines lie in several: beyond them by a nanosecond or none, of no length, of
    years, past what calendars are taken for; and rests of jobs, of which some spans lie outside of their time."""
    april, may = (fleets.MONDAY + d * fleets.DAY for d in (86, 116))
    last, year = 4102444800 * 10**9, 365 * fleets.DAY
    times = [(april - 5, 5, 0), (april - 5, 6, 1), (april, 1, 0), (april - 1, 1, 0), (april - 1, 0, 0), (april, 0, 0),
             (april, may - april, 0), (april, may - april + 1, 1), (april - 7, may - april + 8, 1), (april - year, 2 * year + 7, 1),
             (0, 1, 0), (0, 40 * fleets.DAY, 1), (1709164800 * 10**9, fleets.DAY, 0), (1709164800 * 10**9, fleets.DAY + 1, 1),
             *((fleets.DAY * (datetime.date(y, 3, 1) - datetime.date(1970, 1, 1)).days - n, 1, 0) for y in range(2023, 2028) for n in (0, 1)),
             (last - 9, 8, 0), (last - 9, 9, 1), (last, 1, 1), (april, 2 * last, 1), (1 << 62, 0, 1)]
    for n, (start, wall, over) in enumerate(times):
        d = dict(fleets.digest(rng, n), run=f'edge-{n}', start_unix_ns=start, wall_ns=wall)
        yield d, over * len(d['gpus'])
    kinds = [(0, [(0, 9, 1), (20, 80, 2)]), (3, [(5, 5, 1)])]
    for n, (spans, over) in enumerate((((0, 0), 0), ((-1, 0), 1), ((0, 1), 1), ((0, 0), 0))):
        d = fleetjobs.rest_of(rng, f'c1-{n}', str(10**7 + n), '', april + n if n < 3 else april - 50, 100, 10**9, kinds)
        d['rest_spans'][0][1] += spans[0]
        d['rest_spans'][1][2] += spans[1]
        yield d, 2 * (over or n == 3)


def stored_over(s):
    """The lines of the newest sums that lie in several months, of edges."""
    gen = s.generations()[-1]
    said = s.ask(f"SELECT k0 FROM gpustarve_rolled WHERE gen = {gen} AND shape = 13 AND (startsWith(k0, 'edge-') OR startsWith(k0, 'c1-'))"
                 ' ORDER BY k0 FORMAT TabSeparated')
    return said.split()


def check_months(where, server, asked):
    """Lines that lie in one month are summed up, and all others kept beside the sums; what came since, came again or is cut at a
    bound is as the rows say."""
    s, rng = Stores(where, server, 'months'), random.Random(9)
    made = list(edges(rng))
    s.put([d for d, _ in made] + [fleets.digest(rng, i) for i in range(300)])
    gs.equal(stored_over(s), sorted(d['run'] for d, over in made for _ in range(over)), 'those that lie in several months')
    s.same('months', asked)
    s.same_as_rows('months', MONTHS[:1])
    found = [d for d, _ in made]
    # One that lay in several months lies in one, one the other way round; others come since.
    s.put([dict(found[1], revision=2, wall_ns=2), dict(found[0], revision=2, wall_ns=7), dict(found[9], revision=2, gpus=[])]
          + [dict(d, run='since-' + d['run'], job='since' + d['job']) for d in found], rolled=False)
    gs.check(s.holding()[2] > len(found), 'the sums hold')
    s.same('months, and what came since', asked[::2])
    gen = s.generations()[-1]
    before = fleetcheck.as_json(s.rolled, '--by', 'month')['by']['month']
    for shape, ns, where_ in (10, 'm2', ' AND level = 1'), (13, 'm2', " AND k0 = 'edge-7'"):
        held = int(s.ask(f'SELECT toInt64(max({ns})) FROM gpustarve_rolled WHERE gen = {gen} AND shape = {shape}{where_}'))
        columns = s.server.ask("SELECT name FROM system.columns WHERE database = 'months' AND table = 'gpustarve_rolled'"
                               ' FORMAT TabSeparated').split()
        s.ask(f'INSERT INTO gpustarve_rolled ({", ".join(columns)}) SELECT {", ".join(columns)} FROM gpustarve_rolled'
              f' WHERE gen = {gen} AND shape = {shape}{where_} AND toInt64({ns}) = {held} LIMIT 1')
        after = fleetcheck.as_json(s.rolled, '--by', 'month')['by']['month']
        gs.equal(sum(m['held_ns'] for m in after) - sum(m['held_ns'] for m in before), held, f'shape {shape} is read')
        before = after
    # Sums as a version before this one made them are not read, and made anew by who writes.
    s.ask("INSERT INTO gpustarve_generations SELECT toUInt64(7), rows, arrayMap(p -> if(p = 'sums 2', 'sums 1', p), parts), names, tenants, runs"
          f' FROM gpustarve_generations WHERE gen = {gen}')
    s.ask(f'ALTER TABLE gpustarve_generations DROP PARTITION {gen}')
    s.same('sums of before', MONTHS[:1])
    s.put([fleets.digest(rng, 999)])
    gs.check(s.generations()[-1] > gen, 'made anew')
    s.same('made anew', MONTHS[:1])


def check_not(where, server):
    """A digest of a whole job or of its rest: told with sums all the same; a table of before: without."""
    s, rng = Stores(where, server, 'jobs'), random.Random(7)
    found = [fleets.digest(rng, i) for i in range(60)]
    s.put(found)
    gs.equal(len(s.generations()), 1, 'summed up')
    s.put([dict(found[3], run='c1-job3', whole_job=True, revision=9, end='ok')])
    s.same('a job')
    uses_sums(s)
    s = Stores(where, server, 'rests')
    s.put(found)
    s.put([dict(rest(found[3]), run='c1-job3', job=found[3]['job'], end='ok')])
    gs.equal(fleetcheck.as_json(s.rolled)['total']['runs'], len(found), 'a rest is no run')
    s.same('the rest of a job')
    uses_sums(s)
    past = Stores(where, server, 'before')
    past.put(found)
    past.ask('ALTER TABLE gpustarve_runs DROP COLUMN instance_type')
    said = [fleetcheck.as_json(u)['total'] for u in (past.rolled, past.lite)]
    gs.equal(said[0], said[1], 'a table that lacks a column')
    done = gs.gpustarve('fleet', '--store', past.at + '&rollup=x')
    gs.check(done.returncode == 1 and b'rollup' in done.stderr, f'no number: {done.stderr}')


def check_all(where, server, kills):
    """Of Debian's server, and of a current one where scripts/clickhouse-venv was run."""
    for seed in range(1, 4 if gs.BIG else 2):
        check_random(where, server, seed)
    check_taken(where, server)
    check_not(where, server)
    check_months(where, server, MONTHS if kills else MONTHS[::3])
    check_failed(where, server)
    if kills:
        check_killed(where, server)


if __name__ == '__main__':
    with gs.scratch() as where, clickhouse.servers(where, 1) as (server,):
        check_all(where, server, True)
    if os.path.exists(os.path.join(clickhouse.VENV, 'requirements')):
        with gs.scratch() as where, clickhouse.current(where) as engine:
            check_all(where, engine, False)
    gs.finish()
