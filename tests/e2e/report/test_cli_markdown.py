#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=60
"""report --format markdown: the summary's shares and dollars, the findings' sentences in order of cost, and
nothing of the run's text that becomes markup."""
import re
import sys
from decimal import Decimal as D

sys.path.insert(0, sys.path[0] + '/../../lib')
import figures
import gs
import tiny

with gs.scratch() as where:
    run = tiny.imported(where, gpu='a|b <script>*x*')
    one = gs.summary(run, '--price', '3600')
    done = gs.gpustarve('report', run, '--format', 'markdown', '--price', '3600')
    gs.equal(done.returncode, 0, done.stderr.decode())
    text = done.stdout.decode()
    gs.check(text.startswith(f'**gpustarve: {one["verdict"]}'), f'the verdict comes first: {text[:80]}')
    gs.check('a\\|b &lt;script\\>\\*x\\*' in text and '<s' not in text, f'names are text: {text[:200]}')

    plain = lambda text: re.sub(r'\\(?=\W)', '', text).replace('&lt;', '<')  # noqa: E731
    why = text.split('\nWhy, the most costly first:\n')[1].split('\nWhat to do:\n')[0]
    shown = re.findall(r'^\d\. (.*?)  \n   ([\w.]+), (.*?)(?:, (.*?))?; confidence (\w+)', why, re.M)
    worth = sorted((f for f in one['findings'] if f['pct'] >= 0.1 and not f['rest']), key=lambda f: -f['ns'])[:8]
    gs.equal([(plain(s), c, sure) for s, c, _, _, sure in shown],
             [(f['sentence'], f['class'], f['confidence']) for f in worth], 'a sentence each, the most costly first')
    working = one['ledger']['working_ns']
    for (sentence, _, _, usd, _), f in zip(shown, worth):
        share = re.search(r'([\d.]+) % of the training time', sentence)
        gs.check(abs(float(share[1]) - 100 * f['ns'] / working) <= 0.0501, f'{f["class"]}: {sentence}')
        want = figures.scaled(D(str(f['usd'])) * 10**9, figures.money_scale(D(str(one['cost']['usd']))))
        gs.equal(usd, want, f['class'])
    gs.check('|' not in why.replace('\\|', ''), f'no table: {why}')
    gs.equal(re.findall(r'^- \*\*(.*?)\*\*', text, re.M), [a['title'] for a in one['advice'][:3]], 'advice')
    for note in one['quality']['notes']:
        gs.check(re.sub(r'\W', '', note) in re.sub(r'&lt;|\W', '', text), f'note: {note}')

    done = gs.gpustarve('report', run, run, '--format', 'markdown')
    gs.check(done.returncode == 1 and 'is for one run' in done.stderr.decode(), f'two runs: {done.stderr}')
gs.finish()
