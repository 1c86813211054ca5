#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=400
"""NVML's word on how busy a device is, in the pulses and the report: while kernels are not recorded, by
GPM, by the driver's samples where there is none, on MIG slices, with several processes, and with an
NVML that refuses or hangs."""
import json
import os
import subprocess
import sys
import textwrap
import time
from decimal import Decimal

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import pagekeys
import prof
from prof import GOVERNOR, SECOND

GPM, SAMPLES = 1, 2  # of a meter
BUSY, IN_GPM = 1, 15  # bits: the busy share; what the simulator's GPM has
POINTS = 2.0
BYTES = 40

JOB = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    s = gpudev.Stream(dev)
    end = time.time() + float(sys.argv[1])
    while time.time() < end:
        for i in range(8):
            s.kernel(100_000, name=f'layer{i}')
        s.synchronize()
        time.sleep(0.0008)
    ''')


# Five seconds each of nothing said, of steps and of evaluation, whose kernels use the GPU otherwise.
PHASES = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    import nvtxmini
    dev, nvtx = gpudev.Device(0), nvtxmini.Nvtx()
    s = gpudev.Stream(dev)

    def some(name, seconds):
        end = time.time() + seconds
        while time.time() < end:
            s.kernel(3_000_000, name=name)
            s.synchronize()
            time.sleep(0.002)

    some('warm', float(sys.argv[1]))
    end, i = time.time() + float(sys.argv[1]), 0
    while time.time() < end:
        nvtx.push(f'ProfilerStep#{i}')
        some('train', 0.25)
        nvtx.pop()
        i += 1
    nvtx.push('eval')
    some('valid', float(sys.argv[1]))
    nvtx.pop()
    ''')
UNITS = {'other': ('warm', 10, 70), 'steps': ('train', 60, 25), 'evaluation': ('valid', 30, 5)}


def job(where, seconds, text=JOB, **env):
    with open(os.path.join(where, 'job.py'), 'w') as f:
        f.write(text)
    done = prof.run([gs.PYTHON, 'job.py', str(seconds)], where, WORKLOADS=gs.WORKLOADS,
                    GPUSIM_NVML_CALLS=os.path.join(where, 'calls'), **env)
    gs.equal(done.returncode, 0, f'status: {done.stderr.decode()[-500:]}')
    return prof.trace(where)


def called(where, what):
    with open(os.path.join(where, 'calls')) as f:
        return [line.split() for line in f if line.split()[1] == what]


def readings(t):
    """(start, end, meter) of each, in order."""
    out = []
    for p in t.frames['pulse'] + ([t.bye['last']] if t.bye else []):
        for d in p['devices']:
            m = d.get('meter')
            if m:
                end = p['t'] - 1000 * m['age_us']
                out.append((end - 1000 * m['span_us'], end, m))
                gs.check(m['bytes'] <= BYTES, f'bytes in a pulse: {m}')
    return out


def busy_between(where, start, end):
    """Percent of a time in which the device worked, by the simulator's truth."""
    ops = gs.union([max(r['start_ns'], start), min(r['end_ns'], end)] for r in prof.truth(where)
                   if r['end_ns'] > start and r['start_ns'] < end)
    return 100 * gs.measure(ops) / (end - start)


def truth_of(where, found):
    return sum((e - s) * busy_between(where, s, e) for s, e, _ in found) / sum(e - s for s, e, _ in found)


def expect_share(where, found, what):
    """There are readings, and together they tell what the device did in their time."""
    gs.check(found, f'{what}: readings')
    if not found:
        return
    told = sum((e - s) * m['busy'] / 100 for s, e, m in found) / sum(e - s for s, e, _ in found)
    truth = truth_of(where, found)
    gs.check(abs(told - truth) <= POINTS, f'{what}: {told:.2f} % told, {truth:.2f} % in truth')


def expect_contiguous(found, what):
    """One reading's time begins where the last one's ended: within what two calls of a clock lie apart,
    as a stamp of microseconds has it."""
    apart = [abs(b[0] - a[1]) for a, b in zip(found, found[1:])]
    gs.check(max(apart, default=0) < 50_000_000, f'{what}: readings follow each other: {apart}')


