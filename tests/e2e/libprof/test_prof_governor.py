#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=400
"""The governor's ladder on loops that are bound by their launches, on a simulated CUPTI that charges what
an H100's did. What it charged is in the truth file. Launches that stay dear whatever is off: tests/timing/test_governor_stays.py.

GS_BIG=1 test_prof_governor.py [RATE[:NS]...] plays five minutes at each rate, where launches recover and
where they do not, and prints a table; kernels last 500 ns, or NS."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
from governing import CAP, FIVE_MINUTES, charged, expect_nothing_given_up, play, recovers, report, stays

BIG = bool(os.environ.get('GS_BIG'))


def below_the_cap():
    """Nothing is given up, and nothing of it is told."""
    with gs.scratch() as where:
        _, t = play(where, 2000, 12, 'h100')
        expect_nothing_given_up('below the cap', t, *charged(where))
        gs.equal({p['level'] for p in t.frames['pulse']}, {'1'}, 'below the cap: levels')
        gs.check('cost' not in t.bye['last'], 'below the cap: no cost')
        gs.check('recording' not in json.loads(report(where, 'json'))['quality'], 'below the cap: the summary')


def bound_by_the_gpu():
    """Launches far above the cap, but the device is behind: with pauses as short as between kernels that
    come too late for it, it is never waited for, and nothing is given up."""
    with gs.scratch() as where:
        got, t = play(where, 200_000, 12, 'h100', 20_000)
        spent, by = charged(where)
        gs.check(spent and spent[-1][1] > 2 * CAP * 12, f'bound by the GPU: {got:.0f}/s, {spent[-1:]} s charged')
        gs.equal({p['level'] for p in t.frames['pulse']}, {'1'}, f'bound by the GPU: levels, {got:.0f}/s, {by}')
        gs.check('cost' not in t.bye['last'], 'bound by the GPU: no cost')


def main():
    if BIG:
        rates = sys.argv[1:] or ['20000', '50000', '100000', '200000', '300000', '570000:2000']
        for rate in rates:
            rate, _, ns = rate.partition(':')
            recovers(int(rate), FIVE_MINUTES, int(ns or 500))
            stays(int(rate), FIVE_MINUTES, int(ns or 500))
        return
    gs.side_by_side([below_the_cap, lambda: recovers(150_000)])
    # With tracing a launch comes 1.8 us after the kernel before, which is less than some pauses of a device.
    gs.side_by_side([bound_by_the_gpu, lambda: recovers(570_000, ns=2000)])


main()
gs.finish()
