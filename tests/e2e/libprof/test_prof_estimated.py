#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=400
"""What the governor gives up of a loop that is bound by its launches comes back as an estimate: how busy the
GPU was within 2 points of what ran, though its meters call it busy around each kernel, too, and little unknown.

GS_BIG=1 test_prof_estimated.py [RATE...] plays five minutes at each rate."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

PACELOOP = os.path.join(gs.BUILD, 'workloads', 'paceloop')
KERNEL_NS = 2000
BUSY_POINTS, HOST_POINTS, UNKNOWN = 2, 3, .05


def play(rate, seconds):
    """The summary and how many kernels ran."""
    with gs.scratch() as where:
        done = prof.run([PACELOOP, str(rate), str(seconds), str(KERNEL_NS)], where, timeout=seconds + 120,
                        GPUSIM_TRUTH_OPS=0, GPUSIM_TRACE_COST='h100-recovers', GPUSTARVE_MAX_OVERHEAD='1')
        gs.equal(done.returncode, 0, f'{rate}: {done.stderr.decode()[-300:]}')
        out = gs.gpustarve('report', os.path.dirname(prof.files(where)[0]), '--format', 'json').stdout
        return json.loads(out), int(done.stdout.split()[0])


def check(rate, seconds):
    """Whoever gets little of a core breaks the limit late."""
    summary, launches = play(rate, seconds)
    ledger = summary['ledger']
    e = ledger.get('estimated')
    if seconds < 100 and (not e or e['of_ns'] < 3_000_000_000):
        check(rate, 100)
        return
    gs.check(e, f'{rate}: an estimate: {ledger["classes"]}')
    if not e:
        return
    of = e['of_ns']
    truth = 100 * (launches * KERNEL_NS - ledger['classes']['compute']['ns']) / of
    busy = 100 * e['busy']['ns'] / of
    host = 100 * sum(p['ns'] for c, p in e['classes'].items() if c.startswith(('host.', 'device.'))) / of
    metered = summary['quality']['metered']
    print(f'{rate}: {of / 1e9:.1f} of {ledger["gpu_ns"] / 1e9:.1f} s given up; busy {busy:.2f} %, in truth {truth:.2f} %, by the '
          f'meter {100 * metered["busy_ns"] / metered["known_ns"]:.2f} %; the host {host:.2f} %, in truth {100 - truth:.2f} %; '
          f'unknown {100 * e["unknown_ns"] / ledger["gpu_ns"]:.2f} % of held')
    gs.check(abs(busy - truth) <= BUSY_POINTS, f'{rate}: busy {busy:.2f} %, in truth {truth:.2f} %')
    gs.check(abs(host - (100 - truth)) <= HOST_POINTS, f'{rate}: the host {host:.2f} %, in truth {100 - truth:.2f} %')
    gs.check(e['unknown_ns'] <= UNKNOWN * ledger['gpu_ns'], f'{rate}: unknown: {e}')
    gs.equal(e['busy']['ns'] + e['unknown_ns'] + sum(p['ns'] for p in e['classes'].values()), of, f'{rate}: it sums')


if gs.BIG:
    for r in [int(r) for r in sys.argv[1:]] or [20_000, 50_000, 100_000, 200_000, 300_000]:
        check(r, 300)
else:
    check(300_000, 24)  # kernels are closer once tracing ends than the meter tells apart
gs.finish()
