# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=120
"""A dataset that reads through a loader of its own: the rows of the outer loader's batches are
whole, in workers and in the trainer, and calls inside them make no rows."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

FETCH, TAKE = 2, 3
ITEMS = 8
SCRIPT = os.path.join(gs.SOURCE, 'tests', 'lib', 'nestedloop.py')

for workers in (2, 0):
    with gs.scratch() as where:
        ranges.run([gs.PYTHON, SCRIPT, workers], where)
        stream, = ranges.trace(where)
    batches = [r for r in stream if 'batch' in r]
    fetched = sorted((r for r in batches if r['batch'] == FETCH), key=lambda r: r['index'])
    gs.equal([r['index'] for r in fetched], list(range(ITEMS)), f'{workers} workers: FETCH rows')
    gs.equal({r['loader'] for r in fetched}, {1}, f'{workers} workers: loader of FETCH rows')
    gs.equal({r['worker'] > 0 for r in fetched}, {workers > 0}, f'{workers}: worker of FETCH rows')
    short = [r for r in fetched if r['end'] - r['start'] < 20 * ranges.MS]
    gs.equal(short, [], f'{workers} workers: shorter than a sample takes')
    taken = [r for r in batches if r['batch'] == TAKE]
    gs.equal({r['loader'] for r in taken}, {1}, f'{workers} workers: loader of TAKE rows')
    gs.equal(sorted(r['index'] for r in taken)[:ITEMS], list(range(ITEMS)),
             f'{workers} workers: TAKE rows')
gs.finish()
