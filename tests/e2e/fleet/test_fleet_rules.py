#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Digests by different rules in one store: the fleet says that they are not comparable and exits with 4, but for the
bill; a store of before is read as it is, and upgraded once by the first who writes, whoever is killed meanwhile."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleetcheck
import fleets
import gs
import schema
import tiny

NOW, OTHER = 2, 4


def load(store, found):
    done = gs.gpustarve('digest', '--from', '-', '--store', 'sqlite:' + store, input=fleets.text(found))
    gs.equal(done.returncode, 0, f'digest --from: {done.stderr.decode()[-400:]}')


def version(store):
    db = sqlite3.connect(store)
    told = db.execute('PRAGMA user_version').fetchone()[0], [r[1] for r in db.execute('PRAGMA table_info(run)')]
    sound = db.execute('PRAGMA integrity_check').fetchone()[0]
    db.close()
    gs.equal(sound, 'ok', f'{store}: integrity')
    gs.equal('rules' in told[1], told[0] == 2, f'{store}: its version and its columns: {told}')
    return told[0]


def of_before(where, name, found):
    """A store as the first version made it."""
    store = os.path.join(where, name)
    load(store, found)
    db = sqlite3.connect(store)
    rows = [c for c in (r[1] for r in db.execute('PRAGMA table_info(run)')) if c != 'rules']
    text = db.execute("SELECT sql FROM sqlite_master WHERE name='run'").fetchone()[0]
    db.executescript('BEGIN; ALTER TABLE run RENAME TO old; ' + text.replace(' rules INTEGER NOT NULL DEFAULT 1,', '') +
                     f'; INSERT INTO run SELECT {", ".join(rows)} FROM old; DROP TABLE old;'
                     'CREATE INDEX run_start ON run(start_ns); PRAGMA user_version=1; COMMIT;')
    db.close()
    gs.equal(version(store), 1, 'a store of before')
    return store


def mixed(where):
    store = os.path.join(where, 'mixed.sqlite')
    old, new = fleets.digests(5, seed=1), [dict(d, run='new-' + d['run'], rules=NOW) for d in fleets.digests(3, seed=2)]
    load(store, old)
    fleetcheck.fleet('sqlite:' + store)
    load(store, new)
    store = 'sqlite:' + store
    said = fleetcheck.as_json(store, rc=OTHER)
    held = [sum(l['held_ns'] for d in some for l in d['gpus']) for some in (new, old)]
    gs.equal([(r['rules'], r['runs'], r['held_ns']) for r in said['rules']], [(NOW, 3, held[0]), (1, 5, held[1])], 'both')
    gs.equal(said['total']['runs'], 8, 'all are there')
    text = ' '.join(fleetcheck.fleet(store, rc=OTHER).decode().split())
    gs.check('not comparable' in text and '3 runs by rules 2, 5 runs by rules 1' in text, text[:900])
    gs.check('not comparable' in fleetcheck.fleet(store, '--format', 'html', rc=OTHER).decode().lower(), 'the page says it')
    for by in 'bill', 'failed':
        gs.check('not comparable' not in fleetcheck.fleet(store, '--by', by).decode(), f'{by} needs no classes')
    fleetcheck.fleet(store, '--by', 'class', rc=OTHER)
    load(store[7:], [dict(d, revision=9, rules=NOW) for d in old])
    said = fleetcheck.as_json(store)
    gs.equal([(r['rules'], r['runs']) for r in said['rules']], [(NOW, 8)], 'made anew')
    with open(os.path.join(gs.SOURCE, 'docs', 'fleet.schema.json'), encoding='utf-8') as f:
        want = schema.close({k: v for k, v in json.load(f).items() if k != '$id'})
    try:
        gs.equal(schema.errors(want, json.loads(fleetcheck.fleet(store, '--format', 'json'))), [], 'fits its schema')
    except ImportError:
        print('no jsonschema: the schema is not tried')


def digests(where):
    """A stored summary of other rules is not what a digest is made of where the trace is at hand."""
    run = tiny.imported(where, 'run')
    summary = gs.summary(run)
    summary.pop('rules')
    path = os.path.join(run, 'summary.json')
    with open(path, 'w') as f:
        json.dump(dict(summary, verdict='busy'), f)

    def digest(of):
        done = gs.gpustarve('digest', of)
        gs.equal(done.returncode, 0, f'digest: {done.stderr}')
        return json.loads(done.stdout)

    gs.equal((digest(run).get('rules'), digest(run)['verdict']), (NOW, summary['verdict']), 'judged anew')
    gs.equal((digest(path).get('rules'), digest(path)['verdict']), (None, 'busy'), 'the summary alone')


def check_sums(store, found, what):
    said = fleetcheck.as_json('sqlite:' + store)
    gs.equal((said['total']['runs'], fleetcheck.nano(said['total']['usd'])),
             (len(found), sum(l.get('usd', 0) for d in found for l in d['gpus'])), what)


def upgrades(where):
    found = fleets.digests(400, seed=5)
    before = of_before(where, 'before.sqlite', found)
    check_sums(before, found, 'read as it is')
    gs.equal(version(before), 1, 'reading changes nothing')

    # Killed between the column and the number, before the commit.
    store = shutil.copy(before, os.path.join(where, 'cut.sqlite'))
    cut = ('import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); db.execute("BEGIN IMMEDIATE");'
           'db.execute("PRAGMA cache_spill=1");db.execute("ALTER TABLE run ADD COLUMN rules INTEGER NOT NULL DEFAULT 1");'
           'os.kill(os.getpid(), 9)')
    gs.equal(subprocess.run([sys.executable, '-c', cut, store]).returncode, -signal.SIGKILL, 'killed')
    gs.equal(version(store), 1, 'as it was')
    check_sums(store, found, 'after the kill')
    load(store, found[:1])
    gs.equal(version(store), 2, 'upgraded by who wrote next')
    check_sums(store, found, 'after the upgrade')

    # Killed somewhere while it opens, upgrades and writes.
    seen = set()
    for k in range(12):
        store = shutil.copy(before, os.path.join(where, f'kill{k}.sqlite'))
        p = subprocess.Popen([gs.CLI, 'digest', '--from', '-', '--store', 'sqlite:' + store],
                             stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=gs.environment())
        p.stdin.write(fleets.text(found[:20]))
        p.stdin.close()
        time.sleep(0.008 * k)
        p.kill()
        p.wait()
        seen.add(version(store))
        check_sums(store, found, f'killed after {8 * k} ms')
        load(store, found[:1])
        gs.equal(version(store), 2, f'killed after {8 * k} ms, then upgraded')
        check_sums(store, found, f'killed after {8 * k} ms, then written to')
    print(f'versions after kills: {sorted(seen)}')

    # Several at once: one upgrades.
    store = shutil.copy(before, os.path.join(where, 'many.sqlite'))
    many = [subprocess.Popen([gs.CLI, 'digest', '--from', '-', '--store', 'sqlite:' + store], stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=gs.environment()) for _ in range(5)]
    for p in many:
        err = p.communicate(fleets.text([dict(d, revision=7, rules=NOW) for d in found[:20]]))[1]
        gs.equal(p.returncode, 0, f'several at once: {err}')
    gs.equal(version(store), 2, 'several at once')
    said = fleetcheck.as_json('sqlite:' + store, rc=OTHER)
    gs.equal([(r['rules'], r['runs']) for r in said['rules']], [(2, 20), (1, 380)], 'what was there is of rules 1')


with gs.scratch() as where:
    mixed(where)
    digests(where)
    upgrades(where)
gs.finish()
