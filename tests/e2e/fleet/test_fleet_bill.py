#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault
"""Budgets of runs and teams told once at 80 % and once at 100 %, to a command as well, over borders of months in any time
zone; a spike among weeks; an SQLite store whose writers are killed, and two that write at the same time."""
import csv
import datetime
import io
import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleets
import fleetcheck
import gs

HOUR_NS = 3600 * 10**9


def run(number, team, start_ns, cents, user='u'):
    usd = cents * fleets.CENT
    line = {'gpu': 'NVIDIA L4', 'gpus': 1, 'held_ns': HOUR_NS, 'busy_ns': HOUR_NS, 'starved_ns': 0, 'wasted_ns': 0,
            'minutes': [0, 0, 0, 0, 0, 60], 'usd': usd, 'starved_usd': 0, 'wasted_usd': 0, 'idle_usd': 0,
            'price': {'model': 'spot', 'per_gpu_hour': usd, 'label': 'x', 'source': 'y', 'date': '2026-01-01'}}
    return {'schema': 'gpustarve.digest/1', 'revision': 1, 'run': f'r{number}', 'team': team, 'user': user, 'end': 'ok',
            'simulated': False, 'verdict': 'busy', 'start_unix_ns': start_ns, 'wall_ns': HOUR_NS, 'gpus': [line],
            'classes': {'compute': [HOUR_NS, usd]}, 'lines': [], 'fixes': [], 'labels': {}}


def short(number, team, start_ns, cents):
    """One that no month's or week's end cuts."""
    return {**run(number, team, start_ns, cents), 'wall_ns': 10**6}


def put(store, found):
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found))
    gs.equal(done.returncode, 0, f'digest: {done.stderr.decode()[-300:]}')


