#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=60
"""What a fleet's pages say of few runs: amounts that are the same twice, weeks, none at all."""
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleets
import gs

HOUR = fleets.HOUR
NEW_YEARS_EVE = 1798740000 * 10**9  # 2026-12-31 18:00 UTC


def run(name, start, usd, team, hours=1):
    gpu = {'gpu': 'NVIDIA L4', 'gpus': 1, 'held_ns': hours * HOUR, 'busy_ns': 0, 'starved_ns': 0, 'wasted_ns': 0,
           'minutes': [0] * 6, 'usd': usd, 'starved_usd': 0, 'wasted_usd': 0, 'idle_usd': 0,
           'price': {'model': 'on-demand', 'per_gpu_hour': usd // hours, 'label': 'list', 'source': 'made up', 'date': '2026-01-01'}}
    return {'schema': 'gpustarve.digest/1', 'revision': 1, 'run': name, 'end': 'ok', 'simulated': False, 'verdict': 'busy',
            'start_unix_ns': start, 'wall_ns': hours * HOUR, 'gpus': [gpu], 'classes': {}, 'lines': [], 'labels': {}, 'fixes': [],
            'team': team, 'units': [['samples', 1000, 1]]}


def put(where, found, name):
    store = f'sqlite:{where}/{name}.sqlite'
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found))
    gs.equal(done.returncode, 0, f'digests: {done.stderr.decode()[-300:]}')
    return store


def said(store, *more):
    done = gs.gpustarve('fleet', '--store', store, *more)
    gs.equal(done.returncode, 0, f'{more}: {done.stderr.decode()[-400:]}')
    return ' '.join(done.stdout.decode().split())


with gs.scratch() as where:
    # three thirds of four dollars: one row has the cent that is left, and the line about it, too
    thirds = put(where, [run(f'{t}{i}', fleets.MONDAY, 666666667 if t == 'a' else 666666666, t) for t in 'abc' for i in (0, 1)], 'thirds')
    for form in 'text', 'html':
        out = said(thirds, '--by', 'team', '--format', form)
        gs.check('a: 2 runs, $1.34' in out and 'b: 2 runs, $1.33' in out, f'{form}: as the row has it: {out[:900]}')
    gs.check('$1.34' in said(thirds, '--by', 'team').split('a: 2 runs')[0], 'the row')

    out = said(thirds, '--team', 'nobody')
    gs.check('no run is of what was asked for' in out and 'no price is known' not in out, out)

    eve = put(where, [run('nye', NEW_YEARS_EVE, 12 * 10**9, 'b', 12)], 'eve')
    out = said(eve, '--since', '2027-01-01')
    gs.check('from 2027-01-01, in the week of 2026-12-28' in out, out)
    gs.check('from 2026-12-01 to the week of 2026-12-28' in said(eve, '--since', '2026-12-01'), 'a week that begins later')

    out = said(eve, '--by', 'review')
    gs.check('b grew most: +$' in out and '(new)' in out and 'new %' not in out, out)

    weeks = [run(f'w{w}', fleets.MONDAY + 7 * w * fleets.DAY, 10 * 10**9 + w % 3, 'c') for w in range(9)]
    weeks.append(run('other', fleets.MONDAY, 10**9, 'd'))  # of one team alone the whole says nothing new
    weeks.append(run('dear', fleets.MONDAY + 63 * fleets.DAY, 100 * 10**9, 'd'))
    out = said(put(where, weeks, 'weeks'))
    gs.check('cost $100.00, where' in out and 'all of it' not in out, out[:900])
gs.finish()
