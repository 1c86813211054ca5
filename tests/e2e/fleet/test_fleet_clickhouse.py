#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse
"""The fleet from a real ClickHouse: known sums from one server and from two shards, the same as from
SQLite byte by byte; a shard killed and brought back loses no run and counts none twice; a server that is
not there; names and passwords."""
import json
import os
import signal
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import clickhouse
import collector
import fleets
import fleetcheck
import fleetjobs
import fleetown
import gs
import jobsmade
import provisional

COUNT = 1310  # of 10,000


def digest(store, found, *options, rc=0):
    done = gs.gpustarve('digest', '--from', '-', '--store', store, *options, input=fleets.text(found))
    gs.equal(done.returncode, rc, f'digest: {done.stderr.decode()[-400:]}')
    return done.stderr.decode()


def flush(store, rc=0):
    done = gs.gpustarve('digest', '--flush', '--store', store)
    gs.equal(done.returncode, rc, f'flush: {done.stderr.decode()[-400:]}')
    return done.stderr.decode()


def check_one(where, server, found):
    """One server: the sums, digests that come again, and what SQLite says."""
    outbox = os.path.join(where, 'one.sqlite')
    store = f'clickhouse://127.0.0.1:{server.http}/one?outbox={outbox}'
    lite = 'sqlite:' + os.path.join(where, 'lite.sqlite')
    digest(store, found)
    digest(lite, found)
    fleetcheck.check_all(store, found, 'ClickHouse')
    digest(store, found[:20])
    again = [dict(n, run=d['run']) for d, n in zip(found[20:60], fleets.digests(40, seed=9, revision=5))]
    old = [dict(d, revision=0, gpus=[dict(d['gpus'][0], held_ns=1)]) for d in found[60:80]]
    for s in store, lite:
        digest(s, again + old)
    now = found[:20] + again + found[60:]
    fleetcheck.check_all(store, now, 'ClickHouse, after digests that came again')
    for options in ([], ['--team', 'vision'], ['--since', '2026-03-16', '--until', '2026-05-01'],
                    ['--by', f'label:{fleets.INERT}'], ['--by', 'label:experiment'], ['--by', 'month'], ['--by', 'run'],
                    ['--by', 'lost'], ['--require-label', 'ticket'], ['--require-label', 'project'],
                    ['--require-label', fleets.INERT], ['--team', fleets.INERT]):
        rc = 2 if '--require-label' in options else 0
        for form in 'json', 'text', 'html', 'csv':
            asked = ['--format', form, '--top', '500', *options]
            gs.check(fleetcheck.fleet(store, *asked, rc=rc) == fleetcheck.fleet(lite, *asked, rc=rc),
                     f'{asked}: ClickHouse and SQLite say the same')
    gs.equal(server.ask("EXISTS TABLE one.gpustarve_runs"), '1', 'a name full of SQL did nothing')


TABLES = [['--plan', '--reserved', 'H100=7', '--own', 'H100=31000,4,0.35'],
          *([['--by', t] for t in ('savings', 'lost', 'kind', 'month', 'run', 'hours', 'off-hours', 'review')])]


def same(urls, *options, forms=('json', 'csv')):
    """All of them say the same, whatever the form; what the first says."""
    for form in forms:
        said = [gs.gpustarve('fleet', *u, '--timezone', 'Europe/Berlin', '--format', form, '--top', '100000', *options)
                for u in urls]
        gs.equal([s.returncode for s in said], [0] * len(urls), f'{options} {form}: {said[-1].stderr.decode()[-300:]}')
        for u, s in zip(urls[1:], said[1:]):
            gs.check(s.stdout == said[0].stdout, f'{options} {form}: {u[-1]} says the same')
    return said[0].stdout.decode()


