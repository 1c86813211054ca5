#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Which of several DataLoaders samples and epochs are of, where one line of a program makes them all:
loops that train and validate, over other data sets, or parts of one, made anew or not, against what the
program counted. What is not known exactly is a bound in summary.json, digest, table and gate."""
import csv
import io
import json
import os
import sys
from fractions import Fraction

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

SEVERAL = os.path.join(gs.WORKLOADS, 'several_loaders.py')
PRICE = '3.33'


def outcome(s, unit):
    return next((o for o in s['cost'].get('outcomes', ()) if o['unit'] == unit), {})


def count(what, s, unit, want):
    o = outcome(s, unit)
    gs.equal(Fraction(o.get('count', 0), o.get('divisor', 1)), want, f'{what}: {unit}')


# what of several_loaders.py, whether samples are exactly those that were learnt from, epochs, their bound
APART = [
    ('helper', ['--workers', '2'], True, 2, None),
    ('alike', [], True, 2, None),
    ('lists', [], True, 2, None),
    ('split', [], True, 2, None),
    ('anew', [], True, 3, None),
    ('again', ['--no-steps'], True, 3, None),
    ('phases', [], True, 2, 'at_most'),
    ('pairs', [], False, 2, 'at_most'),
    ('now_and_then', [], False, 2, 'at_most'),
    ('helper', ['--no-steps'], False, 4, 'at_most'),
]


def apart():
    """Loaders that one line makes alike are told apart by what they go over; every form has the same bound."""
    for name, options, exact, epochs, of_epochs in APART:
        what = ' '.join([name, *options])
        with gs.scratch() as where:
            done, run, _ = gs.traced([gs.PYTHON, SEVERAL, name, *options], where, ('--price', PRICE))
            gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-600:]}')
            truth = json.loads(done.stdout.decode().splitlines()[-1])
            raw = gs.gpustarve('report', run, '--format', 'json').stdout
            s = json.loads(raw, parse_float=str)
            bound = None if exact else 'at_most'
            count(what, s, 'samples', truth['learnt' if exact else 'given'])
            count(what, s, 'epochs', epochs)
            gs.equal((outcome(s, 'samples').get('bound'), outcome(s, 'epochs').get('bound')), (bound, of_epochs), what)
            gs.equal(schema.errors(schema.ours(), json.loads(raw)), [], f'{what}: schema')
            units = {u[0]: u[3:] for u in json.loads(gs.gpustarve('digest', run).stdout)['units']}
            gs.equal((units['samples'], units['epochs']),
                     ([bound] if bound else [], [of_epochs] if of_epochs else []), f'{what}: digest')
            table = gs.gpustarve('export', run, '--format', 'csv', '--table', 'outcomes').stdout.decode()
            gs.equal([r['bound'] for r in csv.DictReader(io.StringIO(table))],
                     [bound or 'exact', of_epochs or 'exact'], f'{what}: the table')
            if name in ('phases', 'pairs'):
                gated(what, run, s)


def gated(what, run, s):
    """A budget holds or not where the bound tells, and nobody knows where it does not."""
    usd = Fraction(outcome(s, 'samples')['usd'])
    bound = outcome(s, 'samples').get('bound')
    cases = ('<=', 2, 4 if bound else 0), ('<=', Fraction(1, 2), 2), ('>=', 2, 4 if bound else 2), ('>=', Fraction(1, 2), 0)
    for op, times, code in cases:
        limit = f'usd_per_1k_samples{op}{float(usd * times):.9f}'
        done = gs.gpustarve('check', run, '--budget', limit)
        said = ' '.join((done.stdout + done.stderr).decode().split())
        gs.equal((done.returncode, 'all loaders gave' in said), (code, code == 4), f'{what}: {limit}: {said[:600]}')


apart()
gs.finish()
