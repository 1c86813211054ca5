#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse
"""A ClickHouse of today, embedded (PyPI's chdb; test_fleet_clickhouse.py has Debian's server, eight years older): every
table, upgrade and note of the fleet is what it is there, and what SQLite says."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import clickcheck
import clickhouse
import fleetjobs
import fleetown
import fleets
import gs
import provisional

COUNT = 500

with gs.scratch() as where, clickhouse.current(where) as engine:
    print('ClickHouse', engine.ask('SELECT version()'))
    found = fleets.digests(10000, seed=2)[:COUNT]
    clickcheck.check_one(where, engine, found)
    clickcheck.check_tables(where, engine, fleets.trainings(found[:300], 20))
    clickcheck.check_collected(where, engine)
    own = f'clickhouse://127.0.0.1:{engine.http}/own?outbox={where}/own.sqlite'
    fleetown.check_all(where, own)
    fleetjobs.check_all(lambda name: own.replace('own', name))
    provisional.check_all(where, own.replace('own', 'row'))
gs.finish()
