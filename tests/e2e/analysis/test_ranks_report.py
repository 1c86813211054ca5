#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,ranks timeout=300
"""What text, page and summary say of ranks, on made-up runs whose truth is known: the right words, every
number of the page where summary.json has it, and verify agrees."""
import json
import os
import re
from decimal import Decimal
import sys

sys.path[:0] = [sys.path[0] + '/../../lib', sys.path[0] + '/../../browser']
import gs
import made
import pagekeys

MADE = os.path.join(gs.SOURCE, 'tests', 'ranks', 'made.py')
CASES = [
    (['--loader', '2:800000', '--samples'],
     'rank 2 made the others wait', 'again and again', 'input.fetch', 'data.py:42', 'at $3.60',
     'next: a look at what the data set waits for, on rank 2;', 'of it others waited inside collectives for rank 2, which came late to ',
     'its line data.py:42'),
    (['--hosts', '2', '--gc', '1:900000'], 'rank 1 made the others wait', 'host.gc', 'clock of node1: set to within',
     'gc.freeze(), on rank 1 of node'),
    (['--kill', '3:50'], 'rank 3 died while the others went on'),
    (['--hang', '0:60'], 'rank 0 hung'),
    (['--slow', '1:20'], 'rank 1 has a slow GPU', 'a GPU as fast as the others\' for rank 1;'),
    (['--shape', '2,1,4', '--steps', '40', '--loader', '4:3000000'], 'rank 4 made the others wait'),
    (['--shape', '1,1,4', '--steps', '40', '--loader', '0:3000000'], 'The ranks', 'input-bound'),
    ([], 'The ranks'),
]


def check_advice(s, args):
    """A bound holds what others waited for a late rank, too; of computing only that, and of communicating where that is more."""
    late = s['ledger'].get('skew_causes', {})
    for a in s['advice']:
        own = s['ledger']['classes'].get(a['class'], {}).get('ns', 0) if a['id'] != 'uneven' else 0
        if a['id'] == 'comm' and late.get('comm', 0) > own:
            own = 0
        if a['id'] not in ('workers', 'idle-gpu'):
            gs.equal(a['saving_upper_ns'], own + late.get(a['class'], 0), f'{args}: bound of {a["id"]}')
        named = any(r['culprit'] == 'stable' and 10 * r['causes'].get(a['class'], 0) >= late[a['class']]
                    for r in s['ranks']['rows']) if late.get(a['class']) else False
        gs.equal('which came late to' in a['why'], named, f'{args}: {a["id"]} names a rank: {a["why"]}')


def check_findings(page, s, args):
    """The page tells a late rank's line from what everybody did."""
    late = [f['where'] for f in s['findings'] if f['where'] and f['where'].get('rank') is not None]
    rows = page.split('<section id="why"')[-1].split('</section>')[0]
    gs.equal(len(re.findall(r'The others waited [\d.]+ % of the training time for rank \d', rows)), len([f for f in s['findings'] if f['pct'] >= Decimal('0.1')
             and f['where'] and f['where'].get('rank') is not None]), f'{args}: late ranks among the causes: {late}')
    for where in late:
        gs.check(not where['file'] or f'{os.path.basename(where["file"])}:{where["line"]}' in rows.replace('<wbr>', ''),
                 f'{args}: their lines: {where}')


def check_captions(page, args):
    """GPUs that their processes number alike are told apart."""
    page = page.split('<section id="timeline"')[1].split('</section>')[0]
    captions = [re.sub('<[^>]*>', '', c) for c in re.findall(r'<figcaption><span>(.*?) <span class="soft"', page)]
    gs.check(captions and len(set(captions)) == len(captions) and all(re.match(r'Rank \d+, GPU \d', c) for c in captions),
             f'{args}: charts of GPUs: {captions}')
    gs.equal(all(' of node' in c for c in captions), '--hosts' in args, f'{args}: hosts in {captions}')


def one(where, k, args, words):
    run = os.path.join(where, f'{k}.gst')
    done = gs.command([gs.PYTHON, MADE, run, '--seed', k + 1, *args])
    gs.equal(done.returncode, 0, f'{args}: {done.stderr.decode()[-500:]}')
    report = lambda form: gs.gpustarve('report', run, '--price', '3.60', '--format', form).stdout.decode()  # noqa: E731
    told, page = ' '.join(report('text').split()), report('html')
    for word in words:
        gs.check(word in told, f'{args}: {word!r} in the text: {told[:1500]}')
    gs.check('starved is a lower bound' not in told, f'{args}: what they waited for each other is told')
    s = json.loads(report('json'), parse_float=Decimal)
    wrong, numbers = pagekeys.problems(page, s)
    gs.equal(wrong[:5], [], f'{args}: {len(wrong)} of {numbers} numbers of the page')
    gs.check('<section id="ranks"' in page, f'{args}: the page shows ranks')
    gs.equal('made the others wait' in told, any(r['culprit'] != 'none' for r in s['ranks']['rows']),
             f'{args}: who is accused in words')
    usd = sum(r['caused_usd'] for r in s['ranks']['rows'])
    skew = s['ledger']['classes'].get('comm.skew', {}).get('usd', Decimal(0))
    gs.check(usd <= skew + Decimal('1e-8'), f'{args}: ranks caused ${usd} of ${skew}')
    check_advice(s, args)
    check_captions(page, args)
    check_findings(page, s, args)
    with open(os.path.join(run, 'summary.json'), 'w') as f:
        f.write(report('json'))
    gs.equal(gs.gpustarve('verify', run).returncode, 0, f'{args}: verify')


def many(where):
    """64 ranks on eight hosts, of which one is late: the others take a line, clocks two, and each GPU has its rank."""
    run = made.ranks(where)
    told = gs.gpustarve('report', run).stdout.decode()
    ranks = told.split('\nThe ranks\n')[1].split('\n\n')[0]
    gs.check(len(ranks.split('\n')) < 10, f'the ranks take {len(ranks)} lines')
    for words in ('rank 17: last to come to ', '63 other ranks came last to no collective; they waited',
                  'clock of node1: the others are set to it', 'clocks of 7 other hosts: set to within'):
        gs.check(words in ' '.join(ranks.split()), f'64 ranks: {words!r} in {ranks}')
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    table = re.sub('<[^>]*>', '', page.split('<section id="gpus"')[1].split('</table>')[0])
    names = re.findall(r'rank \d+, on node\d', table)
    gs.equal((len(names) > 8, len(set(names))), (True, len(names)), f'GPUs are told apart: {names[:9]}')
    for head in 'Memory, peak', 'Read at':
        gs.check(head not in page, f'a column of nothing is left out: {head}')


with gs.scratch() as scratch:
    many(scratch)
    for number, (options, *expected) in enumerate(CASES):
        one(scratch, number, options, expected)
gs.finish()
