#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""fit: the ranges of each GPU, worked out once more from summary.json and the table's figures in exact
fractions; the schema; every price and figure printed with its source and date; which GPU is named the
cheapest; and what is refused."""
import csv
import json
import os
import sys
from fractions import Fraction as F

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny

try:
    import jsonschema
except ImportError:
    gs.skip('python3-jsonschema is not installed')

with open(os.path.join(gs.SOURCE, 'docs', 'fit.schema.json')) as f:
    SCHEMA = json.load(f)
CHECK = jsonschema.Draft202012Validator({k: v for k, v in SCHEMA.items() if k != '$id'})
with open(os.path.join(gs.SOURCE, 'viewer', 'fit', 'gpus.csv')) as f:
    TABLE = {r['gpu']: r for r in csv.DictReader(line for line in f if not line.startswith('#'))}
DENSE = ('matmul', 'attention', 'convolution')
MOVING = ('normalisation', 'elementwise', 'reduction', 'optimizer', 'embedding')
USUAL = ('fp32', 'tf32', 'bf16', 'fp16')
INSTEAD = {'tf32': 'fp32', 'bf16': 'fp32', 'fp8': 'fp16'}

# name, us: of a step, on the device. One of each way in which the rules treat a kernel.
KERNELS = [('sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64', 3000),
           ('ampere_sgemm_128x64_tn', 800), ('vectorized_layer_norm_kernel', 700),
           ('mystery', 300), ('vectorized_elementwise_kernel', 8)]


def kineto(kernels, step_us=10_000, steps=20, wait_us=2000, gpu=tiny.NAME, copy_us=100):
    rows, corr = [], 1
    for i in range(steps):
        t = 1_000_000 + i * step_us
        rows += [dict(ph='X', cat='user_annotation', name=f'ProfilerStep#{i}', ts=t, dur=step_us - 100,
                      pid=1000, tid=1000, args={})]
        at = t + wait_us
        for name, us in [('copy', copy_us)] + kernels:
            call, cat = ('cudaMemcpyAsync', 'gpu_memcpy') if name == 'copy' else ('cudaLaunchKernel', 'kernel')
            more = dict(bytes=1 << 20) if name == 'copy' else {}
            rows += [dict(ph='X', cat='cuda_runtime', name=call, ts=at - 20, dur=6, pid=1000, tid=1000,
                          args=dict(correlation=corr)),
                     dict(ph='X', cat=cat, name='Memcpy HtoD (Pinned -> Device)' if name == 'copy' else name,
                          ts=at, dur=us, pid=0, tid=7,
                          args=dict(correlation=corr, device=0, stream=7, **more))]
            at += us + 2
            corr += 1
    return dict(schemaVersion=1, traceEvents=rows, deviceProperties=[dict(id=0, name=gpu)])


def imported(where, name, **kw):
    source = os.path.join(where, name + '.json')
    with open(source, 'w') as f:
        json.dump(kineto(KERNELS, **kw), f)
    done = gs.gpustarve('import', source, '-o', os.path.join(where, name), '--quiet')
    gs.equal(done.returncode, 0, f'import: {done.stderr.decode()}')
    return os.path.join(where, name + '.gst')


def figure(gpu, column):
    """A fraction; None: it does not have it; 0: nobody knows."""
    text = TABLE[gpu][column]
    return None if text == '-' else F(text) if text else F(0)


def rate(gpu, precision):
    own = figure(gpu, precision)
    return figure(gpu, INSTEAD[precision]) if own is None and precision in INSTEAD else own


def ratio(a, b):
    return {a / b} if a and b else set()


def arithmetic(b, precision, seen):
    if precision != 'unknown':
        return ratio(rate(tiny.NAME, precision), rate(b, precision))
    return set().union(*(ratio(rate(tiny.NAME, p), rate(b, p)) for p in {*USUAL, *seen} - {'unknown'}))


def ratios(b, kind, precision, seen):
    memory = ratio(figure(tiny.NAME, 'memory_gb_s'), figure(b, 'memory_gb_s'))
    if kind in MOVING:
        return memory
    math = arithmetic(b, precision if kind in DENSE else 'unknown', seen)
    return memory | math if memory and math else set()


def expect(s, b):
    """(low, high) of the training time, ns as fractions; None: not known."""
    rows = s['ledger']['compute']
    seen = {r['precision'] for r in rows}
    classes = {k: v['ns'] for k, v in s['ledger']['classes'].items()}
    change, met = [F(0), F(0)], set()

    def add(ns, r):
        met.update(r)
        change[0] += ns * (min(r) - 1)
        change[1] += ns * (max(r) - 1)

    for r in rows:
        if not r['ns']:
            continue
        of = ratios(b, r['kind'], r['precision'], seen)
        if not of:
            return None
        add(r['ns'], of | {F(1)} if F(r['ns'], r['count']) < 10_000 else of)
    copies = classes.get('copy', 0) + classes.get('input.h2d', 0)
    if copies:
        of = ratio(figure(tiny.NAME, 'host_gb_s'), figure(b, 'host_gb_s'))
        if not of:
            return None
        add(copies, of | {F(1)})
    unseen = classes.get('excluded.unobserved', 0) + classes.get('device.lost', 0)
    if unseen:
        of = ratio(figure(tiny.NAME, 'memory_gb_s'), figure(b, 'memory_gb_s')) | \
            arithmetic(b, 'unknown', seen) | met
        add(unseen, of | {F(1)})
    train = s['ledger']['working_ns']
    work = sum(classes.get(c, 0) for c in ('compute', 'comm', 'copy', 'comm.skew', 'input.h2d'))
    low = max(train + min(change[0], 0), work + change[0])
    high = max(train + max(change[1], 0), work + change[1])
    return None if low <= 0 or high / low > 3 else (low, high)


def fit(run, *options, **env):
    done = gs.gpustarve('fit', run, '--format', 'json', *options, env=gs.environment(**env))
    gs.equal(done.returncode, 0, f'fit: {done.stderr.decode()}')
    out = json.loads(done.stdout)
    gs.equal([f'{e.json_path}: {e.message}' for e in CHECK.iter_errors(out)][:3], [], 'schema')
    return out


def near(got, want, what):
    """Ratios are millionths."""
    gs.check(abs(got - want) <= want / 100_000 + 100, f'{what}: {got}, expected {float(want):.1f}')


def check_turns(where):
    """A loader that is fast and slow in turn: the GPU sets the pace of the fast steps, and makes them longer where it is slower."""
    case = dict(steps=160, workers=1, batch=1, sample_ms=90, turns=20, fast_ms=10, host_us=0, copy_bytes=0, collective_ns=0, sync=True)
    told = []
    for name, ns in ('turns', 20_000_000), ('turns-slower', round(20_000_000 * F(3350, 1555))):
        os.makedirs(os.path.join(where, name))
        done, run, _ = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'fitloop.py'),
                                  json.dumps(dict(case, kernels=[['vectorized_elementwise_kernel', ns]]))],
                                 os.path.join(where, name), GPUSIM_NAME=tiny.NAME)
        if not gs.equal(done.returncode, 0, f'{name}: {done.stderr.decode()[-500:]}'):
            return
        told.append(fit(run))
    free, longer = told[0]['slower_for_nothing'], told[1]['training_ns'] / told[0]['training_ns']
    print(f'in turn: 2.15 times as slow takes {longer:.3f} times as long, {free} is said to be for nothing')
    gs.check(longer > 1.08, f'it does take longer: {longer}')
    gs.equal(free, 1, 'of no slower GPU it is known')
    gs.check(told[0]['faster_at_most'] > 1.1, 'the loader sets the pace of the run')
    for p in told[0]['places']:
        if p['gpu'] == 'NVIDIA A100-SXM4-40GB':
            gs.check(p['training_ns']['low'] <= told[1]['training_ns'] <= p['training_ns']['high'],
                     f'{p["training_ns"]} holds {told[1]["training_ns"]}')


def check_kept_pace(where, ns):
    """A loader that just keeps up with the GPU, or just does not: its only worker never rests, and a faster GPU would wait for it."""
    case = dict(steps=50, workers=1, batch=4, sample_ms=10, host_us=100, copy_bytes=0, collective_ns=0, sync=True,
                kernels=[['vectorized_elementwise_kernel', ns]])
    folder = os.path.join(where, f'even{ns}')
    os.makedirs(folder)
    done, run, _ = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'fitloop.py'), json.dumps(case)], folder, GPUSIM_NAME=tiny.NAME)
    if not gs.equal(done.returncode, 0, f'even: {done.stderr.decode()[-500:]}'):
        return
    out = fit(run)
    most = out['faster_at_most']
    # As long as it takes to make its samples, if nothing held it up; a busy machine does.
    least = out['training_ns'] / (case['steps'] * case['batch'] * case['sample_ms'] * 1e6)
    print(f'even: worked for {out["work_ns"] / out["training_ns"]:.3f}, at most {most} times as fast, {least:.3f} times its samples')
    gs.check(1 <= most < max(1.4, 1.1 * least), f'the loader allows little more: {most}, {least}')
    for p in out['places']:
        if p['not_known'] is None:
            gs.check(p['training_ns']['low'] * most >= out['training_ns'] * .9999, f'{p["gpu"]}: no shorter than the loader')


def check_requests(where):
    """A server holds the GPU and waits for requests: that is in what a request costs."""
    folder = os.path.join(where, 'serve')
    os.makedirs(folder)
    done, run, _ = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'kindloop.py'), 'serve'], folder, GPUSIM_NAME=tiny.NAME)
    if not gs.equal(done.returncode, 0, f'serve: {done.stderr.decode()[-500:]}'):
        return
    s, out = gs.summary(run), fit(run)
    waits = s['ledger']['classes']['host.no_work']['ns']
    gs.check(waits > 0, 'it waits for requests')
    gs.equal(out['requests_ns'], waits, 'so long')
    gs.equal(out['training_ns'], s['ledger']['working_ns'] + waits, 'in what it takes')
    gs.equal(out['training_ns'] + out['outside_ns'], s['ledger']['gpu_ns'], 'and not in the rest')
    near(out['faster_at_most'], F(out['training_ns'], out['training_ns'] - out['work_ns']), 'no faster than requests come')
    text = ' '.join(gs.gpustarve('fit', run).stdout.decode().split())
    gs.check('work and the waits for requests took' in text and 'training took' not in text, f'as text: {text[:200]}')


with gs.scratch() as where:
    run = imported(where, 'mixed')
    s, out = gs.summary(run, '--price', '3.99'), fit(run, '--price', '3.99')
    train, known = s['ledger']['working_ns'], 0
    gs.equal((out['training_ns'], out['steps'], out['gpus']), (train, s['steps']['count'], 1), 'the run')
    idle = train - out['work_ns']
    near(out['faster_at_most'], F(train, idle), 'a GPU of any speed')
    gs.equal(out['slower_for_nothing'], 1, 'of no slower GPU it is known')
    for p in out['places']:
        if p['as_it_was']:
            gs.equal(p['training_ns'], {'low': train, 'high': train}, 'as it was')
            continue
        want = expect(s, p['gpu']) if p['gpu'] in TABLE else None
        gs.equal(p['not_known'] is None, want is not None, f'{p["gpu"]}: known ({p["not_known"]})')
        if want is None or p['not_known']:
            continue
        known += 1
        same = p['gpu'] == tiny.NAME
        for end, w in zip(('low', 'high'), (train, train) if same else want):
            near(p['training_ns'][end], w, f'{p["gpu"]} {end}')
            near(p['step_ns'][end], F(w) / out['steps'], f'{p["gpu"]} step {end}')
            usd = F(str(p['price']['usd_per_gpu_hour'])) * F(w) * 1000 / out['steps'] / (3600 * 10**9)
            near(p['usd_per_1k_steps'][end], usd, f'{p["gpu"]} dollars {end}') if usd > 1 else \
                gs.check(abs(F(str(p['usd_per_1k_steps'][end])) - usd) < F(1, 10**6), f'dollars: {p}')
    gs.check(known > 15, f'{known} places are known')

    # Dearest and cheapest as the ranges say; nothing is named whose range reaches below another's.
    named = [p for p in out['places'] if p['cheapest']]
    gs.check(len(named) <= 1, 'one at most')
    for p in named:
        gs.check(all(q['gpu'].startswith(p['gpu']) or p['gpu'].startswith(q['gpu']) or q['usd'] is None
                     or p['usd']['high'] < q['usd']['low'] for q in out['places']), f'{p["gpu"]}')
    own = [p for p in fit(run, '--price', '0.01')['places'] if p['cheapest']]
    gs.equal([p['as_it_was'] for p in own], [True], 'for a cent an hour it stays where it is')

    # A site's price, and one provider's alone.
    site = os.path.join(where, 'site.csv')
    with open(site, 'w') as f:
        f.write('gpu,provider,usd_per_gpu_hour,price_model,source,date\n'
                'NVIDIA H200,,0.02,on-demand,ours,2026-02-03\nNVIDIA Z9,ours,0.01,on-demand,ours,2026-02-03\n')
    mine = fit(run, '--price', '3.99', GPUSTARVE_PRICES=site)
    gs.equal([p['gpu'] for p in mine['places'] if p['cheapest']], ['NVIDIA H200'], 'the site has it for two cents')
    gs.check([p['not_known'] for p in mine['places'] if p['gpu'] == 'NVIDIA Z9'] != [None], 'an unknown GPU')
    none = fit(run, '--provider', 'ours', '--price', '3.99', GPUSTARVE_PRICES=site)
    gs.equal([(p['gpu'], p['cheapest'], p['not_known'] is None) for p in none['places']],
             [(tiny.NAME, False, True), ('NVIDIA Z9', False, False)], 'beside one of which nothing is known it is not the cheapest')
    some = fit(run, '--provider', 'aws')
    gs.equal({p['price']['provider'] for p in some['places'] if p['price']}, {'aws'}, 'one provider')

    # As text: every price with its source and date.
    done = gs.gpustarve('fit', run, '--price', '3.99')
    gs.equal(done.returncode, 0, done.stderr.decode())
    text = ' '.join(done.stdout.decode().split())
    for p in out['places']:
        if p['price'] and not p['not_known']:
            for of in p['price'], p['peaks']:
                gs.check(f'{of["source"]}, {of["date"]}' in text, f'{of["source"]} is printed with its date')
    for p in out['places']:
        if p['not_known']:
            gs.check(f'{p["gpu"]}: {p["not_known"]}' in text, f'{p["gpu"]}: why not')

    # A run whose loader sets the pace: no faster GPU shortens a step by more than that loader could, and one
    # that is slower by what the GPU waits makes none longer.
    slow = os.path.join(gs.SOURCE, 'docs', 'demo', 'storage.gst')
    s, out = gs.summary(slow), fit(slow)
    # Of 143 ms 60 are fed and 59 of these work; a batch takes 140.7 at the least, and 1.76 to take when it is made.
    need, l = s['loader']['need'], s['loader']['settings'][0]
    hand = -(-l['hand_ns'] // l['handed'])
    wait = min(need['step_ns'], l['fetch_p1_ns']) - hand - (need['step_ns'] - need['wait_ns'])
    work = F(out['work_ns'] * need['step_ns'], out['training_ns'])
    near(F(out['slower_for_nothing']) * 10**6, (1 + wait / work) * 10**6, 'so many times as slow')
    gs.check(1_000_000 < hand < 3_000_000 and 2.2 < out['slower_for_nothing'] < 2.4, f'{hand}: {out["slower_for_nothing"]}')
    text = ' '.join(gs.gpustarve('fit', slow).stdout.decode().split())
    tenths = int(out['slower_for_nothing'] * 10)
    gs.check(f'a GPU up to {tenths // 10}.{tenths % 10} times as slow' in text, f'no more than that is said: {text[:400]}')
    gs.check(1 <= out['faster_at_most'] < 1.1, f'{out["faster_at_most"]}')
    for p in out['places']:
        if p['not_known'] is None and p['gpu'] in ('NVIDIA H200', 'NVIDIA B200'):
            gs.equal(p['training_ns']['high'], out['training_ns'], f'{p["gpu"]}: no longer')
            gs.check(p['training_ns']['low'] * out['faster_at_most'] >= out['training_ns'] * .9999,
                     f'{p["gpu"]}: no shorter than the loader')

    check_turns(where)
    check_kept_pace(where, 41_000_000)
    check_kept_pace(where, 38_500_000)
    check_requests(where)
    # What says nothing of other GPUs.
    for options, word in (((os.path.join(where, 'none.gst'),), 'none.gst'), ((run, run), 'one run'),
                          ((run, '--format', 'yaml'), 'yaml'), ((run, '--price-model', 'sometimes'), 'sometimes')):
        done = gs.gpustarve('fit', *options)
        gs.equal((done.returncode, done.stdout), (1, b''), f'{options}')
        gs.check(word in done.stderr.decode(), f'{options}: {done.stderr.decode()}')
gs.finish()
