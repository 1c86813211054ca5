#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""A GPU that two jobs use at once is billed once in sum, two processes of one job pay once and no
more, and a MIG slice costs its printed fraction. What each pays is held against its own trace's facts,
which tell how many processes were on the GPU, to the millionth; and the facts against when the jobs
were there. So a busy machine may keep them apart."""
import glob
import json
import os
from decimal import Decimal
from fractions import Fraction
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import pagekeys
import prof

HOLD = r'''
import os, sys, time
sys.path.insert(0, sys.argv[1])
import gpudev
os.mkdir('came-%d' % os.getpid())  # all of them begin when the last has come
while len([name for name in os.listdir('.') if name.startswith('came-')]) < int(sys.argv[3]):
    time.sleep(0.01)
begin = time.monotonic()
stream = gpudev.Stream(gpudev.Device(0))
while time.monotonic() - begin < float(sys.argv[2]):
    stream.kernel(5_000_000, 'work')
    stream.synchronize()
    time.sleep(0.02)
'''
JOB = [gs.PYTHON, '-c', HOLD, gs.WORKLOADS]
PRICE, HOUR = 3600, 3_600_000_000_000


def bill(run):
    with open(os.path.join(run, 'summary.json')) as f:
        s = json.load(f, parse_float=Decimal)
    gs.equal(gs.gpustarve('verify', run).returncode, 0, 'verify')
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    gs.equal(pagekeys.problems(page, s)[0], [], 'the page')
    return s


def several(where, name, count, one_run):
    """So many jobs of 8 s at once on one GPU; their summaries."""
    out = os.path.join(where, name)
    script = 'for i in $(seq %d); do %s "$@" & done; wait' % (
        count, '' if one_run else 'GPUSTARVE_RUN_ID=job$i')
    inner = [gs.CLI, 'run', '--quiet', '-o', out, '--price', str(PRICE), '--']
    if one_run:
        argv = inner + ['bash', '-c', script, 'bash', *JOB, '8', str(count)]
    else:
        argv = ['bash', '-c', script, 'bash', *inner, *JOB, '8', str(count)]
    os.mkdir(out)
    done = gs.command([gs.WITH_GPUSIM, *argv], cwd=out, env=gs.environment(GPUSIM_DEVICES=1))
    gs.equal(done.returncode, 0, done.stderr.decode()[-500:])
    return [bill(r) for r in gs.runs(out)]


def facts(where, name, job):
    """([(when, processes on the GPU)], (its first work, its end)) of a run of one process."""
    trace, = prof.read(glob.glob(os.path.join(where, name, f'job{job}.gst', '*.gst')))
    points = [(f['t'], f['devices'][0]['others'] + 1) for f in trace.frames['facts'] if f['devices']]
    gs.check(points, f'job {job}: facts')
    return points, (min(o['start'] for o in trace.ops), trace.bye['t'])


def paid_part(gpu, points):
    """By the rule of viewer/cost/share.h for one process: the first fact speaks for what was before it,
    the last for the rest."""
    begin, end = gpu['held_start_ns'], gpu['held_end_ns']
    at = [begin] + [min(max(t, begin), end) for t, _ in points[1:]] + [end]
    return sum(Fraction(b - a, n) for a, b, (_, n) in zip(at, at[1:], points)) / (end - begin)


def facts_are_true(points, other):
    """The other process was there or not, unless it came or went about when the fact was taken: within what a busy machine
    may take from a process's first call to its first kernel."""
    for t, n in points:
        if min(abs(t - other[0]), abs(t - other[1])) > 1_500_000_000:
            gs.equal(n, 1 + (other[0] < t < other[1]), f'processes, {t - other[0]} ns after its begin')


def once(two, told):
    """Where all facts count both, the sum is that of one, but for when one of them was there alone."""
    spans = [(s['gpus'][0]['held_start_ns'], s['gpus'][0]['held_end_ns']) for s in two]
    apart = sum(abs(a - b) for a, b in zip(*spans))
    whole = max(e for _, e in spans) - min(b for b, _ in spans)
    paid = sum(s['cost']['usd'] for s in two)
    print(f'two jobs paid {paid} for {Decimal(whole) * PRICE / HOUR}, {apart} ns apart')
    if all(n == 2 for points, _ in told for _, n in points):
        gs.check(abs(paid - Decimal(whole * 2 - apart) / 2 * PRICE / HOUR) < Decimal('0.001'),
                 f'paid {paid} for {whole} ns, {apart} apart')
    else:
        gs.left_out(f'billed once: a busy machine kept them apart: {told}')


with gs.scratch() as where:
    probe, run, _ = gs.traced(JOB + ['2.5', '1'], where, ['--price', str(PRICE), '--quiet'],
                              GPUSIM_DEVICES=1)
    alone = bill(run)
    if any('NVML is not available' in n for n in alone['quality']['notes']):
        gs.skip('the simulator has no NVML here')
    gs.equal(alone['cost']['rates'][0]['fraction'], '1/1', 'alone')

    two = several(where, 'two-jobs', 2, False)
    if not gs.equal(len(two), 2, 'two runs'):
        gs.finish()
    gs.equal({s['gpus'][0]['uuid'] for s in two}, {two[0]['gpus'][0]['uuid']}, 'one GPU')
    told = [facts(where, 'two-jobs', i + 1) for i in range(2)]
    for s, mine, theirs in zip(two, told, told[::-1]):
        r = s['cost']['rates'][0]
        share = Fraction(r['usd_per_gpu_hour'] / r['list_usd_per_gpu_hour'])
        want = paid_part(s['gpus'][0], mine[0])
        gs.check(abs(share - want) <= Fraction(3, 1_000_000), f'its part: {float(share)}, by its facts '
                 f'{float(want)}')
        facts_are_true(mine[0], theirs[1])
        whole = s['gpus'][0]['held_end_ns'] - s['gpus'][0]['held_start_ns']
        gs.check(abs(s['cost']['usd'] - Decimal(whole) * PRICE * r['usd_per_gpu_hour'] /
                     r['list_usd_per_gpu_hour'] / HOUR) < Decimal('0.001'),
                 f'dollars: {s["cost"]["usd"]} of {whole} ns')
    once(two, told)

    one = several(where, 'one-job', 2, True)
    gs.equal(len(one), 1, 'one run')
    gs.equal(one[0]['cost']['rates'][0]['fraction'], '1/1', 'two processes of one job pay once')

    _, run, _ = gs.traced(JOB + ['2', '1'], where, ['--price', '7'], GPUSIM_DEVICES=1,
                          GPUSIM_MIG='0:2g.20gb', CUDA_VISIBLE_DEVICES=None)
    s = bill(run)
    r = s['cost']['rates'][0]
    gs.equal((r['fraction'], r['usd_per_gpu_hour']), ('2/7', Decimal(2)), 'two of seven slices')
    text = ' '.join(gs.gpustarve('report', run).stdout.decode().split())
    gs.check('$2.00 per GPU-hour = 2/7 of $7.00' in text, f'the fraction is printed: {text[:600]}')
    gs.check('2g.20gb' in text, 'and the profile')
gs.finish()
