#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The fleet of a folder of runs: the same as of a store with their digests, which `digest` makes of many runs at once;
what is new is taken and the rest is kept there; what cannot be read is said, and the others are done."""
import json
import os
import shutil
import sqlite3
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny


def fleet(*args, rc=0):
    done = gs.gpustarve('fleet', *args, '--format', 'json')
    gs.equal(done.returncode, rc, f'fleet {args}: {done.stderr.decode()[-500:]}')
    return json.loads(done.stdout) if done.stdout else {}, done.stderr.decode()


def check_digest(where, found):
    done = gs.gpustarve('digest', *found)
    gs.equal(done.returncode, 0, f'digest of many: {done.stderr.decode()[-500:]}')
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    gs.equal(len({d['run'] for d in lines}), len(found), 'a digest of each, on a line')
    store = 'sqlite:' + os.path.join(where, 'store.sqlite')
    done = gs.gpustarve('digest', *found, '--store', store, '-o', os.path.join(where, 'lines'))
    gs.equal((done.returncode, done.stdout), (0, b''), f'into a store: {done.stderr.decode()[-500:]}')
    with open(os.path.join(where, 'lines'), encoding='utf-8') as f:
        gs.equal([json.loads(line)['run'] for line in f], [d['run'] for d in lines], 'the same in a file')
    return store


def check_compute(found, store):
    """By kind and precision: the sums of what the reports say, of a folder as of a store."""
    want = {}
    for run in found:
        for row in gs.summary(run)['ledger'].get('compute', []):
            if row['ns']:
                sums = want.setdefault((row['kind'], row['precision']), [0, 0])
                sums[0] += 1
                sums[1] += row['ns']
    gs.check(want, 'the runs have kernels')
    for paths in (found, ['--store', store]):
        said, _ = fleet(*paths, '--by', 'compute')
        got = {(r['kind'], r['precision']): [r['runs'], r['ns']] for r in said['by']['compute']}
        gs.equal(got, want, f'compute of {paths}')
        gs.equal(sum(r['ns'] for r in said['by']['compute']),
                 sum(r['ns'] for r in said['by']['class'] if r['class'] == 'compute'), 'all of the class')
        gs.equal(said['meters']['known_ns'], 0, 'nobody asked the meters')
    done = gs.gpustarve('fleet', *found, '--by', 'compute', '--format', 'csv')
    rows = [line.split(',')[:2] for line in done.stdout.decode().splitlines()]
    gs.equal((rows[0], {tuple(r) for r in rows[1:]}), (['kind', 'precision'], set(want)), 'as CSV')
    for form in ('text', 'html'):
        done = gs.gpustarve('fleet', *found, '--by', 'compute', '--format', form, '-o', '-')
        gs.check(b'What compute consisted of' in done.stdout, f'as {form}: {done.stderr}')


def kept(runs):
    """Tenant and name of what the folder's store has."""
    db = sqlite3.connect(os.path.join(runs, 'fleet.sqlite'))
    rows = sorted(db.execute('SELECT tenant, run FROM run'))
    db.close()
    return rows


def scribbled(run, at_ns):
    """A run whose trace is no longer one, written to at that time; its bytes."""
    path = next(os.path.join(run, n) for n in os.listdir(run) if n.endswith('.gst'))
    with open(path, 'rb') as f:
        data = f.read()
    with open(path, 'wb') as f:
        f.write(b'no trace' * 100)
    os.utime(path, ns=(at_ns, at_ns))
    return path, data


def check_kept(where, runs, found, want):
    """Only what is new or has grown is read; what is gone is not shown; what is whose stays so."""
    names = sorted(os.path.basename(r)[:-4] for r in found)
    store = os.path.join(runs, 'fleet.sqlite')
    gs.equal(kept(runs), [('', n) for n in names], 'each is kept')
    path, data = scribbled(found[0], 10**18)
    gs.equal(fleet(runs)[0], want, 'what is kept is not read again')
    os.utime(path)
    said, error = fleet(runs, rc=1)
    gs.check(said['total']['runs'] == 2 and os.path.basename(found[0]) in error, f'what was written to is: {error[-300:]}')
    with open(path, 'wb') as f:
        f.write(data)
    gs.equal(fleet(runs)[0], want, 'and again')
    one = os.path.join(where, 'more')
    os.makedirs(one)
    new = shutil.move(tiny.imported(one, 'run9', steps=9), runs)
    gs.equal(fleet(runs)[0]['total']['runs'], 4, 'what is new is taken')
    gs.equal(fleet('--store', 'sqlite:' + store)[0], fleet(runs)[0], 'the store is what is shown')
    shutil.rmtree(new)
    gs.equal(fleet(runs)[0], want, 'what is gone is not shown')
    gs.equal(len(kept(runs)), 4, 'and stays in the store')

    # A collector's row is of a team, and stays so.
    os.remove(store)
    done = gs.gpustarve('digest', found[1], '--team', 'vision', '--store', 'sqlite:' + store)
    gs.equal(done.returncode, 0, done.stderr)
    os.utime(next(os.path.join(found[1], n) for n in os.listdir(found[1]) if n.endswith('.gst')))
    gs.equal({r['name']: r['runs'] for r in fleet(runs)[0]['by']['team']}, {'vision': 1, None: 2}, 'a team')
    gs.equal(kept(runs), sorted([('', names[0]), ('vision', names[1]), ('', names[2])]), 'each once')

    # Where nothing is kept.
    os.remove(store)
    for what, env in (('a price that a kept digest would not know of', {'GPUSTARVE_USD_PER_GPU_HOUR': '9'}),
                      ("others' runs", {'GPUSTARVE_LOCAL_FILES': '0'})):
        done = gs.gpustarve('fleet', runs, env=gs.environment(**env))
        gs.equal((done.returncode, os.path.exists(store)), (0, False), f'{what}: {done.stderr}')
    away = os.path.join(where, 'away.sqlite')
    for target in away, os.path.join(where, 'empty.file'):
        if target != away:
            open(target, 'w').close()
        os.symlink(target, store)
        gs.equal(fleet(runs)[0], want, 'a link is not followed')
        gs.equal(os.path.exists(target) and os.path.getsize(target), target != away and 0, 'nothing is written behind it')
        os.remove(store)
    with open(store, 'w', encoding='utf-8') as f:
        f.write('something else, and not short at all' * 99)
    said, error = fleet(runs)
    gs.check(said == want and 'not a store' in error or 'not a database' in error, f'something else: {error}')
    os.remove(store)