def written(path, lines):
    """The file once it has so many lines: commands are not waited for by who starts them."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                got = f.read().splitlines()
            if len(got) >= lines:
                return got
        time.sleep(0.1)
    return got if os.path.exists(path) else []


def check_budgets(where):
    store, told = 'sqlite:' + os.path.join(where, 'b.sqlite'), os.path.join(where, 'told')
    evil = '$(touch pwned)`touch pwned`\'"; touch pwned #'
    day = fleets.MONDAY + 10 * fleets.DAY  # 2026-01-15
    say = f'printf "%s|%s|%s\\n" "$GPUSTARVE_ALERT_CONDITION" "$GPUSTARVE_ALERT_VALUE" ' \
          f'"$GPUSTARVE_ALERT_TEAM$GPUSTARVE_ALERT_RUN_ID" >> {told}'

    def look(*more):
        got = fleetcheck.as_json(store, '--until', '2026-01-17', '--budget', 'team:vision=100', '--budget',
                                 'team=1000/week', '--budget', 'run=50', '--exec', say, *more)['budgets']
        return sorted((b['budget'], b['run'] or b['team'], b['level'], b['told']) for b in got)

    put(store, [run(1, 'vision', day, 4000), run(2, 'vision', day - 20 * fleets.DAY, 4900), run(3, evil, day, 100)])
    gs.equal(look(), [('run=50', 'r1', 80, True), ('run=50', 'r2', 80, True), ('team:vision=100', 'vision', 0, False)],
             '40 of 100 this month, a run of the last one; runs of 40 and 49 of 50')
    put(store, [run(4, 'vision', day, 4000)])
    gs.equal(look()[3:], [('team:vision=100', 'vision', 80, True)], '80 of 100')
    gs.equal([b for b in look() if b[3]], [], 'nothing is told twice')
    put(store, [run(5, 'vision', day, 2000), run(6, evil, day, 120000)])
    gs.equal([b for b in look() if b[3]],
             sorted([('run=50', 'r6', 100, True), ('team:vision=100', 'vision', 100, True),
                                                     ('team=1000/week', evil, 100, True)]), 'all of it is spent')
    gs.equal([b for b in look() if b[3]], [], 'nor this')
    lines = written(told, 7)
    gs.equal(sorted(l.split('|')[0] for l in lines),
             sorted(['run=50 at 80 %'] * 3 + ['team:vision=100 at 80 %', 'run=50 at 100 %', 'team:vision=100 at 100 %',
                                             'team=1000/week at 100 %']), 'the command was started once for each')
    gs.check(any(l.endswith('|' + evil) for l in lines) and not os.path.exists('pwned'), 'names are no commands')
    text = fleetcheck.fleet(store, '--until', '2026-01-17', '--budget', 'team:vision=100').decode()
    gs.check('team vision cost $100.00 of $100.00 in 2026-01: 100.0 %' in text, f'in words: {text}')
    for bad in 'team', 'run=', 'run=5/week', 'team=0', 'team:=5', 'x=5', 'team=5/day':
        gs.equal(gs.gpustarve('fleet', '--store', store, '--budget', bad).returncode, 1, f'--budget {bad}')


def spent(found, of_week):
    """What each team spent in each week or month, of a run that crosses one in each by its time there."""
    usd = {}
    for r in found:
        start, wall = r['start_unix_ns'], r['wall_ns']
        at = start
        while at < start + wall:
            t = datetime.datetime.fromtimestamp(at // 10**9, datetime.timezone.utc)
            begin = (t - datetime.timedelta(days=t.weekday()) if of_week else t.replace(day=1)).replace(hour=0, minute=0, second=0)
            end = begin + datetime.timedelta(days=7) if of_week else (begin + datetime.timedelta(days=32)).replace(day=1)
            until = min(int(end.timestamp()) * 10**9, start + wall)
            key = r['team'], begin.strftime('%Y-%m-%d' if of_week else '%Y-%m')
            usd[key] = usd.get(key, 0) + r['gpus'][0]['usd'] * (until - start) // wall - r['gpus'][0]['usd'] * (at - start) // wall
            at = until
    return usd


def check_periods(where):
    """Every week and month that reached 80 % is listed, not the last one alone; that of now goes on."""
    store, monday, now = 'sqlite:' + os.path.join(where, 'p.sqlite'), fleets.MONDAY, fleets.away_from_midnight()  # 2026-01-05
    long = {**run(5, 'c', monday + 13 * fleets.DAY // 2, 12000), 'wall_ns': 36 * HOUR_NS}  # from Sunday noon
    longer = {**run(6, 'd', monday + 20 * fleets.DAY, 30000), 'wall_ns': 20 * fleets.DAY}  # over two weeks and a month's end
    found = [run(1, 'a', monday + 2 * fleets.DAY, 13200), run(2, 'a', monday + 9 * fleets.DAY, 2100), long, longer,
             run(3, 'b', monday + 9 * fleets.DAY, 4200), run(4, 'b', monday + 16 * fleets.DAY, 1900),
             run(7, 'old', 5 * fleets.DAY, 2500), short(8, 'a', now, 2600)]
    put(store, found)

    def listed(budget, *more):
        got = fleetcheck.as_json(store, '--budget', budget, *more)['budgets']
        gs.check([b['period'] for b in got] == sorted(b['period'] for b in got), f'{budget}: as they came')
        return {(b['team'], b['period']): round(float(b['usd']) * 10**9) for b in got}, [b for b in got if b['running']]

    for period, limit in ('week', 25), ('month', 100):
        got, running = listed(f'team={limit}/{period}')
        want = {k: v for k, v in spent(found, period == 'week').items() if v >= limit * 8 * 10**8}
        gs.equal(got, want, f'{period}: all that reached it')
        gs.equal([b['team'] for b in running], ['a'] if period == 'week' else [], f'{period}: of now')
    days = ['--since', '2026-01-07', '--until', '2026-01-17']
    got, running = listed('team=25/week', *days)
    want = {k: v for k, v in spent(found, True).items() if v >= 20 * 10**9 and k[1] in ('2026-01-05', '2026-01-12')}
    gs.equal((got, running), (want, []), 'between two days')
    gs.check(len(want) == 5 and ('c', '2026-01-05') in want and ('c', '2026-01-12') in want, f'both weeks of a run: {want}')
    got, _ = listed('team:b=1000/week', '--until', '2026-01-24')
    gs.equal(list(got), [('b', '2026-01-19')], 'one that is named: the last week')
    months = csv.DictReader(io.StringIO(fleetcheck.fleet(store, '--by', 'month', '--team', 'd', '--format', 'csv').decode()))
    gs.equal({('d', m['month']): round(float(m['usd']) * 10**9) for m in months},
             {k: v for k, v in spent(found, False).items() if k[0] == 'd'}, 'as months are cut')
    text = ' '.join(fleetcheck.fleet(store, '--budget', 'team=25/week').decode().split())
    page = fleetcheck.fleet(store, '--budget', 'team=25/week', '--format', 'html').decode()
    for words in 'eam a cost $132.00 of $25.00 in the week of 2026-01-05: 528.0 %', ', which goes on: 104.0 %':
        gs.check(words in text and words in page, f'{words}: {text[-900:]}')
    gs.equal(text.count('which goes on'), 1, text)


ZONES = {  # where clocks are set, and when in 2024: in one on the last day of a month, in one by half an hour
    'Europe/Berlin': ['2024-03-31T01', '2024-10-27T01'], 'America/New_York': ['2024-03-10T07', '2024-11-03T06'],
    'Pacific/Auckland': ['2024-04-06T14', '2024-09-28T14'], 'Australia/Lord_Howe': ['2024-04-06T15', '2024-10-05T15'],
    'America/Santiago': ['2024-04-07T03', '2024-09-08T04'], 'UTC': ['2024-01-31T23']}


def zoned_runs():
    """Around each time at which some clock is set and each border of a month, of UTC and of any zone: runs of minutes to months."""
    rng, found = random.Random(12), []
    at = [int(datetime.datetime.fromisoformat(t + ':00:00+00:00').timestamp()) for of in ZONES.values() for t in of]
    at += [int(datetime.datetime(2024, m, 1, tzinfo=datetime.timezone.utc).timestamp()) for m in range(2, 12)]
    for t in at:
        for hours in 1, 30, 24 * rng.randrange(20, 75):
            start = t * 10**9 - rng.randrange(hours * HOUR_NS)
            one = run(len(found), rng.choice('abc'), start, rng.randrange(1000, 90000))
            found.append({**one, 'wall_ns': hours * HOUR_NS + rng.randrange(10**9)})
        found.append({**run(len(found), 'a', t * 10**9 - HOUR_NS, 777), 'wall_ns': HOUR_NS})  # it ends just there
    return found


def check_zones(where):
    """Months and weeks are UTC's wherever the site is: whatever the zone and however clocks are set there, budgets of runs over a
    border come to the same, and what was told in one zone is not told anew in another."""
    found = zoned_runs()
    for period in 'month', 'week':
        want = {k: v for k, v in spent(found, period == 'week').items() if v >= 80 * 10**9}
        store = 'sqlite:' + os.path.join(where, f'zones-{period}.sqlite')
        put(store, found)
        tellings = []
        for zone in ZONES:
            for more, env in (['--timezone', zone], {}), ([], {'TZ': zone}):
                done = gs.gpustarve('fleet', '--store', store, '--budget', f'team=100/{period}', '--format', 'json', *more, env=gs.environment(**env))
                gs.equal(done.returncode, 0, f'{zone}: {done.stderr}')
                got = json.loads(done.stdout)['budgets']
                gs.equal({(b['team'], b['period']): round(b['usd'] * 10**9) for b in got}, want, f'{period}s in {zone} {env}')
                tellings.append(sum(b['told'] for b in got))
        gs.equal(tellings, [len(want)] + [0] * (2 * len(ZONES) - 1), f'{period}: told once')
        gs.check(len(want) > 15 and len({k[1] for k in want}) > 8, f'{period}: {len(want)} are told')
        usd = sum(r['gpus'][0]['usd'] for r in found)
        gs.equal(sum(spent(found, period == 'week').values()), usd, f'{period}s sum to all')


def check_with_digests(where):
    """The digest that spends a budget tells it, and no later one."""
    store, told = 'sqlite:' + os.path.join(where, 'd.sqlite'), os.path.join(where, 'told2')
    options = ['--store', store, '--budget', 'team:vision=100', '--budget', 'run=50', '--exec',
               f'echo "$GPUSTARVE_ALERT_CONDITION" >> {told}']

    def add(*found, rc=0, more=()):
        done = gs.gpustarve('digest', '--from', '-', *options, *more, input=fleets.text(found))
        gs.equal(done.returncode, rc, f'digest --budget: {done.stderr}')
        return done.stderr.decode()

    now = fleets.away_from_midnight()
    gs.equal(add(short(1, 'vision', now, 3000)), '', '30 of 100')
    said = add(short(2, 'vision', now, 5500), short(3, 'speech', now, 100))
    gs.check('team vision cost $85.00 of $100.00' in said and 'run r2 cost $55.00' in said, f'in words: {said}')
    gs.equal(add(short(4, 'speech', now, 100)), '', 'nothing is told twice')
    gs.equal(fleetcheck.as_json(store, '--budget', 'team:vision=100', '--budget', 'run=50')['budgets'][0]['told'], False,
             'nor by fleet')
    gs.check('$100.00 of $100.00' in add(short(5, 'vision', now, 1500)), 'all of it')
    gs.equal(sorted(written(told, 3)), ['run=50 at 100 %', 'team:vision=100 at 100 %', 'team:vision=100 at 80 %'],
             'the command was started once for each')
    said = add(short(7, 'late', now - 7 * fleets.DAY + HOUR_NS, 9000), short(8, 'early', now - 40 * fleets.DAY, 9000),
               more=['--budget', 'team=100/week', '--budget', 'team=100/month'])
    gs.equal((said.count('team late cost $90.00'), said.count('team early')), (2, 0), f'the week and the month of a week ago: {said}')
    add(short(6, 'vision', now, 1), rc=1, more=['--budget', 'x=5'])
    done = gs.gpustarve('digest', 'RUN', '--budget', 'run=5')
    gs.check(done.returncode == 1 and b'--budget needs a store' in done.stderr, f'without a store: {done.stderr}')


def check_spike(where):
    """A year that scatters, then three times as much: that week and no other."""
    store, rng = 'sqlite:' + os.path.join(where, 's.sqlite'), random.Random(5)
    usual = [run(w, 'vision', fleets.MONDAY + w * 7 * fleets.DAY, round(rng.gauss(100000, 10000))) for w in range(52)]
    put(store, usual)
    gs.equal(fleetcheck.as_json(store)['spikes'], [], 'a year of noise')
    put(store, [run(99, 'vision', fleets.MONDAY + 52 * 7 * fleets.DAY, 300000)])
    for options in [], ['--since', '2027-01-01']:
        got = [(s['team'], s['week'], float(s['usd'])) for s in fleetcheck.as_json(store, *options)['spikes']]
        gs.equal(got, [('vision', '2027-01-04', 3000.0)], f'the spike {options}')


def check_killed(where):
    """Writers killed at any moment: the store holds whole runs, and what they sent again makes it whole."""
    path, rng = os.path.join(where, 'k.sqlite'), random.Random(6)
    store, found = 'sqlite:' + path, fleets.digests(3000, seed=6)
    for _ in range(6):
        p = subprocess.Popen([gs.CLI, 'digest', '--from', '-', '--store', store], stdin=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env=gs.environment())
        try:
            p.stdin.write(fleets.text(rng.sample(found, len(found))))
            p.stdin.flush()
        except BrokenPipeError:
            pass
        time.sleep(rng.random() * 0.4)
        p.send_signal(signal.SIGKILL)
        p.wait()
        if os.path.exists(path):
            done = gs.gpustarve('fleet', '--store', store, '--format', 'json')
            gs.check(done.returncode == 0 or b'no store' in done.stderr, f'after a kill: {done.stderr}')
            said = json.loads(done.stdout) if done.stdout else None
            gs.check(not said or said['total']['held_ns'] == sum(c['held_ns'] for c in said['by']['week']), 'sums hold')
    put(store, found)
    fleetcheck.check_all(store, found, 'after kills')


def check_together(where):
    store = 'sqlite:' + os.path.join(where, 't.sqlite')
    found = fleets.digests(2000, seed=8)
    parts = [found[:1200], found[800:]]  # some of them from both
    running = []
    for part in parts:
        file = os.path.join(where, f'part{len(running)}')
        with open(file, 'wb') as f:
            f.write(fleets.text(part))
        running.append(subprocess.Popen([gs.CLI, 'digest', '--from', file, '--store', store], env=gs.environment()))
    gs.equal([p.wait() for p in running], [0, 0], 'two writers')
    fleetcheck.check_all(store, found, 'two writers')


with gs.scratch() as where:
    check_budgets(where)
    check_with_digests(where)
    check_periods(where)
    check_zones(where)
    check_spike(where)
    check_killed(where)
    check_together(where)
gs.finish()