def expect_dumped(where, found):
    """`dump` has every reading: when, how long, and percent of what is known."""
    done = gs.gpustarve('dump', os.path.dirname(prof.files(where)[0]))
    got = [line.split('\t')[2:] for line in done.stdout.decode().splitlines() if line.startswith('# meter\t')]
    want = [['ordinal 0', str(s), str(e - s), 'gpm' if m['source'] == GPM else 'samples'] +
            [f'{name} {m[name] // 100}.{m[name] % 100:02}' for bit, name in ((1, 'busy'), (2, 'sm'), (8, 'tensor'), (16, 'dram'))
             if m['known'] & bit] for s, e, m in found]
    gs.equal(got, want, 'meters in dump')


def report(where, form):
    done = gs.gpustarve('report', os.path.dirname(prof.files(where)[0]), '--format', form)
    gs.equal(done.returncode, 0, f'report: {done.stderr.decode()[-500:]}')
    return done.stdout.decode()


def quality(where):
    return json.loads(report(where, 'json'))['quality']


def governed(seconds=18):
    """The governor gives kernels up: from then on NVML alone tells how busy the device is. Whoever gets
    little of a core breaks the limit late."""
    with gs.scratch() as where:
        t = job(where, seconds, GPUSTARVE_MAX_OVERHEAD='0.01', GPUSIM_TRACE_COST='kernel=20000,left=9000')
        lost, found = t.lost(GOVERNOR), readings(t)
        if gs.measure(lost) < 3 * SECOND and seconds < 100:
            return governed(100)
        gs.check(len(found) >= seconds - 4, f'governed: a reading each second: {len(found)}')
        gs.check(all(m['source'] == GPM and m['known'] == IN_GPM for _, _, m in found), f'governed: {found[:1]}')
        expect_contiguous(found, 'governed')
        expect_share(where, found, 'governed')
        expect_dumped(where, found)
        inside = [r for r in found if not gs.subtract([[r[0], r[1]]], lost)]
        gs.check(inside, f'governed: readings of what was not recorded: {lost}')
        m = quality(where)['metered']
        told = 100 * m['busy_ns'] / m['known_ns']
        truth = truth_of(where, inside)
        gs.check(abs(told - truth) <= POINTS, f'governed, summary: {m}, {truth:.2f} % in truth')
        gs.equal(m['gpm_ns'], m['known_ns'], 'governed, summary: by GPM')
        span = sum(e - s for s, e, _ in inside)
        gs.check(abs(m['known_ns'] - span) < span / 1000, f'governed, summary: {m}, {span}')
        text = ' '.join(report(where, 'text').split())
        told, meters = 'sampled: likely busy for' in text, text.count('NVML saw work on the GPU for')
        # In quality; and in the finding, wherever it stands, only without an estimate.
        gs.check(meters == 1 if told else meters >= 2, f'governed, one figure in the finding: {told}, {meters}: {text[:3000]}')
        gs.check('what is sampled is reckoned from it' in text, f'governed, quality: {text[:3000]}')


def phases():
    """Tensor cores and memory by what the program did: in the summary, sums and all; in text and page."""
    with gs.scratch() as where:
        script = ','.join(f'{name}={tensor}/{dram}' for name, tensor, dram in UNITS.values())
        job(where, 5, PHASES, GPUSIM_UNITS=script)
        s = json.loads(report(where, 'json'), parse_float=Decimal)
        units = s['ledger']['units']
        got = {p['phase']: p for p in units['phases']}
        for phase, (_, tensor, dram) in UNITS.items():
            p = got.get(phase, {'known_ns': 0, 'busy_ns': 1, 'tensor_ns': 0, 'dram_ns': 0})
            told = 100 * p['tensor_ns'] / p['busy_ns'], 100 * p['dram_ns'] / p['busy_ns']
            gs.check(p['known_ns'] >= 2 * SECOND and max(abs(told[0] - tensor), abs(told[1] - dram)) <= POINTS,
                     f'{phase}: {told}, {tensor} and {dram} in truth: {units}')
        for key in 'known_ns', 'busy_ns', 'tensor_ns', 'dram_ns':
            gs.equal(sum(p[key] for p in units['phases']), units[key], f'phases sum: {key}')
        text = ' '.join(report(where, 'text').split())
        for words in ('in steps: ', 'evaluating or logging: ', 'in neither: '):
            gs.check(f'{words}' in text, f'{words}in text: {text[:3000]}')
        gs.equal(pagekeys.problems(report(where, 'html'), s)[0][:5], [], 'each number of the page is in the summary')


