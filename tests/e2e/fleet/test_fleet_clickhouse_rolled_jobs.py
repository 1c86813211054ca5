#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse timeout=600
"""Sums that are stored beside digests of schedulers' jobs: which of these holds which run shows in all rows of a job together,
whether they were summed up or came since; in any order, of tenants and of nobody, replaced, merged, moved to another job and
cut, the fleet of the sums is the fleet of the rows, byte by byte. GS_BIG: more rounds, and a
current server."""
import http.server
import os
import random
import sys
import threading
import urllib.error
import urllib.request

sys.path.insert(0, sys.path[0] + '/../../lib')
import clickhouse
import fleetcheck
import fleetjobs
import fleets
import gs
from rolledstores import Stores, uses_sums

ROUNDS = 60 if gs.BIG else 6
HOUR, DAY = fleets.HOUR, fleets.DAY
AT = fleets.MONDAY + 84 * DAY  # March 30
TENANTS = '', '', 'vision', 'speech'
ASKED = [['--by', 'month'], [], ['--team', 'vision'], ['--by', 'class'], ['--by', 'failed', '--top', '3'], ['--by', 'team'], ['--by', 'run'],
         ['--by', 'month', '--since', fleets.iso(AT + DAY)[:10]], ['--by', 'label:experiment'], ['--since', fleets.iso(AT + DAY)[:10]],
         ['--since', fleets.iso(AT + DAY)[:10], '--until', fleets.iso(AT + 2 * DAY)[:10]],
         ['--since', fleets.iso(AT + 30 * HOUR) + 'Z', '--until', fleets.iso(AT + 55 * HOUR) + 'Z', '--by', 'team']]


