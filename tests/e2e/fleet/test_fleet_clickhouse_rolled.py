#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse
"""Sums that a writer stores in ClickHouse: whatever comes, is replaced, is merged or is killed, the fleet with them is the
fleet without them and SQLite's, byte by byte; and it is of them that it is made. GS_BIG: more rounds."""
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
import gs
from rolledstores import ASKED, Stores, uses_sums

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
        s.same(f'seed {seed}, round {n}', rng.sample(ASKED, 3))
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