def whole():
    """All is recorded: pulses have the meter's word, the summary says nothing of it."""
    with gs.scratch() as where:
        found = readings(job(where, 4))
        expect_contiguous(found, 'whole')
        expect_share(where, found, 'whole')
        gs.check('metered' not in quality(where), 'whole: nothing in the summary')
        pairs = len(called(where, 'nvmlGpmSampleGet'))
        gs.check(pairs <= 6, f'whole: a sample each second: {pairs}')


def older(what, **env):
    """No GPM: the driver's samples, and GPM is not asked for again."""
    with gs.scratch() as where:
        found = readings(job(where, 5, **env))
        gs.check(all((m['source'], m['known']) == (SAMPLES, BUSY) for _, _, m in found), f'{what}: {found}')
        expect_contiguous(found, what)
        expect_share(where, found, what)
        gs.equal(len(called(where, 'nvmlGpmQueryDeviceSupport')), 1, f'{what}: asked once')
        gs.check(len(called(where, 'nvmlGpmSampleGet')) <= 1, f'{what}: one sample at most')


def no_gpm():
    older('an older GPU', GPUSIM_NAME='NVIDIA A100-SXM4-80GB')


def refused():
    older('GPM is refused', GPUSIM_GPM='off')


def mig():
    with gs.scratch() as where:
        found = readings(job(where, 4, GPUSIM_MIG='0:1g.10gb,3g.40gb'))
        gs.check(all(m['source'] == GPM for _, _, m in found), f'MIG: {found}')
        expect_share(where, found, 'MIG')
        gs.check(called(where, 'nvmlGpmMigSampleGet') and not called(where, 'nvmlGpmSampleGet'), 'MIG: by instance')
    with gs.scratch() as where:
        t = job(where, 4, GPUSIM_MIG='0:1g.10gb', GPUSIM_NAME='NVIDIA A100-SXM4-80GB')
        gs.equal(readings(t), [], 'MIG without GPM')
        gs.equal(called(where, 'nvmlDeviceGetSamples'), [], 'MIG without GPM: nothing is of a slice')
        gs.equal(len(called(where, 'nvmlGpmQueryDeviceSupport')), 1, 'MIG without GPM: asked once')


def hangs():
    """A GPM that never answers: the job and its end do not wait for it."""
    with gs.scratch() as where:
        t = job(where, 4, GPUSIM_GPM='hang')
        prof.expect_exact(where, t, 'GPM hangs')
        gs.equal(readings(t), [], 'GPM hangs')
        gs.equal(len(called(where, 'nvmlGpmSampleGet')), 1, 'GPM hangs: asked once')
        gs.check(t.bye and any('still under way' in n for n in t.bye['notes']), f'GPM hangs: {t.bye}')


def both_at_work(where, both):
    """For some seconds; who asks ends last, for the other one would come in for it."""
    path, pids = os.path.join(where, 'calls'), {str(p.pid) for p in both}
    gs.until('two: both are at work', lambda: os.path.exists(path) and
             {c[0] for c in called(where, 'nvmlDeviceGetMemoryInfo')} == pids)
    gs.until('two: a reading', lambda: len(called(where, 'nvmlGpmSampleGet')) >= 2)
    time.sleep(4)
    asked = {c[0] for c in called(where, 'nvmlGpmSampleGet')}
    for i in sorted(range(2), key=lambda i: str(both[i].pid) in asked):
        open(os.path.join(where, f'end{i}'), 'w').close()
        gs.equal(both[i].wait(timeout=120), 0, 'two: status')


def shared():
    """Of two processes of a run on one device one asks."""
    with gs.scratch() as where:
        path = os.path.join(where, 'calls')
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(JOB.replace('time.time() < end', 'not os.path.exists(sys.argv[2])'))
        env = prof.environment(where, WORKLOADS=gs.WORKLOADS, GPUSIM_NVML_CALLS=path,
                               GPUSIM_SHM=os.path.join(where, 'shm'), GPUSTARVE_RUN_ID='shared')
        both = [subprocess.Popen([gs.WITH_GPUSIM, gs.PYTHON, 'job.py', '0', f'end{i}'], env=env, cwd=where) for i in range(2)]
        try:
            both_at_work(where, both)
        finally:
            for p in both:
                p.kill()
        gs.equal(len({c[0] for c in called(where, 'nvmlGpmSampleGet')}), 1, 'two: one asks')
        gs.equal(sorted(bool(readings(t)) for t in prof.traces(where)), [False, True], 'two: one tells')


governed()
gs.side_by_side([phases, whole, no_gpm, refused, mig, hangs, shared])
gs.finish()