def check_tables(where, server, found):
    """What reads whole digests and lines: plan, savings, kills, kinds, months, hours, runs."""
    store = f'clickhouse://127.0.0.1:{server.http}/tables?outbox={where}/tables.sqlite'
    lite = 'sqlite:' + os.path.join(where, 'tables-lite.sqlite')
    jobs = [dict(d, job=f'j{i}', run=f'c1-j{i}', whole_job=True) for i, d in enumerate(found[:9])]
    for s in store, lite:
        digest(s, found + jobs)
        digest(s, [dict(d, revision=3, program=dict(d['program'], steps=5000)) for d in found[9:20]])
    both = [['--store', store], ['--store', lite]]
    for table in TABLES:
        same(both, *table, forms=['json'])
        same(both, *table, '--since', '2026-03-16', '--until', '2026-05-01', forms=['text'])
        same(both, *table, '--team', 'vision', forms=['html'])
    savings = fleetcheck.as_json(store, '--by', 'savings')['savings']
    gs.check(savings['adopted'] and savings['open'], 'some advice was adopted, some is open')


def job_of(out, number):
    """A job with four GPUs, two steps that each used one of them, and a run of nobody's beside it."""
    for step in range(2):
        name, begin = f'slurm-c1-{number}.{step}-0', 100 * number + 10 + 40 * step
        env = [('SLURM_JOB_ID', number), ('SLURM_CLUSTER_NAME', 'c1'), ('SLURM_STEP_ID', step), ('USER', 'anna')]
        jobsmade.run(out, name, [f'run {name}'], jobsmade.stream(start=begin, end=begin + 30, pid=100 + step, env=env))
    jobsmade.run(out, f'lone{number}', jobsmade.stream(start=100 * number, end=100 * number + 50), record={'exit_status': number % 2})
    jobsmade.alloc(out, job=number, start=100 * number, end=100 * number + 90)


def check_collected(where, server):
    """Jobs and runs that a collector digests into ClickHouse: the same as of the folder, and of the store that it keeps."""
    mine, theirs = os.path.join(where, 'mine'), os.path.join(where, 'theirs', 'runs')
    for folder in mine, theirs:
        os.makedirs(folder)
        for number in range(3, 6):
            job_of(folder, number)
    store = f'clickhouse://127.0.0.1:{server.http}/collected?outbox={where}/collected.sqlite'
    with collector.Collector(os.path.join(gs.BUILD, 'bin'), root=os.path.dirname(theirs),
                             options=['--store', store, '--limit', 'digest-after=1s']) as daemon:
        def all_there():
            daemon.process.send_signal(signal.SIGHUP)
            time.sleep(0.3)
            return server.ask("EXISTS TABLE collected.gpustarve_runs") == '1' and server.ask(
                "SELECT uniqExactIf(run, position(digest, 'whole_job') > 0), uniqExactIf(run, run LIKE 'lone%') FROM collected.gpustarve_runs"
                " WHERE NOT position(digest, 'provisional')") == '3\t3'

        gs.until('jobs and runs in the store', all_there, 60)
        print(daemon.log()[-2000:])
        daemon.stop()
    urls = [[mine], ['--store', f'sqlite:{mine}/fleet.sqlite'], ['--store', store]]
    for table in TABLES:
        same(urls, *table, forms=['csv'])
    runs = json.loads(same(urls, '--by', 'run', forms=['json']))
    gs.equal([sorted(r['run'] for r in runs['runs']['runs']), runs['total']['held_ns']],
             [['lone3', 'lone4', 'lone5', 'slurm-c1-3', 'slurm-c1-4', 'slurm-c1-5'], 3 * (4 * 90 + 50) * 10**9], 'each once')


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
    return store


def columns(server, table):
    return [c for c in fleets.added() if server.ask(
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
    gone = ', '.join(f'DROP COLUMN {c}' for c in fleets.added())
    for s in shards:
        s.ask(f'ALTER TABLE past.gpustarve_runs_local {gone}')
        s.ask(f'ALTER TABLE past.gpustarve_runs {gone}')
    fleetcheck.check_all(store, old, 'tables of before')
    gs.equal([columns(s, 'past.gpustarve_runs') for s in shards], [[], []], 'reading changes nothing')
    # Another program was killed after the first column of one shard.
    shards[0].ask("ALTER TABLE past.gpustarve_runs_local ADD COLUMN kind String DEFAULT 'unknown'")
    digest(store, new)
    for t in 'runs_local', 'runs':
        gs.equal([columns(s, f'past.gpustarve_{t}') for s in shards], [fleets.added()] * 2, f'{t}: upgraded')
    fleetcheck.check_all(store, old[:20] + new, 'after the upgrade')


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
