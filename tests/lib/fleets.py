# SPDX-License-Identifier: Apache-2.0
"""Made-up digests with known sums: a seeded generator, and what every grouping of them must come to,
added up here in Python's integers and nowhere else."""
import collections
import datetime
import json
import os
import random
import re
import time

import gs

CENT = 10**7
NS = 10**9
HOUR = 3600 * NS
DAY = 24 * HOUR
MONDAY = 1767571200 * 10**9  # 2026-01-05
TEAMS = ['vision', 'speech', 'robots', 'search', '']
GPUS = [('NVIDIA H100 80GB HBM3', 6880000000), ('NVIDIA A100-SXM4-80GB', 3430000000),
        ('NVIDIA L4', 700000000), ('Prototype 9', 0)]
MODELS = [('on-demand', 100), ('spot', 35), ('reserved', 61)]
CLASSES = ['compute', 'comm', 'copy', 'input.fetch', 'input.prep', 'host.dispatch', 'host.sync', 'excluded.startup']
INERT = "x'); DROP TABLE run; --\\' \" <b>&$(id)`"


def names():
    """Whose a run is: the names of facts/fleet_names.def, in its order."""
    with open(os.path.join(gs.SOURCE, 'facts', 'fleet_names.def'), encoding='utf-8') as f:
        return re.findall(r'^NAME(?:_ADDED)?\(\w+, (\w+), \w+, "[^"]+", .+\)$', f.read(), re.M)


def added():
    """Columns of the stores that came after their first version."""
    with open(os.path.join(gs.SOURCE, 'facts', 'fleet_names.def'), encoding='utf-8') as f:
        return re.findall(r'^NAME_ADDED\(\w+, \w+, (\w+), "', f.read(), re.M)


def even(num, den):
    """num / den to the nearest integer, half to even."""
    q, rest = divmod(num, den)
    return q + (2 * rest > den or (2 * rest == den and q % 2))


def iso(ns):
    return datetime.datetime.fromtimestamp(ns // NS, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S')


def away_from_midnight(seconds=60):
    """Unix time of now in nanoseconds, at least so long after a day began and before it ends, so a week and a month too: what a
    test says of this month would change under it."""
    begun = time.time() % 86400
    if begun < seconds or begun > 86400 - seconds:
        time.sleep((seconds - begun) % 86400)
    return time.time_ns()


def part(whole, start, wall, since, until):
    """What lies in a stretch: cut at its ends, so that what adjoins sums to the whole."""
    def before(t):
        return 0 if t <= start else whole if t >= start + wall else whole * (t - start) // wall
    return before(until) - before(since)


def week(ns):
    days = ns // DAY
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=days - (days + 3) % 7)).isoformat()


def gpu_line(rng, kind, model):
    name, per_hour = GPUS[kind]
    held = rng.randrange(1, 48 * HOUR)
    busy = rng.randrange(held + 1)
    starved = rng.randrange(held - busy + 1)
    line = {'gpu': name, 'gpus': rng.choice([1, 2, 4, 8]), 'held_ns': held, 'busy_ns': busy,
            'starved_ns': starved, 'wasted_ns': rng.randrange(starved, held - busy + 1),
            'minutes': [rng.randrange(500) for _ in range(6)]}
    if per_hour:
        word, share = MODELS[model]
        price = per_hour * share // 100
        line.update(usd=even(price * held, HOUR), starved_usd=even(price * line['starved_ns'], HOUR),
                    wasted_usd=even(price * line['wasted_ns'], HOUR), idle_usd=line['minutes'][0] * 10**8,
                    price={'model': word, 'per_gpu_hour': price, 'label': 'list', 'source': 'made up',
                           'date': '2026-01-01'})
    return line


