# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e serial timeout=300
"""Loader waits of a real torch DataLoader, against the script's own clock: no workers and two, forked
and spawned, sleeping, decoding and reading datasets. Nothing is recorded in the workers."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import gs
import ranges

SCRIPT = os.path.join(gs.WORKLOADS, 'train_loader.py')
CASES = [
    ('no workers', ['--optimizer']),
    ('no workers, jpeg', ['--dataset', 'jpeg', '--pixels', '128']),
    ('no workers, file', ['--dataset', 'file', '--epochs', '2']),
    ('2 workers, fork', ['--workers', '2', '--sample-ms', '6', '--epochs', '2']),
    ('2 workers, spawn', ['--workers', '2', '--start-method', 'spawn', '--sample-ms', '6']),
    ('2 workers, forkserver', ['--workers', '2', '--start-method', 'forkserver']),
]


def own_waits(path):
    """[(start, end)] of each next() that gave a batch, and the number of epochs."""
    rows = [json.loads(line) for line in open(path)]
    return [(r['wait_begin_ns'], r['wait_end_ns']) for r in rows if 'step' in r], rows[-1]


def case(what, options):
    with gs.scratch() as where:
        own = os.path.join(where, 'own.jsonl')
        ranges.run([gs.PYTHON, SCRIPT, '--steps', '40', '--own-ledger', own, *options], where)
        waits, total = own_waits(own)
        streams = ranges.trace(where)
        if not gs.equal(len(streams), 1, f'{what}: streams (workers must have none)'):
            return True
        stream = streams[0]
        gs.check(ranges.hello(stream)['torch'].startswith('1.13'), f'{what}: version of torch')
        rows = ranges.ranges(stream, ranges.LOADER)
        gs.equal({r['tid'] for r in rows}, {total['pid']}, f'{what}: threads that wait')
        got = ranges.joined(rows)
        # The next() that ends an epoch gives no batch and stands in no row of the script.
        got = ranges.joined(rows)
        ends = [g for g in got if not any(s <= g['start'] <= e for s, e in waits)]
        gs.equal(len(ends), total['args']['epochs'], f'{what}: waits that gave no batch')
        got = [g for g in got if g not in ends]
        if '--optimizer' in options:
            steps = ranges.ranges(stream, ranges.OPTIMIZER)
            gs.equal([r['name'] for r in steps], ['Optimizer.step#SGD.step'] * len(waits),
                     f'{what}: optimizer steps')
        return ranges.waits_match(got, waits, what)


for what, options in CASES:
    ranges.settled(case, what, options)
gs.finish()
