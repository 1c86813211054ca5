#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse
"""The fleet from a real ClickHouse: known sums from one server and from two shards, the same as from
SQLite byte by byte; a shard killed and brought back loses no run and counts none twice; a server that is
not there; names and passwords."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import clickhouse
from clickcheck import check_collected, check_one, check_tables, digest, same
import fleets
import fleetcheck
import fleetjobs
import fleetown
import gs
import provisional
from rolledstores import MONTHS

COUNT = 1310  # of 10,000


def flush(store, rc=0):
    done = gs.gpustarve('digest', '--flush', '--store', store)
    gs.equal(done.returncode, rc, f'flush: {done.stderr.decode()[-400:]}')
    return done.stderr.decode()


def check_many(where, server, found):
    """All of them: every grouping to the cent."""
    store = f'clickhouse://127.0.0.1:{server.http}/many?outbox={where}/many.sqlite'
    digest(store, found)
    fleetcheck.check_all(store, found, f'{len(found)} in ClickHouse')


def check_login(where, server):
    """A password from a file works, a wrong one is refused, neither is shown."""
    secret = os.path.join(where, 'secret')
    with open(secret, 'w', encoding='utf-8') as f:
        f.write('s3cret\n')
    at = f'127.0.0.1:{server.http}/login?outbox={where}/login.sqlite'
    digest(f'clickhouse://bill@{at}&password_file={secret}', fleets.digests(3))
    gs.equal(fleetcheck.as_json(f'clickhouse://bill:s3cret@{at}')['total']['runs'], 3, 'with a password')
    done = gs.gpustarve('fleet', '--store', f'clickhouse://bill:wr0ng@{at}')
    gs.check(done.returncode == 1 and b'wr0ng' not in done.stderr and b's3cret' not in done.stderr,
             f'a wrong password: {done.stderr}')
    said = digest(f'clickhouse://bill:wr0ng@{at}', fleets.digests(4)[3:])
    gs.check('1 digest waits' in said and 'wr0ng' not in said, f'what is refused waits: {said}')
    flush(f'clickhouse://bill:s3cret@{at}')
    gs.equal(fleetcheck.as_json(f'clickhouse://bill:s3cret@{at}')['total']['runs'], 4, 'and is sent later')
    for bad in ('clickhouse://h/a;b', 'clickhouse://h/d?cluster=a b', 'clickhouse:///d', 'clickhouse://h/d?x=1',
                'clickhouse://h h/d'):
        done = gs.gpustarve('fleet', '--store', bad)
        gs.check(done.returncode == 1 and b'--store clickhouse' in done.stderr, f'{bad}: {done.stderr}')


def on_shards(shards):
    return [int(s.ask('SELECT count() FROM two.gpustarve_runs_local FINAL')) for s in shards]


def check_two(where, shards, found):
    hosts = ','.join(f'127.0.0.1:{s.http}' for s in shards)
    store = f'clickhouse://{hosts}/two?cluster=fleet&outbox={where}/two.sqlite'
    first, more, last = found[:1000], found[1000:1300], found[1300:1310]
    digest(store, first)
    fleetcheck.check_all(store, first, 'two shards')
    held = on_shards(shards)
    gs.check(min(held) > 300 and sum(held) == 1000, f'both shards have runs: {held}')
    shards[1].kill()
    said = digest(store, more)
    gs.check('wait in the outbox' in said, f'a dead shard: {said[-200:]}')
    done = gs.gpustarve('fleet', '--store', store)
    gs.check(done.returncode == 1 and not done.stdout, f'without a shard nothing is told: {done.stderr}')
    part = fleetcheck.as_json(store, '--partial')['total']['runs']
    gs.check(held[0] <= part < 1300, f'--partial: {part} of {held}')
    flush(store, rc=1)
    gs.check(shards[1].start(), f'the shard comes back: {shards[1].why()}')
    flush(store)
    gs.equal(flush(store), '', 'nothing waits any more')
    fleetcheck.check_all(store, first + more, 'a shard was killed and came back')
    # The host that is asked first is gone: the other one answers for what it has.
    shards[0].kill()
    digest(store, last)
    gs.check(shards[0].start(), f'the first shard comes back: {shards[0].why()}')
    digest(store, first[:10])
    fleetcheck.check_all(store, first + more + last, 'the other shard was killed and came back')
    lite = 'sqlite:' + os.path.join(where, 'two-lite.sqlite')
    digest(lite, first + more + last)
    for asked in MONTHS[0], MONTHS[4]:
        same([['--store', store], ['--store', lite]], *asked, forms=['json'])
    return store


DERIVED = ['rules', 'whole_job', 'rest_of_job_ns', 'units_told', 'rest_spans']
ADDED = [*fleets.added(), *DERIVED]


def columns(server, table):
    return [c for c in ADDED if server.ask(
        f"SELECT count() FROM system.columns WHERE concat(database, '.', table) = '{table}' AND name = '{c}'") == '1']


def check_before(where, shards, found):
    """Tables that a version before this one made: read as they are, and brought up to date by who writes."""
    hosts = ','.join(f'127.0.0.1:{s.http}' for s in shards)
    store = f'clickhouse://{hosts}/past?cluster=fleet&outbox={where}/past.sqlite'
    untold = [{k: v for k, v in d.items() if k not in ('kind', 'provider', 'instance')} for d in found]
    again = [dict(d, revision=7) for d in untold[:5]]
    old, new = again + untold[5:40], [dict(d, revision=2) for d in found[20:60]]
    digest(store, untold[:40])
    digest(store, again)
    gone = ', '.join(f'DROP COLUMN {c}' for c in ADDED)
    for s in shards:
        s.ask(f'ALTER TABLE past.gpustarve_runs_local {gone}')
        s.ask(f'ALTER TABLE past.gpustarve_runs {gone}')
    fleetcheck.check_all(store, old, 'tables of before')
    gs.equal([columns(s, 'past.gpustarve_runs') for s in shards], [[], []], 'reading changes nothing')
    # Another program was killed after the first column of one shard.
    shards[0].ask("ALTER TABLE past.gpustarve_runs_local ADD COLUMN kind String DEFAULT 'unknown'")
    digest(store, new)
    for t in 'runs_local', 'runs':
        gs.equal([columns(s, f'past.gpustarve_{t}') for s in shards], [ADDED] * 2, f'{t}: upgraded')
    fleetcheck.check_all(store, old[:20] + new, 'after the upgrade')
    # Columns that no row brings: read without, and added by who writes next, to a host by itself, too.
    for s in shards:
        s.ask('ALTER TABLE past.gpustarve_runs ' + ', '.join(f'DROP COLUMN {name}' for name in DERIVED))
    fleetcheck.check_all(store, old[:20] + new, 'without them')
    shards[1].ask('ALTER TABLE past.gpustarve_runs_local DROP COLUMN rules')
    digest(store, new[:1])
    for t in 'runs_local', 'runs':
        gs.equal([columns(s, f'past.gpustarve_{t}') for s in shards], [ADDED] * 2, f'{t}: upgraded again')
    fleetcheck.check_all(store, old[:20] + new, 'after that')


def check_nobody(where, found):
    """Nothing listens: the run is safe all the same."""
    port = gs.free_ports(1)[0]
    store = f'clickhouse://127.0.0.1:{port}/x?outbox={where}/nobody.sqlite'
    gs.check('7 digests wait' in digest(store, found[:7]), 'it is said')
    gs.check('does not answer' in flush(store, rc=1), 'and again')
    gs.equal(gs.gpustarve('fleet', '--store', store).returncode, 1, 'fleet without a server')


def check_untold(store, server):
    """The server fails between the look at a budget and its note: who looks next tells it, once."""
    server.ask('RENAME TABLE own.gpustarve_noted TO own.away')
    fleetcheck.fleet(store, '--budget', 'run=0.00001', rc=1)
    server.ask('RENAME TABLE own.away TO own.gpustarve_noted')
    told = [[b['told'] for b in fleetcheck.as_json(store, '--budget', 'run=0.00001')['budgets']] for _ in range(2)]
    gs.check(len(told[0]) == 5 and all(told[0]) and not any(told[1]), f'told by the second, and not by the third: {told}')


def check_replicas(where, server, found):
    """Nothing copies our tables: a bill of one replica would lack what the other has."""
    store = f'clickhouse://127.0.0.1:{server.http}/mirror?cluster=mirrored&outbox={where}/mirror.sqlite'
    said = digest(store, found[:3], rc=1)
    gs.check('2 replicas' in said, f'refused: {said}')
    done = gs.gpustarve('fleet', '--store', store)
    gs.check(done.returncode == 1 and b'2 replicas' in done.stderr, f'no bill: {done.stderr}')
    gs.equal(server.ask('SELECT count() FROM system.tables WHERE database = \'mirror\''), '0', 'no table is made')


def check_unasked(where):
    """Whose a run is stands at a server that does not answer: with a price it is not guessed, else it waits."""
    port = gs.free_ports(1)[0]
    store = f'clickhouse://127.0.0.1:{port}/x?outbox={where}/unasked.sqlite'
    run = os.path.join(where, 'run.gst')
    done = gs.gpustarve('digest', run, '--store', store, '--price', '3')
    gs.equal((done.returncode, b'--team' in done.stderr), (1, True), f'a price: {done.stderr.decode()[-300:]}')
    done = gs.gpustarve('digest', run, '--store', store)
    gs.equal((done.returncode, b'1 digest waits' in done.stderr), (0, True), f'without: {done.stderr.decode()[-300:]}')
    done = gs.gpustarve('digest', run, '--store', store, '--price', '3', '--team', '')
    gs.equal(done.returncode, 0, f'nobody\'s, said so: {done.stderr.decode()[-300:]}')


with gs.scratch() as where, clickhouse.servers(where, 2) as shards:
    many = fleets.digests(10000, seed=2)
    found = many[:COUNT]
    check_one(where, shards[0], found)
    check_tables(where, shards[0], fleets.trainings(found[:400], 20))
    check_collected(where, shards[0])
    check_many(where, shards[0], many)
    check_login(where, shards[0])
    check_two(where, shards, found)
    check_before(where, shards, found)
    check_nobody(where, found)
    own = f'clickhouse://127.0.0.1:{shards[0].http}/own?outbox={where}/own.sqlite'
    fleetown.check_all(where, own)
    fleetjobs.check_all(lambda name: own.replace('own', name))
    hosts = ','.join(f'127.0.0.1:{s.http}' for s in shards)
    fleetjobs.check_all(lambda name: f'clickhouse://{hosts}/two{name}?cluster=fleet&outbox={where}/two{name}.sqlite')
    provisional.check_all(where, own.replace('own', 'row'))
    check_untold(own, shards[0])
    check_replicas(where, shards[0], found)
    check_unasked(where)
gs.finish()
