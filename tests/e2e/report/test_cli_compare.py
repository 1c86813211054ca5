#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""report of several runs: the JSON fits its schema, every number of it follows from the two
summaries by integer arithmetic done here once more, text and page show them, and what may not be
compared is refused. Broken and hostile runs and summaries are named and never crash."""
import copy
import json
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny

try:
    import jsonschema
except ImportError:
    gs.skip('python3-jsonschema is not installed')

with open(os.path.join(gs.SOURCE, 'docs', 'comparison.schema.json')) as f:
    SCHEMA = json.load(f)
CHECK = jsonschema.Draft202012Validator({k: v for k, v in SCHEMA.items() if k != '$id'})
NANO = 10**9


def half_even(num, den):
    q, rest = divmod(num, den)
    return q + (rest * 2 > den or (rest * 2 == den and q & 1))


def ppm(part, whole):
    return half_even(part * 10**6, whole) if whole > 0 else 0


def nano(usd):
    return round(usd * NANO)


def compared(*args):
    done = gs.gpustarve('report', *args, '--format', 'json')
    gs.equal(done.returncode, 0, f'report {args}: {done.stderr.decode()}')
    c = json.loads(done.stdout)
    errors = [f'{e.json_path}: {e.message}' for e in CHECK.iter_errors(c)]
    gs.equal(errors[:3], [], f'schema: {args}')
    return c


def measures(pair):
    return {m['id']: m for m in pair['measures']}


def expect(pair, a, b, what):
    """The pair's numbers from the two summaries, worked out a second time."""
    m = measures(pair)
    steps = [s['steps']['count'] for s in (a, b)]
    want = {'gpu_run': [s['ledger']['gpu_ns'] for s in (a, b)],
            'wall_run': [s['run']['wall_ns'] for s in (a, b)],
            'usd_run': [nano(s['cost']['usd']) for s in (a, b)],
            'usd_step': [half_even(nano(s['cost']['usd']), n) for s, n in zip((a, b), steps)],
            'step_median': [s['steps']['median_ns'] for s in (a, b)],
            'share_starved': [ppm(s['ledger']['starved_ns'], s['ledger']['gpu_ns']) for s in (a, b)],
            'share_wasted': [ppm(s['ledger']['wasted_ns'], s['ledger']['gpu_ns']) for s in (a, b)],
            'gpu_step_working': [half_even(s['ledger']['working_ns'], n)
                                 for s, n in zip((a, b), steps)]}
    for name, (x, y) in want.items():
        gs.equal([m[name]['base'], m[name]['run']], [x, y], f'{what}: {name}')
        if m[name]['part'] in pair['not_comparable']:
            gs.equal([m[name]['difference'], m[name]['change_ppm']], [None, None],
                     f'{what}: {name} is not compared')
        else:
            gs.equal([m[name]['difference'], m[name]['change_ppm']], [y - x, ppm(y - x, x)],
                     f'{what}: {name} differs by')
    for row in pair['classes']:
        x, y = (s['ledger']['classes'].get(row['class'], {'ns': 0})['ns'] for s in (a, b))
        gs.equal([row['ns']['base'], row['ns']['run']], [x, y], f'{what}: {row["class"]}')
        gs.equal([row['step_ns']['base'], row['step_ns']['run']],
                 [half_even(x, steps[0]), half_even(y, steps[1])], f'{what}: {row["class"]} per step')
    promises = [v for v in a['advice'] if v['saving_upper_ns']]  # others would merely make a cause known
    gs.equal(len(pair['advice']), len(promises), f'{what}: promises')
    for q, told in zip(pair['advice'], promises):
        gs.equal(q['upper_run']['ns'], told['saving_upper_ns'], f'{what}: bound of {q["id"]}')
        for part in 'step', 'run':
            real, upper = q[f'realised_{part}']['ns'], q[f'upper_{part}']['ns']
            gs.check(real is None or 0 <= real <= upper, f'{what}: {q["id"]} realised {real} of {upper}')


def narrow(text, what):
    longest = max(text.splitlines(), key=len)
    gs.check(len(longest) <= 80, f'{what}: 80 columns: {longest!r}')


