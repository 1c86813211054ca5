# SPDX-License-Identifier: Apache-2.0
"""Rows of runs that are not analysed yet: what they held and cost is in every sum at once and is called provisional,
and the digest takes the row's place, whichever comes first."""
import decimal
import json
import re

import fleetcheck
import gs
import tiny


def digest(store, run, *options):
    done = gs.gpustarve('digest', run, '--store', store, '-o', '-', '--team', 'later', *options)
    gs.equal(done.returncode, 0, f'digest {options}: {done.stderr.decode()[-400:]}')
    return json.loads(done.stdout)


def held(d):
    return sum(l['held_ns'] for l in d['gpus'])


def of_team(store):
    """What the fleet says of the team, as a whole."""
    return fleetcheck.as_json(store, '--team', 'later')


def check_row(store, made):
    """Only what was held and what that cost is told, and in every form that it is provisional."""
    gs.equal((made['verdict'], list(made['classes']), made['fixes'], made['lines']),
             ('provisional', ['not_analysed'], [], []), 'what is told')
    line, = made['gpus']
    gs.equal((line['busy_ns'], line['starved_ns'], line['wasted_ns'], line['minutes']), (0, 0, 0, [0] * 6), 'nothing else')
    gs.equal(made['classes']['not_analysed'], [line['held_ns'], line['usd']], 'its class is all that was held')
    said = of_team(store)
    gs.equal((said['total']['runs'], said['total']['held_ns'], said['provisional']['runs'], said['provisional']['ns']),
             (1, line['held_ns'], 1, line['held_ns']), 'the row counts')
    gs.equal(said['provisional']['usd'], said['total']['usd'], 'in dollars, too')
    gs.equal(said['bill']['total_cents'], round(decimal.Decimal(said['total']['usd']) * 100), 'and in the bill')
    for form in ([], ['--format', 'html'], ['--by', 'bill']):
        text = re.sub('<[^>]*>', '', fleetcheck.fleet(store, '--team', 'later', *form).decode())
        gs.check('provisional: 1 run, ' in ' '.join(text.lower().split()), f'{form} says so: {text[:400]}')


def check_all(where, store):
    run = tiny.imported(where, 'later')
    row = digest(store, run, '--provisional', '--price', '2')
    check_row(store, row)
    check_row(store, digest(store, run, '--provisional', '--price', '2'))
    full = digest(store, run, '--price', '2')
    gs.equal(held(full), held(row), 'the digest holds as long as the row did')
    gs.equal(sum(ns for ns, _ in full['classes'].values()), held(full), 'its classes sum to that')
    said = of_team(store)
    gs.equal((said['total']['runs'], said['total']['held_ns'], said['provisional']),
             (1, held(full), {'runs': 0, 'ns': 0, 'usd': 0}), 'the digest in the row\'s place')
    gs.check('provisional' not in fleetcheck.fleet(store, '--team', 'later').decode(), 'nothing is provisional')
    digest(store, run, '--provisional', '--price', '2')
    gs.equal(of_team(store), said, 'a row that comes later changes nothing')
    done = gs.gpustarve('digest', run, '--provisional', '--revision', '5')
    gs.check(done.returncode == 1 and b'revision of its own' in done.stderr, f'a revision: {done.stderr}')
