#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse
"""Two shards of two replicas each: each server is killed in turn, and no run is lost, none counts twice, and the bill of
whoever is left is whole."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import clickhouse
from clickcheck import digest
import fleetcheck
import fleets
import gs

if not gs.BIG:
    gs.skip('a campaign: GS_BIG=1')


def rows(server):
    return int(server.ask('SELECT count() FROM copied.gpustarve_runs_local FINAL'))


def copied(shards):
    """All replicas of a shard have the same."""
    gs.until('all is copied', lambda: all(rows(a) == rows(b) for a, b in shards), 60)


def check_told(where, store, shards):
    """What one server was told that somebody was told, any other one knows, and another machine that asks there."""
    def told(outbox):
        at = store.replace('outbox.sqlite', outbox)
        return [b['told'] for b in fleetcheck.as_json(at, '--budget', 'run=0.00001')['budgets']]

    first = told('one.sqlite')
    server = shards[0][0]
    gs.until('noted everywhere', lambda: len({s.ask('SELECT count() FROM copied.gpustarve_noted FINAL')
                                              for shard in shards for s in shard}) == 1, 60)
    server.kill()
    second = told('two.sqlite')
    gs.check(first and all(first) and not any(second), f'told once: {sum(first)} of {len(first)}, then {sum(second)}')
    gs.check(server.start(), f'it comes back: {server.why()}')


with gs.scratch() as where, clickhouse.replicated(where) as shards:
    found = fleets.digests(10000, seed=2)[:900]
    hosts = ','.join(f'127.0.0.1:{s.http}' for shard in shards for s in shard)
    store = f'clickhouse://{hosts}/copied?cluster=fleet&outbox={where}/outbox.sqlite'
    digest(store, found[:300])
    fleetcheck.check_all(store, found[:300], 'two shards of two replicas')
    copied(shards)
    held = [[rows(s) for s in shard] for shard in shards]
    print('rows', held)
    gs.check(min(map(min, held)) > 90 and held[0][0] + held[1][0] == 300, f'each shard has some, both replicas the same: {held}')
    now = found[:300]
    for i, gone in enumerate(s for pair in zip(*shards) for s in pair):
        gone.kill()
        more = found[300 + 100 * i:400 + 100 * i]
        again = [dict(d, revision=i + 2) for d in now[:20]]
        digest(store, more + again)
        now = again + now[20:] + more
        fleetcheck.check_all(store, now, f'without replica {i}')
        gs.check(gone.start(), f'replica {i} comes back: {gone.why()}')
        copied(shards)
        fleetcheck.check_all(store, now, f'with replica {i} again')
    check_told(where, store, shards)
    # Tables of before, which nobody copies, are refused here.
    for s in (s for shard in shards for s in shard):
        s.ask('CREATE DATABASE past')
        s.ask('CREATE TABLE past.gpustarve_runs_local (run String) ENGINE=MergeTree ORDER BY run')
    past = store.replace('/copied', '/past')
    said = digest(past, found[:3], rc=1)
    gs.check('copied by nobody' in said, f'refused: {said}')
    gs.check('copied by nobody' in gs.gpustarve('fleet', '--store', past).stderr.decode(), 'no bill')
gs.finish()
