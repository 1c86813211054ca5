# SPDX-License-Identifier: Apache-2.0
"""What one server of ClickHouse is held to, whichever version: known sums, and each table as SQLite has it, byte by byte.
A server has a port, `http`, and `ask`, what it answers to a statement."""
import json
import os
import signal
import time

import collector
import fleets
import fleetcheck
import gs
import jobsmade


def digest(store, found, *options, rc=0):
    done = gs.gpustarve('digest', '--from', '-', '--store', store, *options, input=fleets.text(found))
    gs.equal(done.returncode, rc, f'digest: {done.stderr.decode()[-400:]}')
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
    forms = ['text', 'html', 'csv']
    for n, options in enumerate([[], ['--team', 'vision'], ['--since', '2026-03-16', '--until', '2026-05-01'],
                                 ['--by', f'label:{fleets.INERT}'], ['--by', 'label:experiment'], ['--by', 'month'], ['--by', 'run'],
                                 ['--by', 'lost'], ['--require-label', 'ticket'], ['--require-label', 'project'],
                                 ['--require-label', fleets.INERT], ['--team', fleets.INERT]]):
        rc = 2 if '--require-label' in options else 0
        # What is written is made of what JSON shows whole, whoever told it: each form of some tables is enough.
        for form in ['json'] + (forms if gs.BIG or not options else [forms[n % 3]]):
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
                "SELECT uniqExactIf(run, position(digest, 'rest_of_job_ns') > 0), uniqExactIf(run, verdict != 'no_process') FROM collected.gpustarve_runs"
                " WHERE NOT position(digest, 'provisional')") == '3\t9'

        gs.until('jobs and runs in the store', all_there, 60)
        print(daemon.log()[-2000:])
        daemon.stop()
    urls = [[mine], ['--store', f'sqlite:{mine}/fleet.sqlite'], ['--store', store]]
    for table in TABLES:
        same(urls, *table, forms=['csv'])
    runs = json.loads(same(urls, '--by', 'run', forms=['json']))
    gs.equal([sorted(r['run'] for r in runs['runs']['runs']), runs['total']['held_ns']],
             [['lone3', 'lone4', 'lone5'] + [f'slurm-c1-{n}{step}' for n in (3, 4, 5) for step in ('', '.0-0', '.1-0')],
              3 * (4 * 90 + 50) * 10**9], 'each once')
