# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits first timeout=300
"""Rows of batches against the program's own clock: each call of next() is a TAKE within it, each
batch was fetched by the process that says so, in the time it says so, whatever starts the workers
and however they end."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

OPEN, FETCH, TAKE, PIN, CLOSE = 1, 2, 3, 4, 5
LATE_NS = 5 * ranges.MS  # between the worker's clock and ours; the machine may be busy
CASES = [
    ('no workers', 'workers=0 epochs=2'),
    ('fork', 'workers=2 epochs=2'),
    ('fork, iterable', 'workers=2 iterable=1'),
    ('fork, persistent', 'workers=2 epochs=3 persistent=1'),
    ('spawn', 'workers=2 start=spawn'),
    ('forkserver, persistent', 'workers=2 start=forkserver epochs=2 persistent=1'),
    ('fork, killed', 'workers=2 end=kill'),
    ('fork, _exit', 'workers=1 end=_exit'),
    ('fork, all descriptors closed', 'workers=2 end=close'),
]


def rows(stream, what):
    return [r for r in stream if r.get('batch') == what]


def settings(row):
    return dict(w.split('=') for w in row['text'].split())


def check_takes(name, got, waits, opens):
    """In the order of time; numbers of iterators follow epochs."""
    got.sort(key=lambda r: r['start'])
    if not gs.equal(len(got), len(waits), f'{name}: TAKE rows'):
        return
    for r, w in zip(got, waits):
        loader = opens[w['epoch']]['loader'] if w['epoch'] < len(opens) else None
        gs.equal(r['loader'], loader, f'{name}: loader of a TAKE')
        gs.check(w['begin'] <= r['start'] <= r['end'] <= w['end'], f'{name}: {r} beyond {w}')
    close = sum((w['end'] - w['begin']) - (r['end'] - r['start']) < ranges.MS
                for r, w in zip(got, waits))
    # Of half of them at least no busy machine takes the core away in between.
    gs.check(close >= 0.5 * len(got), f'{name}: {close} of {len(got)} TAKEs within 1 ms')


def check_fetches(name, fetched, waits, opens, workers):
    late = []
    by_batch = {(r['loader'], r['index']): r for r in fetched}
    for epoch, opened in enumerate(opens):
        batches = [w['batch'] for w in waits if w['epoch'] == epoch and w['batch']]
        for i, b in enumerate(batches):
            r = by_batch.get((opened['loader'], i))
            if not gs.check(r, f'{name}: no FETCH of batch {i} of loader {opened["loader"]}'):
                continue
            gs.equal(r['pid'], b['pid'], f'{name}: who fetched batch {i}')
            gs.equal(r['worker'] > 0, workers > 0, f'{name}: worker of batch {i}: {r}')
            gs.check(r['start'] <= b['begin'] and b['end'] <= r['end'],
                     f'{name}: batch {i}: {r} lies not around {b}')
            late.append((r['end'] - r['start']) - (b['end'] - b['begin']))
            gs.equal(r['samples'], len(b['ids']), f'{name}: samples of batch {i}')
    close = sum(ns < LATE_NS for ns in late)
    gs.check(close >= 0.5 * len(late), f'{name}: fetches longer than the batches took: {late}')
    pids = {r['pid']: r['worker'] for r in fetched}
    gs.check(len(set(pids.values())) == min(workers or 1, len(pids)) or len(opens) > 1,
             f'{name}: workers {pids}')


def case(name, words):
    o = dict(w.split('=') for w in words.split())
    workers = int(o['workers'])
    with gs.scratch() as where:
        out = os.path.join(where, 'own.json')
        ranges.run([gs.PYTHON, os.path.join(gs.SOURCE, 'tests', 'lib', 'shimloop.py'), out,
                    *words.split()], where)
        own = json.load(open(out))
        streams = ranges.trace(where)
        if not gs.equal(len(streams), 1, f'{name}: streams'):
            return
        stream = streams[0]
    gs.equal(ranges.hello(stream)['notes'],
             [] if o.get('end') != 'close' else ranges.hello(stream)['notes'], f'{name}: notes')
    opens, waits = rows(stream, OPEN), own['waits']
    gs.equal(len(opens), int(o.get('epochs', 1)), f'{name}: OPEN rows')
    for r in opens:
        s = settings(r)
        gs.equal((s['workers'], s['batch'], s.get('start')),
                 (o['workers'], '3', o.get('start', 'fork') if workers else None),
                 f'{name}: settings {r["text"]}')
    check_takes(name, rows(stream, TAKE), waits, opens)
    check_fetches(name, rows(stream, FETCH), waits, opens, workers)
    died = o.get('end') in ('kill', '_exit')
    gs.equal(bool(own['error']), died, f'{name}: error {own["error"]}')
    first = [r for r in ranges.joined(ranges.ranges(stream, ranges.LOADER))
             if r['flags'] & ranges.FIRST]
    gs.equal(len(first), len(opens), f'{name}: first waits')
    print(f'{name}: {len(waits)} waits, {len(rows(stream, FETCH))} fetches', flush=True)


for c in CASES:
    case(*c)
gs.finish()
