#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Hours that interactive runs held GPUs overnight and at weekends: 300 made-up runs in several zones, over days on
which clocks are set, to the nanosecond and the cent against a count by another calendar; by user, within a stretch."""
import csv
import datetime
import io
import json
import os
import random
import sys
import zoneinfo
from fractions import Fraction

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleetcheck
import fleets
import gs

S = 10**9
ZONES = ('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC', 'Pacific/Auckland')
FIRST = datetime.date(2026, 2, 20)
WHENS = ('daytime', 'overnight', 'weekend')


def marks(zone, days):
    """(when it begins, what it is): 0:00, 7:00 and 19:00 of each day by the zone's clock."""
    out = []
    for n in range(days):
        day = FIRST + datetime.timedelta(days=n)
        for hour, when in ((0, 'overnight'), (7, 'daytime'), (19, 'overnight')):
            at = datetime.datetime(day.year, day.month, day.day, hour, tzinfo=zoneinfo.ZoneInfo(zone))
            out.append((int(at.timestamp()) * S, 'weekend' if day.weekday() >= 5 else when))
    return out


def upto(whole, start, wall, t):
    return 0 if t <= start else whole if t >= start + wall else whole * (t - start) // wall


def expected(runs, zone, since, until):
    """{(user, when): [runs, held ns, nano-dollars]}"""
    cut, out = marks(zone, 90), {}
    for d in runs:
        if d['kind'] != 'interactive':
            continue
        start, wall = d['start_unix_ns'], d['wall_ns']
        for i, l in enumerate(d['gpus']):
            seen = set()
            for (a, when), (b, _) in zip(cut, cut[1:]):
                a, b = max(a, start, since), min(b, start + wall, until)
                if a >= b:
                    continue
                sums = out.setdefault((d['user'], when), [0, 0, 0])
                sums[0] += i == 0 and when not in seen
                seen.add(when)
                for k, key in ((1, 'held_ns'), (2, 'usd')):
                    sums[k] += upto(l.get(key, 0), start, wall, b) - upto(l.get(key, 0), start, wall, a)
    return out


def made(rng, n):
    d = fleets.digest(rng, n)
    begin = int(datetime.datetime(2026, 3, 1, tzinfo=datetime.timezone.utc).timestamp()) * S
    return dict(d, kind=rng.choice(['interactive'] * 3 + ['training', 'unknown']), user=f'user{rng.randrange(6)}',
                start_unix_ns=begin + rng.randrange(50 * 24 * 3600 * S), wall_ns=rng.randrange(1, 9 * 24 * 3600 * S))


def rows(store, by, zone, *options):
    out = json.loads(fleetcheck.fleet(store, '--by', by, '--timezone', zone, '--format', 'json', *options),
                     parse_float=Fraction)
    return {r['name']: [r['runs'], r['held_ns'], int(r['usd'] * 10**9)] for r in out['by'][by]}


def summed(found, key):
    out = {}
    for k, v in found.items():
        if key(k) is not None:
            out[key(k)] = [a + b for a, b in zip(out.get(key(k), [0, 0, 0]), v)]
    return out


def check_zone(store, runs, zone, options, since, until):
    want = expected(runs, zone, since, until)
    gs.equal(rows(store, 'hours', zone, *options), summed(want, lambda k: k[1]), f'{zone} {options}: hours')
    got = rows(store, 'off-hours', zone, *options)
    users = summed(want, lambda k: k[0] if k[1] != 'daytime' else None)
    gs.equal({k: v[1:] for k, v in got.items()}, {k: v[1:] for k, v in users.items()}, f'{zone} {options}: off-hours')
    gs.check(all(v[0] <= users[k][0] for k, v in got.items()), f'{zone}: a run counts once')


def check_month(store, out, options):
    """Text, page and CSV of months that are cut say what JSON says, with the prices and remarks that belong to it."""
    total, bill = out['total'], out['bill']
    gs.equal(sum(p['usd'] for p in out['prices']), total['usd'], 'months: what was paid at each price')
    gs.check(0 <= bill['untagged_cents'] <= bill['total_cents'], f'months: a part is no more than the whole: {bill["untagged_cents"]}')
    gs.equal(sum(l['cents'] for l in bill['lines'] if l['team'] is None), bill['untagged_cents'], 'months: of no team')
    rows = list(csv.DictReader(io.StringIO(fleetcheck.fleet(store, '--by', 'month', '--format', 'csv', *options).decode())))
    gs.equal((sum(Fraction(r['usd']) for r in rows), sum(int(r['held_ns']) for r in rows)), (total['usd'], total['held_ns']), 'months: CSV')
    for form in 'text', 'html':
        said = ' '.join(fleetcheck.fleet(store, '--by', 'month', '--format', form, *options).decode().split())
        gs.equal(('Prices' in said, 'on a simulated GPU' in said), (bool(out['prices']), total['simulated_runs'] > 0), f'months: {form}')


