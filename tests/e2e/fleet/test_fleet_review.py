#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The review of a made-up year: one page answers who holds idle GPUs, what nobody recorded, which fixes are the dearest, how
teams' last month stands against the one before, and which runs wasted most, each as the year was made; the same as JSON,
CSV and text; a month that is not over; another currency; nothing at all."""
import csv
import html.parser
import io
import json
import os
import sys
from fractions import Fraction

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleetcheck
import fleets
import fleetyear
import gs

CENT = 10**7


class Page(html.parser.HTMLParser):
    """Tables by the id of their heading: rows of cells; and what else is said."""
    def __init__(self, text):
        super().__init__()
        self.tables, self.id, self.cell, self.said = {}, None, None, ''
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == 'h2':
            self.id = dict(attrs)['id']
        elif tag == 'tr':
            self.tables.setdefault(self.id, []).append([])
        elif tag in ('td', 'th'):
            self.cell = ''

    def handle_endtag(self, tag):
        if tag in ('td', 'th'):
            self.tables[self.id][-1].append(' '.join(self.cell.split()))
            self.cell = None
        elif tag in ('p', 'li', 'dd', 'h1'):
            self.said += '\n'

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        self.said += data


def money(nano):
    return f'${fleets.even(nano, CENT) / 100:,.2f}'


def signed(usd):
    return ('-' if usd < 0 else '') + money(abs(nano(usd)))


def about(text, nano, what):
    """Cents that close may be one off."""
    gs.check(text[0] in '$+-' and abs(Fraction(text.replace('$', '').replace(',', '')) - Fraction(nano, 10**9)) <= Fraction(1, 100),
             f'{what}: {text} is not {money(nano)}')


def ask(store, *options, form='json', status=0):
    done = gs.gpustarve('fleet', '--store', store, '--by', 'review', '--format', form, *options)
    gs.equal(done.returncode, status, f'{options}: {done.stderr.decode()[-400:]}')
    return done.stdout.decode()


def check_page(text, year):
    """The five answers, on one page."""
    page = Page(text)
    idle = sorted(year.idle().items(), key=lambda i: (-i[1][1], -i[1][0], i[0]))
    gs.equal([r[0] for r in page.tables['idle'][1:]], [u for u, _ in idle][:10], 'who holds idle GPUs')
    for row, (user, (minutes, usd)) in zip(page.tables['idle'][1:], idle):
        about(row[1], usd, user)
        gs.equal(row[2], f'{fleets.even(minutes * 100, 60) / 100:,.2f}', f'{user}: hours')
    gs.equal(idle[0][0], fleetyear.IDLER, 'the one who was made so')

    ns, given = year.unrecorded()
    rows = {r[0]: r for r in page.tables['allocated'][1:]}
    gs.equal(set(rows) - {'All'}, set(ns), 'accounts')
    gs.equal(rows[fleetyear.UNWRAPPED][4], '100.0', 'who wraps nothing')
    gs.check(abs(Fraction(rows['All'][4]) - Fraction(100 * sum(ns.values()), given)) <= Fraction(1, 10), f'unrecorded: {rows["All"]}')
    about(page.tables['invoice'][-1][1], int(year.charged() * 10**9), 'the invoice')

    fixes = year.fixes()
    gs.equal(len(page.tables['open']) - 1, 10, 'ten fixes')
    for row, (usd, program, _, runs) in zip(page.tables['open'][1:], fixes):
        gs.check(f', {program} of ' in row[0] and f' in {runs} run' in row[0], f'{program}: {row}')
        about(row[1], usd, program)

    months = year.months()
    gs.equal(page.tables['months'][0], ['Team', 'November 2026', 'December 2026', 'Change', 'Change %', 'Wasted %'], 'months')
    rows = {r[0]: r for r in page.tables['months'][1:]}
    gs.equal(list(rows), sorted(months, key=lambda t: -months[t][1]) + ['All'], 'teams')
    for team, (november, december) in months.items():
        about(rows[team][1], november, f'{team}, November')
        about(rows[team][2], december, f'{team}, December')
        gs.equal(rows[team][4][0], '+' if december > november else '-', f'{team}: {rows[team]}')
    sums = [sum(Fraction(rows[t][i].replace('$', '').replace(',', '')) for t in months) for i in (1, 2, 3)]
    gs.equal(sums, [Fraction(rows['All'][i].replace('$', '').replace(',', '')) for i in (1, 2, 3)], 'columns close')

    wasting = year.wasting()
    gs.equal(len(page.tables['wasting']) - 1, 10, 'ten runs')
    for row, (usd, _) in zip(page.tables['wasting'][1:], wasting):
        about(row[1], usd, row[0])
    gs.equal({r[0] for r in page.tables['wasting'][1:]} - {r for u, r in wasting if u >= wasting[9][0]}, set(), 'which runs')
    for said in (f'most: {fleetyear.IDLER}, {money(idle[0][1][1])}', f'most: account {fleetyear.UNWRAPPED}', f'{len(fixes)} open',
                 f'{fleetyear.GROWS} grew most: ', f'ost by {page.tables["wasting"][1][0]} of '):
        gs.check(said in page.said, f'said first: {said}')
    return page


def nano(v):
    return int(v * 10**9)


def check_json(store, year, options):
    """Exactly, and the page's figures are its figures."""
    document = fleetcheck.as_json(store, '--by', 'review', *options)
    fleetcheck.fits(json.loads(ask(store, *options)))
    review = document['review']
    gs.equal({r['user']: (r['minutes'], nano(r['usd'])) for r in review['idle']}, year.idle(), 'idle')
    gs.equal({t['name']: (nano(t['before_usd']), nano(t['usd'])) for t in review['team']}, year.months(), 'months')
    gs.equal([nano(o['usd']) for o in document['savings']['open']], [f[0] for f in year.fixes()][:10], 'fixes')
    gs.equal([o['last_run'] for o in document['savings']['open']], [f[2] for f in year.fixes()][:10], 'their last runs')
    gs.equal([nano(r['wasted_usd']) for r in review['runs']], [u for u, _ in year.wasting()][:10], 'runs')
    ns, given = year.unrecorded()
    gs.equal({a['name']: a['not_wrapped_ns'] for a in document['allocated']['account']}, ns, 'not recorded')
    gs.equal((document['allocated']['allocated_ns'], document['invoice']['total_cents']), (given, year.charged() * 100), 'given, charged')
    gs.equal((review['month_is_whole'], review['month']['since_unix_ns'], review['before']['since_unix_ns']),
             (True, fleetyear.moment(12), fleetyear.moment(11)), 'which months')
    rows = list(csv.DictReader(io.StringIO(ask(store, *options, form='csv'))))
    exact = {(r['answer'], r['name']): r for r in rows}
    gs.equal(nano(Fraction(exact['month', 'speech']['before_usd'])), year.months()['speech'][0], 'CSV')
    gs.equal(nano(Fraction(exact['idle', 'ivo']['usd'])), year.idle()['ivo'][1], 'CSV, idle')
    gs.check(abs(Fraction(exact['unrecorded', 'astro']['gpu_hours']) * fleets.HOUR - ns['astro']) <= 3600, 'CSV, unrecorded')
    gs.equal(sum(r['answer'] == 'fix' for r in rows), 10, 'CSV, fixes')


