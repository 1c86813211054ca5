#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `gpustarve fleet` takes over 100,000 digests (GS_FLEET_DIGESTS) in SQLite and in a ClickHouse
server, also where some runs were sent twice, how long storing them takes, and whether both say the same; and how long the
tables take that read whole digests or lines. They are of 2,000 trainings.
Prints, judges nothing."""
import contextlib
import os
import resource
import sys
import time

SOURCE = os.environ.get('GPUSTARVE_SOURCE') or os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
sys.path.insert(0, os.path.join(SOURCE, 'tests', 'lib'))

import clickhouse
import fleets
import gs

TABLES = (['--plan'], *(['--by', t] for t in ('savings', 'lost', 'kind', 'month', 'run', 'review')))
COUNT = int(os.environ.get('GS_FLEET_DIGESTS', '100000'))


def cpu_of(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


@contextlib.contextmanager
def timed(what, server=None):
    theirs = cpu_of(server) if server else 0
    cpu, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    yield
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
    more = f', {cpu_of(server) - theirs:6.2f} s of the server\'s' if server else ''
    print(f'{what:40s} {wall:7.2f} s wall, {used:6.2f} s of our CPU{more}', flush=True)


def ask(name, store, server):
    out = b''
    for _ in range(3):
        with timed(f'{name}: fleet --format json', server):
            out = gs.gpustarve('fleet', '--store', store, '--format', 'json').stdout
    return out


def measure(name, store, file, server=None):
    with timed(f'{name}: store {COUNT:,} digests', server):
        done = gs.gpustarve('digest', '--from', file, '--store', store, timeout=3000)
    print(done.stderr.decode(), end='')
    out = ask(name, store, server)
    with timed(f'{name}: fleet --since 2026-09-01', server):
        gs.gpustarve('fleet', '--store', store, '--since', '2026-09-01')
    for table in TABLES:
        with timed(f'{name}: fleet {table[-1]}', server):
            gs.gpustarve('fleet', '--store', store, *table, '--format', 'html')
    return out


with gs.scratch() as where:
    file = os.path.join(where, 'digests')
    found = fleets.trainings(fleets.digests(COUNT), 2000)
    with open(file, 'wb') as f:
        f.write(fleets.text(found))
    print(f'load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs')
    lite = measure('SQLite', 'sqlite:' + os.path.join(where, 'fleet.sqlite'), file)
    with clickhouse.servers(where, 1) as servers:
        store = f'clickhouse://127.0.0.1:{servers[0].http}/bench?outbox={where}/outbox.sqlite'
        pid = servers[0].process.pid
        click = measure('ClickHouse', store, file, pid)
        gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text([dict(d, revision=2) for d in found[:50]]))
        again = ask('50 runs twice', store, pid)
        print('all say the same' if click == lite == again else 'THEY DIFFER', f'({len(lite)} bytes of JSON)')
