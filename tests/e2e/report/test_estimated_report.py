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
