#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The whole bill: made-up months of jobs (sacct -P) and of a provider's charges (FOCUS), with runs of
some of the jobs, against sums of Python's own: to the nanosecond and to the cent. Rows of the provider go over the months' ends;
four parts of a year of them sum to the year to the pico-dollar. Then runs over a month's end, a sweep of 50 runs with 13 failures, units of groups and what of them is known at least or at most, and
hostile files."""
import csv
import datetime
import io
import json
import os
import random
from fractions import Fraction
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleetjobs
import fleets
import gs
import schema
from fleets import iso, part

HOUR, DAY = fleets.HOUR, fleets.DAY
NS = 10**9
SCHEMA = os.path.join(gs.SOURCE, 'docs', 'fleet.schema.json')
FROM = datetime.datetime(2026, 11, 1, tzinfo=datetime.timezone.utc)
UNTIL = datetime.datetime(2026, 12, 1, tzinfo=datetime.timezone.utc)
SINCE_NS, UNTIL_NS = int(FROM.timestamp()) * NS, int(UNTIL.timestamp()) * NS


def close(amounts, total):
    """Whole cents of exact dollars (Fractions) that sum to @total; the largest rests go first."""
    cents = [a * 100 // 1 for a in amounts]
    rests = sorted(range(len(amounts)), key=lambda i: (-(amounts[i] * 100 - cents[i]), i))
    for i in rests[:total - sum(cents)]:
        cents[i] += 1
    return [int(c) for c in cents]


def stamp(ns):
    """As FOCUS has times: with a fraction where there is one; None: nobody says."""
    return '' if ns is None else iso(ns) + (f'.{ns % NS:09}' if ns % NS else '') + 'Z'


def inside(whole, start, end, since, until):
    """What of a charge lies in a stretch; one without an end or a length is where it begins. A credit is cut as its charge."""
    if end is None or end == start:
        return whole if since <= start < until else 0
    return part(abs(whole), start, end - start, since, until) * (-1 if whole < 0 else 1)


def touches(start, end, since, until):
    return start < until and (start >= since if end in (None, start) else end > since)


def charged(charges, since, until):
    """What `invoice` of JSON has to say of these rows in a stretch."""
    here = [(c, start, end, int(cost * 10**12), int(hours * HOUR) if 'gpu' in unit.lower() else 0)
            for c in charges for start, end, cost, hours, unit in [c] if touches(start, end, since, until)]
    cut = [c for c in here if c[1] < since or (c[2] or c[1]) > until]
    paid = [sum(inside(c[3], c[1], c[2], since, until) for c in rows) for rows in (here, [c for c in here if c[4]], cut)]
    ns = [sum(inside(c[4], c[1], c[2], since, until) for c in rows) for rows in (here, cut)]
    return {'rows': len(here), 'gpu_rows': sum(c[4] > 0 for c in here), 'total_pico': paid[0], 'gpu_ns': ns[0],
            'cut_rows': len(cut), 'cut_pico': sum(c[3] for c in cut), 'outside_pico': sum(c[3] for c in cut) - paid[2],
            'outside_ns': sum(c[4] for c in cut) - ns[1]}, Fraction(paid[1], 10**12)


def focus_rows(charges, rng):
    out = io.StringIO()
    w = csv.writer(out)
    w.writerow(['BilledCost', 'BillingCurrency', 'ChargePeriodStart', 'ChargePeriodEnd', 'ChargeDescription', 'PricingQuantity',
                'PricingUnit'])
    for start, end, cost, hours, unit in charges:
        w.writerow([decimal(cost), 'USD', stamp(start), stamp(end), rng.choice(['a "quoted", thing', 'two\nlines', '']),
                    decimal(hours), unit])
    return out.getvalue()


class Month:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.jobs, self.digests, self.rows = [], [], []
        self.sacct = ['JobID|JobIDRaw|Cluster|Account|Start|ElapsedRaw|AllocTRES|AdminComment']
        for i in range(rng.randrange(20, 90)):
            self.add_job(1000 + i)
        for i in range(rng.randrange(3)):  # a workstation's
            self.digests.append(self.run(f'lone-{i}', '', '', SINCE_NS + rng.randrange(20) * HOUR, 3 * HOUR,
                                         rng.randrange(1, 3 * HOUR), False))
        self.add_invoice()

    def run(self, name, job, cluster, start, wall, held, failed):
        d = fleets.digest(self.rng, 0)
        line = d['gpus'][0]
        for k in list(line):
            if k not in ('gpu', 'gpus', 'price', 'minutes'):
                del line[k]
        price = line['price']['per_gpu_hour'] if 'price' in line else 0
        line.update(held_ns=held, busy_ns=0, starved_ns=0, wasted_ns=0)
        if 'price' in line:
            line.update(usd=fleets.even(price * held, HOUR), starved_usd=0, wasted_usd=0, idle_usd=0)
        d.update(run=name, job=job, cluster=cluster, start_unix_ns=start, wall_ns=wall, gpus=[line],
                 end='failed' if failed else 'ok', exit_status=int(failed))
        return d

    def add_job(self, number):
        rng = self.rng
        gpus, elapsed = rng.choice([1, 2, 4, 8, 64]), rng.randrange(60, 200 * 3600)
        start = SINCE_NS + rng.randrange(-5 * 86400, 32 * 86400) * NS
        account, off = rng.choice(['vision', 'speech', '']), rng.random() < .2
        tres = f'billing={gpus},cpu=4,gres/gpu={gpus},gres/gpu:h100={gpus},mem=9G' if rng.random() < .7 else \
            f'cpu=4,gres/gpu:a100={gpus - 1},gres/gpu:h100=1' if gpus > 1 else 'cpu=4,gres/gpu:h100=1'
        comment = 'gpustarve=off' if off else rng.choice(['', 'gpustarve verdict=busy gpus=4'])
        self.sacct.append(f'{number}|{number}|c1|{account}|{iso(start)}|{elapsed}|{tres}|{comment}')
        self.sacct.append(f'{number}.batch|{number}.batch|c1|{account}|{iso(start)}|{elapsed}|{tres}|')
        given = part(gpus * elapsed * NS, start, elapsed * NS, SINCE_NS, UNTIL_NS)
        recorded = 0
        if not off and rng.random() < .6:
            for step in range(rng.choice([1, 1, 3])):
                wall = rng.randrange(1, elapsed * NS)
                at = start + rng.randrange(elapsed * NS - wall + 1)
                held = rng.randrange(gpus * wall + 1) if rng.random() < .9 else 2 * gpus * elapsed * NS
                self.digests.append(self.run(f'{number}.{step}', str(number), rng.choice(['c1', '']) if
                                             rng.random() < .1 else 'c1', at, wall, held, rng.random() < .2))
                recorded += part(held, at, wall, SINCE_NS, UNTIL_NS)
        self.jobs.append((account, given, recorded, off))

    def add_invoice(self):
        rng = self.rng
        self.charges = []
        for day in range(30):
            at = SINCE_NS + day * 24 * HOUR
            hours = Fraction(rng.randrange(10**9), 10**5)
            price = Fraction(rng.randrange(1, 9 * 10**4), 10**4)
            self.charges.append((at, at + DAY, hours * price, hours, rng.choice(['GPU-Hours', 'GPU Hours', 'gpu-hour'])))
            self.charges.append((at, at + DAY, Fraction(rng.randrange(-10**9, 10**10), 10**7), Fraction(rng.randrange(9)),
                                 rng.choice(['GB-Months', 'Hours', ''])))
        for _ in range(rng.randrange(12)):  # wherever they fall
            at = SINCE_NS + rng.randrange(-50 * DAY, 40 * DAY) // rng.choice([1, HOUR]) * rng.choice([1, HOUR, DAY]) % (90 * DAY) - 45 * DAY
            end = rng.choice([None, at, at + 1, at + DAY, at + rng.randrange(90 * DAY)])
            self.charges.append((at, end, Fraction(rng.randrange(-10**12, 10**14), 10**10), Fraction(rng.randrange(10**7), 10**5),
                                 rng.choice(['GPU-Hours', 'GB'])))
        if rng.random() < .2:  # nothing that counts GPU-hours
            self.charges = [(*c[:4], 'Hours') for c in self.charges]

    def truth(self):
        accounts = {}
        for account, given, recorded, off in self.jobs:
            if not given:
                continue
            a = accounts.setdefault(account, [0, 0, 0, 0])
            took = min(given, recorded)
            for i, v in enumerate((1, given, took, given - took if off else 0)):
                a[i] += v
        total = [sum(a[i] for a in accounts.values()) for i in range(4)]
        recorded_ns = recorded_usd = 0
        for d in self.digests:
            line = d['gpus'][0]
            args = d['start_unix_ns'], d['wall_ns'], SINCE_NS, UNTIL_NS
            recorded_ns += part(line['held_ns'], *args)
            recorded_usd += part(line.get('usd', 0), *args)
        want, paid = charged(self.charges, SINCE_NS, UNTIL_NS)
        ns, all_ = Fraction(want['gpu_ns']), Fraction(want['total_pico'], 10**12)
        known = Fraction(recorded_usd, 10**9)
        charge = [known, Fraction(0), Fraction(0), Fraction(0)]
        if ns:
            of = min(recorded_ns, ns)
            given = min(total[1] - total[2], ns - of)
            charge = [known, paid * of / ns - known, paid * given / ns, paid * (ns - of - given) / ns]
        charge.append(all_ - sum(charge))
        return accounts, total, recorded_ns, charge, all_, want


def decimal(x):
    """Of a Fraction whose denominator divides a power of ten."""
    sign, x = '-' if x < 0 else '', abs(x)
    digits = 0
    while (x * 10**digits).denominator != 1:
        digits += 1
    n = (x * 10**digits).numerator
    whole, rest = divmod(n, 10**digits)
    return f'{sign}{whole}' + (f'.{rest:0{digits}d}' if digits else '')


def fleet(where, *args, status=0):
    done = gs.gpustarve('fleet', '--store', f'sqlite:{where}/f.sqlite', *args)
    gs.equal(done.returncode, status, f'fleet {" ".join(args)}: {done.stderr.decode()[-300:]}')
    return done.stdout.decode()


def store(where, digests):
    path = os.path.join(where, 'd.jsonl')
    with open(path, 'wb') as f:
        f.write(fleets.text(digests))
    done = gs.gpustarve('digest', '--from', path, '--store', f'sqlite:{where}/f.sqlite')
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])


def month(seed):
    with gs.scratch() as where:
        m = Month(seed)
        store(where, m.digests or [fleets.digest(m.rng, 1)])
        for name, text in ('sacct', '\n'.join(m.sacct) + '\n'), ('bill.csv', focus_rows(m.charges, m.rng)):
            with open(os.path.join(where, name), 'w', encoding='utf-8') as f:
                f.write(text)
        asked = ('--sacct', where + '/sacct', '--invoice', where + '/bill.csv', '--since', '2026-11-01',
                 '--until', '2026-12-01')
        got = json.loads(fleet(where, *asked, '--format', 'json'))
        accounts, total, recorded_ns, charge, all_, want = m.truth()
        a = got['allocated']
        gs.equal({r['name'] or '': [r['jobs'], r['allocated_ns'], r['recorded_ns'], r['opted_out_ns']]
                  for r in a['account']}, accounts, f'seed {seed}: accounts')
        gs.equal([a['jobs'], a['allocated_ns'], a['recorded_ns'], a['opted_out_ns']], total, f'seed {seed}: all')
        gs.equal(a['not_wrapped_ns'], total[1] - total[2] - total[3], f'seed {seed}: not wrapped')
        gs.equal(a['recorded_ns'] + a['beyond_ns'] + a['elsewhere_ns'], recorded_ns, f'seed {seed}: recorded')
        i = got['invoice']
        gs.equal({k: i[k] for k in want}, want, f'seed {seed}: rows')
        gs.equal(i['total_cents'], round(all_ * 100), f'seed {seed}: the invoice')
        names = ['recorded', 'price_difference', 'unrecorded', 'unallocated', 'unexplained']
        gs.equal([i['cents'][n] for n in names], close(charge, i['total_cents']), f'seed {seed}: charges')
        gs.equal(sum(i['cents'].values()), i['total_cents'], f'seed {seed}: closes')
        return got, fleet(where, *asked), fleet(where, *asked, '--format', 'csv'), \
            fleet(where, *asked, '--format', 'html')


def fits(document):
    with open(SCHEMA, encoding='utf-8') as f:
        want = schema.close({k: v for k, v in json.load(f).items() if k != '$id'})
    try:
        gs.equal(schema.errors(want, document), [], 'fits its schema')
    except ImportError:
        print('no jsonschema: the schema is not tried')


def months():
    for seed in range(25):
        got, text, table, page = month(seed)
        if seed:
            continue
        fits(got)
        gs.check(text.startswith('recorded ') and 'not wrapped' in text and 'opted out' in text, text[:300])
        rows = list(csv.reader(io.StringIO(table)))
        gs.equal(rows[-1][0], 'total', 'table')
        gs.equal(sum(round(float(r[1]) * 100) for r in rows[1:-1]), round(float(rows[-1][1]) * 100), 'table closes')
        gs.check('id="invoice"' in page and 'id="allocated"' in page, 'page')


class Rows:
    """A year of charges of any length and size: credits, some without an end, some at a bound, one of more than an int128 is a
    product of. And what is asked of them."""
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.since, self.until = (int(datetime.datetime(y, 1, 1, tzinfo=datetime.timezone.utc).timestamp()) * NS for y in (2026, 2027))
        self.bounds = [self.since, *sorted(rng.sample(range(self.since + NS, self.until, NS), 3)), self.until]
        self.charges = []
        for i in range(60):
            start = rng.randrange(self.since, self.until)
            end = rng.choice([None, start, start + rng.randrange(1, 10), min(start + rng.randrange(200 * DAY), self.until)])
            self.charges.append((start, end, Fraction(rng.randrange(-10**18, 10**19), 10**12), Fraction(rng.randrange(10**9), 10**5),
                                 rng.choice(['GPU-Hours', 'GB'])))
        for at in self.bounds[:-1]:  # what ends there, what begins there and what has no length
            self.charges += [(at, at, Fraction(7), Fraction(1), 'GPU-Hours'), (at, None, Fraction(-3), Fraction(0), ''),
                             (at, at + HOUR, Fraction(3, 10**12), Fraction(2), 'GPU-Hours')]
        self.charges.append((self.since, self.until, Fraction(7 * 10**25 + 123456789012, 10**12), Fraction(10**9), 'GPU-Hours'))
        self.charges.append((self.since, self.since + 200 * DAY + 1, -self.charges[-1][2], Fraction(0), ''))


def asked_rows(where, rows, since, until, *args):
    path = os.path.join(where, 'rows.csv')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(focus_rows(rows.charges, rows.rng))
    bounds = [] if since is None else ['--since', iso(since) + 'Z', '--until', iso(until) + 'Z']
    return fleet(where, '--invoice', path, *bounds, *args)


def year_in_parts():
    """Four parts of a year, cut anywhere, sum to it exactly, whatever the order of rows and runs. What is recorded in each is what
    the bill has there, also of jobs' rests, which are cut by their spans."""
    exact = 'total_pico', 'gpu_ns', 'recorded_ns'
    for seed in range(6):
        rows, found, first = Rows(seed), fleets.digests(40, seed), None
        found += [fleetjobs.rest_of(rows.rng, f'c1-{at}', f'rest{at}', '', at - 5 * HOUR, 50 * HOUR, 9 * HOUR, [(0, [(HOUR, 2 * HOUR, 3)])])
                  for at in rows.bounds[1:-1]]
        for again in range(2):
            with gs.scratch() as where:
                store(where, found)
                said = [json.loads(asked_rows(where, rows, since, until, '--format', 'json')) for since, until in
                        [*zip(rows.bounds, rows.bounds[1:]), (rows.since, rows.until), (None, None)]]
            gs.equal([s['invoice']['recorded_ns'] for s in said[:-1]], [s['total']['held_ns'] for s in said[:-1]], f'seed {seed}: recorded')
            got = [s['invoice'] for s in said]
            gs.equal(got, first or got, f'seed {seed}: in another order')
            first = got
            rows.rng.shuffle(rows.charges)
            rows.rng.shuffle(found)
        for got, since, until in zip(first, rows.bounds, rows.bounds[1:]):
            want = charged(rows.charges, since, until)[0]
            gs.equal({k: got[k] for k in want}, want, f'seed {seed}: a part')
        *parts, whole, spanned = first
        gs.equal({k: sum(p[k] for p in parts) for k in exact}, {k: whole[k] for k in exact}, f'seed {seed}: parts')
        gs.equal((whole['total_pico'], whole['cut_rows'], whole['outside_pico']), (int(sum(c[2] for c in rows.charges) * 10**12), 0, 0),
                 f'seed {seed}: the whole')
        gs.equal({k: v for k, v in spanned.items() if k != 'recorded_ns'}, {k: v for k, v in whole.items() if k != 'recorded_ns'},
                 f'seed {seed}: what the rows span')
        gs.check(all(p['cut_rows'] > 1 for p in parts), f'seed {seed}: bounds cut something')


