#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault timeout=300 waits
"""Another client registers a clock of its own, and then one of another rate, while the host's clock
runs fast against the simulator's true one; then we take the records back: what is recorded lies where
the truth says, to a few microseconds however busy the machine is, lengths to a few ns; nothing
begins before its launch; and what is missing lies in spans that are told."""
import collections
import json
import os
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

HOST = os.path.join(gs.plain(gs.BUILD), 'gpusim', 'gpusim-host.so')
DRIFT = 200_000        # parts in 10^9: 200 ppm
# A reading of clocks that was interrupted is as wrong as it took; such points are left out.
NEAR_NS, LENGTH_NS = 25_000, 30
EDGE_NS = 50_000_000   # a flush ends some time after the span that it tells


def shown(epoch, t):
    return t + (t - epoch) * DRIFT // 10 ** 9


def calls_of(where):
    out = {}
    for name in os.listdir(os.path.join(where, 'truth')):
        with open(os.path.join(where, 'truth', name)) as f:
            for row in map(json.loads, f):
                if 'api' in row and row['correlation']:
                    out[row['correlation']] = row
    return out


def places(t, truth, calls, epoch):
    off, lengths = [], []
    for e in t.ops:
        r = truth.get(e['corr'])
        if not gs.check(r, f'an operation that never was: {e}'):
            return
        off.append(abs(e['start'] - shown(epoch, r['start_ns'])))
        lengths.append(abs((e['end'] - e['start']) - (r['end_ns'] - r['start_ns']) *
                           (1 + DRIFT / 1e9)))
    calls_off = [abs(e['start'] - shown(epoch, calls[e['corr']]['start_ns']))
                 for e in t.events[prof.API] if e['corr'] in calls]
    gs.check(max(off) <= NEAR_NS, f'operations: {max(off)} ns off their place')
    gs.check(max(calls_off) <= NEAR_NS, f'calls: {max(calls_off)} ns off their place')
    # A length is as right as the rate is; graphs last longest.
    gs.check(max(lengths) <= LENGTH_NS, f'lengths: {max(lengths)} ns off')
    print(f'{len(off)} operations: at most {max(off)} ns off, half within '
          f'{sorted(off)[len(off) // 2]} ns; {len(calls_off)} calls: {max(calls_off)} ns; lengths '
          f'{max(lengths):.0f} ns')


def told(t, truth, epoch):
    """What is not in the trace lies in a span that is told, and much outside of them is there."""
    spans, have = t.lost(), {e['corr'] for e in t.ops}
    lost, kept = [], 0
    for corr, r in truth.items():
        a, b = shown(epoch, r['start_ns']), shown(epoch, r['end_ns'])
        inside = any(s - EDGE_NS <= a and b <= e + EDGE_NS for s, e in spans)
        kept += corr in have and not inside
        if corr not in have and not inside:
            lost.append(r)
    gs.equal(len(lost), 0, f'operations missing that no span tells, such as {lost[:1]}')
    gs.check(kept > 1000, f'operations outside the spans: {kept}')


def main():
    epoch = time.time_ns()
    with gs.scratch() as where:
        done = prof.run(
            [prof.MIXLOOP, '--ops', 50_000, '--graph', 0, '--host', 0, '--pause-every', 100,
             '--pause-us', 12_000], where, LD_PRELOAD=f'{HOST} {gs.LIBPROF}',
            GPUSIM_CLOCK_EPOCH=epoch, GPUSIM_CLOCK_DRIFT=DRIFT, GPUSIM_TRUTH_API=1,
            GPUSTARVE_REARM_SECONDS=1, GPUSTARVE_SAMPLER=0,
            GPUSIM_FAULT='foreign:from=0.5,for=0.1,clock=0.37;foreign:from=0.9,for=0.1,clock=2.1')
        gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
        t = prof.trace(where)
        truth = {r['correlation']: r for r in prof.truth(where, t.hello['pid'])}
        places(t, truth, calls_of(where), epoch)
        told(t, truth, epoch)
        launch = collections.defaultdict(lambda: 0)
        for e in t.events[prof.API]:
            launch[e['corr']] = min(e['start'], launch.get(e['corr'], e['start']))
        late = [e for e in t.ops if launch[e['corr']] > e['start']]
        gs.equal(len(late), 0, f'operations before their launch, such as {late[:1]}')
        reasons = collections.Counter(s['reason'] for s in t.losses)
        gs.equal(set(reasons), {prof.FOREIGN}, f'losses: {reasons}')
        carried = [e for e in t.ops if e['start'] - epoch > 1_500_000_000]
        gs.check(len(carried) > 1000, f'operations carried: {len(carried)}')


main()
gs.finish()
