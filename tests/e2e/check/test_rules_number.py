#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What bears another number of the ledger's rules, or none (1): comparisons and digests make it anew where the
trace lies beside it, else it is not comparable and the exit status is 4; alone it is read as it is."""
import json
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gating
import gs
import tiny

NOW, OTHER = 2, 4


def report(*args):
    done = gs.gpustarve('report', *args)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def stored(run, **change):
    """The run's summary.json, with other members; None: without it."""
    summary = gs.summary(run)
    gs.equal(summary['rules'], NOW, 'the number of today')
    summary.update(change)
    path = os.path.join(run, 'summary.json')
    with open(path, 'w') as f:
        json.dump({k: v for k, v in summary.items() if v is not None}, f)
    return path


def alone(path, name):
    """Moved away from its trace."""
    os.makedirs(os.path.join(os.path.dirname(os.path.dirname(path)), name), exist_ok=True)
    return shutil.copy(path, os.path.join(os.path.dirname(os.path.dirname(path)), name, 'summary.json'))


def comparisons(where):
    a, b = tiny.imported(where, 'a'), tiny.imported(where, 'b', wait_us=1000)
    for number in None, 1, 3:
        old, today = stored(a, rules=number), stored(b)
        apart = alone(old, f'apart-{number}')
        status, out, err = report(apart, today, '--format', 'json')
        gs.equal(status, OTHER, f'{number}, no trace: {err}')
        pair = json.loads(out)['comparisons'][0]
        for part in 'share', 'waste', 'gpu_step', 'gpu_run':
            gs.check(f'({number or 1} and {NOW})' in pair['not_comparable'].get(part, ''), f'{number}: {pair["not_comparable"]}')
        gs.check('step' not in pair['not_comparable'] and 'loader' not in pair['not_comparable'],
                 f'{number}: time per step needs no classes: {pair["not_comparable"]}')
        status, out, _ = report(apart, today)
        gs.check(status == OTHER and 'different rules' in ' '.join(out.split()), f'{number}: text: {out}')
        # with its trace beside it, it is judged anew; from the folder itself, too
        for path in old, a:
            status, out, err = report(path, today, '--format', 'json')
            gs.equal(status, 0, f'{number}, {path}: {err}')
            gs.check('share' not in json.loads(out)['comparisons'][0]['not_comparable'], f'{number}, {path}: {out}')
        gs.equal(report(alone(old, 'c'), apart)[0], 0, f'{number}: two of one number are comparable')
        gs.equal(report(apart)[0], 0, f'{number}: one summary, shown')


def verifying(where):
    run = tiny.imported(where, 'v')
    stored(run, rules=None)
    done = gs.gpustarve('verify', run)
    gs.check(done.returncode == OTHER and b'by rules 1 and these are rules 2' in done.stderr, f'verify: {done.stderr}')
    with open(os.path.join(run, 'summary.json'), 'wb') as f:
        f.write(gs.gpustarve('report', run, '--format', 'json').stdout)
    gs.equal(gs.gpustarve('verify', run).returncode, 0, 'verify, made anew')


def baselines(where):
    run, file = gating.steady(where, 'now', 50, steps=40), os.path.join(where, 'baseline.json')
    gs.equal(gs.gpustarve('check', run, '--baseline', file, '--update-baseline').returncode, 0, 'a baseline')
    with open(file) as f:
        made = json.load(f)
    gs.equal([r['rules'] for r in made['runs']], [NOW], 'its number')
    gs.equal(gs.gpustarve('check', run, '--baseline', file).returncode, 0, 'against itself')
    for number in None, 1, 3:
        for r in made['runs']:
            r.pop('rules', None)
            r.update({} if number is None else {'rules': number})
        with open(file, 'w') as f:
            json.dump(made, f)
        done = gs.gpustarve('check', run, '--baseline', file)
        said = ' '.join(done.stdout.decode().split())
        gs.check(done.returncode == OTHER and f'different rules ({number or 1}, now {NOW}' in said, f'{number}: {said}{done.stderr}')
        gs.equal(gs.gpustarve('check', run, '--baseline', file, '--budget', 'starved_pct<=100').returncode, OTHER, 'with a budget that holds')
        gs.equal(gs.gpustarve('check', run, '--baseline', file, '--add-to-baseline').returncode, 1, f'{number}: beside others')
    made['runs'][0]['rules'] = 0
    with open(file, 'w') as f:
        json.dump(made, f)
    gs.equal(gs.gpustarve('check', run, '--baseline', file).returncode, 1, 'no number at all')
    gs.equal(gs.gpustarve('check', run, '--baseline', file, '--update-baseline').returncode, 0, 'made anew')
    gs.equal(gs.gpustarve('check', run, '--baseline', file).returncode, 0, 'and compared')


with gs.scratch() as where:
    comparisons(where)
    verifying(where)
    baselines(where)
gs.finish()