class Jobs:
    """Runs of few jobs, and digests of these, of whoever they are; numbers make them come again."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def run(self):
        rng = self.rng
        number = rng.randrange(90)
        job = number % 30 if rng.random() < .9 else rng.randrange(30)
        more = {'revision': rng.randrange(1, 9), 'end': rng.choice(['ok', 'ok', 'failed'])}
        return fleetjobs.made(rng, f'run-{number}', str(job), rng.choice(TENANTS), AT + rng.randrange(96) * HOUR,
                              rng.randrange(1, 30) * HOUR, fleets.gpu_line(rng, rng.randrange(4), 0), **more)

    def job(self):
        rng = self.rng
        job, tenant, start, wall = rng.randrange(30), rng.choice(TENANTS), AT + rng.randrange(60) * HOUR, rng.randrange(1, 60) * HOUR
        if rng.random() < .5:
            return fleetjobs.made(rng, f'c1-{job}', str(job), tenant, start, wall, fleets.gpu_line(rng, rng.randrange(4), 0),
                                  whole_job=True, revision=rng.randrange(1, 9))
        return fleetjobs.rest_of(rng, f'c1-{job}', str(job), tenant, start, wall, rng.randrange(1, 90) * HOUR,
                                 [(rng.randrange(4), [(0, wall, 1)])], revision=rng.randrange(1, 9))

    def some(self):
        found = [self.job() if self.rng.random() < .3 else self.run() for _ in range(self.rng.choice([1, 2, 3, 20]))]
        return list({(d.get('tenant', ''), d['run']): d for d in found}.values())


def check_random(where, server, seed):
    """Summed up late or soon, a lot or little of it comes since."""
    s, jobs, seen = Stores(where, server, f'jobs{seed}'), Jobs(seed), {'held': 0, 'since': 0, 'both': 0}
    for n in range(ROUNDS):
        s.put_click(jobs.some() if n else [d for _ in range(8) for d in jobs.some()], jobs.rng.random() < .5)
        if jobs.rng.random() < .3:
            s.ask('OPTIMIZE TABLE gpustarve_runs FINAL')
            if jobs.rng.random() < .7:
                s.put_click(jobs.some(), True)
        holding = s.holding()
        if holding:
            seen['held'] += holding[1] > 0
            seen['since'] += holding[2] > 0
            seen['both'] += holding[1] > 0 and holding[2] > 0
        s.same_as_rows(f'seed {seed}, round {n}', [ASKED[0], *jobs.rng.sample(ASKED[1:], 2)])
    gs.check(min(seen.values()) >= ROUNDS // 8, f'seed {seed}: rounds in which sums were beside what: {seen}')
    s.ask('OPTIMIZE TABLE gpustarve_runs FINAL')
    s.put_click([jobs.run()], True)
    uses_sums(s)


def check_late(where, server):
    """Beside what is summed up: a job's digest that comes later, one that goes again, and what came of other jobs since."""
    rng, s = random.Random(3), Stores(where, server, 'late')
    line = fleets.gpu_line(rng, 0, 0)
    steps = [fleetjobs.made(rng, f's{i}', str(i // 2), '', AT + i * HOUR, HOUR, fleets.gpu_line(rng, 0, 0)) for i in range(40)]
    whole = [fleetjobs.made(rng, f'c1-{i}', str(i), '', AT, 60 * HOUR, line, whole_job=True) for i in range(20)]
    rest = [fleetjobs.rest_of(rng, f'c1-{i}', str(i), '', AT, 60 * HOUR, 90 * HOUR, [(0, [(0, HOUR, 1)])], revision=2) for i in range(20)]
    s.put(steps, rolled=False)
    server.ask('SYSTEM STOP MERGES')  # of tables that are there
    s.put([dict(steps[i], revision=2) for i in (0, 30)] + whole[:5] + rest[5:7])  # two large parts, some runs of which are in both
    s.same('as summed up')
    for what, found in (('a digest of all of it', whole[8:9]), ('of the rest, for one of all', rest[0:1]), ('a rest beside it', rest[9:10]),
                        ('a run of a job whose digest is summed up', [dict(steps[2], run='late')]),
                        ('another revision of such a run', [dict(steps[4], revision=3)]),
                        ('jobs that came since', [dict(d, job='x' + d['job'], run='x' + d['run']) for d in steps[:4] + whole[:1]])):
        s.put(found, rolled=False)
        gs.check(s.holding(), f'{what}: the sums hold')
        s.same(what, [ASKED[0], ['--by', 'failed'], ['--by', 'label:experiment'], ['--since', fleets.iso(AT + DAY)[:10]]])
    uses_sums(s)
    server.ask('SYSTEM START MERGES')


class Between(http.server.ThreadingHTTPServer):
    """What is asked of a server goes through it; before the third look at its parts, @then is called."""
    daemon_threads = True

    def __init__(self, server, then):
        super().__init__(('127.0.0.1', 0), Through)
        self.to, self.then, self.looks = server.http, then, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Through(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = self.rfile.read(int(self.headers['Content-Length'] or 0))
        if b'sum(rows)' in asked and b'FROM system.parts' in asked and b'gpustarve_generations' not in asked:
            self.server.looks += 1
            if self.server.looks == 3:
                self.server.then()
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{self.server.to}{self.path}', asked) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as e:
            status, text = e.code, e.read()
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def check_between(where, server):
    """A command that asks twice, for sums and then for what they brought forth, looks again: what came between is in the second
    answer, each run once."""
    rng, s = random.Random(4), Stores(where, server, 'between')
    runs = [fleetjobs.made(rng, f'b{i}', str(i), '', AT, HOUR, fleets.gpu_line(rng, 0, 0), team='early') for i in range(9)]
    for rolled in False, True:
        s.put_click(runs, rolled)
        again = [dict(d, revision=d.get('revision', 0) + 1, team='late') for d in runs[:4 - 2 * rolled]]
        between = Between(server, lambda: s.put_click(again, False))
        through = s.at.replace(f':{server.http}/', f':{between.server_port}/') + f'&rollup={int(rolled)}'
        said, want = (fleetcheck.as_json(store, '--by', 'team')['by']['team'] for store in (through, s.at))
        between.shutdown()
        between.server_close()
        gs.check(between.looks >= 4, f'sums {rolled}: it looked {between.looks} times')
        gs.equal(*({t['name']: t['units'] for t in teams} for teams in (said, want)), f'sums {rolled}: samples, with what came between')
        runs = [dict(d, revision=d.get('revision', 0) + 2) for d in runs]


if __name__ == '__main__':
    with gs.scratch() as where, clickhouse.servers(where, 1) as (server,):
        check_late(where, server)
        check_between(where, server)
        for seed in range(1, 6 if gs.BIG else 2):
            check_random(where, server, seed)
        fleetjobs.check_rest(lambda name: f'clickhouse://127.0.0.1:{server.http}/o{name}?outbox={where}/o{name}.sqlite&rollup=1')
    if gs.BIG and os.path.exists(os.path.join(clickhouse.VENV, 'requirements')):
        with gs.scratch() as where, clickhouse.current(where) as engine:
            check_late(where, engine)
            check_random(where, engine, 1)
    gs.finish()