def check_plan(store):
    """The pages of plan and savings have the figures of their JSON, row by row."""
    given = ['--plan', '--reserved', 'H100=20', '--own', 'A100=18000,4,0.2', '--since', '2026-01-01', '--until', '2027-01-01']
    page = Page(fleetcheck.fleet(store, *given, '--format', 'html').decode())
    document = fleetcheck.as_json(store, *given)
    plan = page.tables['plan'][1:]
    gs.equal(len(plan), len(document['plan']['types']), 'a row for each kind of GPU')
    for row, t in zip(plan, document['plan']['types']):
        choices = [[str(c['gpus']), money(nano(c['usd'])), money(nano(c['unused_usd']))] if c else ['-'] * 3
                   for c in (t['reserved'], t['own'])]
        gs.equal(row[2:], [str(t['most']), money(nano(t['on_demand_usd'])), *choices[0], *choices[1]], row[0])
    gs.equal([r[1] for r in page.tables['open'][1:]], [money(nano(o['usd'])) for o in document['savings']['open']], 'open fixes')
    page = Page(fleetcheck.fleet(store, '--by', 'savings', '--format', 'html').decode())
    savings = fleetcheck.as_json(store, '--by', 'savings')['savings']
    gs.equal([r[1:] for r in page.tables['adopted'][1:]],
             [[signed(a['promised_usd']), signed(a['realised_usd'])] for a in savings['adopted']], 'adopted')


