#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""A fleet in the currency of the site's choice: every amount is the exact product with the rate, rounded once, cents
close, and the rate's source and date stand in text, page, JSON, CSV and FOCUS; an invoice in it is reconciled to the
cent. A rate without a source or a date is none, and nothing is shown in it."""
import csv
import io
import json
import os
import re
import sys
from fractions import Fraction

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleets
import fleetcheck
import gs

HEAD = 'currency,per_usd,source,date\n'
RATES = [('EUR', '0.8612'), ('JPY', '151.123456789'), ('VND', '26123.5')]
DAY = '2026-11-27'


def written(where, text):
    path = os.path.join(where, 'currency.csv')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    return path


def rounded(amount):
    return fleets.even(amount.numerator, amount.denominator)


def nano_of(usd, rate):
    """Billionths of the currency, of nano-dollars."""
    return rounded(usd * Fraction(rate))


def check_json(store, file, found, code, rate):
    said = json.loads(fleetcheck.fleet(store, '--currency', file, '--format', 'json'), parse_float=Fraction)
    plain = json.loads(fleetcheck.fleet(store, '--format', 'json'), parse_float=Fraction)
    c = said['currency']
    gs.equal((plain['currency'], c['code'], Fraction(c['per_usd']), c['source'], c['date']),
             (None, code, Fraction(rate), 'a "bank", Inc', DAY), 'the rate')
    gs.equal({k: v for k, v in said.items() if k != 'currency'}, {k: v for k, v in plain.items() if k != 'currency'},
             'dollars are as they were')
    total = sum(l.get('usd', 0) for d in found for l in d['gpus'])
    nano = nano_of(total, rate)
    gs.equal((Fraction(c['amount']) * 10**9, c['total_cents']), (nano, fleets.even(nano, fleets.CENT)), 'the whole')
    gs.equal((sum(c['bill_cents']), len(c['bill_cents'])), (c['total_cents'], len(said['bill']['lines'])), 'the bill closes')
    for t in c['tables']:
        want = {k: nano_of(s['usd'], rate) for k, s in fleets.grouped(found, t['by']).items()}
        gs.equal({r['name'] or '': Fraction(r['amount']) * 10**9 for r in t['rows']}, want, f'by {t["by"]}')
        gs.equal(sum(r['cents'] for r in t['rows']), c['total_cents'], f'by {t["by"]}: cents')
    gs.equal({t['by'] for t in c['tables']}, set(fleetcheck.DIMS), 'tables')
    fleetcheck.fits(json.loads(fleetcheck.fleet(store, '--currency', file, '--format', 'json')))
    return c


def check_shown(store, file, code, rate, c):
    whole = f'{code} {c["total_cents"] // 100:,}'
    for form in 'text', 'html':
        out = fleetcheck.fleet(store, '--currency', file, '--format', form).decode()
        told = re.sub(r'\s+', ' ', re.sub(r'<[^>]+>', '', out).replace('&quot;', '"'))
        gs.check(f'in {code}, at {rate} for a dollar (a "bank", Inc, {DAY})' in told, f'{form}: the rate: {told[:500]}')
        gs.check(whole in told, f'{form}: {whole}')
        gs.equal([l for l in re.findall(r'[^\n]*(?:\$\d|\u00a2)[^\n]*', out) if 'GPU-hour' not in l][:3], [], f'{form}: no dollars')
    told = re.sub(r'\s+', ' ', fleetcheck.fleet(store, '--currency', file, '--by', 'label:experiment').decode())
    gs.check(f'samples: {code} ' in told, f'units: {told[-600:]}')


def check_csv(store, file, found, code, rate, c):
    for by in [], ['--by', 'team'], ['--by', 'class'], ['--by', 'run'], ['--by', 'failed']:
        rows = list(csv.DictReader(io.StringIO(fleetcheck.fleet(store, '--currency', file, '--format', 'csv', *by).decode())))
        gs.equal({(r['currency'], r['per_usd'], r['rate_source'], r['rate_date']) for r in rows},
                 {(code, rate, 'a "bank", Inc', DAY)}, f'CSV {by}: the rate')
        gs.check(not any('usd' in k.replace('per_usd', '') for k in rows[0]), f'CSV {by}: {list(rows[0])}')
        name = code.lower()
        if not by:
            gs.equal((sum(Fraction(r[name] or 0) for r in rows[:-1]) * 100, Fraction(rows[-1][name]) * 100),
                     (c['total_cents'], c['total_cents']), 'the bill as CSV')
        if by == ['--by', 'team']:
            want = {k or 'untagged': (nano_of(s['usd'], rate), nano_of(s['wasted_usd'], rate))
                    for k, s in fleets.grouped(found, 'team').items()}
            gs.equal({r['team']: (Fraction(r[name]) * 10**9, Fraction(r['wasted_' + name]) * 10**9) for r in rows}, want, by)


def check_focus(store, file, found, code, rate):
    rows = list(csv.DictReader(io.StringIO(fleetcheck.fleet(store, '--currency', file, '--format', 'focus').decode())))
    gs.equal({(r['BillingCurrency'], r['x_ExchangeRate'], r['x_ExchangeRateSource'], r['x_ExchangeRateDate']) for r in rows},
             {(code, rate, 'a "bank", Inc', DAY)}, 'FOCUS: the rate')
    exact = [Fraction(r['x_ExactCost']) * 10**9 for r in rows]
    usd = [Fraction(r['x_ExactCostUsd']) * 10**9 for r in rows]
    gs.equal(exact, [nano_of(u, rate) for u in usd], 'each row')
    gs.equal(sum(usd), sum(l.get('usd', 0) for d in found for l in d['gpus']), 'the whole, in dollars')
    gs.equal(sum(Fraction(r['EffectiveCost']) for r in rows) * 100, rounded(sum(exact) / fleets.CENT), 'cents close')
    one = rows[0]
    prices = {nano_of(l['price']['per_gpu_hour'], rate) for d in found for l in d['gpus'] if 'price' in l}
    gs.check(Fraction(one['ListUnitPrice']) * 10**9 in prices, 'the price of an hour, too')


def check_invoice(where, store, found):
    """In the currency: recorded dollars at the rate; in one that nobody chose it is refused."""
    path = os.path.join(where, 'invoice.csv')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('BilledCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,PricingQuantity,PricingUnit\n'
                '123456.789,EUR,2026-01-01T00:00:00Z,2027-01-01T00:00:00Z,98765.4321,GPU-Hours\n'
                '10.005,EUR,2026-01-01T00:00:00Z,2027-01-01T00:00:00Z,1,GB\n')
    done = gs.gpustarve('fleet', '--store', store, '--invoice', path)
    gs.check(done.returncode == 1 and b'--currency' in done.stderr, f'another currency: {done.stderr}')
    file = written(where, HEAD + f'EUR,0.8612,ECB,{DAY}\n')
    options = ['--currency', file, '--invoice', path, '--since', '2026-01-01', '--until', '2027-01-01']
    i = json.loads(fleetcheck.fleet(store, *options, '--format', 'json'), parse_float=Fraction)['invoice']
    usd = sum(l.get('usd', 0) for d in found for l in d['gpus'])
    gs.check(abs(i['cents']['recorded'] - Fraction(nano_of(usd, '0.8612'), fleets.CENT)) <= 1, f'recorded in euros: {i}')
    gs.equal(sum(i['cents'].values()), i['total_cents'], 'they sum to the invoice')
    gs.equal(i['total_cents'], rounded(Fraction('12346679.4')), 'the invoice')
    text = fleetcheck.fleet(store, *options).decode()
    gs.check('EUR 123,466.79  the invoice' in text and '$' not in text.split('By team')[0], f'as text: {text[:900]}')
    rows = fleetcheck.fleet(store, *options, '--format', 'csv').decode().splitlines()
    gs.check(rows[0].startswith('charge,eur,cut_rows,cut,outside,currency') and f',EUR,0.8612,ECB,{DAY}' in rows[1], f'as CSV: {rows[:2]}')


def check_refused(where, store):
    for text, said in ((HEAD + f'EUR,0.86,,{DAY}\n', 'no source'), (HEAD + 'EUR,0.86,ECB,\n', 'no date'),
                       (HEAD + 'EUR,0.86,ECB,27.11.2026\n', 'no date'), (HEAD + f'EUR,0,ECB,{DAY}\n', 'per_usd'),
                       (HEAD + f'EUR,-1,ECB,{DAY}\n', 'per_usd'), (HEAD + f'EUR,0.8612345678912,ECB,{DAY}\n', 'per_usd'),
                       (HEAD + f'EUR,1e9,ECB,{DAY}\n', 'per_usd'), (HEAD + f'EUR,1000001,ECB,{DAY}\n', 'per_usd'),
                       (HEAD + f'eur,0.86,ECB,{DAY}\n', 'capital'), (HEAD + f'EURO,0.86,ECB,{DAY}\n', 'capital'),
                       (HEAD + f'EUR,0.86,ECB,{DAY}\nCHF,0.8,SNB,{DAY}\n', 'several'), (HEAD, 'no rate'), ('', 'columns'),
                       ('currency,per_usd,date\nEUR,1,2026-01-01\n', 'columns'), (HEAD + f'USD,0.9,ECB,{DAY}\n', 'dollar'),
                       ('\0' * 99, 'columns')):
        path = written(where, text)
        done = gs.gpustarve('fleet', '--store', store, '--currency', path)
        gs.check(done.returncode == 1 and not done.stdout and said in done.stderr.decode(), f'{text!r}: {done.stderr}')
    done = gs.gpustarve('fleet', '--store', store, '--currency', os.path.join(where, 'none.csv'))
    gs.check(done.returncode == 1 and b'none.csv' in done.stderr, 'a file that is not there')
    for text in f'USD,1,the same,{DAY}\n', f'USD,1.000,the same,{DAY}\n':
        gs.equal(fleetcheck.fleet(store, '--currency', written(where, HEAD + text)), fleetcheck.fleet(store), 'dollars')


with gs.scratch() as where:
    store = 'sqlite:' + os.path.join(where, 'f.sqlite')
    found = fleets.digests(400, seed=11)
    gs.equal(gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found)).returncode, 0, 'digests')
    for code, rate in RATES:
        file = written(where, f'# the site\'s\n{HEAD}{code},{rate},"a ""bank"", Inc",{DAY}\n')
        c = check_json(store, file, found, code, rate)
        check_shown(store, file, code, rate, c)
        check_csv(store, file, found, code, rate, c)
        check_focus(store, file, found, code, rate)
    done = gs.gpustarve('fleet', '--store', store, env=gs.environment(GPUSTARVE_CURRENCY=file))
    gs.check(b'in VND, at 26123.5' in done.stdout, "the site's setting")
    done = gs.gpustarve('fleet', '--store', store, '--currency', 'none', env=gs.environment(GPUSTARVE_CURRENCY=file))
    gs.check(b'VND' not in done.stdout and b'$' in done.stdout, 'and without')
    small = 'sqlite:' + os.path.join(where, 'small.sqlite')
    d = fleets.digest(fleets.random.Random(1), 1)
    d['gpus'] = [dict(d['gpus'][0], held_ns=10**9, usd=4321000, price={'model': 'spot', 'per_gpu_hour': 15555600000,
                                                                     'label': 'l', 'source': 's', 'date': DAY})]
    gs.equal(gs.gpustarve('digest', '--from', '-', '--store', small, input=fleets.text([d])).returncode, 0, 'a digest')
    file = written(where, HEAD + f'EUR,0.5,ECB,{DAY}\n')
    gs.check(b'EUR 0.00216' in fleetcheck.fleet(small, '--currency', file), 'less than a cent')
    check_invoice(where, store, found)
    check_refused(where, store)
gs.finish()
