#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""A GPU that two jobs use at once is billed once in sum, two processes of one job pay once and no
more, and a MIG slice costs its printed fraction."""
import json
import os
from decimal import Decimal

import gs

HOLD = r'''
import sys, time
sys.path.insert(0, sys.argv[1])
import gpudev
begin = time.monotonic()
stream = gpudev.Stream(gpudev.Device(0))
while time.monotonic() - begin < float(sys.argv[2]):
    stream.kernel(5_000_000, 'work')
    stream.synchronize()
    time.sleep(0.02)
'''
JOB = [gs.PYTHON, '-c', HOLD, gs.WORKLOADS]
PRICE = 3600


def bill(run):
    with open(os.path.join(run, 'summary.json')) as f:
        s = json.load(f, parse_float=Decimal)
    gs.equal(gs.gpustarve('verify', run).returncode, 0, 'verify')
    return s


def several(where, name, count, one_run):
    """So many jobs of 8 s at once on one GPU; their summaries."""
    out = os.path.join(where, name)
    script = 'for i in $(seq %d); do %s "$@" & done; wait' % (
        count, '' if one_run else 'GPUSTARVE_RUN_ID=job$i')
    inner = [gs.CLI, 'run', '--quiet', '-o', out, '--price', str(PRICE), '--']
    if one_run:
        argv = inner + ['bash', '-c', script, 'bash', *JOB, '8']
    else:
        argv = ['bash', '-c', script, 'bash', *inner, *JOB, '8']
    done = gs.command([gs.WITH_GPUSIM, *argv], cwd=where, env=gs.environment(GPUSIM_DEVICES=1))
    gs.equal(done.returncode, 0, done.stderr.decode()[-500:])
    return [bill(r) for r in gs.runs(out)]


with gs.scratch() as where:
    probe, run, _ = gs.traced(JOB + ['2.5'], where, ['--price', str(PRICE), '--quiet'],
                              GPUSIM_DEVICES=1)
    alone = bill(run)
    if any('NVML is not available' in n for n in alone['quality']['notes']):
        gs.skip('the simulator has no NVML here')
    gs.equal(alone['cost']['rates'][0]['fraction'], '1/1', 'alone')

    two = several(where, 'two-jobs', 2, False)
    gs.equal(len(two), 2, 'two runs')
    gs.equal({s['gpus'][0]['uuid'] for s in two}, {two[0]['gpus'][0]['uuid']}, 'one GPU')
    begin = min(s['gpus'][0]['held_start_ns'] for s in two)
    end = max(s['gpus'][0]['held_end_ns'] for s in two)
    once = Decimal(end - begin) * PRICE / 3_600_000_000_000
    paid = sum(s['cost']['usd'] for s in two)
    for s in two:
        r = s['cost']['rates'][0]
        share = r['usd_per_gpu_hour'] / r['list_usd_per_gpu_hour']
        gs.check(Decimal('0.45') < share < Decimal('0.65'), f'half the price, about: {r}')
    # Facts come once a second, so the moments at which jobs come and go are known that well.
    gs.check(abs(paid - once) < once * Decimal('0.2'), f'paid {paid}, once is {once}')
    print('two jobs paid', paid, 'for', once)

    one = several(where, 'one-job', 2, True)
    gs.equal(len(one), 1, 'one run')
    gs.equal(one[0]['cost']['rates'][0]['fraction'], '1/1', 'two processes of one job pay once')

    _, run, _ = gs.traced(JOB + ['2'], where, ['--price', '7'], GPUSIM_DEVICES=1,
                          GPUSIM_MIG='0:2g.20gb', CUDA_VISIBLE_DEVICES=None)
    s = bill(run)
    r = s['cost']['rates'][0]
    gs.equal((r['fraction'], r['usd_per_gpu_hour']), ('2/7', Decimal(2)), 'two of seven slices')
    text = ' '.join(gs.gpustarve('report', run).stdout.decode().split())
    gs.check('$2.00 per GPU-hour = 2/7 of $7.00' in text, f'the fraction is printed: {text[:600]}')
    gs.check('2g.20gb' in text, 'and the profile')
gs.finish()