def check_part(store, year):
    """A month that is not over stands against as much of the one before."""
    until = fleetyear.moment(12, 10)
    review = fleetcheck.as_json(store, '--by', 'review', '--until', '2026-12-10')['review']
    gs.equal({t['name']: (nano(t['before_usd']), nano(t['usd'])) for t in review['team']}, year.months(until), 'up to the tenth')
    gs.equal((review['month_is_whole'], review['before']['until_unix_ns']), (False, fleetyear.moment(11, 10)), 'and as far')
    gs.check('December 2026 is not over: up to 2026-12-10' in ' '.join(ask(store, '--until', '2026-12-10', form='text').split()), 'said')
    march = fleetcheck.as_json(store, '--by', 'review', '--since', '2026-03-01', '--until', '2026-04-01')['review']
    gs.equal(march['before']['since_unix_ns'], fleetyear.moment(2), 'February, whatever --since says')
    gs.check(march['before']['usd'] > 0, 'has its dollars')


def check_currency(where, store, page):
    """All of the page in one currency."""
    rate = os.path.join(where, 'rate.csv')
    with open(rate, 'w', encoding='utf-8') as f:
        f.write('currency,per_usd,source,date\nEUR,0.5,bank,2026-01-01\n')
    text = ask(store, '--currency', rate, form='html')
    half = Page(text).tables
    gs.check('$' not in text.split('</h1>')[1].split('id="prices"')[0], 'no dollars')
    for table, column in ('idle', 1), ('open', 1), ('months', 2), ('wasting', 1):
        for a, b in zip(half[table][1:], page.tables[table][1:]):
            gs.equal(a[0], b[0], f'{table} in EUR: the same rows')
            whole = Fraction(b[column].replace('$', '').replace(',', ''))
            gs.check(abs(Fraction(a[column].replace('EUR', '').replace(',', '').strip()) * 2 - whole) <= Fraction(3, 100),
                     f'{table} in EUR: {a}, {b}')


def check_few(where):
    """Nothing, and what has no price, name or end in sight."""
    empty = f'sqlite:{where}/empty.sqlite'
    gs.gpustarve('digest', '--from', '-', '--store', empty, input=b'')
    most = 2**63 - 1
    line = {'gpu': '\u202e"<b>', 'gpus': 1, 'held_ns': 1, 'busy_ns': 0, 'starved_ns': 1, 'wasted_ns': 1, 'minutes': [1] * 6}
    odd = [{'schema': 'gpustarve.digest/1', 'revision': 1, 'run': '<script>&\'"', 'end': 'ok', 'simulated': False, 'verdict': 'busy',
            'start_unix_ns': at, 'wall_ns': wall, 'gpus': [line], 'classes': {}, 'lines': [], 'labels': {}, 'fixes': []}
           for at, wall in ((0, 0), (most // 2, most // 2), (5, most // 4))]
    for i, found in enumerate([[], *([d] for d in odd)]):
        store = f'sqlite:{where}/odd{i}.sqlite' if found else empty
        if found:
            done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found))
            gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
        for form in 'text', 'json', 'csv', 'html':
            out = ask(store, form=form)
            gs.check('<script>&' not in out or form in ('text', 'csv', 'json'), f'{form}: escaped')
    fleetcheck.fits(json.loads(ask(empty)))


with gs.scratch() as where:
    year = fleetyear.Year()
    store, jobs, invoice = f'sqlite:{where}/year.sqlite', os.path.join(where, 'jobs'), os.path.join(where, 'focus.csv')
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(year.digests))
    gs.equal(done.returncode, 0, f'digests: {done.stderr.decode()[-300:]}')
    for path, text in (jobs, '\n'.join(year.sacct) + '\n'), (invoice, year.invoice()):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
    options = ['--since', '2026-01-01', '--until', '2027-01-01', '--sacct', jobs, '--invoice', invoice]
    page = check_page(ask(store, *options, form='html'), year)
    check_json(store, year, options)
    check_plan(store)
    check_part(store, year)
    check_currency(where, store, page)
    check_few(where)
gs.finish()
