#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `gpustarve fleet` takes over 2 M and 10 M digests in a ClickHouse server, and how much memory each statement took
there at most: of all rows, and of the sums that a writer stores. The server makes them of 50,000, each under other names
(GS_FLEET_COPIES: 40 and 200 of each); its tables are merged, as they are after some hours. GS_FLEET_JOBS: so many percent of them
are steps of jobs that have digests of their own, as at a Slurm site; then some more come, and a job's digest of one of before.
Some minutes, and 3 GB in TMPDIR. Prints, judges nothing."""
import contextlib
import os
import sys
import threading
import time

SOURCE = os.environ.get('GPUSTARVE_SOURCE') or os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
sys.path.insert(0, os.path.join(SOURCE, 'tests', 'lib'))

import clickhouse
import fleetjobs
import fleets
import gs

COPIES = [int(n) for n in os.environ.get('GS_FLEET_COPIES', '40,200').split(',')]
COUNT = 50000
JOBS = int(os.environ.get('GS_FLEET_JOBS', '0'))
ASKED = [], ['--by', 'team'], ['--by', 'class'], ['--since', '2026-09-01'], ['--by', 'month'], \
    ['--by', 'month', '--since', '2026-09-01'], ['--by', 'hours']


class Peaks(threading.Thread):
    """Of the statements that run meanwhile: bytes, seconds."""

    def __init__(self, server):
        super().__init__()
        self.server, self.ended, self.of = server, threading.Event(), {}

    def run(self):
        while not self.ended.wait(.03):
            with contextlib.suppress(OSError):
                said = self.server.ask("SELECT peak_memory_usage, elapsed, substring(query, 1, 70) FROM system.processes"
                                       " WHERE query NOT LIKE '%system.processes%' FORMAT TabSeparated")
                for line in filter(None, said.split('\n')):
                    memory, seconds, sql = line.split('\t')
                    before = self.of.get(sql, (0, 0))
                    self.of[sql] = max(before[0], int(memory)), max(before[1], float(seconds))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *args):
        self.ended.set()
        self.join()


def multiply(server, copies):
    """A database of so many copies of `base`."""
    name = f'x{copies}'
    server.ask(f'CREATE DATABASE {name}')
    for table in 'runs', 'noted':
        made = server.ask(f'SHOW CREATE TABLE base.gpustarve_{table} FORMAT TabSeparatedRaw')
        server.ask(made.replace('base.gpustarve', f'{name}.gpustarve', 1))
    columns = server.ask("SELECT name FROM system.columns WHERE database = 'base' AND table = 'gpustarve_runs'"
                         " AND default_kind != 'MATERIALIZED' FORMAT TabSeparated").split('\n')
    for i in range(copies):
        values = ', '.join(f"concat({c}, '-{i}')" if c in ('run', 'job') else c for c in columns)
        server.ask(f'INSERT INTO {name}.gpustarve_runs ({", ".join(columns)}) SELECT {values} FROM base.gpustarve_runs FINAL')
    server.ask(f'OPTIMIZE TABLE {name}.gpustarve_runs FINAL', 3000)
    return name


def measure(server, name, where, command, *options):
    begin = time.monotonic()
    with Peaks(server) as peaks:
        done = gs.gpustarve(command, '--store', f'clickhouse://127.0.0.1:{server.http}/{name}?outbox={where}/ask.sqlite', *options,
                            timeout=3000)
    print(f'{" ".join((command, *options)):24s} {time.monotonic() - begin:7.2f} s, exit {done.returncode}, '
          f'{len(done.stdout):,} bytes; the largest at the server:')
    for sql, (memory, seconds) in sorted(peaks.of.items(), key=lambda p: -p[1][0])[:3]:
        print(f'    {memory / 1e6:6.0f} MB {seconds:6.2f} s  {sql}')
    sys.stdout.flush()
    return done.stdout


def late(server, name, where, found):
    """A twentieth comes since, and digests of ten jobs that are summed up come again."""
    copies = max(int(name[1:]) // 20, 1)
    new = [dict(d, run=f'new{i}-{d["run"]}', job=f'new{i}-{d["job"]}') for i in range(copies) for d in found]
    again = [dict(d, run=d['run'] + '-0', job=d['job'] + '-0', revision=9) for d in found if d['run'].startswith('c1-')][:10]
    print(f'{len(new):,} digests more, {len(again)} of jobs of before')
    gs.gpustarve('digest', '--from', '-', '--store', f'clickhouse://127.0.0.1:{server.http}/{name}?outbox={where}/late.sqlite&rollup=0',
                 input=fleets.text(new + again), timeout=3000)


with gs.scratch() as where, clickhouse.servers(where, 1) as (server,):
    print(f'load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs')
    found = fleetjobs.site(fleets.trainings(fleets.digests(COUNT), 2000), JOBS)
    gs.gpustarve('digest', '--from', '-', '--store', f'clickhouse://127.0.0.1:{server.http}/base?outbox={where}/base.sqlite',
                 input=fleets.text(found), timeout=3000)
    for copies in COPIES:
        name = multiply(server, copies)
        print(f'{int(server.ask(f"SELECT count() FROM {name}.gpustarve_runs")):,} digests')
        rows = [measure(server, name, where, 'fleet', *options) for options in ASKED]
        measure(server, name, where, 'digest', '--flush')
        sums = [measure(server, name, where, 'fleet', *options) for options in ASKED]
        print('the same of sums as of rows' if sums == rows else 'NOT THE SAME')
        if JOBS:
            late(server, name, where, found)
            sums = [measure(server, name, where, 'fleet', *options) for options in ASKED]
            server.ask(f'RENAME TABLE {name}.gpustarve_generations TO {name}.away')
            rows = [measure(server, name, where, 'fleet', *options) for options in ASKED[:1]]
            print('the same of sums as of rows' if sums[:1] == rows else 'NOT THE SAME')
gs.finish()
