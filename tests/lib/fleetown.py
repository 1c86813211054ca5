# SPDX-License-Identifier: Apache-2.0
"""Whose a stored run is: a run that is digested once more, with a price, by somebody who does not say whose it
is, stays one run; and one whose digest was made by a clock that was ahead can still be priced."""
import json

import fleetcheck
import fleets
import gs
import tiny

AHEAD = 4_000_000_000 * 10**9  # a revision of the year 2096


def digest(store, run, *options, rc=0):
    done = gs.gpustarve('digest', run, '--store', store, '-o', '-', *options)
    gs.equal(done.returncode, rc, f'digest {options}: {done.stderr.decode()[-400:]}')
    return json.loads(done.stdout) if done.stdout else {}, done.stderr.decode()


def total(store):
    said = fleetcheck.as_json(store)
    return said['total']['runs'], [r['name'] for r in said['by']['team']]


def prices(store):
    return [r['nano_usd_per_gpu_hour'] for r in fleetcheck.as_json(store)['prices']]


def check_priced(store, run):
    """As a collector with tokens stores it, then as the manual says to price it."""
    digest(store, run, '--team', 'vision', '--revision', str(AHEAD))
    gs.equal(total(store), (1, ['vision']), 'one run of the team')
    again, _ = digest(store, run, '--price', '3')
    gs.equal((again['tenant'], again['revision']), ('vision', AHEAD + 1), 'it stays the team\'s, and is the newer')
    gs.equal((total(store), prices(store)), ((1, ['vision']), [3 * 10**9]), 'still one run, with that price')
    digest(store, run, '--price', '4', '--revision', '5')
    gs.equal(prices(store), [3 * 10**9], 'a revision that somebody names holds as it is')
    return again['rules']


def check_shared(store, run):
    """A run of that name in two teams is two runs, and nobody guesses."""
    digest(store, run, '--team', 'speech')
    _, error = digest(store, run, '--price', '3', rc=1)
    gs.check('add --team' in error, f'whose: {error}')
    gs.equal(total(store)[0], 2, 'two runs')
    digest(store, run, '--price', '3', '--team', 'speech')
    gs.equal(total(store)[0], 2, 'two runs still')


def check_long(store, rules):
    """Ids that differ behind their 250th character are different runs."""
    found = [dict(d, run='r' * 250 + str(i), rules=rules) for i, d in enumerate(fleets.digests(3, seed=3))]
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found))
    gs.equal(done.returncode, 0, f'long ids: {done.stderr.decode()[-400:]}')
    gs.equal(fleetcheck.as_json(store)['total']['runs'], 5, 'each of them counts')


def check_all(where, store):
    run = tiny.imported(where, 'run')
    rules = check_priced(store, run)
    check_shared(store, run)
    check_long(store, rules)
