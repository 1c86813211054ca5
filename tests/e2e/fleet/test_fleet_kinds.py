#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What runs are and where they ran, in the fleet: real loops on the simulated GPU, on machines that their firmware
names and on one that it does not, by kind, provider and instance type in every form; digests of before tell
neither, and a label does where the firmware is silent."""
import csv
import io
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleetcheck
import gs
import tiny


def machine(where, name, **files):
    folder = os.path.join(where, name)
    os.mkdir(folder)
    for k, v in files.items():
        with open(os.path.join(folder, k), 'w', encoding='utf-8') as f:
            f.write(v + '\n')
    return folder


def recorded(where, what, dmi, *options):
    folder = os.path.join(where, what)
    os.mkdir(folder)
    done, run, _ = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'kindloop.py'), what], folder, *options,
                             GPUSTARVE_DMI=dmi)
    gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-500:]}')
    return run


def digest(run, *options):
    done = gs.gpustarve('digest', run, *options)
    gs.equal(done.returncode, 0, f'digest: {done.stderr}')
    return done.stdout


with gs.scratch() as where:
    aws = machine(where, 'aws', sys_vendor='Amazon EC2', product_name='p5.48xlarge')
    azure = machine(where, 'azure', sys_vendor='Microsoft Corporation', chassis_asset_tag='7783-7084-3265-9085-8269-3286-77')
    bare = machine(where, 'bare', sys_vendor='Somebody')
    runs = {'sgd': recorded(where, 'sgd', aws), 'generate': recorded(where, 'generate', azure),
            'xla': recorded(where, 'xla', bare)}
    told = {k: json.loads(digest(r)) for k, r in runs.items()}
    gs.equal({k: [d.get(n) for n in ('kind', 'provider', 'instance')] for k, d in told.items()},
             {'sgd': ['training', 'aws', 'p5.48xlarge'], 'generate': ['inference', 'azure', None],
              'xla': ['unknown', None, None]}, 'digests')
    s = gs.summary(runs['sgd'])['run']
    gs.equal((s['provider'], s['instance_type']), ('aws', 'p5.48xlarge'), 'the summary')
    page = gs.gpustarve('report', runs['sgd'], '--format', 'html').stdout.decode()
    gs.check('<dt>Machine</dt>' in page and '>p5.48xlarge<' in page, 'the page of the run')
    gs.check('<dt>Machine</dt>' not in gs.gpustarve('report', runs['xla'], '--format', 'html').stdout.decode(),
             'a machine that nobody knows is none')

    store = 'sqlite:' + os.path.join(where, 'f.sqlite')
    for r in runs.values():
        digest(r, '--store', store)
    held = {k: sum(l['held_ns'] for l in d['gpus']) for k, d in told.items()}
    said = fleetcheck.as_json(store)['by']
    gs.equal({by: {r['name']: r['held_ns'] for r in said[by]} for by in ('kind', 'provider', 'instance')},
             {'kind': {'training': held['sgd'], 'inference': held['generate'], 'unknown': held['xla']},
              'provider': {'aws': held['sgd'], 'azure': held['generate'], None: held['xla']},
              'instance': {'p5.48xlarge': held['sgd'], None: held['generate'] + held['xla']}}, 'sums')
    for by, names in (('kind', ['inference', 'training', 'unknown']), ('provider', ['aws', 'azure', 'unknown']),
                      ('instance', ['p5.48xlarge', 'unknown'])):
        rows = list(csv.DictReader(io.StringIO(fleetcheck.fleet(store, '--by', by, '--format', 'csv').decode())))
        gs.equal(sorted(r[by] for r in rows), names, f'CSV by {by}')
        for form in 'text', 'html':
            out = fleetcheck.fleet(store, '--by', by, '--format', form).decode()
            gs.check(all(n in out for n in names), f'{form} by {by}: {out[:300]}')
    out = fleetcheck.fleet(store).decode()
    gs.check(all(t in out for t in ('By kind of run', 'By provider', 'By instance type')), f'the overview: {out}')
    rows = fleetcheck.as_json(store, '--require-label', 'provider', rc=2)['unlabelled']
    gs.equal([r['run'] for r in rows['runs']], [told['xla']['run']], 'whose provider is not known')

    # Of digests of before, and where nothing is known, there is no table but the one that is asked for.
    store = 'sqlite:' + os.path.join(where, 'old.sqlite')
    old = {k: v for k, v in told['sgd'].items() if k not in ('kind', 'provider', 'instance')}
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=json.dumps(old).encode())
    gs.equal(done.returncode, 0, done.stderr)
    for form in 'text', 'html':
        out = fleetcheck.fleet(store, '--format', form).decode()
        gs.check('By kind' not in out and 'By provider' not in out, f'{form}: nothing is known of it')
    gs.check('unknown' in fleetcheck.fleet(store, '--by', 'kind').decode(), 'and that is said')

    # Firmware that names nobody, and somebody who does; a kind is seen, and no label changes it.
    run = tiny.imported(where, 'run')
    summary = gs.summary(run)
    summary['run']['labels'] = {'provider': 'lambda', 'instance': 'gpu_8x', 'kind': 'training'}
    path = os.path.join(where, 'summary.json')
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(summary, f)
    d = json.loads(digest(path))
    gs.equal((d['kind'], d['provider'], d['instance']), ('unknown', 'lambda', 'gpu_8x'), 'labels')
gs.finish()
