#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=3000
"""torch's data loaders (with and without workers, pinned memory, persistent workers, prefetching, in any order; data sets
with an index and without) beside the script's own clock: each fetch is one wait, its end too, and the report's sum of waits
is the clock's within 1 %, of each loader within 1 % or 20 ms. With every PyTorch and Python; a campaign (GS_BIG=1)."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import playing
import prof
import torches

torches.campaign()

MS = 1_000_000


def waits(trace):
    """Their lengths in order. A wait that was told in parts, while it went on, is one."""
    found = []
    ranges = [e for e in trace.events[prof.RANGE] if e['name'].startswith('enumerate(DataLoader)#') and e['end'] > e['start']]
    for e in sorted(ranges, key=lambda e: (e['tid'], e['start'])):
        if found and found[-1][1] == e['start']:
            found[-1][1] = e['end']
        else:
            found.append([e['start'], e['end']])
    return [end - start for start, end in found]


def excused(found, mine, delays):
    """The program's clock starts before the wait and stops after it: only what is missing is excused."""
    return sum(gs.excused(want - got, delay) for got, want, delay in zip(found, mine, delays))


def expect_near(got, want, without, what):
    gs.check(want * 0.99 - 20 * MS - without <= got <= want,
             f'{what}: waits of {got} ns, {want} ns by the script\'s clock, {without} ns excused')


def loaders(torch):
    with gs.scratch() as where:
        play = playing.play(torch, os.path.join(where, 'play'), 'loaders.py')
        if not playing.expect_ended(play, '14 loaders\n'):
            return
        told, at = play.told(), 0
        t, = playing.with_gpu(play)
        found, mine, delays = waits(t), told['waits_ns'], told['delays_ns']
        gs.equal(len(found), len(mine), f'{play.what}: waits')
        for loader in told['loaders']:
            part = slice(at, at + loader['waits'])
            expect_near(sum(found[part]), sum(mine[part]), excused(found[part], mine[part], delays[part]),
                        f'{play.what}: {loader}')
            at += loader['waits']
        gpu, = play.summary['gpus']
        without = excused(found, mine, delays)
        print(f'{play.what}: {gpu["loader_wait_ns"]} ns of {sum(mine)}, {without} ns excused', flush=True)
        gs.equal(gpu['loader_wait_ns'], sum(found), f'{play.what}: the report\'s waits')
        gs.check(0.99 * sum(mine) - without <= sum(found), f'{play.what}: {sum(found)} ns of waits, not {sum(mine)}')
        playing.expect_classes(play)


def test_loaders():
    for torch in torches.some():
        loaders(torch)


gs.run_tests(globals())
