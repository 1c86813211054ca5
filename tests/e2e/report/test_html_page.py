#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""report.html nests, names every target once, and shows no number that summary.json (or the page's
own data) does not have: with a price and without, for both windows."""
import glob
import json
import os
from decimal import Decimal
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import pagekeys
import tiny


def check(run, *options):
    page = gs.gpustarve('report', run, '--format', 'html', *options).stdout.decode()
    text = gs.gpustarve('report', run, '--format', 'json', *options).stdout
    wrong, numbers = pagekeys.problems(page, json.loads(text, parse_float=Decimal))
    gs.equal(wrong[:5], [], f'{options}: {len(wrong)} of {numbers}')
    gs.check(numbers > 60, f'{options}: {numbers} numbers were compared')
    gs.check(len(page) <= 600000, f'{options}: {len(page)} bytes')
    return page


def spoil(page, was, now):
    """The check itself must notice."""
    gs.check(was in page, f'{was} is in the page')
    return page.replace(was, now, 1)


with gs.scratch() as where:
    run = tiny.imported(where, gpus=2)
    page = check(run, '--price', '36000')
    check(run, '--window', 'device')
    odd = tiny.imported(where, 'odd', gpu='Some Accelerator 9000')
    gs.check('$' not in pagekeys.markup(check(odd)), 'no dollar sign without a price')

    kept = [*glob.glob(os.path.join(gs.SOURCE, 'docs', 'demo', '*.gst')),
            *glob.glob(os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', '*.gst'))]
    gs.check(len(kept) >= 5, f'{kept}')
    for other in kept:
        check(other)

    s = json.loads(gs.gpustarve('report', run, '--format', 'json', '--price', '36000').stdout,
                   parse_float=Decimal)
    held = s['ledger']['gpu_ns']
    for was, now in ((f'value="{held}"', f'value="{held + 1}"'), ('</section>', ''),
                     ('id="ledger"', 'id="run"'), ('$36000.00', '$36000.01'),
                     ('<p>Exposed', '<p>3 exposed')):
        gs.check(pagekeys.problems(spoil(page, was, now), s)[0], f'{now!r} goes unnoticed')
gs.finish()
