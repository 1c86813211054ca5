# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""What kills threw away: digests tell it, and `fleet --by lost` sums it up by user and job as Python does,
to the nanosecond and the nano-dollar; digests of before and broken ones; other prices."""
import copy
import csv
import io
import json
import os
import random
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleets
import gs

PARTS = ('durable', 'unsaved', 'redone', 'unknown', 'lost')
NANO = 10**9


def made(count):
    """Half of them tell of saves; jobs of several runs; some without a job."""
    rng, out = random.Random(23), fleets.digests(count, seed=5)
    for i, d in enumerate(out):
        d['job'] = str(rng.randrange(count // 3))
        if i % 5 == 0:
            d['job'] = ''
        d.pop('saves', None)
        if i % 7 == 0:
            d['kind'] = 'inference' if i % 3 else 'interactive'
        if i % 2:
            continue
        d['saves'] = {'checkpoints': rng.randrange(100), 'kills': rng.randrange(4)}
        if i % 4:
            d['saves']['failures'] = i % 3
        for p in PARTS:
            if rng.random() < .6:
                d['saves'][p] = [rng.randrange(10**14), rng.randrange(10**11)]
    return out


def nano(usd):
    return round(float(usd) * NANO)


def who(d):
    return tuple(d.get(k, '') for k in ('tenant', 'job', 'user', 'team', 'cluster'))


def serves(d):
    """What saves nothing loses no work, whatever its digest tells."""
    return d.get('kind') == 'inference'


def told(found):
    """What a run lost is of unknown fate if another of its job began after its end: none tells what it began with."""
    out = copy.deepcopy(found)
    for d in out:
        end = d['start_unix_ns'] + d['wall_ns']
        if d['job'] and 'lost' in d.get('saves', {}) and any(who(o) == who(d) and o['start_unix_ns'] > end and not serves(o) for o in found):
            lost, unknown = d['saves'].pop('lost'), d['saves'].get('unknown', (0, 0))
            d['saves']['unknown'] = [lost[0] + unknown[0], lost[1] + unknown[1]]
    return out


def job(d):
    return (d['job'] or d['run'], d['user'], d.get('team', ''), d['cluster'])


def sums(found, key):
    out = {}
    for d in told(found):
        if 'saves' not in d or serves(d):
            continue
        s = out.setdefault(key(d), dict.fromkeys(['runs', 'kills', 'failures', 'checkpoints', 'held_ns', 'unpriced_ns', 'undecided_ns', 'undecided_usd'] +
                                                 [p + u for p in PARTS for u in ('_ns', '_usd')], 0))
        s['runs'] += 1
        s['kills'] += d['saves']['kills']
        s['failures'] += d['saves'].get('failures', 0)
        s['checkpoints'] += d['saves']['checkpoints']
        s['held_ns'] += sum(g['held_ns'] for g in d['gpus'])
        s['unpriced_ns'] += sum(g['held_ns'] for g in d['gpus'] if 'price' not in g)
        for p in PARTS:
            ns, usd = d['saves'].get(p, (0, 0))
            s[p + '_ns'] += ns
            s[p + '_usd'] += usd
            if p == 'unknown' and (d['saves']['kills'] or d['saves'].get('failures')):
                s['undecided_ns'] += ns
                s['undecided_usd'] += usd
    return out


def got(row, names):
    return tuple(row[n] or '' for n in names), {k: round(v * NANO) if k.endswith('_usd') else v
                                                for k, v in row.items() if k not in names}


def cost(s):
    return (-(s['lost_usd'] + s['redone_usd']), -(s['lost_ns'] + s['redone_ns']))


def compare(found, said):
    lost = said['lost']
    gs.equal(got({k: v for k, v in lost.items() if k not in ('user', 'job', 'serving_runs')}, ())[1], sums(found, lambda d: 0)[0],
             'all of it')
    gs.equal(lost['serving_runs'], sum(serves(d) for d in found), 'serving')
    users = sums(found, lambda d: (d['user'],))
    gs.equal(dict(got(r, ['name']) for r in lost['user']), users, 'by user')
    gs.equal([cost(got(r, ['name'])[1]) for r in lost['user']], sorted(cost(s) for s in users.values()), 'most first')
    some = {job(d) for d in found if 'saves' in d and not serves(d) and
            (d['saves']['kills'] or d['saves'].get('failures') or any(d['saves'].get(p, [0])[0] for p in PARTS[1:]))}
    jobs = sums(found, lambda d: job(d) if job(d) in some else None)
    jobs.pop(None, None)
    gs.equal(dict(got(r, ['name', 'user', 'team', 'cluster']) for r in lost['job']), jobs, 'by job')
    return jobs


def asked(store, *more):
    done = gs.gpustarve('fleet', '--store', store, '--by', 'lost', *more, '-o', '-')
    gs.equal(done.returncode, 0, f'{more}: {done.stderr.decode()[-300:]}')
    return done.stdout.decode()


def check_forms(found, store, jobs):
    import schema
    said = json.loads(asked(store, '--format', 'json'))
    gs.equal(schema.errors(schema.load(os.path.join(gs.SOURCE, 'docs', 'fleet.schema.json')), said), [], 'schema')
    rows = list(csv.DictReader(io.StringIO(asked(store, '--format', 'csv'))))
    gs.equal({(r['job'], r['user']): (int(r['lost_ns']), int(r['kills']), int(r['failures']), int(r['undecided_ns']), nano(r['undecided_usd'])) for r in rows},
             {(k[0], k[1]): (s['lost_ns'], s['kills'], s['failures'], s['undecided_ns'], s['undecided_usd']) for k, s in jobs.items()}, 'CSV')
    total = sums(found, lambda d: 0)[0]
    untold, serving = sum('saves' not in d and not serves(d) for d in found), sum(map(serves, found))
    for form in ('text', 'html'):
        text = asked(store, '--format', form)
        for part in (f'{total["kills"]} kills and {total["failures"]} failures threw away up to ', ', too, is not known', f'what {total["runs"]} runs held that tell of saves',
                     f'of {untold} runs nothing is known; {serving} runs are inference, which saves nothing: a stop loses the requests under way'):
            gs.check(part in ' '.join(text.split()), f'{form}: {part}: {text[:1500]}')


def check_unknown(where):
    """A job that began anew without a checkpoint: what the kill threw away is not known, and no amount of it is 0."""
    day, held = 86400 * NANO, 3600 * NANO
    one = dict(made(3)[0], wall_ns=held, job='scratch', user='ann')
    one['gpus'] = [dict(one['gpus'][0], held_ns=held, price={})]
    first, then = dict(one, run='a', start_unix_ns=day * 20000), dict(one, run='b', start_unix_ns=day * 20001)
    first['saves'] = {'checkpoints': 0, 'kills': 1, 'lost': [held, 5 * NANO]}
    then['saves'] = {'checkpoints': 0, 'kills': 0}
    for name, found, words, cell in (
            ('scratch', [first, then], 'whether 1 kill threw away 1.00 GPU-hours ($5.00), 50.0 % of what 2 runs held that tell of saves, is not known', 'not known'),
            ('both', [first, then, dict(first, run='c', job='other')], '2 kills threw away up to 1.00 GPU-hours ($5.00), 33.3 % of what 3 runs held that tell '
             'of saves; whether another 1.00 GPU-hours ($5.00), too, is not known', 'not known')):
        store = f'sqlite:{where}/{name}.sqlite'
        gs.equal(gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found)).returncode, 0, name)
        for form in ('text', 'html'):
            text = ' '.join(asked(store, '--format', form).split())
            for part in (words[1:], cell):
                gs.check(part in text, f'{name}, {form}: {part}: {text[:1500]}')
        text = asked(store)
        gs.check(any(line.split()[:2] == ['not', 'known'] and line.endswith('scratch of ann') for line in text.splitlines()), f'{name}: {text}')


def check_serving(where):
    """A server that was killed, alone and beside a training: it is in no amount and in no list."""
    held = 3600 * NANO
    one = dict(made(3)[0], wall_ns=held, job='', user='ann', start_unix_ns=86400 * NANO * 20000)
    one['gpus'] = [dict(one['gpus'][0], held_ns=held, price={})]
    one['saves'] = {'checkpoints': 0, 'kills': 1, 'lost': [held, 5 * NANO]}
    server, train = dict(one, run='server', kind='inference'), dict(one, run='train', kind='training')
    words = '1 run is inference, which saves nothing: a stop loses the requests under way'
    for name, found, part in (('server', [server], words), ('two', [server, train], f'1 kill threw away up to 1.00 GPU-hours ($5.00), 100.0 % of what 1 run held '
                                                           f'that tells of saves; {words}')):
        store = f'sqlite:{where}/serving-{name}.sqlite'
        gs.equal(gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found)).returncode, 0, name)
        for form in ('text', 'html'):
            text = ' '.join(asked(store, '--format', form).split())
            gs.check(part[1:] in text and ('$5.00' in text) == (name == 'two'), f'{name}, {form}: {part}: {text[:1500]}')
        if name == 'two':
            compare(found, json.loads(asked(store, '--format', 'json')))
        rows = list(csv.DictReader(io.StringIO(asked(store, '--format', 'csv'))))
        gs.equal([r['job'] for r in rows], ['train'] if name == 'two' else [], f'{name}: CSV')


def check_durable(where):
    """A restart that lost nothing, and a run before the kill: a job with anything to tell tells of all its runs, as its user
    does; one that has nothing of the kind stays away."""
    day, held = 86400 * NANO, 3600 * NANO
    one = dict(made(3)[0], wall_ns=held, job='twice', user='ann', start_unix_ns=day * 20000)
    one['gpus'] = [dict(one['gpus'][0], held_ns=held, price={})]
    whole = {'checkpoints': 2, 'kills': 0, 'durable': [held, 5 * NANO]}
    broke = {'checkpoints': 1, 'kills': 1, 'durable': [held // 2, 3 * NANO], 'unknown': [held // 2, 2 * NANO]}
    found = [dict(one, run='a', saves=whole), dict(one, run='b', start_unix_ns=day * 20001, saves=broke),
             dict(one, run='c', start_unix_ns=day * 20002, saves=whole), dict(one, run='d', job='calm', user='ben', saves=whole)]
    for order in found, found[::-1]:
        store = f'sqlite:{where}/durable-{order[0]["run"]}.sqlite'
        gs.equal(gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(order)).returncode, 0, 'durable')
        said = json.loads(asked(store, '--format', 'json'))
        gs.equal([r['name'] for r in said['lost']['job']], ['twice'], 'which jobs')
        gs.equal(got(said['lost']['job'][0], ['name', 'user', 'team', 'cluster'])[1],
                 next(got(r, ['name'])[1] for r in said['lost']['user'] if r['name'] == 'ann'), 'a job of one user')
        gs.equal([(r['runs'], r['checkpoints'], r['held_ns']) for r in csv.DictReader(io.StringIO(asked(store, '--format', 'csv')))],
                 [('3', '5', str(3 * held))], 'CSV')
        compare(found, said)
        cut = json.loads(asked(store, '--format', 'json', '--since', '2024-10-05'))['lost']['job']
        gs.equal([r['runs'] for r in cut], [2], 'of those within the query')


def check_prices(where, found, store):
    """With one price for all GPUs each part costs its time."""
    prices = os.path.join(where, 'prices.csv')
    with open(prices, 'w', encoding='utf-8') as f:
        f.write('gpu,usd_per_gpu_hour,price_model,source,date\n')
        for gpu, _ in fleets.GPUS:
            for model in ('on-demand', 'spot', 'reserved'):
                f.write(f'{gpu},3.60,{model},made up,2026-01-01\n')
    again = copy.deepcopy(found)
    for d in again:
        held = sum(g['held_ns'] for g in d['gpus'])
        usd = sum(fleets.even(g['held_ns'], 1000) for g in d['gpus'])
        for g in d['gpus']:
            g['price'] = {}
        for p in PARTS:
            if p in d.get('saves', {}):
                ns = d['saves'][p][0]
                d['saves'][p][1] = fleets.even(ns, 1000) if len(d['gpus']) == 1 else fleets.even(usd * ns, held)
    compare(again, json.loads(asked(store, '--prices', prices, '--format', 'json')))


def check_broken(where):
    """What cannot be is refused with the digest; a member of a later version is passed over."""
    good = made(3)[0]
    good['saves'] = {'checkpoints': 1, 'kills': 1, 'lost': [5, 7]}
    for i, (saves, fine) in enumerate([
            ({'kills': -1}, False), ({'failures': -1}, False), ({'failures': 'no'}, False), ({'lost': [-1, 0]}, False), ({'lost': [1]}, False), ({'lost': [1, 2, 3]}, False),
            ({'lost': 7}, False), ({'redone': [1 << 64, 0]}, False), ([], False), (None, False), ('no', False),
            ({'kills': 2}, True), ({'later': 7, 'lost': [9223372036854775807, 1]}, True), ({}, True)]):
        d = dict(good, run=f'r{i}', saves=saves)
        done = gs.gpustarve('digest', '--from', '-', '--store', f'sqlite:{where}/broken.sqlite',
                            input=json.dumps(d).encode() + b'\n')
        gs.equal(done.returncode, 0 if fine else 1, f'{saves}: {done.stderr.decode()[-200:]}')


with gs.scratch() as where:
    found = made(300)
    store = f'sqlite:{where}/store.sqlite'
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found))
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    jobs = compare(found, json.loads(asked(store, '--format', 'json')))
    check_forms(found, store, jobs)
    check_prices(where, found, store)
    check_broken(where)
    check_unknown(where)
    check_durable(where)
    check_serving(where)
    none = [dict(d, run=f'old-{i}') for i, d in enumerate(found) if 'saves' not in d]
    gs.gpustarve('digest', '--from', '-', '--store', f'sqlite:{where}/old.sqlite', input=fleets.text(none))
    gs.check('no run tells of its saves' in asked(f'sqlite:{where}/old.sqlite'), 'digests of before')
gs.finish()
