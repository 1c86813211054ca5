# SPDX-License-Identifier: Apache-2.0
"""A made-up year of an organisation: digests, jobs of its scheduler (`sacct -P`) and its provider's invoice (FOCUS), and
what a review of it has to say, worked out here and nowhere else. The same seed gives the same year."""
import calendar
import random
from fractions import Fraction

import fleets
from fleets import iso, part

NS, HOUR, DAY = 10**9, fleets.HOUR, fleets.DAY
YEAR = 2026
TEAMS = {'vision': ['ann', 'ben', 'cy'], 'speech': ['dora', 'emil'], 'robots': ['fay', 'gus', 'ivo'], 'search': ['jo', 'kim']}
GPUS = [('NVIDIA H100 80GB HBM3', 6880000000), ('NVIDIA A100-SXM4-80GB', 3430000000), ('NVIDIA L4', 700000000)]
PIECES = {'workers': 'input.fetch', 'storage': 'input.fetch', 'launches': 'host.dispatch', 'syncs': 'host.sync'}
GROWS, SHRINKS, IDLER, UNWRAPPED = 'speech', 'search', 'ivo', 'astro'  # what stands out


def moment(month, day=1, hour=0):
    return calendar.timegm((YEAR, month, day, hour, 0, 0)) * NS


SINCE, UNTIL = moment(1), calendar.timegm((YEAR + 1, 1, 1, 0, 0, 0)) * NS