def digest(rng, number, revision=1):
    kinds = rng.sample(range(4), rng.choice([1, 1, 1, 2]))
    if len(kinds) > 1:
        kinds = [k for k in kinds if GPUS[k][1]] or kinds[:1]
    lines = [gpu_line(rng, k, rng.randrange(3)) for k in kinds]
    d = {'schema': 'gpustarve.digest/1', 'revision': revision, 'run': f'run-{number}',
         'team': rng.choice(TEAMS), 'user': f'user{rng.randrange(40)}', 'account': f'acct{rng.randrange(5)}',
         'project': rng.choice(['', 'alpha', 'beta', INERT]), 'partition': rng.choice(['gpu', 'big']),
         'qos': 'normal', 'cluster': 'c1', 'job': str(number),
         'end': rng.choice(['ok'] * 6 + ['failed', 'lost', 'killed', 'unknown']), 'simulated': number % 50 == 0, 'verdict': 'busy',
         'start_unix_ns': MONDAY + rng.randrange(40 * 7 * DAY), 'wall_ns': lines[0]['held_ns'],
         'gpus': lines, 'classes': {}, 'lines': [], 'fixes': [],
         'labels': {'experiment': rng.choice(['a', 'b', INERT]), **({'ticket': '7'} if rng.random() < .7 else {})}}
    d['kind'] = rng.choice(['training', 'inference', 'interactive', 'unknown'])
    d['provider'], d['instance'] = rng.choice([('aws', 'p5.48xlarge'), ('azure', ''), ('', ''), ('several', INERT)])
    for name in ('team', 'project', 'provider', 'instance'):
        if not d[name]:
            del d[name]
    if d['end'] == 'failed':
        d['exit_status'] = 137
    if number % 3 == 0:
        d['units'] = [['samples', 1000 + number, 1], ['epochs', 3, 2]]
    if number % 4 == 1:
        d['saves'] = {'checkpoints': number, 'kills': number % 3, 'durable': [number * HOUR, number * CENT],
                      'lost': [HOUR + number, CENT + number], 'redone': [number, 1]}
    for c in rng.sample(CLASSES, 4):
        d['classes'][c] = [rng.randrange(10**13), rng.randrange(10**10)]
    for _ in range(rng.randrange(4)):
        d['lines'].append({'class': rng.choice(CLASSES), 'place': f'train.py:{rng.randrange(30)}',
                           'ns': rng.randrange(10**13), 'usd': rng.randrange(10**10)})
    for _ in range(rng.randrange(3)):
        d['fixes'].append({'id': 'workers', 'title': 'More loader workers', 'brief': f'{rng.randrange(9)} workers',
                           'class': 'input.fetch', 'place': f'data.py:{rng.randrange(9)}',
                           'ns': rng.randrange(10**13), 'usd': rng.randrange(10**10)})
    return d


def digests(count, seed=1, revision=1):
    rng = random.Random(seed)
    return [digest(rng, i, revision) for i in range(count)]


ADVICE = {'workers': 'input.fetch', 'storage': 'input.fetch', 'launches': 'host.dispatch', 'syncs': 'host.sync'}


