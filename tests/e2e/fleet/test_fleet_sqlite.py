#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The fleet from SQLite: 10,000 digests with known sums, every grouping to the cent; a digest that comes
again counts once, also by whom nobody names; windows, teams, labels full of SQL and markup; digests that are none."""
import contextlib
import decimal
import json
import os
import random
import re
import sqlite3
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleets
import fleetcheck
import fleetown
import gs
import provisional
import schema

COUNT = 10000


def load(store, found, rc=0):
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found))
    gs.equal(done.returncode, rc, f'digest --from: {done.stderr.decode()[-400:]}')
    return done.stderr.decode()


def check_again(store, found):
    """Half of it once more: the same, older, and newer with other numbers."""
    load(store, found[:50])
    old = [dict(d, revision=0, gpus=[dict(d['gpus'][0], held_ns=1)]) for d in found[50:100]]
    load(store, old)
    other = fleets.digests(100, seed=7, revision=2)
    made = [dict(n, run=d['run']) for d, n in zip(found[100:200], other)]
    load(store, made)
    found[100:200] = made
    fleetcheck.check_all(store, found, 'after digests that came again')


def check_words(store, found, since, until):
    """What is not cut says of what it is; what is cut says nothing of it, nor does anything where no run crosses a bound."""
    bounds = ['--since', fleets.iso(since) + 'Z', '--until', fleets.iso(until) + 'Z']
    begun = [d for d in found if since <= d['start_unix_ns'] < until]
    hours = sum(l['held_ns'] for d in begun for l in d['gpus'])
    usd = sum(l.get('usd', 0) for d in begun for l in d['gpus'])
    words = f'count whole runs that began in that time: {len(begun):,} runs, {hours / 3600e9:,.1f}'
    for by in ([], ['--by', 'class'], ['--by', 'run'], ['--by', 'savings'], ['--by', 'failed'], ['--plan'], ['--by', 'review'],
               ['--by', 'user'], ['--by', 'lost'], ['--by', 'team'], ['--by', 'bill'], ['--by', 'month'], ['--by', 'hours']):
        cut = by and by[-1] in ('bill', 'month', 'hours')
        for form in 'text', 'html':
            out = ' '.join(fleetcheck.fleet(store, *by, *bounds, '--format', form).decode().split())
            gs.equal(words[:-2] in out and f'${usd / 1e9:,.0f}'[:-2] in out, not cut, f'{by} as {form}: {out[:700]}')
    out = ' '.join(fleetcheck.fleet(store, '--since', '2020-01-01', '--until', '2030-01-01').decode().split())
    gs.check('count whole' not in out, f'no run crosses: {out[:500]}')


def check_windows(store, found):
    rng = random.Random(23)
    since, until = fleets.MONDAY + 10 * 7 * fleets.DAY, fleets.MONDAY + 12 * 7 * fleets.DAY
    said = fleetcheck.as_json(store, '--since', '2026-03-16', '--until', '2026-03-30')
    begun = [d for d in found if since <= d['start_unix_ns'] < until]
    gs.equal((said['begun']['runs'], said['total']['runs']), (len(begun), len(fleets.within(found, since, until))), 'since and until')
    fleetcheck.check_all(store, found, 'a fortnight', since, until)
    check_words(store, found, since, until)
    for _ in range(3):
        since = fleets.MONDAY + rng.randrange(35 * 7) * fleets.DAY + 3 * fleets.NS
        fleetcheck.check_all(store, found, f'from {fleets.iso(since)}', since, since + rng.choice([1, 40, 3000]) * fleets.DAY // 40)
    said = fleetcheck.as_json(store, '--team', 'speech')
    gs.equal((said['total']['runs'], [r['name'] for r in said['by']['team']]),
             (sum(d.get('team') == 'speech' for d in found), ['speech']), 'one team')
    gs.equal(fleetcheck.as_json(store, '--team', fleets.INERT)['total']['runs'], 0, 'a team full of SQL')


def check_required(store, found):
    for label, lacks in (('team', lambda d: 'team' not in d), ('ticket', lambda d: 'ticket' not in d['labels']),
                         (fleets.INERT, lambda d: True)):
        said = fleetcheck.as_json(store, '--require-label', label, '--top', '100000', rc=2)
        want = [d for d in found if lacks(d)]
        gs.equal(sorted(r['run'] for r in said['unlabelled']['runs']), sorted(d['run'] for d in want), f'without {label}')
        gs.equal(fleetcheck.nano(decimal.Decimal(said['unlabelled']['usd'])),
                 sum(l.get('usd', 0) for d in want for l in d['gpus']), f'what those without {label} cost')
    fleetcheck.fleet(store, '--require-label', 'user')


def check_pages(store, found):
    page = fleetcheck.fleet(store, '--format', 'html', '--by', 'project').decode()
    gs.check('<b>&amp;$(id)' not in page and '&lt;b&gt;&amp;$(id)`' in page, 'a label full of markup is text')
    gs.check(not re.search(r'<script|https?://|<link|style="', page), 'nothing is run or fetched')
    whole = fleetcheck.fleet(store, '--format', 'html', '--links').decode()
    gs.check('<a href="runs/run-' in whole, 'links to runs')
    for by in ('team', 'week', 'class', 'line', 'fix', 'failed', 'bill', 'label:ticket', 'end'):
        out = fleetcheck.fleet(store, '--by', by).decode()
        gs.check(len(out.splitlines()) > 4 and '\x1b' not in out, f'text by {by}: {out[:200]}')
    text = fleetcheck.fleet(store).decode()
    gs.check(f'{len(found):,} runs' in text and 'made up, 2026-01-01' in text, f'the overview: {text[:300]}')
    with open(os.path.join(gs.SOURCE, 'docs', 'fleet.schema.json'), encoding='utf-8') as f:
        check_schema(json.load(f), json.loads(fleetcheck.fleet(store, '--format', 'json', '--by', 'label:ticket')))


def check_schema(want, document):
    try:
        import jsonschema
    except ImportError:
        return print('no jsonschema: the schema is not tried')
    want = schema.close({k: v for k, v in want.items() if k != '$id'})
    errors = [f'{list(e.path)}: {e.message[:200]}' for e in jsonschema.Draft202012Validator(want).iter_errors(document)]
    gs.equal(errors[:5], [], 'fits its schema')


def check_refused(where):
    """Lines that are none are named and left out; the others are there."""
    store = 'sqlite:' + os.path.join(where, 'some.sqlite')
    sound = fleets.digests(3, seed=3)
    bad = [b'{', b'[]', b'null', b'{"schema":"gpustarve.summary/1"}', b'{"schema":"gpustarve.digest/2","run":"x"}',
           fleets.text([dict(sound[0], run='')]), fleets.text([dict(sound[0], wall_ns=-1)]),
           fleets.text([dict(sound[0], gpus=sound[0]['gpus'] * 9)]), b'x' * 100000]
    newer = dict(sound[1], more={'a': [1, 2]}, classes={'input.newer': [1, 2]})
    lines = b'\n'.join(b.strip() for b in bad) + b'\n' + fleets.text([sound[0], newer])
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=lines)
    gs.equal(done.returncode, 1, 'a file with bad lines')
    gs.equal([int(n) for n in re.findall(r'-:(\d+): .*left out', done.stderr.decode())], list(range(1, 10)), 'each is named')
    gs.check('later version' in done.stderr.decode(), 'a later version is said')
    said = fleetcheck.as_json(store)
    gs.equal((said['total']['runs'], [c['class'] for c in said['by']['class'] if 'newer' in c['class']]),
             (2, ['input.newer']), 'the sound ones, with what later versions add')
    for url in 'mysql:x', 'sqlite:', os.path.join(where, 'x'), 'sqlite:' + os.path.join(where, 'none.sqlite'):
        done = gs.gpustarve('fleet', '--store', url)
        gs.check(done.returncode == 1 and done.stderr.startswith(b'gpustarve: '), f'{url}: {done.stderr}')
    # What a writer has opened and not made yet.
    for name, words in ('empty.sqlite', ''), ('opened.sqlite', 'PRAGMA page_size=16384; PRAGMA journal_mode=WAL'):
        with contextlib.closing(sqlite3.connect(os.path.join(where, name))) as db:
            db.executescript(words)
            for reader in ('fleet',), ('top', '--once'):
                done = gs.gpustarve(*reader, '--store', 'sqlite:' + os.path.join(where, name))
                gs.check(done.returncode == 1 and b'no store yet' in done.stderr, f'{reader} of {name}: {done.stderr}')
    with open(os.path.join(where, 'foreign'), 'wb') as f:
        f.write(b'no database' * 100)
    done = gs.gpustarve('digest', '--from', '-', '--store', 'sqlite:' + f.name, input=fleets.text(sound))
    gs.equal((done.returncode, open(f.name, 'rb').read()[:11]), (1, b'no database'), 'a foreign file stays as it is')


with gs.scratch() as where:
    store = 'sqlite:' + os.path.join(where, 'deep', 'fleet.sqlite')
    found = fleets.digests(COUNT)
    load(store, found)
    fleetcheck.check_all(store, found, 'SQLite')
    check_again(store, found)
    fleetcheck.check_csv(store, found)
    check_windows(store, found)
    check_required(store, found)
    check_pages(store, found)
    check_refused(where)
    fleetown.check_all(where, 'sqlite:' + os.path.join(where, 'own.sqlite'))
    provisional.check_all(where, 'sqlite:' + os.path.join(where, 'row.sqlite'))
gs.finish()
