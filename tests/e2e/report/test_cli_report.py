#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""report: the JSON fits the schema, text and HTML show the same numbers, and it is the same text
every time."""
import json
import os
import re
import sys
from decimal import Decimal

sys.path.insert(0, sys.path[0] + '/../../lib')
import figures
import gs
import pagekeys
import schema
import tiny

try:
    import jsonschema  # noqa: F401 (schema uses it)
except ImportError:
    gs.skip('python3-jsonschema is not installed')

closed = schema.close(schema.ours())
if schema.agreed():
    gs.equal(schema.weaker(schema.ours(), schema.agreed())[:5], [], 'docs/summary.schema.json keeps what was agreed')


def valid(text, what):
    gs.equal(schema.errors(closed, json.loads(text))[:3], [], f'schema: {what}')


def check_sums(s, what):
    for g in s['gpus']:
        gs.equal(sum(g['classes'].values()), g['held_ns'], f'{what}: classes add up')
    gs.equal(sum(c['ns'] for c in s['ledger']['classes'].values()), s['ledger']['gpu_ns'],
             f'{what}: ledger adds up')
    for name, c in s['ledger']['classes'].items():
        if c['confidence']:
            gs.equal(sum(c['confidence'].values()), c['ns'], f'{what}: confidence of {name}')


with gs.scratch() as where:
    run = tiny.imported(where, gpus=2)
    for options in [(), ('--price', '6.88'), ('--window', 'device'), ('--waste', 'input.*'),
                    ('--price-model', 'spot')]:
        done = gs.gpustarve('report', run, '--format', 'json', *options)
        gs.equal(done.returncode, 0, f'report {options}: {done.stderr.decode()}')
        valid(done.stdout, f'report {options}')
        check_sums(json.loads(done.stdout), str(options))
        again = gs.gpustarve('report', run, '--format', 'json', *options)
        gs.check(again.stdout == done.stdout, f'the same again {options}')

    s = gs.summary(run, '--price', '36000')
    gs.equal(s['verdict'], 'input-bound', 'verdict')
    gs.equal(s['run']['imported'], 'kineto', 'imported')
    text = gs.gpustarve('report', run, '--price', '36000').stdout.decode()
    html_file = os.path.join(where, 'r.html')
    gs.equal(gs.gpustarve('report', run, '--price', '36000', '--format', 'html', '-o', html_file)
             .returncode, 0, 'html')
    with open(html_file) as f:
        page = f.read()
    usd = figures.money(Decimal(str(s['cost']['usd'])))
    gs.check(usd in text and usd in page, f'{usd} in text and page')
    for name, c in s['ledger']['classes'].items():
        gs.check(re.search(rf'{re.escape(name)}.*?value="{c["ns"]}"', page, re.S),
                 f'{name} and its ns in the page')
        gs.check(re.search(rf'^[* ] {re.escape(name)} ', text, re.M), f'{name} in the text')
    gs.check(max(map(len, text.splitlines())) <= 80, '80 columns')
    gs.check('\x1b' not in text, 'no colour where there is no terminal')
    gs.equal(gs.gpustarve('report', run, '--waste', 'host.sync').returncode, 0, '--waste')
    w = gs.summary(run, '--waste', 'copy')
    gs.equal(w['ledger']['wasted_ns'], w['ledger']['classes']['copy']['ns'], 'wasted by --waste')
    gs.equal(w['ledger']['waste_set'], ['copy'], 'waste set')

    # No price: GPU-hours and how to set one, and no dollar sign anywhere.
    odd = tiny.imported(where, 'odd', gpu='Some Accelerator 9000')
    for form in 'text', 'json', 'html':
        shown = pagekeys.markup(gs.gpustarve('report', odd, '--format', form).stdout.decode())
        gs.check('$' not in shown, f'no dollar sign in {form}')
        gs.check(re.search(r'GPU-(hours|minutes|seconds)|gpu_hours', shown) and '--price' in shown,
                 f'GPU time and the way in {form}')
    valid(gs.gpustarve('report', odd, '--format', 'json').stdout, 'no price')
gs.finish()