def told_rows():
    """How many rows were cut and what lies outside: the same in text, page, table and JSON. A third of October's row is
    November's, a half of December's; what begins in November without an end is, what ends with October is not."""
    oct_, dec = SINCE_NS - 20 * DAY, UNTIL_NS - 5 * DAY
    charges = [(oct_, SINCE_NS + 10 * DAY, Fraction(90), Fraction(30), 'GPU-Hours'), (dec, UNTIL_NS + 5 * DAY, Fraction(50), Fraction(0), 'GB'),
               (SINCE_NS, SINCE_NS + DAY, Fraction(10), Fraction(2), 'GPU-Hours'), (SINCE_NS + DAY, None, Fraction(4), Fraction(0), ''),
               (oct_, SINCE_NS, Fraction(1000), Fraction(9), 'GPU-Hours'), (UNTIL_NS, UNTIL_NS, Fraction(2000), Fraction(9), 'GPU-Hours')]
    cases = ((charges, ['30.00', '25.00', '10.00', '4.00'], '2', '140.00', '85.00',
              '2 of these rows go beyond the stretch and count by time: $85.00 of their $140.00 lies outside, with 20.00 GPU-hours'),
             (charges[1:], ['25.00', '10.00', '4.00'], '1', '50.00', '25.00',
              '1 of these rows goes beyond the stretch and counts by time: $25.00 of its $50.00 lies outside'),
             (charges[2:], ['10.00', '4.00'], '0', '0.00', '0.00', None))
    for of, counted, cut_rows, cut, outside, words in cases:
        rows = Rows(1)
        rows.charges = of
        with gs.scratch() as where:
            store(where, fleets.digests(3))
            asked = where, rows, SINCE_NS, UNTIL_NS
            document = json.loads(asked_rows(*asked, '--format', 'json'))
            text, page = (' '.join(asked_rows(*asked, '--format', f).split()) for f in ('text', 'html'))
            table = list(csv.DictReader(io.StringIO(asked_rows(*asked, '--format', 'csv'))))
        fits(document)
        total = sum(Fraction(c) for c in counted)
        i = document['invoice']
        gs.equal((i['rows'], i['total_pico'], i['cut_rows'], i['cut_pico'], i['outside_pico']),
                 (len(counted), total * 10**12, int(cut_rows), Fraction(cut) * 10**12, Fraction(outside) * 10**12), 'JSON')
        gs.equal([(r['charge'], r['cut_rows'], r['cut'], r['outside']) for r in table if r['cut_rows']],
                 [('total', cut_rows, cut, outside)], 'CSV')
        gs.equal(Fraction(table[-1]['usd']), total, 'CSV: the whole')
        for shown in text, page:
            gs.check(words in shown if words else 'beyond the stretch' not in shown, f'{words}: {shown[:900]}')
        gs.check('Nov' not in text or words is None or text.index(words) < text.index('other charges'), 'above its table')