def check_head(store, runs, options, since, until):
    """What the head says is what lies within the bounds of every run, and the months sum to it."""
    want = [0, 0, 0]
    for d in runs:
        a, b, wall = d['start_unix_ns'], d['start_unix_ns'] + d['wall_ns'], d['wall_ns']
        if max(a, since) >= min(b, until):
            continue
        want[0] += 1
        for l in d['gpus']:
            for k, key in ((1, 'held_ns'), (2, 'usd')):
                want[k] += upto(l.get(key, 0), a, wall, until) - upto(l.get(key, 0), a, wall, since)
    for by in ['month'], ['hours'], ['off-hours'], ['plan']:
        asked = ['--plan'] if by == ['plan'] else ['--by', *by]
        out = json.loads(fleetcheck.fleet(store, *asked, '--format', 'json', *options), parse_float=Fraction)
        fleetcheck.fits(json.loads(fleetcheck.fleet(store, *asked, '--format', 'json', *options)))
        if not options:
            gs.check('begun' not in out, f'{by}: without bounds')
            continue
        gs.equal([out['total']['runs'], out['total']['held_ns'], int(out['total']['usd'] * 10**9)], want, f'{by}: the head')
        if by == ['month']:
            for key in 'held_ns', 'usd':
                gs.equal(sum(r[key] for r in out['by']['month']), out['total'][key], f'months: {key}')
            gs.equal(sum(r['cents'] for r in out['by']['month']), round(out['total']['usd'] * 100), 'months: cents')
            check_month(store, out, options)
        text = fleetcheck.fleet(store, *asked, *options).decode()
        gs.check(text.startswith(f'{want[0]} runs, ') and f' of them, from' in text.split('\n')[0], text[:200])


def check_shown(store, runs):
    table = list(csv.DictReader(io.StringIO(fleetcheck.fleet(store, '--by', 'hours', '--timezone', 'Europe/Berlin',
                                                             '--format', 'csv').decode())))
    want = summed(expected(runs, 'Europe/Berlin', 0, 2**62), lambda k: k[1])
    gs.equal({r['hours']: int(r['held_ns']) for r in table}, {k: v[1] for k, v in want.items()}, 'CSV')
    for form in 'text', 'html':
        for by in 'hours', 'off-hours':
            out = fleetcheck.fleet(store, '--by', by, '--timezone', 'Europe/Berlin', '--format', form).decode()
            gs.check('in Europe/Berlin' in ' '.join(out.split()) and ('overnight' in out if by == 'hours' else 'user3' in out),
                     f'{form} {by}: {out[:600]}')
    document = json.loads(fleetcheck.fleet(store, '--by', 'off-hours', '--format', 'json'))
    fleetcheck.fits(document)
    for bad in 'Nowhere/There', '../../etc/passwd', '/etc/passwd', '':
        done = gs.gpustarve('fleet', '--store', store, '--timezone', bad)
        gs.check(done.returncode == 1 and not done.stdout and b'--timezone' in done.stderr, f'{bad!r}: {done.stderr}')
    by_env = gs.gpustarve('fleet', '--store', store, '--by', 'hours', '--format', 'csv',
                          env=gs.environment(TZ='Europe/Berlin')).stdout
    gs.equal(by_env, fleetcheck.fleet(store, '--by', 'hours', '--timezone', 'Europe/Berlin', '--format', 'csv'), 'of TZ')


with gs.scratch() as where:
    rng = random.Random(6)
    runs = [made(rng, n) for n in range(300)]
    long = dict(made(rng, 900), kind='interactive', wall_ns=2**62)  # longer than anybody lives
    store = 'sqlite:' + os.path.join(where, 'f.sqlite')
    gs.equal(gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(runs)).returncode, 0, 'digests')
    day = [int(datetime.datetime(2026, 3, d, tzinfo=datetime.timezone.utc).timestamp()) * S for d in (8, 30)]
    for zone in ZONES:
        check_zone(store, runs, zone, [], 0, 2**62)
        check_zone(store, runs, zone, ['--since', '2026-03-08', '--until', '2026-03-30'], *day)
    bounds = ['--since', '2026-03-08', '--until', '2026-03-30']
    check_head(store, runs, [], 0, 2**62)
    check_head(store, runs, bounds, *day)
    check_shown(store, runs)
    other = 'sqlite:' + os.path.join(where, 'long.sqlite')
    gs.equal(gs.gpustarve('digest', '--from', '-', '--store', other, input=fleets.text([long])).returncode, 0, 'a digest')
    held = sum(v[1] for v in rows(other, 'hours', 'Europe/Berlin').values())
    gs.equal(held, sum(l['held_ns'] for l in long['gpus']), 'a run without an end is of some hours, as a whole')
gs.finish()