def trace(where, name, step_us, wait_us, steps=40, gpu=tiny.NAME):
    """As tiny.imported, but the step is as long as it is told."""
    rows = tiny.kineto(steps=steps, gpu=gpu, wait_us=wait_us)
    for row in rows['traceEvents']:
        at = row['ts'] - 1_000_000
        row['ts'] = 1_000_000 + at // 10_000 * step_us + at % 10_000
        row['dur'] = min(row['dur'], step_us - 100)
    path = os.path.join(where, name + '.json')
    with open(path, 'w') as f:
        json.dump(rows, f)
    done = gs.gpustarve('import', path, '-o', os.path.join(where, name), '--quiet')
    gs.equal(done.returncode, 0, f'import {name}: {done.stderr.decode()}')
    return os.path.join(where, name + '.gst')


def stored(where, name, summary):
    path = os.path.join(where, name)
    with open(path, 'w') as f:
        json.dump(summary, f)
    return path


def hostile(s):
    """Summaries that nobody should trust: each is compared with a sound one, in both orders."""
    big = 2**63 - 1
    for name, change in {
            'zero': lambda x: x['ledger'].update(gpu_ns=0, classes={}),
            'negative': lambda x: [x['ledger'].update(gpu_ns=-5, starved_ns=-1, wasted_ns=-big),
                                   x['steps'].update(median_ns=-big, count=-3)],
            'huge': lambda x: [x['ledger'].update(gpu_ns=big, starved_ns=big),
                               x['ledger']['classes']['compute'].update(ns=big),
                               x['run'].update(wall_ns=10**30), x['steps'].update(median_ns=big, p95_ns=big),
                               [g['classes'].update(compute=-big, copy=big) for g in x['gpus']]],
            'steps': lambda x: x['steps'].update(count=2**64 - 1),
            'one step': lambda x: [x['steps'].update(count=1),
                                   [a.update(saving_upper_ns=big, saving_upper_usd=10**9) for a in x['advice']]],
            'dear': lambda x: [r.update(usd_per_gpu_hour=10**9) for r in x['cost']['rates']],
            'findings': lambda x: x.update(findings=x['findings'] * 300),
            'texts': lambda x: [x['run'].update(id='</title><script>alert(1)</script>\x1b[31m'),
                                [a.update(brief='%s%n\n"><img src=x>') for a in x['advice']]],
    }.items():
        x = copy.deepcopy(s)
        change(x)
        yield name, x
    for member in list(s):
        if member != 'schema':
            yield 'without ' + member, {k: v for k, v in s.items() if k != member}
    yield 'nothing else', {'schema': s['schema']}
    yield 'other types', {k: (v if k == 'schema' else 7) for k, v in s.items()}


