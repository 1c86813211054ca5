#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=60
"""report --format markdown: the summary's shares and dollars, a table whose rows have as many cells as its head,
and nothing of the run's text that becomes markup."""
import re
import sys
from decimal import Decimal as D

sys.path.insert(0, sys.path[0] + '/../../lib')
import figures
import gs
import tiny

BARE = re.compile(r'(?<!\\)\|')

with gs.scratch() as where:
    run = tiny.imported(where, gpu='a|b <script>*x*')
    one = gs.summary(run, '--price', '3600')
    done = gs.gpustarve('report', run, '--format', 'markdown', '--price', '3600')
    gs.equal(done.returncode, 0, done.stderr.decode())
    text = done.stdout.decode()
    gs.check(text.startswith(f'**gpustarve: {one["verdict"]}'), f'the verdict comes first: {text[:80]}')
    gs.check('a\\|b &lt;script\\>\\*x\\*' in text and '<s' not in text, f'names are text: {text[:200]}')

    rows = [line for line in text.splitlines() if line.startswith('|')]
    gs.equal({len(BARE.findall(row)) for row in rows}, {7}, 'six cells in each row')
    shown = [[cell.strip() for cell in BARE.split(row)[1:-1]] for row in rows[2:]]
    worth = [f for f in one['findings'] if f['pct'] >= 0.1][:8]
    gs.equal([row[3] for row in shown], [f['class'] for f in worth], 'the findings of the summary, in its order')
    for row, f in zip(shown, worth):
        gs.check(abs(float(row[0].split()[0]) - f['pct']) <= 0.0501, f'{f["class"]}: {row[0]} and {f["pct"]}')
        want = figures.scaled(D(str(f['usd'])) * 10**9, figures.money_scale(D(str(one['cost']['usd']))))
        gs.equal(row[2], want, f['class'])
    gs.equal(re.findall(r'^\d\. \*\*(.*?)\*\*', text, re.M), [a['title'] for a in one['advice'][:3]], 'advice')
    for note in one['quality']['notes']:
        gs.check(re.sub(r'\W', '', note) in re.sub(r'&lt;|\W', '', text), f'note: {note}')

    done = gs.gpustarve('report', run, run, '--format', 'markdown')
    gs.check(done.returncode == 1 and 'is for one run' in done.stderr.decode(), f'two runs: {done.stderr}')
gs.finish()
