#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,ranks timeout=120
"""What is said of ranks that wait for each other, in made-up runs: stages of a pipeline that nobody
holds up, one rank late in a third of the steps among others that vary, a GPU that is slow."""
import os
import sys

sys.path[:0] = [sys.path[0] + '/../../lib', sys.path[0] + '/../../ranks']
import gs
import made
from made import MS

PRICE = '3.60'


def reported(job):
    with gs.scratch() as where:
        run = os.path.join(where, 'r.gst')
        list(job.write(run))
        text = gs.gpustarve('report', run, '--price', PRICE).stdout.decode()
        return gs.summary(run, '--price', PRICE), ' '.join(text.split('\nrun ')[0].split())


def late(s, rank):
    """Findings about what the others waited for the rank, by class."""
    return {f['class']: f for f in s['findings'] if f['where'].get('rank') == rank}


def stages():
    s, box = reported(made.Job(1, shape=(1, 1, 6), steps=40, noise=.05))
    gs.equal(s['verdict'], 'comm-bound', 'verdict of a pipeline')
    gs.check('waited for each other, or communicated, for' in box, f'a pipeline: {box}')
    advice = {a['id']: a for a in s['advice']}.get('comm', {})
    gs.check('micro-batches' in advice.get('brief', '') and 'overlap' not in box, f'what to do: {advice}\n{box}')
    gs.check('next: more micro-batches' in box, f'next: {box}')
    gs.equal(advice.get('saving_upper_ns'), s['ledger']['skew_causes']['comm'], 'what it saves at most')


def one_of_many():
    job = made.Job(2, ranks=8, steps=60, noise=.05)
    job.delay(5, 150 * MS, 'backward', range(1, 60, 3))
    s, box = reported(job)
    rows = {r['rank']: r for r in s['ranks']['rows']}
    gs.check(rows[5]['culprit'] != 'none' and rows[5]['caused_ns'] > 10 * max(
        r['caused_ns'] for k, r in rows.items() if k != 5), f'the planted one: {rows}')
    gs.check(late(s, 5), f'a finding of rank 5: {s["findings"]}')
    gs.equal([k for k in range(8) if k != 5 and late(s, k)], [], 'of no other')
    gs.check('for rank 5' in box, f'rank 5 in the numbered list: {box}')


def slow():
    job = made.Job(3, ranks=8, steps=60, noise=.05)
    job.slow(5, 1150)
    s, box = reported(job)
    gs.check(late(s, 5).get('compute'), f'a finding of the slow GPU: {s["findings"]}')
    gs.check('its own kernels took longer' in box, f'how it is told: {box}')
    gs.check('healthy' not in box and 'next: a GPU as fast' in box, f'worth acting on: {box}')


def even():
    s, box = reported(made.Job(4, ranks=8, steps=60, noise=.05))
    gs.equal([f['where'] for f in s['findings'] if 'rank' in f['where']], [], 'late by turns: a finding of none')
    gs.check('next: ' not in box, f'nothing to do: {box}')


stages()
one_of_many()
slow()
even()
gs.finish()
