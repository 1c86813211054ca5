#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What was not recorded, as sampled: in text, page and summary by that name and no other, apart from all
sums; made anew by verify; and not there where all was recorded."""
import json
import os
import subprocess
import sys
from decimal import Decimal

sys.path[:0] = [sys.path[0] + '/../../lib', sys.path[0] + '/../../estimates']
import gs
import made
import pagekeys


def record(folder, lines):
    os.makedirs(folder)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'evidence_make'), folder], input=lines, text=True, check=True)
    return folder


def report(run, form, *options):
    done = gs.gpustarve('report', run, '--format', form, *options)
    gs.equal(done.returncode, 0, f'{form}: {done.stderr.decode()[-300:]}')
    return done.stdout.decode()


def counts(cells):
    """{name: number} of cells "name number"."""
    return {k: int(v) for k, v in (c.rsplit(' ', 1) for c in cells if c)}


def expect_dumped(run, e):
    """`dump --estimate` has what the summary's figures are made of, and its rows sum to them."""
    done = gs.gpustarve('dump', '--estimate', run)
    gs.equal((done.returncode, done.stderr), (0, b''), 'dump --estimate')
    rows = {}
    for line in done.stdout.decode().splitlines():
        kind, *cells = line.split('\t')
        rows.setdefault(kind, []).append(cells)
    whole = counts(rows['gpu'][0][1:])
    gs.equal([whole[k] for k in ('of_ns', 'metered_ns', 'unknown_ns')],
             [e[k] for k in ('of_ns', 'metered_ns', 'unknown_ns')], 'dump: the GPU')
    parts = {r[1]: dict(zip(('ns', 'low_ns', 'high_ns'), map(int, r[2:]))) for r in rows['part']}
    gs.equal(parts, dict(e['classes'], busy=e['busy']), 'dump: parts')
    states = [(r[1], counts(r[2:8]), counts(r[8].split(', ')), r[9:]) for r in rows['state']]
    fallen = {}
    for name, s, classes, line in states:
        gs.equal(sum(classes.values()), s['idle_ns'], f'dump: classes of {name}')
        gs.check(s['idle_seen_ns'] <= s['seen_ns'] and s['metered_ns'] <= s['of_ns'], f'dump: {name}: {s}')
        for c, ns in classes.items():
            fallen[c] = fallen.get(c, 0) + ns
    gs.equal({c: p['ns'] for c, p in e['classes'].items()}, {c: ns for c, ns in fallen.items() if not c.endswith('unknown') or c == 'input.unknown'},
             'dump: states sum to classes')
    gs.equal(sum(s['of_ns'] for _, s, _, _ in states), e['of_ns'], 'dump: states sum to the time')
    gs.check(any(line == ['/srv/train.py:50 train'] for _, _, _, line in states), f'dump: lines: {states}')
    tells = [counts(r[5:]) for r in rows['reading'] if r[4] == 'tells']
    gs.equal(sum(r['of_ns'] for r in tells), e['metered_ns'], 'dump: readings')
    found = sum(s['of_ns'] - s['idle_ns'] for _, s, _, _ in states)
    gs.equal(found, e['busy']['ns'] + whole['unknown_ns'] - sum(ns for c, ns in fallen.items() if c not in e['classes']), 'dump: busy')
    gs.check(sum(r['busy_ns'] for r in tells) <= e['busy']['ns'], 'dump: busy of readings')
    gs.check(any(r[4] == 'corrects' for r in rows['reading']), 'dump: readings that correct')


with gs.scratch() as where:
    job = made.Run(3, 30)
    whole = record(os.path.join(where, 'whole.gst'), job.lines(False))
    left = record(os.path.join(where, 'left.gst'), job.lines(True))
    bare = record(os.path.join(where, 'bare.gst'), '\n'.join(
        line for line in job.lines(True).split('\n')
        if line.split(' ')[0] not in ('meter', 'range', 'sample', 'sync')))
    gs.check('estimated' not in json.loads(report(whole, 'json'))['ledger'], 'all was recorded: no estimate')
    gs.check('estimated' not in json.loads(report(bare, 'json'))['ledger'], 'nothing tells: no estimate')
    gs.check('estimated' not in json.loads(report(left, 'json', '--window', 'device'))['ledger'], 'of the span: no estimate')
    gs.check('Sampled, not' not in pagekeys.markup(report(whole, 'html')) + report(whole, 'text'), 'nor a word of it')

    s = json.loads(report(left, 'json', '--price', '36'))
    e = s['ledger']['estimated']
    gs.equal(e['of_ns'], s['ledger']['classes']['excluded.unobserved']['ns'], 'all that is unobserved was given up')
    gs.equal(e['busy']['ns'] + sum(c['ns'] for c in e['classes'].values()) + e['unknown_ns'], e['of_ns'], 'it sums')
    expect_dumped(left, e)
    gs.equal(gs.gpustarve('dump', '--estimate', whole).stdout, b'', 'all was recorded: nothing is dumped')
    short = gs.gpustarve('dump', '--streams', left).stdout.decode().splitlines()
    gs.equal(short, [l for l in gs.gpustarve('dump', left).stdout.decode().splitlines() if l.startswith('#')], 'dump --streams')
    gs.check(any(l.startswith('# meter\t') for l in short), 'dump --streams has meters')
    starved = sum(c['ns'] for name, c in s['ledger']['classes'].items() if name.startswith('input.'))
    gs.equal(s['ledger']['starved_ns'], starved, 'nothing of it is starved')
    gs.equal(sum(c['ns'] for c in s['ledger']['classes'].values()), s['ledger']['gpu_ns'], 'nor in any class')

    text = ' '.join(report(left, 'text').split())
    gs.check('Sampled, not recorded' in text and 'sampled: likely busy for' in text, f'text: {text[:1500]}')
    page = report(left, 'html', '--price', '36')
    summary = json.loads(report(left, 'json', '--price', '36'), parse_float=Decimal)
    gs.equal(pagekeys.problems(page, summary)[0][:5], [], 'each number of the page is in the summary')
    gs.check('class="sampled"' in page and 'Time that was not recorded, as sampled' in page, 'the page draws it otherwise')
    was, now = f'value="{e["busy"]["low_ns"]}"', f'value="{e["busy"]["low_ns"] + 1}"'
    gs.check(was in page and pagekeys.problems(page.replace(was, now, 1), summary)[0], 'a wrong number is noticed')

    path = os.path.join(left, 'summary.json')
    gs.gpustarve('report', left, '--format', 'json', '-o', path)
    gs.equal(gs.gpustarve('verify', left).returncode, 0, 'verify makes it anew')
    with open(path) as f:
        kept = f.read()
    with open(path, 'w') as f:
        f.write(kept.replace(f'"unknown_ns": {e["unknown_ns"]}', f'"unknown_ns": {e["unknown_ns"] + 1}', 1))
    done = gs.gpustarve('verify', left)
    gs.check(done.returncode and b'estimated.unknown_ns' in done.stdout, f'verify: {done.stdout.decode()[:300]}')
gs.finish()
