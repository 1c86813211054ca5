#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Digests by different rules in one store: the fleet says that they are not comparable and exits with 4, but for the
bill; a store of before is read as it is, and upgraded once by the first who writes, whoever is killed meanwhile."""
import json
import os
import re
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
import tiny

NOW, OTHER = 2, 4
VERSION = 4     # of the store; it brought a table: runs that are set aside
ADDED = {2: ['rules'], 3: fleets.added()}  # columns of the run, by the version that brought them


def load(store, found):
    done = gs.gpustarve('digest', '--from', '-', '--store', 'sqlite:' + store, input=fleets.text(found))
    gs.equal(done.returncode, 0, f'digest --from: {done.stderr.decode()[-400:]}')


def version(store):
    db = sqlite3.connect(store)
    told = db.execute('PRAGMA user_version').fetchone()[0], [r[1] for r in db.execute('PRAGMA table_info(run)')]
    sound = db.execute('PRAGMA integrity_check').fetchone()[0]
    aside = db.execute("SELECT count(*) FROM sqlite_master WHERE type='table' AND name='aside'").fetchone()[0]
    db.close()
    gs.equal(sound, 'ok', f'{store}: integrity')
    gs.equal([c for some in ADDED.values() for c in some if c in told[1]],
             [c for v, some in ADDED.items() for c in some if v <= told[0]], f'{store}: its version and its columns: {told}')
    gs.equal(aside, int(told[0] >= 4), f'{store}: runs that are set aside')
    return told[0]


def of_before(where, name, found, of=1):
    """A store as the version @of made it."""
    store = os.path.join(where, name)
    load(store, found)
    db = sqlite3.connect(store)
    later = [c for v, some in ADDED.items() for c in some if v > of]
    rows = [c for c in (r[1] for r in db.execute('PRAGMA table_info(run)')) if c not in later]
    text = db.execute("SELECT sql FROM sqlite_master WHERE name='run'").fetchone()[0]
    for c in later:
        text = re.sub(rf' {c} [A-Z ]+( DEFAULT 1)?,', '', text)
    db.executescript('BEGIN; ALTER TABLE run RENAME TO old; ' + text +
                     f'; INSERT INTO run SELECT {", ".join(rows)} FROM old; DROP TABLE old; DROP TABLE IF EXISTS aside;'
                     f'CREATE INDEX run_start ON run(start_ns); PRAGMA user_version={of}; COMMIT;')
    db.close()
    gs.equal(version(store), of, 'a store of before')
    return store


def untold(found):
    """What digests of before told."""
    return [{k: v for k, v in d.items() if k not in ('kind', 'provider', 'instance')} for d in found]


def check_kinds(store, found, what):
    """By what runs are, where they ran, and by what else."""
    fleetcheck.check_all('sqlite:' + store, found, what)


def from_two(where):
    """A version before this one: read as it is, with nothing known of what came since, and upgraded once."""
    found = untold(fleets.digests(60, seed=8))
    before = of_before(where, 'two.sqlite', found, 2)
    check_kinds(before, found, 'read as it is')
    gs.equal([r['name'] for r in fleetcheck.as_json('sqlite:' + before)['by']['kind']], ['unknown'], 'no kind is known')
    gs.equal(version(before), 2, 'reading changes nothing')
    fleetcheck.fleet('sqlite:' + before, '--require-label', 'provider', rc=2)
    new = [dict(d, run='new-' + d['run']) for d in fleets.digests(40, seed=9)]
    load(before, new)
    gs.equal(version(before), VERSION, 'upgraded')
    check_kinds(before, found + new, 'after the upgrade')
    # An older program refuses what a later one made, as this one does.
    db = sqlite3.connect(before)
    db.execute(f'PRAGMA user_version={VERSION + 1}')
    db.commit()
    db.close()
    done = gs.gpustarve('fleet', '--store', 'sqlite:' + before)
    gs.check(done.returncode == 1 and b'later version' in done.stderr, f'a store of later: {done.stderr}')


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
    fleetcheck.fits(json.loads(fleetcheck.fleet(store, '--format', 'json')))


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
    gs.equal(version(store), VERSION, 'upgraded by who wrote next')
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
        gs.equal(version(store), VERSION, f'killed after {8 * k} ms, then upgraded')
        check_sums(store, found, f'killed after {8 * k} ms, then written to')
    print(f'versions after kills: {sorted(seen)}')

    # Several at once: one upgrades.
    store = shutil.copy(before, os.path.join(where, 'many.sqlite'))
    many = [subprocess.Popen([gs.CLI, 'digest', '--from', '-', '--store', 'sqlite:' + store], stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=gs.environment()) for _ in range(5)]
    for p in many:
        err = p.communicate(fleets.text([dict(d, revision=7, rules=NOW) for d in found[:20]]))[1]
        gs.equal(p.returncode, 0, f'several at once: {err}')
    gs.equal(version(store), VERSION, 'several at once')
    said = fleetcheck.as_json('sqlite:' + store, rc=OTHER)
    gs.equal([(r['rules'], r['runs']) for r in said['rules']], [(2, 20), (1, 380)], 'what was there is of rules 1')


with gs.scratch() as where:
    mixed(where)
    digests(where)
    upgrades(where)
    from_two(where)
gs.finish()
