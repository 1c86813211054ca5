#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The summaries kept in tests/data/summary come out again, byte for byte (golden.py says which two
numbers are masked), of sentences their numbers; they fit the agreed schema and ours, ours contains the agreed one and speaks of
every member; their sums hold."""
import copy
import difflib
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import golden
import gs
import gst_moved
import schema

try:
    import jsonschema  # noqa: F401 (schema uses it)
except ImportError:
    gs.skip('python3-jsonschema is not installed')

ours, agreed = schema.ours(), schema.agreed()
closed = schema.close(ours)
open_agreed = agreed and schema.widened(agreed, ours)


def check_text(case):
    with gs.scratch() as where:
        text = golden.summary(case, where)
    gs.equal(golden.masked(text).count('*'), golden.masked(golden.kept(case)).count('*'), f'{case[0]}: masked numbers')
    made, kept = golden.numbers(text), golden.numbers(golden.kept(case))
    if made == kept:
        return
    lines = list(difflib.unified_diff(kept.splitlines(), made.splitlines(), 'kept', 'made', n=0, lineterm=''))
    gs.check(False, f'{case[0]}: {len(lines)} lines of difference; the first:\n' + '\n'.join(lines[:12]) +
             '\nIf that is meant: tests/lib/golden.py --update, and read git diff')


def check_document(name, s):
    for what, against in (('ours', closed), ('the agreed one', open_agreed)):
        if against:
            gs.equal(schema.errors(against, s)[:3], [], f'{name}: schema, {what}')
    for i, g in enumerate(s['gpus']):
        gs.equal(sum(g['classes'].values()), g['held_ns'], f'{name}: classes of GPU {i}')
    classes = s['ledger']['classes']
    gs.equal(sum(c['ns'] for c in classes.values()), s['ledger']['gpu_ns'], f'{name}: ledger')
    late = s['ledger'].get('skew_causes') or {}
    gs.equal(sum(c['ns'] for n, c in classes.items() if n.startswith('input.')) +
             sum(ns for n, ns in late.items() if n.startswith('input.')),
             s['ledger']['starved_ns'], f'{name}: starved, by itself and for a late rank')


def check_schemas():
    if agreed:
        gs.equal(schema.weaker(ours, agreed)[:5], [], 'docs/summary.schema.json contains the agreed one')
        # The comparison itself: it sees what is less.
        less = copy.deepcopy(ours)
        del less['properties']['cost']['properties']['usd']
        less['required'].remove('ledger')
        less['$defs']['ns'] = {'type': 'number'}
        less['$defs']['class']['enum'].remove('host.net')
        gs.equal(len(schema.weaker(less, agreed)), 5, f'what is weaker is seen: {schema.weaker(less, agreed)}')
    else:
        gs.left_out('no ../shared/schema: docs/summary.schema.json beside the agreed one')


def check_moved():
    """A run that is copied as if it had been recorded elsewhere says the same, of other folders."""
    with gs.scratch() as where:
        run = golden.made_up(where)
        gst_moved.main(run, os.path.join(where, 'moved.gst'), '/srv/job=/a', '/mnt/shards=/mnt/b')
        texts = [golden.summary((run, lambda _, run=run: run, []), where)
                 for run in (run, os.path.join(where, 'moved.gst'))]
        gs.check('/srv/job/train.py' in texts[0] and '/srv/job' not in texts[1], 'the folder has moved')
        gs.equal(golden.masked(texts[0]).replace('/srv/job', '/a').replace('/mnt/shards', '/mnt/b'),
                 golden.masked(texts[1]), 'all else stays')


def check_wording():
    """A sentence may be told otherwise, a number in it may not, nor anything that is no sentence."""
    text = '{"basis": "2 of 31.5 \\"so\\"", "notes": [\n "at 7", "a 1,000 b"], "class": "host.sync", "ns": 5}'
    same = '{"basis": "of 31.5, 2", "notes": [\n "7: here", "1,000"], "class": "host.sync", "ns": 5}'
    gs.equal(golden.numbers(text), golden.numbers(same), 'another wording')
    for old, new in ('31.5', '31.6'), ('at 7', 'at 8'), ('1,000', ''), ('host.sync', 'host.lock'), ('"ns": 5', '"ns": 6'), ('at 7', 'at 7", "'):
        gs.check(golden.numbers(text.replace(old, new)) != golden.numbers(text), f'{old} -> {new} is seen')


check_moved()
check_wording()
check_schemas()
cases, made = golden.cases(), 0
gs.equal(sorted(f for f in os.listdir(golden.FOLDER) if f.endswith('.json')),
         sorted(os.path.basename(golden.path(c)) for c in cases), 'kept summaries and cases')
for case in cases:
    document = json.loads(golden.kept(case))
    check_document(case[0], document)
    if case[1]:
        check_text(case)
        made += 1
    else:
        print(f'{case[0]}: its trace is not beside the tree, so it is not made again')

# Each validator refuses what it should.
document['ledger']['surprise'] = 1
gs.equal(len(schema.errors(closed, document)), 1, 'a member that no schema speaks of')
document['ledger']['gpu_ns'] = -1
gs.equal(len(schema.errors(ours, document)), 1, 'a negative time')
print(f'{made} of {len(cases)} summaries made again')
gs.finish()
