#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `gpustarve fleet` takes over 100,000 digests (GS_FLEET_DIGESTS) in SQLite and in a ClickHouse
server, how long storing them takes, and whether both say the same. Prints, judges nothing."""
import contextlib
import os
import resource
import sys
import time

SOURCE = os.environ.get('GPUSTARVE_SOURCE') or os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
sys.path.insert(0, os.path.join(SOURCE, 'tests', 'e2e'))

import clickhouse
import fleets
import gs

COUNT = int(os.environ.get('GS_FLEET_DIGESTS', '100000'))


@contextlib.contextmanager
def timed(what):
    cpu, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    yield
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
    print(f'{what:40s} {wall:7.2f} s wall, {used:6.2f} s of our CPU', flush=True)


def measure(name, store, file):
    with timed(f'{name}: store {COUNT:,} digests'):
        done = gs.gpustarve('digest', '--from', file, '--store', store, timeout=3000)
    print(done.stderr.decode(), end='')
    out = b''
    for _ in range(3):
        with timed(f'{name}: fleet --format json'):
            out = gs.gpustarve('fleet', '--store', store, '--format', 'json').stdout
    with timed(f'{name}: fleet --since 30d'):
        gs.gpustarve('fleet', '--store', store, '--since', '2026-09-01')
    return out


with gs.scratch() as where:
    file = os.path.join(where, 'digests')
    with open(file, 'wb') as f:
        f.write(fleets.text(fleets.digests(COUNT)))
    print(f'load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs')
    lite = measure('SQLite', 'sqlite:' + os.path.join(where, 'fleet.sqlite'), file)
    with clickhouse.servers(where, 1) as servers:
        store = f'clickhouse://127.0.0.1:{servers[0].http}/bench?outbox={where}/outbox.sqlite'
        click = measure('ClickHouse', store, file)
        print('both say the same' if click == lite else 'THEY DIFFER', f'({len(lite)} bytes of JSON)')
