# SPDX-License-Identifier: Apache-2.0
"""What `gpustarve fleet` says of known digests, held against their sums: every table, every cent."""
import csv
import decimal
import io
import json
import os

import fleets
import gs
import schema

DIMS = (*fleets.names(), 'gpu', 'model', 'week', 'end')
NANO = decimal.Decimal(10)**9


def nano(v):
    return int(v * NANO)


def fleet(store, *options, rc=0):
    done = gs.gpustarve('fleet', '--store', store, *options)
    gs.equal(done.returncode, rc, f'fleet {options}: {done.stderr.decode()[-500:]}')
    return done.stdout


def as_json(store, *options, rc=0):
    out = fleet(store, '--format', 'json', *options, rc=rc)
    return json.loads(out, parse_float=decimal.Decimal) if out else {}


def sums_of(row):
    out = {k: nano(decimal.Decimal(row[k])) if k.endswith('usd') else row[k] for k in fleets.SUMS}
    out['minutes'] = row['minutes']
    return out


def check_dim(name, rows, want, cents, what):
    got = {r['name'] or '': sums_of(r) for r in rows}
    gs.equal(len(got), len(rows), f'{what}: each {name} stands once')
    gs.equal(sorted(got), sorted(want), f'{what}: names by {name}')
    for key, sums in want.items():
        gs.equal(got.get(key), sums, f'{what}: by {name}: {key!r}')
    gs.equal(sum(r['cents'] for r in rows), cents, f'{what}: cents by {name}')
    for r in rows:
        gs.check(abs(r['cents'] * fleets.CENT - nano(decimal.Decimal(r['usd']))) <= fleets.CENT,
                 f'{what}: {name} {r["name"]!r} is off by more than a cent')


def check_bill(bill, found, what):
    keys = ('team', 'project', 'user', 'gpu', 'model')
    want = fleets.grouped(found, *keys)
    got = {tuple(l[k] or '' for k in keys): l for l in bill['lines']}
    gs.equal(sorted(got), sorted(want), f'{what}: lines of the bill')
    total = sum(s['usd'] for s in want.values())
    gs.equal(bill['total_cents'], fleets.even(total, fleets.CENT), f'{what}: total of the bill')
    gs.equal(sum(l['cents'] for l in bill['lines']), bill['total_cents'], f'{what}: the bill closes')
    teams, cents = fleets.grouped(found, 'team'), {}
    for key, line in got.items():
        cents[key[0]] = cents.get(key[0], 0) + line['cents']
        gs.equal(nano(decimal.Decimal(line['usd'])), want[key]['usd'], f'{what}: bill {key}')
        gs.check(abs(line['cents'] * fleets.CENT - want[key]['usd']) <= fleets.CENT, f'{what}: cents of {key}')
    for team, c in cents.items():
        gs.check(abs(c * fleets.CENT - teams[team]['usd']) <= fleets.CENT, f'{what}: cents of team {team!r}')
    gs.equal(bill['untagged_cents'], cents.get('', 0), f'{what}: untagged')


def check_pairs(rows, want, keys, what):
    got = {tuple(r[k] or '' for k in keys): [r['runs'], r['ns'], nano(decimal.Decimal(r['usd']))] for r in rows}
    gs.equal(got, want, what)


def total_of(found):
    total = fleets.nothing()
    for d in found:
        for _, sums in fleets.facts(d):
            fleets.add(total, sums)
    return total


def check_all(store, found, what, since=None, until=None):
    """All tables of a store that holds these digests and no others. With bounds, which are to be whole seconds, what is
    summed of GPUs is cut there, and the rest is of the runs that began within them."""
    bounds = [] if since is None else ['--since', fleets.iso(since) + 'Z', '--until', fleets.iso(until) + 'Z']
    said = as_json(store, '--by', 'label:experiment', '--top', '1000000', *bounds)
    whole = found
    if bounds:
        whole = [d for d in found if since <= d['start_unix_ns'] < until]
        found = fleets.within(found, since, until)
        gs.equal(sums_of(said['begun']), total_of(whole), f'{what}: begun')
        fits(json.loads(fleet(store, '--format', 'json', *bounds)))
    total = total_of(found)
    gs.equal(sums_of(said['total']), total, f'{what}: total')
    cents = fleets.even(total['usd'], fleets.CENT)
    for name in DIMS:
        check_dim(name, said['by'][name], fleets.grouped(found, name), cents, what)
    check_dim('label', said['by']['label'], fleets.grouped(found, 'label:experiment'), cents, what)
    check_bill(said['bill'], found, what)
    check_pairs(said['by']['class'], fleets.pairs(whole, 'classes', 'class'), ('class',), f'{what}: classes')
    check_pairs(said['by']['line'], fleets.pairs(whole, 'lines', 'class', 'place'), ('class', 'place'),
                f'{what}: lines of code')
    check_pairs(said['by']['fix'], fleets.pairs(whole, 'fixes', 'id', 'class', 'place'), ('id', 'class', 'place'),
                f'{what}: fixes')
    failed = [d for d in whole if d['end'] not in ('ok', 'unknown')]
    gs.equal((said['failed']['count'], nano(decimal.Decimal(said['failed']['usd']))),
             (len(failed), sum(l.get('usd', 0) for d in failed for l in d['gpus'])), f'{what}: failed runs')
    gs.equal(sorted(r['run'] for r in said['failed']['runs']), sorted(d['run'] for d in failed), f'{what}: which')
    return said


def check_csv(store, found):
    """The bill as a spreadsheet gets it closes too, and each line is a line of the bill."""
    rows = list(csv.DictReader(io.StringIO(fleet(store, '--by', 'bill', '--format', 'csv').decode(), newline='')))
    cents = [int(r['usd'].replace('.', '')) for r in rows if r['usd']]
    gs.equal(sum(cents[:-1]), cents[-1], 'csv: the bill closes')
    gs.equal(len(rows) - 1, len(fleets.grouped(found, 'team', 'project', 'user', 'gpu', 'model')), 'csv: lines')
    for name in 'user', 'week':
        rows = list(csv.DictReader(io.StringIO(fleet(store, '--by', name, '--format', 'csv').decode(), newline='')))
        want = fleets.grouped(found, name)
        gs.equal({r[name]: nano(decimal.Decimal(r['usd'])) for r in rows}, {k: v['usd'] for k, v in want.items()},
                 f'csv by {name}')


def fits(document):
    """A report of `fleet --format json` is as docs/fleet.schema.json has it, without members that this does not name."""
    with open(os.path.join(gs.SOURCE, 'docs', 'fleet.schema.json'), encoding='utf-8') as f:
        want = schema.close({k: v for k, v in json.load(f).items() if k != '$id'})
    try:
        gs.equal(schema.errors(want, document)[:3], [], 'fits its schema')
    except ImportError:
        print('no jsonschema: the schema is not tried')
