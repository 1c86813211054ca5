#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""`fleet --plan` on 1,000 made-up fleets: how many GPUs were held at once, to the nanosecond, and the count to reserve or to
own that is cheapest, against brute force over all counts in exact fractions; where a digest does not say when in a run GPUs
were held, that, and a count that what really was at once never exceeds; CSV, text, page; hostile digests."""
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
import gs

HOUR = 3600 * 10**9
STORES, PROVIDERS, FLEETS = 25, 60, 1000
GPU, OTHER = 'NVIDIA H100 80GB HBM3', 'NVIDIA L4'
YEAR_HOURS = 8760


def line(gpu, gpus, held):
    return {'gpu': gpu, 'gpus': gpus, 'held_ns': held, 'busy_ns': 0, 'starved_ns': 0, 'wasted_ns': 0, 'minutes': [0] * 6}


def run(name, provider, start, wall, gpus):
    d = {'schema': 'gpustarve.digest/1', 'revision': 1, 'run': name, 'end': 'ok', 'simulated': False, 'verdict': 'busy',
         'start_unix_ns': start, 'wall_ns': wall, 'gpus': gpus, 'classes': {}, 'lines': [], 'fixes': [], 'labels': {}}
    return dict(d, provider=provider) if provider else d


def made(rng, provider, units):
    """A fleet of one provider: some runs at moments that coincide, GPUs held for less or more than the run took."""
    out, unit = [], rng.choice(units)
    for i in range(rng.randrange(1, 12)):
        wall, gpus = rng.randrange(10) * unit, rng.choice([0, 1, 2, 3, 8])
        held = rng.choice([gpus * wall, gpus * wall, rng.randrange(gpus * wall + 1), 2 * gpus * wall + 3, wall // 2])
        lines = [line(GPU, gpus, held)]
        if i % 4 == 3:
            lines.append(line(OTHER, 1, wall))
        out.append(run(f'{provider}-{i}', provider, fleets.MONDAY + rng.randrange(30) * unit, wall, lines))
    return out


def spans(d, l):
    """(from, to, GPUs): all from the start, equally long; one nanosecond longer where that leaves a rest."""
    n = max(l['gpus'], 1)
    if d['wall_ns']:
        n = max(n, -(-l['held_ns'] // d['wall_ns']))
    each, rest = divmod(l['held_ns'], n)
    start = d['start_unix_ns']
    return [(start, start + each, n), (start + each, start + each + 1, rest)]


def always(d, l):
    """The same GPUs for all of the run."""
    (start, _, n), _ = spans(d, l)
    return [(start, start + max(d['wall_ns'], -(-l['held_ns'] // n)), n if l['held_ns'] else 0)]


def is_unsure(d, l):
    n = spans(d, l)[0][2]
    return 0 < l['held_ns'] and l['held_ns'] * 100 < n * d['wall_ns'] * 99


def drawn(rng):
    """As always(), but what may have been: each GPU for some part of the run, together as long as the digest says."""
    def of(d, l):
        n, left, out = spans(d, l)[0][2], l['held_ns'], []
        if not d['wall_ns']:
            return spans(d, l)
        for i in range(n):
            least = max(0, left - (n - 1 - i) * d['wall_ns'])
            ns = rng.choice([least, min(left, d['wall_ns']), rng.randint(least, min(left, d['wall_ns']))])
            at = d['start_unix_ns'] + rng.choice([0, d['wall_ns'] - ns, rng.randint(0, d['wall_ns'] - ns)])
            out.append((at, at + ns, 1))
            left -= ns
        return out
    return of


def levels(runs, gpu, since, until, held=spans):
    """{GPUs at once: ns}, from 1 on, by looking at each stretch between two moments at which anything changes."""
    cut = [(max(a, since), min(b, until), n) for d in runs for l in d['gpus'] if l['gpu'] == gpu for a, b, n in held(d, l)]
    cut = [(a, b, n) for a, b, n in cut if a < b and n]
    moments, out = sorted({t for a, b, _ in cut for t in (a, b)}), {}
    for a, b in zip(moments, moments[1:]):
        n = sum(k for x, y, k in cut if x <= a and b <= y)
        if n:
            out[n] = out.get(n, 0) + b - a
    return out


def cost(held, stretch, n, price, rate):
    """Nano-dollars: @n at @rate for all of the stretch, what is above on demand."""
    return Fraction(n * stretch, HOUR) * rate + sum(Fraction(max(k - n, 0) * ns, HOUR) * price for k, ns in held.items())


def brute(held, stretch, price, rate):
    """The first count of the cheapest."""
    return min(range(max(held, default=0) + 3), key=lambda n: (cost(held, stretch, n, price, rate), n))


def nano(text):
    return int(Fraction(text) * 10**9)


def even(x):
    return fleets.even(x.numerator, x.denominator)


def choice(held, stretch, n, price, rate):
    unused = n * stretch - sum(min(k, n) * ns for k, ns in held.items())
    return {'gpus': n, 'usd': even(cost(held, stretch, n, price, rate)), 'unused_ns': unused,
            'unused_usd': even(Fraction(unused, HOUR) * rate)}


def said(c):
    return c and {k: nano(v) if k.endswith('usd') else v for k, v in c.items()}


def put(where, digests, name='f'):
    store = f'sqlite:{where}/{name}.sqlite'
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(digests))
    gs.equal(done.returncode, 0, f'digests: {done.stderr.decode()[-300:]}')
    return store


def ask(store, *more, status=0, **env):
    done = gs.gpustarve('fleet', '--store', store, '--plan', *more, env=gs.environment(**env))
    gs.equal(done.returncode, status, f'{more}: {done.stderr.decode()[-400:]}')
    return done.stdout.decode()


class Site:
    """A price list: on demand and reserved, of each provider; some have one of them alone."""
    def __init__(self, rng, where, number):
        self.path, self.price = os.path.join(where, f'prices-{number}.csv'), {}
        rows = ['gpu,provider,usd_per_gpu_hour,price_model,source,date']
        for p in range(PROVIDERS):
            on, part = rng.randrange(1, 10**10), rng.choice([rng.random(), rng.random(), 1, 0.5])
            two = [on, max(1, int(on * part))]
            for model, nano_usd in zip(('on-demand', 'reserved'), two):
                if rng.random() < .95:
                    rows.append(f'{GPU},p{p},{nano_usd // 10**9}.{nano_usd % 10**9:09},{model},list {p},2026-01-02')
                    self.price[p, model] = nano_usd
        with open(self.path, 'w', encoding='utf-8') as f:
            f.write('\n'.join(rows) + '\n')


def check_fleet(t, held, stretch, site, p, own, reserved):
    what = f'provider {p}'
    on, less = site.price.get((p, 'on-demand')), site.price.get((p, 'reserved'))
    gs.equal(dict(t['levels']), held, f'{what}: levels')
    gs.equal((t['held_ns'], t['most']), (sum(k * v for k, v in held.items()), max(held)), f'{what}: held')
    gs.equal([x and nano(x['usd_per_gpu_hour']) for x in (t['on_demand_price'], t['reserved_price'])], [on, less],
             f'{what}: prices')
    gs.equal(t['on_demand_usd'] is not None and nano(t['on_demand_usd']),
             on is not None and even(cost(held, stretch, 0, on, 0)), f'{what}: on demand')
    of_own = Fraction(own[0], own[1] * YEAR_HOURS) + own[2]
    for key, rate, n in (('reserved', less, None), ('own', of_own, None), ('given', less, reserved)):
        want = None
        if on is not None and rate is not None:
            want = choice(held, stretch, brute(held, stretch, on, rate) if n is None else n, on, rate)
        gs.equal(said(t[key]), want, f'{what}: {key}')
    return on is not None and less is not None


def check_unsure(rng, t, runs, gpu, since, until):
    lines = [(d, l) for d in runs for l in d['gpus'] if l['gpu'] == gpu and is_unsure(d, l) and
             max(since, d['start_unix_ns']) < min(until, d['start_unix_ns'] + d['wall_ns'])]
    ns = sum(max(0, min(b, until) - max(a, since)) * n for d, l in lines for a, b, n in spans(d, l))
    gs.equal((t['unsure_runs'], t['unsure_ns'], t['most_bound']),
             (len(lines), ns, max(levels(runs, gpu, since, until, always))), f'{gpu}: unsure')
    gs.check(t['most'] <= t['most_bound'], f'{gpu}: most')
    for _ in range(3):
        truth = levels(runs, gpu, since, until, drawn(rng))
        gs.check(max(truth, default=0) <= t['most_bound'], f'{gpu}: {max(truth, default=0)} of at most {t["most_bound"]} at once')


def check_store(rng, where, number):
    found = {p: made(rng, f'p{p}', [1, 7, HOUR] if number % 3 else [HOUR]) for p in range(PROVIDERS)}
    site, store = Site(rng, where, number), put(where, [d for f in found.values() for d in f], f's{number}')
    own, reserved = (rng.randrange(10**14), rng.randrange(1, 9), rng.randrange(10**9)), rng.randrange(20)
    since, until = (0, 2**62) if number % 3 else (fleets.MONDAY + 5 * HOUR, fleets.MONDAY + 20 * HOUR)
    asked = ['--since', '2026-01-05T05:00:00Z', '--until', '2026-01-05T20:00:00Z'] if not number % 3 else []
    text = f'{own[0] // 10**9}.{own[0] % 10**9:09},{own[1]},0.{own[2]:09}'
    got = json.loads(ask(store, '--format', 'json', '--own', f'H100={text}', '--reserved', f'h100={reserved}', *asked,
                         GPUSTARVE_PRICES=site.path), parse_float=str)['plan']
    every = [(max(a, since), min(b, until)) for f in found.values() for d in f for l in d['gpus']
             for a, b, n in spans(d, l) if n and max(a, since) < min(b, until)]
    if not number % 3:
        every = [(since, until)]
    stretch = max(b for _, b in every) - min(a for a, _ in every)
    gs.equal(got['until_unix_ns'] - got['since_unix_ns'], stretch, f'store {number}: stretch')
    types, judged = {(t['gpu'], t['provider']): t for t in got['types']}, 0
    for p, runs in found.items():
        for gpu in GPU, OTHER:
            held, t = levels(runs, gpu, since, until), types.pop((gpu, f'p{p}'), None)
            if not held:
                gs.equal(t, None, f'provider {p}: nothing was held')
                continue
            check_unsure(rng, t, runs, gpu, since, until)
            if gpu == GPU:
                judged += check_fleet(t, held, stretch, site, p, own, reserved)
            else:
                gs.equal((dict(t['levels']), t['on_demand_price'], t['reserved'], t['own']), (held, None, None, None),
                         f'provider {p}: {OTHER}')
    gs.equal(types, {}, f'store {number}: no other types')
    return judged


def check_forms(where):
    """The example of the manual, in every form."""
    day = 24 * HOUR
    runs = [run('a', '', fleets.MONDAY, 10 * day, [line(GPU, 4, 40 * day)]),
            run('b', '', fleets.MONDAY, 4 * day, [line(GPU, 8, 32 * day)])]
    store, prices = put(where, runs, 'example'), os.path.join(where, 'example.csv')
    with open(prices, 'w', encoding='utf-8') as f:
        f.write('gpu,usd_per_gpu_hour,price_model,source,date\n'
                f'{GPU},6.00,on-demand,list,2026-01-02\n{GPU},3.00,reserved,"contract, 7",2026-01-03\n')
    options = ['--own', 'H100=35040,2,1', '--reserved', 'H100=12']
    for env in prices, os.path.join(where, 'none.csv'):
        document = json.loads(ask(store, '--format', 'json', *options, GPUSTARVE_PRICES=env))
        fleetcheck.fits(document)
    sentences = ['1,728.0 GPU-hours in 2 runs; at most 12 at once, 7.20 on average',
                 'all on demand: $10,368.00 at $6.00 an hour (any provider, list, 2026-01-02)',
                 '4 reserved at $3.00 an hour (any provider, contract, 7, 2026-01-03) would have been cheapest: $7,488.00, '
                 '$2,880.00 less; all of it was held',
                 'the 12 that are reserved: $8,640.00, $1,152.00 more than the cheapest; 1,152.0 GPU-hours of it ($3,456.00) '
                 'nobody held',
                 '4 owned at $3.00 an hour ($35,040.00 over 2 years of 8,760 hours, and $1.00 an hour, --own) would']
    for form in 'text', 'html':
        out = ' '.join(ask(store, *options, '--format', form, GPUSTARVE_PRICES=prices).split())
        for s in sentences:
            gs.check(s.lower() in out.lower(), f'{form}: {s}: {out[-1500:]}')
    rows = list(csv.DictReader(io.StringIO(ask(store, *options, '--format', 'csv', GPUSTARVE_PRICES=prices))))
    gs.equal([(r['gpu'], r['reserved_gpus'], r['reserved_usd'], r['given_unused_usd'], r['own_usd_per_gpu_hour'],
               r['reserved_source']) for r in rows], [(GPU, '4', '7488', '3456', '3', 'contract, 7')], 'CSV')
    even_out = ' '.join(ask(store, GPUSTARVE_PRICES=os.path.join(where, 'none.csv')).split())
    gs.check('the first pays below 100.0 % of the price on demand; the cheapest count would be 4 at 80 %, 4 at 60 %, 4 at 40 %, '
             '12 at 20 %' in even_out, f'break-even: {even_out[-900:]}')
    check_unpriced(where, store, prices)
    dollars = ask(store, *options, GPUSTARVE_PRICES=prices)
    rate = os.path.join(where, 'rate.csv')
    with open(rate, 'w', encoding='utf-8') as f:
        f.write('currency,per_usd,source,date\nEUR,0.5,bank,2026-01-01\n')
    euros = ask(store, *options, '--currency', rate, GPUSTARVE_PRICES=prices)
    gs.equal(euros[euros.index('What to reserve'):], dollars[dollars.index('What to reserve'):], 'a plan is in dollars')


def check_unpriced(where, store, prices):
    """What is reserved has no cost without its price: it is named all the same."""
    dear = os.path.join(where, 'reserved-alone.csv')
    row = '; add a row reserved to a list of prices (gpustarve-prices(1))'
    none = os.path.join(where, 'none.csv')
    for path, n, words in ((none, 6, f'the 6 that are reserved are not in the plan: no reserved price of {GPU} is known{row}'),
                           (none, 1, f'the 1 that is reserved is not in the plan: no reserved price of {GPU} is known{row}'),
                           (none, 0, None), (prices, 6, None)):
        for form in 'text', 'html':
            out = ' '.join(ask(store, '--reserved', f'H100={n}', '--format', form, GPUSTARVE_PRICES=path).split()).lower()
            gs.equal('in the plan' in out, words is not None, f'{form}: {n} reserved are told as left out')
            gs.check(not words or words.lower() in out, f'{form}: {words}: {out[-1500:]}')
    made = put(where, [run('c', '', fleets.MONDAY, 24 * HOUR, [line('Made-up 1', 4, 96 * HOUR)])], 'unpriced')
    with open(dear, 'w', encoding='utf-8') as f:
        f.write('gpu,usd_per_gpu_hour,price_model,source,date\nMade-up 1,3.00,reserved,list,2026-01-02\n')
    out = ' '.join(ask(made, '--reserved', 'Made-up 1=6', GPUSTARVE_PRICES=dear).split())
    gs.check('the 6 that are reserved are not in the plan: no price on demand of Made-up 1 is known; add a row on-demand to' in out, out)


def check_part(where):
    """Eight GPUs, seven of which were held for the first hour alone: nothing says so, and that is said."""
    runs = [run('a', '', fleets.MONDAY, 10 * HOUR, [line(GPU, 8, 17 * HOUR)]), run('b', '', fleets.MONDAY + 9 * HOUR, HOUR, [line(GPU, 2, 2 * HOUR)])]
    store = put(where, runs, 'part')
    document = json.loads(ask(store, '--format', 'json'))
    fleetcheck.fits(document)
    t = document['plan']['types'][0]
    gs.equal((t['most'], t['most_bound'], t['unsure_runs'], t['unsure_ns']), (8, 10, 1, 17 * HOUR), 'part of a run')
    words = ['19.00 GPU-hours in 2 runs; by that up to 8 at once, 1.90 on average',
             '17.00 GPU-hours of that are of 1 run whose GPUs were held for less than the run took: when is not known; at most 10 at '
             'once in any case']
    for form in 'text', 'html':
        out = ' '.join(ask(store, '--format', form).split())
        for w in words:
            gs.check(w.lower() in out.lower(), f'{form}: {w}: {out[-1500:]}')
    row = next(csv.DictReader(io.StringIO(ask(store, '--format', 'csv'))))
    gs.equal([row[k] for k in ('most', 'most_bound', 'unsure_runs', 'unsure_ns')], ['8', '10', '1', str(17 * HOUR)], 'CSV')


def check_hostile(where):
    most = 2**63 - 1
    for i, d in enumerate([run('x', '', most // 2, most // 2, [line(GPU, 1 << 24, most)]), run('x', '', 0, 1, [line(GPU, 0, most)]),
                           run('x', '', 0, most, [line(GPU, 1, most), line('several', 9, 3), line('GPU MIG 1g.10gb', 1, 5)]),
                           run('x', '', 5, 0, [line('\u202e"<b>', 3, 1)])]):
        store = put(where, [d, run('y', '', 7, 5, [line(GPU, 1, 5)])], f'hostile{i}')
        for form in 'text', 'json', 'csv', 'html':
            done = gs.gpustarve('fleet', '--store', store, '--plan', '--format', form, '--own', 'H100=1000000000,100,999999999',
                                timeout=120)
            gs.check(done.returncode in (0, 1) and (done.returncode == 0 or b'too large' in done.stderr),
                     f'hostile {i} {form}: {done.returncode} {done.stderr.decode()[-300:]}')
    store = put(where, [run('y', '', 7, 5, [line(GPU, 1, 5)])], 'options')
    for bad in (['--own', 'H100'], ['--own', 'H100=1,2'], ['--own', 'H100=1,0,1'], ['--own', 'H100=-1,2,1'], ['--own', '=1,2,3'],
                ['--reserved', 'H100=x'], ['--reserved', 'H100=-1'], ['--reserved', 'H100=1e3'], ['--by', 'team']):
        ask(store, *bad, status=1)
    gs.equal(gs.gpustarve('fleet', '--store', store, '--own', 'H100=1,2,3').returncode, 1, '--own without --plan')
    done = gs.gpustarve('fleet', '--store', store, '--plan', '--reserved', 'B200=3')
    gs.check(done.returncode == 0 and b'no such GPU was held' in done.stderr, f'a GPU nobody held: {done.stderr}')
    gs.check('no GPU was held' in ask(put(where, [run('z', '', 7, 5, [])], 'empty')), 'nothing held')


with gs.scratch() as where:
    rng = random.Random(23)
    judged = sum(check_store(rng, where, n) for n in range(STORES))
    print(f'{judged} made-up fleets with both prices')
    gs.check(judged >= FLEETS, f'{FLEETS} fleets')
    check_forms(where)
    check_part(where)
    check_hostile(where)
gs.finish()