def by_month():
    """Runs over a month's end are split by held time; sums over months are the whole."""
    rng = random.Random(5)
    with gs.scratch() as where:
        found = fleets.digests(120, 9)
        for d in found:
            d['wall_ns'] = rng.choice([1, HOUR, 40 * 24 * HOUR, 100 * 24 * HOUR])
        store(where, found)
        got = json.loads(fleet(where, '--by', 'month', '--format', 'json'))
        want = {}
        for d in found:
            for line in d['gpus']:
                at, end = d['start_unix_ns'], d['start_unix_ns'] + d['wall_ns']
                while at < end:
                    t = datetime.datetime.fromtimestamp(at // NS, datetime.timezone.utc)
                    after = datetime.datetime(t.year + t.month // 12, t.month % 12 + 1, 1,
                                              tzinfo=datetime.timezone.utc)
                    to = min(end, int(after.timestamp()) * NS)
                    w = want.setdefault(t.strftime('%Y-%m'), [0, 0])
                    for k, v in enumerate((line['held_ns'], line.get('usd', 0))):
                        w[k] += part(v, d['start_unix_ns'], d['wall_ns'], at, to)
                    at = to
        rows = got['by']['month']
        gs.equal({r['name']: [r['held_ns'], round(r['usd'] * 10**9)] for r in rows},
                 {k: [h, u] for k, (h, u) in want.items()}, 'months')
        gs.equal(sum(r['held_ns'] for r in rows), got['total']['held_ns'], 'held')
        gs.equal(sum(r['cents'] for r in rows), got['bill']['total_cents'], 'cents')
        gs.check('2026-' in fleet(where, '--by', 'month'), 'text')
        half = json.loads(fleet(where, '--by', 'month', '--since', '2026-03-10', '--until', '2026-04-10',
                                '--format', 'json'))['by']['month']
        gs.equal([r['name'] for r in half], ['2026-03', '2026-04'], 'a stretch')
        runs = json.loads(fleet(where, '--by', 'run', '--format', 'json'))
        fits(runs)
        fits(got)
        runs = runs['runs']
        gs.equal((runs['count'], len(runs['runs'])), (120, 120), 'runs')
        page = fleet(where, '--by', 'run', '--links', '--format', 'html')
        gs.check('href="runs/run-' in page, 'links')
        rows = list(csv.DictReader(io.StringIO(fleet(where, '--by', 'run', '--format', 'csv'))))
        gs.equal(len(rows), 120, 'table of runs')


def sweep():
    """50 runs, 13 of which failed, over two teams; what they cost is in the experiment's sum."""
    rng = random.Random(31)
    with gs.scratch() as where:
        found = []
        for i in range(50):
            d = fleets.digest(rng, i)
            d['gpus'] = [fleets.gpu_line(rng, 0, 0)]
            d.update(run=f'trial-{i}', end='ok' if i >= 13 else 'failed', exit_status=int(i < 13))
            d['labels'] = {'experiment': 'llama'}
            d.pop('units', None)
            if i >= 13:
                d['units'] = [['samples', 1000 + i, 1], ['epochs', 5, 2]]
            found.append(d)
        found += [fleets.digest(rng, 100 + i) for i in range(20)]
        store(where, found)
        got = json.loads(fleet(where, '--by', 'label:experiment', '--format', 'json'), parse_float=Fraction)
        fits(json.loads(fleet(where, '--by', 'label:experiment', '--format', 'json')))
        g = [r for r in got['by']['label'] if r['name'] == 'llama'][0]
        usd = sum(d['gpus'][0]['usd'] for d in found[:50])
        failed = sum(d['gpus'][0]['usd'] for d in found[:13])
        gs.equal((g['runs'], g['failed_runs'], g['usd'], g['failed_usd']),
                 (50, 13, Fraction(usd, 10**9), Fraction(failed, 10**9)), 'the sweep')
        samples = sum(1000 + i for i in range(13, 50))
        u = g['units'][0]
        gs.equal((u['unit'], u['count'], u['runs'], len(g['units'])), ('samples', samples, 37, 1), 'samples')
        gs.equal(u['usd_per'], Fraction(round(Fraction((usd - failed) * 1000, samples)), 10**9), 'per 1,000')
        gs.equal(u['untold_usd'], Fraction(failed, 10**9), 'untold')
        text = ' '.join(fleet(where, '--by', 'label:experiment').split())
        share = fleets.even(failed * 1000, usd)
        gs.check(f'llama: 50 runs, ${usd / 10**9:,.2f}, {share // 10}.{share % 10} % of it' in text and
                 'in 13 that failed' in text, text[-700:])
        row = [r for r in csv.DictReader(io.StringIO(fleet(where, '--by', 'label:experiment', '--format', 'csv')))
               if r['label'] == 'llama'][0]
        gs.equal(row['samples'], str(samples), 'table')


BOUNDS = {  # of each run, of their sum, and the sum's words
    'all': ((None, None), None, '{n} samples: $'),
    'killed': ((None, 'at_least'), 'at_least', 'at least {n} samples: at most $'),
    'failed': (('at_most', 'at_most', None), 'at_most', 'at most {n} samples: at least $'),
    'both': (('at_most', None, 'at_least', 'at_least'), 'none',
             '{n} samples (at least so many of 2 runs, at most of 1): $'),
}


def bounds():
    """What is known of a run at least or at most is so of the sum, whoever shows it; an unknown bound is no count."""
    rng = random.Random(5)
    with gs.scratch() as where:
        found = []
        for name, (of, *_) in BOUNDS.items():
            for bound in of:
                d = fleets.digest(rng, len(found))
                d.update(run=f'{name}-{len(found)}', gpus=[fleets.gpu_line(rng, 0, 0)], team=name, labels={'experiment': name},
                         units=[['samples', 1000 + len(found), 1, *([bound] if bound else [])]])
                found.append(d)
        found[-1]['units'].append(['frames', 5, 1, 'a_later_bound'])
        store(where, found)
        for by in 'team', 'label:experiment':
            got = json.loads(fleet(where, '--by', by, '--format', 'json'))
            fits(got)
            groups = {g['name']: g['units'] for g in got['by'][by.split(':')[0]]}
            rows = {r[by.split(':')[0]]: r for r in csv.DictReader(io.StringIO(fleet(where, '--by', by, '--format', 'csv')))}
            text = ' '.join(fleet(where, '--by', by).split())
            page = fleet(where, '--by', by, '--format', 'html')
            for name, (_, bound, words) in BOUNDS.items():
                count = sum(d['units'][0][1] for d in found if d['team'] == name)
                gs.equal([(u['unit'], u['count'], u.get('bound')) for u in groups[name]], [('samples', count, bound)], f'{by} {name}')
                gs.equal((rows[name]['samples'], rows[name]['samples_bound']), (str(count), bound or 'exact'), f'{by} {name}: table')
                gs.check(words.format(n=f'{count:,}') in text, f'{by} {name}: {text[-900:]}')
                gs.check(words.format(n=f'{count:,}') in page, f'{by} {name}: page')


def focus():
    """A row per run, kind of GPU and month; cents sum to the bill's."""
    rng = random.Random(8)
    with gs.scratch() as where:
        found = fleets.digests(80, 12)
        for d in found:
            d['wall_ns'] = rng.choice([HOUR, 60 * 24 * HOUR])
        store(where, found)
        text = fleet(where, '--format', 'focus')
        rows = list(csv.DictReader(io.StringIO(text, newline='')))
        priced = [(d, l) for d in found for l in d['gpus'] if 'price' in l]
        gs.check(len(rows) > len(priced), 'months make rows of their own')
        exact, held = {}, {}
        for r in rows:
            key = r['x_RunId'], r['x_GpuModel']
            exact[key] = exact.get(key, 0) + Fraction(r['x_ExactCost'])
            held[key] = held.get(key, 0) + Fraction(r['ConsumedQuantity'])
            gs.check(r['BillingPeriodStart'] <= r['ChargePeriodStart'] < r['BillingPeriodEnd'], f'period: {r}')
            gs.check(r['ChargePeriodStart'] < r['ChargePeriodEnd'], f'charge: {r}')
        gs.equal(exact, {(d['run'], l['gpu']): Fraction(l['usd'], 10**9) for d, l in priced}, 'exact')
        total = json.loads(fleet(where, '--format', 'json'))['bill']['total_cents']
        gs.equal(sum(round(Fraction(r['EffectiveCost']) * 100) for r in rows), total, 'cents')
        gs.equal({r['BilledCost'] for r in rows}, {'0.00'}, 'no invoice')
        cut = list(csv.DictReader(io.StringIO(fleet(where, '--format', 'focus', '--since', '2026-03-01', '--until',
                                                    '2026-04-01'), newline='')))
        gs.check(cut and {r['BillingPeriodStart'] for r in cut} == {'2026-03-01T00:00:00Z'}, 'one month')
        march = json.loads(fleet(where, '--since', '2026-03-01', '--until', '2026-04-01', '--format', 'json'), parse_float=Fraction)
        exact = sum(Fraction(r['x_ExactCost']) for r in cut)
        gs.check(march['total']['usd'] == exact != march['begun']['usd'], f'bill and FOCUS of a month: {march["total"]["usd"]} {exact}')
        gs.equal(sum(Fraction(r['EffectiveCost']) for r in cut), Fraction(march['bill']['total_cents'], 100), 'their cents')


def given_and_asked(found):
    """Some prices were given by hand, and some that nobody knew were to be those of an owned GPU. How many of the former
    have a price on demand."""
    lines = [l for d in found for l in d['gpus'] if l['gpu'] == 'NVIDIA H100 80GB HBM3']
    for l in lines[::3]:
        l['price'].update(model='given', label='--price', source='given by the user')
    for k, l in enumerate(lines[1::3]):
        for key in [key for key in l if key == 'price' or key.endswith('usd')]:
            del l[key]
        if k % 2 == 0:
            l['price_model'] = 'owned'
    return len(lines[::3])


def prices():
    """All digests at other prices: what the file does not have keeps its own."""
    with gs.scratch() as where:
        found = fleets.digests(60, 21)
        on_demand = given_and_asked(found)
        store(where, found)
        with open(where + '/prices.csv', 'w', encoding='utf-8') as f:
            f.write('gpu,usd_per_gpu_hour,price_model,source,date\nNVIDIA H100 80GB HBM3,2.123456789,on-demand,'
                    'contract,2026-02-01\nNVIDIA L4,0.5,spot,contract,2026-02-01\nbad,x,on-demand,y,z\n'
                    'NVIDIA H100 80GB HBM3,0.0123,owned,finance,2026-02-01\n')
        new = {('NVIDIA H100 80GB HBM3', 'on-demand'): 2123456789, ('NVIDIA L4', 'spot'): 500000000,
               ('NVIDIA H100 80GB HBM3', 'owned'): 12300000, ('NVIDIA H100 80GB HBM3', 'given'): 2123456789}
        want, kept = 0, 0
        for d in found:
            for l in d['gpus']:
                price = new.get((l['gpu'], l.get('price', {}).get('model', l.get('price_model', 'on-demand'))))
                want += l.get('usd', 0) if price is None else fleets.even(price * l['held_ns'], HOUR)
                kept += price is None
        done = gs.gpustarve('fleet', '--store', f'sqlite:{where}/f.sqlite', '--prices', where + '/prices.csv',
                            '--format', 'json')
        gs.equal(done.returncode, 0, done.stderr.decode())
        got = json.loads(done.stdout, parse_float=Fraction)
        gs.equal(got['total']['usd'], Fraction(want, 10**9), 'repriced')
        gs.equal(got['bill']['total_cents'], fleets.even(want, fleets.CENT), 'cents')
        gs.check(b'keep theirs' in done.stderr and b'left out' in done.stderr, done.stderr.decode())
        lines = sum(len(d['gpus']) for d in found)
        gs.check(f'no price for {kept} of {lines} kinds of GPU and price model' in done.stderr.decode(), done.stderr.decode())
        gs.check(f'{on_demand} of {lines} kinds of GPU had a price that was given without its model: they are repriced as '
                 'on-demand' in done.stderr.decode(), done.stderr.decode())
        gs.check(any(p['source'] == 'contract' for p in got['prices']), 'source')
        again = json.loads(fleet(where, '--format', 'json'), parse_float=Fraction)
        gs.equal(again['total']['usd'], Fraction(sum(l.get('usd', 0) for d in found for l in d['gpus']), 10**9),
                 'the store keeps its own')


def jobs():
    with gs.scratch() as where:
        fleetjobs.check_all(lambda name: f'sqlite:{where}/{name}.sqlite')


def hostile():
    head = 'JobIDRaw|Account|ElapsedRaw|AllocTRES'
    bill = 'BilledCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,PricingQuantity,PricingUnit\n'
    day = '2026-11-01T00:00:00Z,2026-11-02T00:00:00Z'
    with gs.scratch() as where:
        store(where, fleets.digests(3))
        for option, text, status, said in (
                ('--sacct', '', 1, 'empty'), ('--sacct', 'a|b\n', 1, 'JobIDRaw'),
                ('--sacct', head + '\n1|x|9|gres/gpu=99999999999999999999\n2|x|9|gres/gpu=1|more\n3|x|-9|gres/gpu=1\n'
                 '4|x|9|gres/gpu=\n|x|9|gres/gpu=1\n5|x|9|gres/gpu=2\n6|x|9|cpu=3\n7|x|99999999999999999|gres/gpu=1\n8|x|9300000000|gres/gpu=1',
                 1, '7 lines'),
                ('--invoice', '', 1, 'empty'), ('--invoice', 'a,b\n', 1, 'BilledCost'),
                ('--invoice', bill + f'1,USD,{day},1,GPU-Hours\n1,EUR,{day},1,GPU-Hours\n', 1, 'several currencies'),
                ('--invoice', bill + f'1e99,USD,{day},1,GPU-Hours\nx,USD,{day},1,\n1,USD,2026,2026,1,\n'
                 f'1.5,USD,{day},1e400,GPU-Hours\n"1,USD,{day}\n', 1, 'no charges'),
                ('--invoice', bill + f'1,USD,2026-11-02,2026-11-01,1,\n1,USD,2026-11-01,x,1,\n1,USD,,2026-11-02,1,\n'
                 f'1,USD,2026-11-01,2026-11-02+01:00,1,\n1,USD,{day},1,\n1,USD,2026-11-01T00:00:00.5Z,2026-11-01T00:00:00.4Z,1,\n',
                 1, '5 lines'),
                ('--invoice', bill + f'1.2E-1,USD,{day},1,GPU-Hours\n-1e2,USD,{day},,\n99{"9" * 80},USD,{day},,\n',
                 1, '1 lines')):
            path = os.path.join(where, 'file')
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
            done = gs.gpustarve('fleet', '--store', f'sqlite:{where}/f.sqlite', option, path)
            gs.equal(done.returncode, status, f'{text[:60]!r}')
            gs.check(said in (done.stdout + done.stderr).decode(), f'{text[:60]!r}: {done.stderr.decode()}')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(bill + f'1.2E-1,USD,{day},1,GPU-Hours\n-1e2,USD,{day},,\n')
        got = json.loads(fleet(where, '--invoice', path, '--format', 'json'))['invoice']
        gs.equal(got['total_cents'], -9988, 'exponents and signs')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(bill + '1,USD,2026-10-31,2026-11-01,,\n2,USD,2026-11-01,2026-11-01,,\n3,USD,2026-11-01,,,\n')
        got = json.loads(fleet(where, '--invoice', path, '--format', 'json'))['invoice']
        gs.equal((got['rows'], got['total_cents'], got['cut_rows']), (3, 600, 0), 'the last ones have no length')


months()
year_in_parts()
told_rows()
by_month()
sweep()
bounds()
focus()
prices()
jobs()
hostile()
gs.finish()
