#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""What became of advice: planted chains of runs that are told advice, adopt it, and are told it again. What is open, what was
promised and what was realised, against exact fractions; that nothing counts twice; the fingerprint of a real run."""
import csv
import io
import json
import os
import random
import sys
from fractions import Fraction

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleetcheck
import fleets
import golden
import gs

HOUR = 3600 * 10**9
IDS = {'workers': 'input.fetch', 'storage': 'input.fetch', 'launches': 'host.dispatch', 'syncs': 'host.sync', 'pin': 'input.h2d'}
LEAST = 100


def run(name, print_, start, steps, usd, advice, untold=(), **more):
    """@advice: {id: nano-dollars}; what is in @untold is named without what it saves."""
    gpu = {'gpu': 'NVIDIA L4', 'gpus': 1, 'held_ns': HOUR, 'busy_ns': 0, 'starved_ns': 0, 'wasted_ns': 0, 'minutes': [0] * 6}
    if usd is not None:
        gpu.update(usd=usd, starved_usd=0, wasted_usd=0, idle_usd=0, price={'model': 'on-demand', 'per_gpu_hour': usd,
                   'label': 'list', 'source': 'made up', 'date': '2026-01-01'})
    d = {'schema': 'gpustarve.digest/1', 'revision': 1, 'run': name, 'end': 'ok', 'simulated': False, 'verdict': 'busy',
         'user': 'ann', 'start_unix_ns': start, 'wall_ns': HOUR, 'gpus': [gpu], 'classes': {}, 'lines': [], 'labels': {},
         'fixes': [{'id': i, 'title': f'Title of {i}', 'brief': f'do {i}', 'class': IDS[i], 'place': 'train.py:7', 'ns': v // 7,
                    'usd': v} for i, v in advice.items() if i not in untold],
         'program': {'fingerprint': print_, 'name': 'train.py', 'steps': steps, 'advice': list(advice)}}
    return dict(d, **more)


def chain(rng, number):
    """A training's runs: what a step costs falls when advice is adopted, and rises when it comes back."""
    out, told, start = [], set(rng.sample(sorted(IDS), rng.randrange(5))), fleets.MONDAY
    for i in range(rng.randrange(1, 14)):
        start += rng.choice([0, 1, rng.randrange(fleets.DAY)])
        if rng.random() < .4:
            told ^= set(rng.sample(sorted(IDS), rng.randrange(1, 3)))
        steps = rng.choice([0, 50, LEAST, rng.randrange(LEAST, 10**6), 10**5])
        usd = None if rng.random() < .1 else rng.randrange(10**10, 10**13)
        advice = {k: rng.randrange((usd or 10**12) // rng.choice([1, 3, 20]) + 1) for k in rng.sample(sorted(told), len(told))}
        d = run(f'c{number}-{i}', f'{number:016x}', start, steps, usd, advice, rng.sample(sorted(advice), len(advice) // 4),
                tenant=rng.choice(['', 'a']) if number % 9 == 0 else '')
        if usd and rng.random() < .5:
            d['classes'] = {'excluded.startup': [1, rng.randrange(usd + 1)], 'compute': [5, 5]}
        if not d['tenant']:
            del d['tenant']
        out.append(d)
    return out


def counts(d):
    return d['program']['steps'] > 0 and 'price' in d['gpus'][0]


def cost(d):
    return d['gpus'][0]['usd'] - d['classes'].get('excluded.startup', [0, 0])[1]


def promise(d, ids):
    """Of each class the largest alone, and no more than the run cost."""
    by_class = {}
    for f in d['fixes']:
        if f['id'] in ids:
            by_class[f['class']] = max(by_class.get(f['class'], 0), f['usd'])
    return min(sum(by_class.values()), cost(d))


def advice(d):
    return frozenset(d['program']['advice'])


def stretches(runs):
    out = []
    for d in runs:
        if not out or advice(out[-1][-1]) != advice(d):
            out.append([])
        out[-1].append(d)
    return out


def step_cost(runs):
    known = [d for d in runs if counts(d)]
    return Fraction(sum(cost(d) for d in known), sum(d['program']['steps'] for d in known)) if known else None


def even(x):
    return fleets.even(x.numerator, x.denominator)


def gone_until(parts, k):
    """What stretch @k is not told any more, and the first later one that is told any of it again."""
    gone = advice(parts[k - 1][0]) - advice(parts[k][0])
    return gone, next((j for j in range(k, len(parts)) if advice(parts[j][0]) & gone), len(parts))


def paid(parts, sums, spans, k):
    """What the runs cost that followed @k's adoption: those that another one follows, too, what they did before that."""
    usd, others = 0, {}
    for j in range(k, spans[k][1]):
        later = [m for m in spans if k < m <= j < spans[m][1] and step_cost(parts[m - 1]) is not None]
        if later:
            others[min(later)] = others.get(min(later), 0) + sums[j][1]
        else:
            usd += sums[j][2]
    return usd + sum(even(step_cost(parts[m - 1]) * steps) for m, steps in others.items())


def expected(found, since):
    """Open and adopted, each with all that is told of it."""
    groups, open_, adopted = {}, {}, {}
    for d in found:
        if d['program']['steps'] == 0 or d['program']['steps'] >= LEAST:
            groups.setdefault((d.get('tenant'), d['program']['fingerprint']), []).append(d)
    for key, runs in groups.items():
        runs.sort(key=lambda d: (d['start_unix_ns'], d['run']))
        for i in advice(runs[-1]):
            n = next((k for k, d in enumerate(reversed(runs)) if i not in advice(d)), len(runs))
            told = runs[len(runs) - n:]
            within = [d for d in told if d['start_unix_ns'] >= since]
            fixes = [f for d in within for f in d['fixes'] if f['id'] == i]
            if within:
                open_[key + (i,)] = (told[0]['start_unix_ns'], within[-1]['run'], len(within), sum(f['ns'] for f in fixes),
                                     sum(f['usd'] for f in fixes))
        parts = stretches(runs)
        sums = [(len(w), sum(d['program']['steps'] for d in w), sum(map(cost, w)))
                for w in ([d for d in p if counts(d) and d['start_unix_ns'] >= since] for p in parts)]
        spans = {k: gone_until(parts, k) for k in range(1, len(parts))}
        spans = {k: v for k, v in spans.items() if v[0] and sum(n for n, _, _ in sums[k:v[1]])}
        for k, (gone, again) in spans.items():
            before, after = parts[k - 1], parts[k]
            steps, a = sum(n for _, n, _ in sums[k:again]), step_cost(before)
            money = None
            if a is not None:
                known = [d for d in before if counts(d)]
                promised = Fraction(sum(promise(d, gone) for d in known), sum(d['program']['steps'] for d in known)) * steps
                money = (even(promised), even(a * steps) - paid(parts, sums, spans, k))
            until = parts[again][0]['start_unix_ns'] if again < len(parts) else None
            place = key + (gone, after[0]['start_unix_ns'], after[0]['run'])
            adopted.setdefault(place[:4], []).append((until, sum(n for n, _, _ in sums[k:again]), steps, money))
    return open_, {k: sorted(v, key=str) for k, v in adopted.items()}


def put(where, found, name):
    store = f'sqlite:{where}/{name}.sqlite'
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found))
    gs.equal(done.returncode, 0, f'digests: {done.stderr.decode()[-300:]}')
    return store


def ask(store, *more):
    done = gs.gpustarve('fleet', '--store', store, *more)
    gs.equal(done.returncode, 0, f'{more}: {done.stderr.decode()[-400:]}')
    return done.stdout.decode()


def nano(v):
    return v if v is None else int(Fraction(v) * 10**9)


def asked(store, *more):
    return json.loads(ask(store, '--by', 'savings', '--top', '100000', '--format', 'json', *more), parse_float=str)['savings']


def check(store, found, since, *more):
    got, (open_, adopted) = asked(store, *more), expected(found, since)
    gs.equal({(o['tenant'], o['fingerprint'], o['id']): (o['since_unix_ns'], o['last_run'], o['runs'], o['ns'], nano(o['usd']))
              for o in got['open']}, open_, f'{more}: open')
    gs.equal(len(got['open']), len(open_), f'{more}: none twice')
    gs.equal([nano(o['usd']) for o in got['open']], sorted((o[4] for o in open_.values()), reverse=True), 'the dearest first')
    said = {}
    for a in got['adopted']:
        money = None if a['promised_usd'] is None else (nano(a['promised_usd']), nano(a['realised_usd']))
        said.setdefault((a['tenant'], a['fingerprint'], frozenset(a['fixes'].split(', ')), a['since_unix_ns']), []).append(
            (a['until_unix_ns'], a['runs'], a['steps'], money))
    gs.equal({k: sorted(v, key=str) for k, v in said.items()}, adopted, f'{more}: adopted')
    known = [m for v in adopted.values() for *_, m in v if m]
    gs.equal((nano(got['promised_usd']), nano(got['realised_usd'])), (sum(m[0] for m in known), sum(m[1] for m in known)),
             f'{more}: sums')
    return len(known)


def check_once(where):
    """Three pieces adopted one after the other: what is realised sums to what the runs cost less, exactly."""
    told, found, price = ['workers', 'launches', 'syncs'], [], [10**9, 7 * 10**8, 65 * 10**7, 3 * 10**8]
    for k in range(4):
        for i in range(3):
            steps = 1000 + 333 * i
            found.append(run(f'o{k}-{i}', '00000000000000ff', fleets.MONDAY + (k * 3 + i) * HOUR, steps, steps * price[k],
                             {t: steps * 10**8 for t in told[k:]}))
    got = asked(put(where, found, 'once'))
    less = sum((price[0] - price[k]) * d['program']['steps'] for k in range(4) for d in found[3 * k:3 * k + 3])
    gs.equal(nano(got['realised_usd']), less, 'realised: what the runs cost less than they would have')
    gs.equal([a['fixes'] for a in sorted(got['adopted'], key=lambda a: a['since_unix_ns'])], told, 'one after the other')


def check_other(where):
    """What is told of something else leaves no run out; nor does what is adopted of it, and is told again."""
    def chain_of(name, rows):
        found = [run(f'{name}{i}', '00000000000000ee', fleets.MONDAY + i * HOUR, steps, usd * 10**9, {t: usd * 10**8 for t in told})
                 for i, (steps, usd, told) in enumerate(rows)]
        return {a['fixes']: nano(a['realised_usd']) for a in asked(put(where, found, name))['adopted']}

    begin = [(10000, 100, ['workers'])] * 2 + [(10000, 75, [])] * 2
    gs.equal(chain_of('new', begin + [(10000, 130, ['syncs'])]), {'workers': 20 * 10**9}, 'a dear run, told of another')
    gs.equal(chain_of('none', begin + [(10000, 130, [])]), {'workers': 20 * 10**9}, 'a dear run, told nothing')
    gs.equal(chain_of('two', begin + [(10000, 80, ['syncs']), (10000, 70, []), (10000, 78, ['syncs'])]),
             {'workers': 112 * 10**9, 'syncs': 10 * 10**9}, 'adopted after it, and told again')
    gs.equal(chain_of('steps', [(5000, 40, ['workers']), (4000, 40, ['workers']), (4000, 30, []), (5000, 45, ['syncs'])]),
             {'workers': 5 * 10**9}, 'as many steps as they have')


def check_forms(where):
    """The example of the manual."""
    a = [run(f'a{i}', '0123456789abcdef', fleets.MONDAY + i * fleets.DAY, 10000, 100 * 10**9, {'workers': 30 * 10**9})
         for i in range(2)]
    b = [run(f'b{i}', '0123456789abcdef', fleets.MONDAY + (5 + i) * fleets.DAY, 10000, 75 * 10**9, {}) for i in range(3)]
    c = [run('c', '0123456789abcdee', fleets.MONDAY, 10000, 50 * 10**9, {'syncs': 9 * 10**9}, user='ben')]
    old = fleets.digests(4)
    short = [run('s', '0123456789abcdef', fleets.MONDAY + 20 * fleets.DAY, LEAST - 1, 10**9, {'pin': 10**8})]
    store = put(where, a + b + c + short + old, 'forms')
    document = json.loads(ask(store, '--plan', '--format', 'json'))
    fleetcheck.fits(document)
    sums = '1 adopted: $90.00 promised at most, $75.00 realised; ' \
           '1 run had fewer than 100 steps: too short to tell; 4 runs tell nothing of what they are runs of'
    row = 'workers, train.py of ann; 3 runs from 2026-01-10'
    fix = 'do syncs: train.py:7, train.py of ben; in 1 run since 2026-01-05'
    same = 'runs are of one program if user, team, project, GPUs, ranks, data set and batch size are the same, and the command but'
    for by in ['--by', 'savings'], ['--plan']:
        for form in 'text', 'html':
            out = ' '.join(ask(store, *by, '--format', form).split())
            for s in [sums, fix] + ([row, same] if len(by) > 1 else []):
                gs.check(s.lower() in out.lower(), f'{by} {form}: {s}: {out[-1500:]}')
    rows = list(csv.DictReader(io.StringIO(ask(store, '--by', 'savings', '--format', 'csv'))))
    gs.equal([(r['state'], r['fixes'], r['user'], r['promised_usd'], r['realised_usd']) for r in rows],
             [('open', 'syncs', 'ben', '9', ''), ('adopted', 'workers', 'ann', '90', '75')], 'CSV')
    many = [run(f'm{i}', f'{i:016x}', fleets.MONDAY, 1000, 10**12, {'pin': 10**9 * (i + 1)}) for i in range(30)]
    store = put(where, many, 'many')
    gs.equal([nano(o['usd']) for o in json.loads(ask(store, '--plan', '--format', 'json'), parse_float=str)['savings']['open']],
             [10**9 * i for i in range(30, 20, -1)], 'the ten dearest')
    gs.check('no run tells what it is a run of' in ask(put(where, old, 'old'), '--plan'), 'digests of before')


def check_real(where):
    """The digest of a run tells what its summary has; numbers and paths of a command change nothing."""
    path = golden.made_up(where)
    done = gs.gpustarve('report', path, '--format', 'json', '--price', '2')
    summary = json.loads(done.stdout)
    d = json.loads(gs.gpustarve('digest', path, '--price', '2').stdout)
    gs.equal(d['program']['advice'], [a['id'] for a in summary['advice']], 'all advice')
    gs.equal(d['program']['steps'], summary['steps']['count'], 'steps')
    base, prints = ['python', '/home/a/train.py', '--model', 'gpt2', '--lr=0.1', '--seed', '3', 'data/a'], {}
    for name, command, labels in (
            ('same', ['python3', '/tmp/train.py', '--model', 'gpt2', '--lr=0.2', '--seed', '9', 'data/b'], {}), ('base', base, {}),
            ('model', base[:3] + ['bert'] + base[4:], {}), ('script', ['python', 'test.py'] + base[2:], {}),
            ('label', ['other'], {'fingerprint': 'x'}), ('label2', base, {'fingerprint': 'x'}), ('data', base, {'dataset': 'y'})):
        s = dict(summary, run=dict(summary['run'], command=command, labels=labels))
        file = os.path.join(where, name + '.json')
        with open(file, 'w', encoding='utf-8') as f:
            json.dump(s, f)
        done = gs.gpustarve('digest', file)
        gs.equal(done.returncode, 0, f'{name}: {done.stderr.decode()[-300:]}')
        prints[name] = json.loads(done.stdout)['program']['fingerprint']
    gs.equal(prints['same'], prints['base'], 'numbers and paths')
    gs.equal(prints['label'], prints['label2'], 'a label')
    gs.equal(len(set(prints.values())), 5, f'all else tells trainings apart: {prints}')


def check_broken(where):
    good = run('g', '0' * 16, 5, 1000, 10**9, {})
    for i, (program, fine) in enumerate([
            ({}, False), ({'fingerprint': 'g' * 16, 'steps': 1, 'advice': []}, False), ([], False),
            ({'fingerprint': '0' * 16, 'steps': -1, 'advice': []}, False), ({'fingerprint': '0' * 16, 'steps': 1}, False),
            ({'fingerprint': '0' * 16, 'steps': 1, 'advice': [1]}, False),
            ({'fingerprint': '0' * 16, 'steps': 1, 'advice': ['a'] * 40}, True),
            ({'fingerprint': '0' * 16, 'steps': 1, 'advice': [f'a{k}' for k in range(40)]}, False),
            ({'fingerprint': '0' * 16, 'steps': 2**63 - 1, 'advice': ['a', 'a'], 'later': 1}, True)]):
        done = gs.gpustarve('digest', '--from', '-', '--store', f'sqlite:{where}/broken.sqlite',
                            input=json.dumps(dict(good, run=f'r{i}', program=program)).encode() + b'\n')
        gs.equal(done.returncode, 0 if fine else 1, f'{program}: {done.stderr.decode()[-200:]}')
    most = 2**63 - 1
    large = [run(f'l{i}', '0' * 16, 9 + i, most, most // 3, {'pin': most // 4} if i % 2 else {}) for i in range(6)]
    for form in 'text', 'json', 'csv', 'html':
        ask(put(where, large, 'large'), '--by', 'savings', '--format', form)


with gs.scratch() as where:
    rng = random.Random(23)
    found = [d for n in range(1000) for d in chain(rng, n)]
    rng.shuffle(found)
    store = put(where, found, 'chains')
    known = check(store, found, 0)
    check(store, found, fleets.MONDAY + 2 * fleets.DAY, '--since', '2026-01-07')
    print(f'{known} adoptions with promised and realised dollars')
    gs.check(known > 500, 'many')
    check_once(where)
    check_other(where)
    check_forms(where)
    check_real(where)
    check_broken(where)
gs.finish()