class Year:
    def __init__(self, seed=23, trainings=40):
        self.rng, self.digests, self.jobs = random.Random(seed), [], []
        self.sacct = ['JobIDRaw|Cluster|Account|Start|ElapsedRaw|AllocTRES|AdminComment']
        for number in range(trainings):
            self.add_training(number)
        self.add_notebooks()
        self.add_unrecorded()
        self.rng.shuffle(self.digests)

    # ---- what there is ----

    def add_job(self, account, gpus, start, wall_s, off=False):
        number = str(len(self.jobs) + 1)
        self.sacct.append(f'{number}|c1|{account}|{iso(start)}|{wall_s}|cpu=8,gres/gpu={gpus}|' + ('gpustarve=off' if off else ''))
        self.jobs.append({'job': number, 'account': account, 'start': start, 'wall': wall_s * NS, 'gpus': gpus, 'off': off})
        return number

    def add_run(self, name, team, user, gpu, gpus, start, wall_s, idle, waste, **more):
        """Of one job; @idle and @waste: parts of what it held, in percent."""
        kind, price = GPUS[gpu]
        held = gpus * wall_s * NS
        wasted, idle_minutes = held * waste // 100, held * idle // 100 // (60 * NS)
        line = {'gpu': kind, 'gpus': gpus, 'held_ns': held, 'busy_ns': held - wasted, 'starved_ns': wasted // 2,
                'wasted_ns': wasted, 'minutes': [idle_minutes, 0, 0, 0, 0, held // (60 * NS) - idle_minutes],
                'usd': fleets.even(price * held, HOUR), 'starved_usd': fleets.even(price * (wasted // 2), HOUR),
                'wasted_usd': fleets.even(price * wasted, HOUR), 'idle_usd': fleets.even(price * idle_minutes, 60),
                'price': {'model': 'on-demand', 'per_gpu_hour': price, 'label': 'made up', 'source': 'list', 'date': f'{YEAR}-01-01'}}
        d = {'schema': 'gpustarve.digest/1', 'revision': 1, 'run': name, 'team': team, 'user': user, 'account': team,
             'cluster': 'c1', 'job': self.add_job(team, gpus, start, wall_s), 'end': 'ok', 'simulated': False, 'verdict': 'busy',
             'start_unix_ns': start, 'wall_ns': wall_s * NS, 'gpus': [line], 'classes': {}, 'lines': [], 'fixes': [], 'labels': {}}
        d.update(more)
        self.digests.append(d)
        return d

    def add_training(self, number):
        """Some runs a month. Its advice comes in one month, and is adopted in another, or never."""
        rng = self.rng
        team = rng.choice(sorted(TEAMS))
        user, gpu, gpus = rng.choice(TEAMS[team][:2]), rng.randrange(3), rng.choice([1, 2, 4, 8])
        piece, since, until = rng.choice(sorted(PIECES)), rng.randrange(1, 12), rng.choice([99, 99, rng.randrange(2, 12)])
        for month in range(1, 13):
            more = {GROWS: 1 + (month == 12) * 3, SHRINKS: 1 + (month == 11) * 2}.get(team, 1)
            for i in range(rng.randrange(1, 3) * more):
                told = [piece] if since <= month < until else []
                start = moment(month, rng.randrange(1, 29)) + rng.randrange(20 * 3600) * NS
                if rng.random() < .1 and month < 12:  # over the month's end
                    start = moment(month, calendar.monthrange(YEAR, month)[1], 20)
                wall = rng.randrange(3600, 30 * 3600)
                d = self.add_run(f'{team}-{number}-{month:02}-{i}', team, user, gpu, gpus, start, wall,
                                 rng.randrange(8), rng.randrange(5, 60))
                usd, held = d['gpus'][0]['usd'], d['gpus'][0]['held_ns']
                d['program'] = {'fingerprint': f'{number + 1:016x}', 'name': f'train{number}.py', 'steps': 1000, 'advice': told}
                d['fixes'] = [{'id': p, 'title': f'Title of {p}', 'brief': f'do {p}', 'class': PIECES[p], 'place': f'train.py:{number}',
                               'ns': held // 5, 'usd': usd // 5} for p in told]

    def add_notebooks(self):
        """One GPU from Friday to Monday, busy for hardly a minute."""
        for week in range(0, 52, 2):
            start = moment(1, 2, 15) + week * 7 * DAY
            self.add_run(f'notebook-{week}', 'robots', IDLER, 0, 2, start, 60 * 3600, 97, 98, kind='interactive')

    def add_unrecorded(self):
        rng = self.rng
        for i in range(60):
            account, off = rng.choice([UNWRAPPED, UNWRAPPED, 'vision', 'search']), rng.random() < .2
            self.add_job(account, rng.choice([4, 8]), moment(rng.randrange(1, 13), rng.randrange(1, 25)),
                         rng.randrange(3600, 90 * 3600), off and account != UNWRAPPED)

    def invoice(self):
        """By month: what was given and some more, a little dearer than the runs are, and disks."""
        rows = ['BilledCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,PricingQuantity,PricingUnit']
        for month in range(1, 13):
            since, until = moment(month), moment(month + 1) if month < 12 else UNTIL
            hours = sum(part(j['gpus'] * j['wall'], j['start'], j['wall'], since, until) for j in self.jobs) // HOUR + 900
            for cost, quantity, unit in (f'{hours * 5}.25', hours, 'GPU-Hours'), ('1250.10', 1000, 'GB-Months'):
                rows.append(f'{cost},USD,{iso(since)}Z,{iso(until)}Z,{quantity},{unit}')
        return '\n'.join(rows) + '\n'

    # ---- what is to be said of it ----

    def idle(self):
        """{user: (minutes, nano-dollars)}."""
        out = {}
        for d in self.digests:
            line = d['gpus'][0]
            was = out.get(d['user'], (0, 0))
            out[d['user']] = was[0] + line['minutes'][0], was[1] + line['idle_usd']
        return {k: v for k, v in out.items() if v[0]}

    def unrecorded(self):
        """{account: ns that its jobs were given and nobody recorded}, without those that opted out; and of what was given."""
        out, given = {}, 0
        recorded = {d['job'] for d in self.digests}
        for j in self.jobs:
            ns = part(j['gpus'] * j['wall'], j['start'], j['wall'], SINCE, UNTIL)
            held = next((part(d['gpus'][0]['held_ns'], d['start_unix_ns'], d['wall_ns'], SINCE, UNTIL)
                         for d in self.digests if d['job'] == j['job']), 0) if j['job'] in recorded else 0
            out[j['account']] = out.get(j['account'], 0) + (0 if j['off'] else ns - held)
            given += ns
        return out, given

    def fixes(self):
        """[(nano-dollars, program, last run, runs)]: what the last runs of a training were told, the dearest first."""
        out, by = [], {}
        for d in self.digests:
            if 'program' in d:
                by.setdefault(d['program']['fingerprint'], []).append(d)
        for runs in by.values():
            runs.sort(key=lambda d: (d['start_unix_ns'], d['run']))
            told = []
            while runs and runs[-1]['program']['advice']:
                told.append(runs.pop())
            if told:
                out.append((sum(d['fixes'][0]['usd'] for d in told), told[0]['program']['name'], told[0]['run'], len(told)))
        return sorted(out, reverse=True)

    def months(self, until=UNTIL):
        """{team: (nano-dollars of November, of December)}; up to @until of December, and of November as far."""
        november, december = moment(11), moment(12)
        stretches = (november, december if until == UNTIL else min(december, november + until - december)), (december, until)
        out = {}
        for d in self.digests:
            usd = [part(d['gpus'][0]['usd'], d['start_unix_ns'], d['wall_ns'], *s) for s in stretches
                   if d['start_unix_ns'] < until]
            if any(usd):
                was = out.get(d['team'], (0, 0))
                out[d['team']] = was[0] + usd[0], was[1] + usd[1]
        return out

    def wasting(self):
        """[(nano-dollars wasted, run)], most first."""
        return sorted(((d['gpus'][0]['wasted_usd'], d['run']) for d in self.digests if d['gpus'][0]['wasted_ns']), reverse=True)

    def charged(self):
        return sum(Fraction(row.split(',')[0]) for row in self.invoice().splitlines()[1:])
