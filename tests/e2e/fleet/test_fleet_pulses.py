#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse
"""`gpustarve pulses`: rows into each engine and out of it, the same from SQLite, one server, two shards, two of two replicas and a current ClickHouse:
in any order, twice, older ones after newer ones; marks; and what is over goes from SQLite."""
import os
import random
import sqlite3
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import clickhouse
import gs

RUNS = 30
STREAM = '{:032x}'


def row(run, slot, rank, frame):
    return f'alpha\trun{run}\t{STREAM.format(run)}\t{slot}\t{rank}\t0\t{frame}'


def pulses(store, *options, rows=(), rc=0):
    """What it prints: rows without their age, and the mark."""
    done = gs.command([os.path.join(gs.BUILD, 'bin', 'gpustarve'), 'pulses', '--store', store, *options],
                      input=''.join(r + '\n' for r in rows).encode())
    gs.equal(done.returncode, rc, done.stderr)
    if rc:
        return [], ''
    *lines, last = done.stdout.decode().splitlines()
    gs.check(last.startswith('mark\t'), last)
    cut = [line.split('\t') for line in lines]
    gs.check(all(int(c[5]) < 120 for c in cut), 'they are new')
    return [c[:5] + c[6:] for c in cut], last.split('\t')[1]


def newest(rows):
    """Of each key the row that holds, of rows as printed."""
    out = {}
    for team, run, stream, slot, rank, frame in rows:
        key = team, run, stream, int(slot)
        if key not in out or out[key][0] < int(rank):
            out[key] = int(rank), frame
    return out


def check(store):
    r = random.Random(7)
    there, mark = pulses(store)
    gs.equal(there, [], 'nothing is there')
    gs.check(int(mark) > 0, f'it can be asked from then on, though nobody has made a table: {mark}')
    want = {}
    for _ in range(4):  # each time other rows come, of which some are older
        batch = []
        for run in range(RUNS):
            for slot in (0, 1, 2, 3, 16, 21):
                rank = r.randrange(1, 1000)
                frame = f'{rank:06x}{slot:02x}'
                batch += [row(run, slot, rank, frame)] * r.choice((1, 1, 2))
                key = 'alpha', f'run{run}', STREAM.format(run), slot
                want[key] = max(want.get(key, (0, '')), (rank, frame))
        r.shuffle(batch)
        there, mark = pulses(store, rows=batch)
        gs.equal(newest(there), want, 'what holds')
    gs.equal(newest(pulses(store, '--since', mark)[0]), want, 'what came within 15 s of a mark')
    gs.equal(pulses(store, '--since', str(int(mark) + 1000))[0], [], 'what came after a later one')
    done = gs.command([os.path.join(gs.BUILD, 'bin', 'gpustarve'), 'pulses', '--store', store],
                      input=f"nonsense\n{row(1, 16, 5000, '00')}\n{row(1, 16, -1, '00')}\n".encode())
    gs.check(done.returncode == 0 and b'2 lines' in done.stderr, f'lines that are none: {done.stderr}')
    gs.check(b'\t16\t5000\t' in done.stdout, 'the good one is taken')


def test_sqlite():
    with gs.scratch() as root:
        check(f'sqlite:{root}/x.sqlite')
        # By the day that it says, but nothing that came just now, whatever that says.
        db = sqlite3.connect(f'{root}/x.sqlite', isolation_level=None)
        db.execute("UPDATE pulse SET keep_s = 1 WHERE run IN ('run1', 'run2')")
        db.execute("UPDATE pulse SET heard_s = heard_s - 4000 WHERE run = 'run1'")
        db.close()
        there, _ = pulses(f'sqlite:{root}/x.sqlite', rows=[row(3, 16, 6000, '00')])
        gs.equal({r[1] for r in there}, {f'run{i}' for i in range(RUNS)} - {'run1'}, 'what is over goes')
        pulses(f'sqlite:{root}/x.sqlite/no', rc=1)


def test_one_server():
    with gs.scratch() as root, clickhouse.servers(root, 1) as (s,):
        store = f'clickhouse://127.0.0.1:{s.http}/live?outbox={root}/o.sqlite'
        check(store)
        s.ask('OPTIMIZE TABLE live.gpustarve_pulses FINAL')
        gs.equal(int(s.ask('SELECT count() FROM live.gpustarve_pulses')), RUNS * 6, 'a merge leaves one of each key')
        s.kill()
        pulses(store, rows=[row(1, 16, 1, '00')], rc=1)


def test_two_shards():
    with gs.scratch() as root, clickhouse.servers(root, 2) as shards:
        hosts = ','.join(f'127.0.0.1:{s.http}' for s in shards)
        check(f'clickhouse://{hosts}/two?cluster=fleet&outbox={root}/o.sqlite')
        held = [int(s.ask('SELECT count() FROM two.gpustarve_pulses_local')) for s in shards]
        gs.check(min(held) > 0, f'both have rows: {held}')


def test_replicas():
    with gs.scratch() as root, clickhouse.replicated(root) as shards:
        hosts = ','.join(f'127.0.0.1:{s.http}' for shard in shards for s in shard)
        check(f'clickhouse://{hosts}/copied?cluster=fleet&outbox={root}/o.sqlite')
        ask = 'SELECT sum(cityHash64(run, slot, rank)) FROM (SELECT DISTINCT run, slot, rank FROM copied.gpustarve_pulses_local)'
        for a, b in shards:
            gs.until('both replicas have the same', lambda: a.ask(ask) == b.ask(ask) != '0', 60)


def test_current():
    with gs.scratch() as root, clickhouse.current(root) as s:
        check(f'clickhouse://127.0.0.1:{s.http}/live?outbox={root}/o.sqlite')


if __name__ == '__main__':
    gs.run_tests(globals())