with gs.scratch() as where:
    price = ('--price', '36000')
    a, b = trace(where, 'a', 10_000, 4000), trace(where, 'b', 7_000, 1000)
    c = trace(where, 'c', 7_000, 1000, steps=30)
    d = trace(where, 'd', 7_000, 1000, gpu='Some Accelerator 9000')
    sums = {run: gs.summary(run, *price) for run in (a, b, c, d)}

    # What the runs were for leads, of a server its requests; its row says the same.
    counted = [stored(where, f'{n}.json', gs.summary(run, *price, '--unit', 'tokens=2000000',
                                                     '--unit', 'requests=5000'))
               for n, run in (('served', a), ('served more', b))]
    pair = compared(*counted)['comparisons'][0]
    row = measures(pair)['usd_per_1k_requests']
    gs.equal([pair['headline'], row['base'], row['run']],
             ['usd_per_1k_requests'] + [half_even(nano(sums[run]['cost']['usd']) * 1000, 5000)
                                        for run in (a, b)], 'cost per 1,000 requests')
    said = re.match(r'B costs ([\d.]+) % less per 1,000 requests than A \(', pair['sentence'])
    gs.check(said and said[1] == f'{-row["change_ppm"] / 10000:.1f}', pair['sentence'])

    # Steps of twice as many samples: of samples then, and of nothing that is a step's.
    batched = []
    for name, run, samples in ('one batch', a, 160), ('two batches', b, 320):
        s = gs.summary(run, *price)
        s['cost']['outcomes'] = [{'unit': 'samples', 'count': samples, 'divisor': 1, 'per': 1000, 'usd': 0, 'source': 'loader'}]
        batched.append(stored(where, f'{name}.json', s))
    pair = compared(*batched)['comparisons'][0]
    gs.equal(pair['headline'], 'usd_per_1k_samples', pair['sentence'])
    gs.equal(sorted(pair['not_comparable']), ['gpu_run', 'gpu_step', 'run', 'step', 'usd_run', 'usd_step'], 'other steps')
    gs.check(pair['not_comparable']['step'].startswith('a step is of 4.') and 'samples in A and of 8.' in pair['not_comparable']['step'],
             f'{pair["not_comparable"]}')
    unknown = [q for q in pair['advice'] if q['class'] == 'input.unknown'][0]
    gs.equal(unknown['upper_1k_samples']['ns'], half_even(unknown['upper_run']['ns'] * 1000, 160), 'promised for 1,000 samples')
    gs.check(0 < unknown['realised_1k_samples']['ns'] <= unknown['upper_1k_samples']['ns'], f'{unknown}')
    gs.equal(unknown['realised_step'], {'ns': None, 'nano_usd': None}, 'and not for a step')
    text = ' '.join(gs.gpustarve('report', *batched).stdout.decode().split())
    gs.check('less per 1,000 samples than A (' in text and 'per 1,000 samples, ' in text.split('predicted saving')[1], text[:700])

    # Every number, from the summaries alone.
    one = compared(a, b, *price, '--runs-per-month', '120')
    pair = one['comparisons'][0]
    gs.equal(pair['not_comparable'], {}, 'all of it can be compared')
    expect(pair, sums[a], sums[b], 'a b')
    saving = pair['saving']
    gs.equal(saving['per_run']['nano_usd'], -measures(pair)['usd_run']['difference'], 'saving per run')
    gs.equal(saving['per_month']['nano_usd'], 120 * saving['per_run']['nano_usd'], 'and per month')
    gs.check(saving['per_run']['nano_usd'] > 0, 'b is cheaper')
    unknown = [q for q in pair['advice'] if q['class'] == 'input.unknown'][0]
    gs.check(0 < unknown['realised_run']['nano_usd'] <= unknown['upper_run']['nano_usd'], f'{unknown}')
    gs.equal(compared(a, b, *price)['comparisons'][0]['saving']['per_month'],
             {'ns': None, 'nano_usd': None}, 'no month without a rate')

    # Other steps, GPUs and prices are beside each other, and not compared.
    three = compared(a, c, d, *price)
    gs.equal([(p['base'], p['run']) for p in three['comparisons']], [('A', 'B'), ('A', 'C')], 'pairs')
    expect(three['comparisons'][0], sums[a], sums[c], 'a c')
    expect(three['comparisons'][1], sums[a], sums[d], 'a d')
    gs.equal(sorted(three['comparisons'][0]['not_comparable']), ['gpu_run', 'run', 'usd_run'], 'steps')
    gs.equal(sorted(three['comparisons'][1]['not_comparable']),
             ['gpu_run', 'gpu_step', 'share', 'waste'], 'GPUs: what a step costs on each is the question')
    unpriced = compared(b, d)['comparisons'][0]
    gs.check('usd_step' in unpriced['not_comparable'], 'no price of one')

    # A run's summary stands for the run.
    for run in a, b:
        with open(os.path.join(run, 'summary.json'), 'wb') as f:
            f.write(gs.gpustarve('report', run, '--format', 'json', *price).stdout)
    again = compared(os.path.join(a, 'summary.json'), os.path.join(b, 'summary.json'),
                     '--runs-per-month', '120')
    for run in one['runs'] + again['runs']:
        run.pop('path')
    gs.equal(again, one, 'from summary.json')
    alone = gs.gpustarve('report', os.path.join(a, 'summary.json'))
    gs.equal(alone.stdout, gs.gpustarve('report', a, *price).stdout, 'one summary.json, shown')

    # Text and page say the same.
    text = gs.gpustarve('report', a, b, c, d, *price, '--runs-per-month', '9').stdout.decode()
    narrow(text, 'text')
    gs.check('\x1b' not in text, 'no colour where there is no terminal')
    flat = ' '.join(text.split())
    gs.check(' '.join(pair['sentence'].split()) in flat, 'the sentence is in the text')
    gs.check('A took 40 steps and C 30' in flat, 'why not')
    file = os.path.join(where, 'c.html')
    gs.equal(gs.gpustarve('report', a, b, *price, '--format', 'html', '-o', file).returncode, 0, 'html')
    with open(file) as f:
        page = f.read()
    out = gs.gpustarve('report', a, b, *price, '--format', 'html').stdout.decode()
    gs.equal(out, page, 'html on stdout')
    gs.check("default-src 'none'" in page and '<script' not in page, 'nothing runs, nothing is fetched')
    rows = dict(re.findall(r'<tr data-measure="(\w+)">(.*?)</tr>', page, re.S))
    gs.equal(sorted(rows), sorted(measures(pair)), 'a row for each measure')
    for name, m in measures(pair).items():
        shown = [int(v) for v in re.findall(r'data-[a-z_]+="(-?\d+)"', rows[name])]
        gs.equal(shown, [v for v in (m['base'], m['run'], m['difference']) if v is not None], f'page: {name}')

    # Broken runs: each is named, nothing is compared, and a file that is there stays.
    none, empty = os.path.join(where, 'none.gst'), os.path.join(where, 'empty.gst')
    os.mkdir(empty)
    done = gs.gpustarve('report', a, none, b, empty, '-o', file)
    told = done.stderr.decode()
    gs.equal(done.returncode, 1, 'two broken')
    gs.check(none in told and empty in told and '2 of 4 runs' in told, told)
    gs.check(a + ':' not in told and b + ':' not in told, 'the sound ones are not blamed')
    with open(file) as f:
        gs.equal(f.read(), page, 'the file that was there stays')
    gs.equal(sorted(n for n in os.listdir(where) if 'tmp' in n), [], 'and nothing beside it')

    summary = os.path.join(a, 'summary.json')
    for options, word in [(['--price', '1'], '--price'), (['--waste', 'copy'], '--waste'),
                          (['--window', 'device'], '--window'), (['--price-model', 'spot'], '--price-model')]:
        done = gs.gpustarve('report', summary, b, *options)
        gs.check(done.returncode == 1 and word in done.stderr.decode() and not done.stdout,
                 f'{options}: {done.stderr!r}')
    for n in '-1', 'x', '1e3', '', '1000000001', ' 5':
        done = gs.gpustarve('report', a, b, '--runs-per-month', n)
        gs.check(done.returncode == 1 and b'runs-per-month' in done.stderr, f'--runs-per-month {n!r}')
    gs.equal(gs.gpustarve('report', a, '--runs-per-month', '3').returncode, 1, 'one run has no month')
    gs.equal(gs.gpustarve('report', *[a] * 27).returncode, 1, 'too many')
    gs.equal(len(compared(*[summary] * 26)['comparisons']), 25, 'A to Z')
    gs.equal(compared(a, b, '--window', 'device', *price)['runs'][0]['window'], 'device', '--window')
    waste = compared(a, b, '--waste', 'copy', *price)['comparisons'][0]
    gs.equal(measures(waste)['share_wasted']['base'],
             [r['ppm']['base'] for r in waste['classes'] if r['class'] == 'copy'][0], '--waste')

    # Hostile summaries.
    with open(summary) as f:
        sound = json.load(f)
    for name, x in hostile(sound):
        bad = stored(where, 'bad.json', x)
        other = 0 if x.get('rules') == sound['rules'] else 4  # not comparable with the sound one
        for order in (bad, summary), (summary, bad), (bad, bad):
            for form in 'json', 'text', 'html':
                done = gs.gpustarve('report', *order, '--format', form, '--runs-per-month', '1000000000')
                gs.equal(done.returncode, other if summary in order else 0, f'hostile: {name}: {done.stderr.decode()[-300:]}')
                if form == 'json':
                    errors = [f'{e.json_path}: {e.message}' for e in CHECK.iter_errors(json.loads(done.stdout))]
                    gs.equal(errors[:2], [], f'hostile: {name}: schema')
                else:
                    gs.check(b'\x1b' not in done.stdout and (form == 'text' or b'<script' not in done.stdout),
                             f'hostile: {name}')
    for name, text in ('cut', '{"schema": "gpustarve.summary/1", '), ('other', '{"schema": "x/1"}'), ('list', '{}'):
        path = os.path.join(where, 'no.json')
        with open(path, 'w') as f:
            f.write(text)
        done = gs.gpustarve('report', summary, path)
        gs.check(done.returncode == 1 and path in done.stderr.decode(), f'no summary: {name}')
gs.finish()