def trainings(found, count=200):
    """The same digests as runs of @count trainings: with steps, and advice that is told, adopted and told again."""
    out = []
    for n, d in enumerate(sorted(found, key=lambda d: d['start_unix_ns'])):
        usd = sum(l.get('usd', 0) for l in d['gpus'])
        told = [a for i, a in enumerate(ADVICE) if (n // count + n % count) // (3 + i) % 2]
        fixes = [{'id': a, 'title': f'Title of {a}', 'brief': f'do {a}', 'class': ADVICE[a], 'place': f'train.py:{n % 9}',
                  'ns': d['wall_ns'] // (3 + i), 'usd': usd // (3 + i)} for i, a in enumerate(told)]
        out.append(dict(d, fixes=fixes, program={'fingerprint': f'{n % count:016x}', 'name': f'train{n % 7}.py',
                                                 'steps': 100 + n * 7919 % 10000, 'advice': told}))
    return out


def text(found):
    return ''.join(json.dumps(d) + '\n' for d in found).encode()


SUMS = ('runs', 'held_ns', 'busy_ns', 'starved_ns', 'wasted_ns', 'unpriced_ns', 'usd', 'starved_usd',
        'wasted_usd', 'idle_usd', 'failed_runs', 'failed_ns', 'failed_usd', 'spot_ns', 'spot_usd',
        'simulated_runs')


def facts(d):
    """The sums of each line of a digest; the run counts with the first."""
    for i, l in enumerate(d['gpus']):
        out = {k: l.get(k, 0) for k in SUMS}
        out['runs'] = int(i == 0 and 'rest_of_job_ns' not in d)
        out['simulated_runs'] = int(out['runs'] and d['simulated'])
        out['unpriced_ns'] = 0 if 'price' in l else l['held_ns']
        if d['end'] not in ('ok', 'unknown'):
            out.update(failed_runs=out['runs'], failed_ns=out['held_ns'], failed_usd=out['usd'])
        if l.get('price', {}).get('model') == 'spot':
            out.update(spot_ns=out['held_ns'], spot_usd=out['usd'])
        out['minutes'] = l['minutes']
        yield l, out


def line_part(whole, d, spans, since, until):
    """Of the rest of a job evenly over the time of its spans, each with as much as it held."""
    if not spans:
        return part(whole, d['start_unix_ns'], d['wall_ns'], since, until) if d['wall_ns'] else whole
    held = sum(s[4] for s in spans)

    def before(t):
        return whole * sum(part(s[4], d['start_unix_ns'] + s[1], s[2], -1 << 80, t) for s in spans) // held
    return before(until) - before(since)


def within(found, since, until):
    """The digests with what of their GPUs lies in the stretch, as if that were spread evenly over each run."""
    out = []
    for d in found:
        start, wall = d['start_unix_ns'], d['wall_ns']
        if not (start < until and (start >= since or start + wall > since)):
            continue
        lines = []
        for i, l in enumerate(d['gpus']):
            l = dict(l)
            spans = [s for s in d.get('rest_spans', ()) if s[0] == i]
            for k, v in l.items():
                if k == 'minutes':
                    l[k] = [line_part(m, d, spans, since, until) for m in v]
                elif k != 'gpus' and k in SUMS:
                    l[k] = line_part(v, d, spans, since, until)
            lines.append(l)
        out.append(dict(d, gpus=lines))
    return out


def add(into, more):
    for k, v in more.items():
        into[k] = [a + b for a, b in zip(into[k], v)] if k == 'minutes' else into[k] + v


def nothing():
    return dict({k: 0 for k in SUMS}, minutes=[0] * 6)


MISSING = {'kind': 'unknown'}
NAMES = {'gpu': lambda d, l: l['gpu'], 'model': lambda d, l: l.get('price', {}).get('model', ''),
         'week': lambda d, l: week(d['start_unix_ns'])}


def grouped(found, *names):
    """By the values of these names ('label:K' a label): name or tuple of names to sums."""
    out = collections.defaultdict(nothing)
    for d in found:
        for l, sums in facts(d):
            key = tuple(d['labels'].get(n[6:], '') if n.startswith('label:') else
                        NAMES[n](d, l) if n in NAMES else d.get(n, MISSING.get(n, '')) for n in names)
            add(out[key if len(names) > 1 else key[0]], sums)
    return dict(out)


def pairs(found, member, *keys):
    out = collections.defaultdict(lambda: [0, 0, 0])
    for d in found:
        rows = [dict(zip(('class', 'ns', 'usd'), (c, *v))) for c, v in d['classes'].items()] \
            if member == 'classes' else d[member]
        for r in rows:
            o = out[tuple(r[k] for k in keys)]
            o[0] += 1
            o[1] += r['ns']
            o[2] += r['usd']
    return dict(out)