def check_owned(where):
    """A GPU that is owned stays so where no list had a price of it: by its digest, its stored summary, and by an older
    summary, that does not tell it."""
    folder = os.path.join(where, 'owned')
    os.makedirs(folder)
    run = shutil.move(tiny.imported(where, 'mine'), folder)
    record = os.path.join(run, 'run.json')
    told = {}
    if os.path.exists(record):
        with open(record, encoding='utf-8') as f:
            told = json.load(f)
    told['price'] = {'price_model': 'owned', 'from': '--price'}
    with open(record, 'w', encoding='utf-8') as f:
        json.dump(told, f)
    prices = os.path.join(where, 'owned.csv')
    with open(prices, 'w', encoding='utf-8') as f:
        f.write('gpu,usd_per_gpu_hour,price_model,source,date\nNVIDIA H100 80GB HBM3,36,owned,finance,2026-02-01\n'
                'NVIDIA H100 80GB HBM3,3600,on-demand,list,2026-02-01\n')
    done = gs.gpustarve('report', run, '--format', 'json')
    s = json.loads(done.stdout)
    gs.equal([(r['usd_per_gpu_hour'], r['price_model']) for r in s['cost']['rates']], [(None, 'owned')], 'the summary says it')
    gs.equal(json.loads(gs.gpustarve('digest', run).stdout)['gpus'][0].get('price_model'), 'owned', 'and the digest')
    stored = os.path.join(run, 'summary.json')
    for what, model in (('analysed', None), ('a summary', 'owned'), ('one of before', '')):
        if model is not None:
            s['cost']['rates'][0]['price_model'] = model
            with open(stored, 'w', encoding='utf-8') as f:
                json.dump(s, f)
        for again in what, what + ', kept':
            said, _ = fleet(folder, '--prices', prices)
            gs.equal([(r['model'], r['nano_usd_per_gpu_hour']) for r in said['prices']], [('owned', 36 * 10**9)], again)
            gs.equal(round(said['total']['usd'] * 10**9), said['total']['held_ns'] // 100, again)
        os.remove(os.path.join(folder, 'fleet.sqlite'))


def check_broken(where, found, good):
    """A run that cannot be read is left out, with a word."""
    bad = os.path.join(where, 'runs', 'bad.gst')
    os.makedirs(bad)
    with open(os.path.join(bad, 'x.gst'), 'wb') as f:
        f.write(b'no trace' * 100)
    said, error = fleet(os.path.join(where, 'runs'), rc=1)
    gs.equal(said.get('total'), good['total'], 'the others are there')
    gs.check('bad.gst' in error, f'which one: {error[-500:]}')
    done = gs.gpustarve('digest', bad, *found)
    gs.equal((done.returncode, len(done.stdout.splitlines())), (1, len(found)), 'digests of the others')
    shutil.rmtree(bad)


with gs.scratch() as where:
    runs = os.path.join(where, 'runs')
    os.makedirs(runs)
    found = []
    for i in range(3):
        one = os.path.join(where, str(i))
        os.makedirs(one)
        found.append(shutil.move(tiny.imported(one, f'run{i}', steps=4 + i), runs))
    store = check_digest(where, found)
    want, _ = fleet('--store', store)
    gs.equal(want['total']['runs'], 3, 'runs in the store')
    for what, paths in (('a folder', [runs]), ('runs', found), ('a run twice', [runs, found[0]])):
        said, _ = fleet(*paths)
        gs.equal(said, want, what)
    said, _ = fleet(found[0], found[2])
    gs.equal(said['total']['runs'], 2, 'two of them')
    check_compute(found, store)
    check_broken(where, found, want)
    check_kept(where, runs, found, want)
    check_owned(where)
    empty = os.path.join(where, 'empty')
    os.makedirs(empty)
    gs.check('no run is there' in fleet(empty, rc=1)[1], 'an empty folder')
    gs.check('not both' in fleet(runs, '--store', store, rc=1)[1], 'one of both')
gs.finish()
