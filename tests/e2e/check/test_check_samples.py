#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Gradients of two batches a step: report and gate hold such runs against each other by their samples, and
where nobody knows these the gate refuses them with the reason, rather than to call longer steps slower."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

LOOP = os.path.join(gs.WORKLOADS, 'counted_loop.py')


def recorded(where, name, learn, samples):
    own = os.path.join(where, name)
    os.mkdir(own)
    argv = [gs.PYTHON, LOOP, '--truth', own, '--learn', str(learn), '--samples', str(samples)]
    done, run, _ = gs.traced(argv, own, ('--price', '3.6'))
    gs.equal(done.returncode, 0, done.stderr.decode()[-600:])
    return run


def check(status, *args):
    done = gs.gpustarve('check', *args, '--format', 'json')
    gs.equal(done.returncode, status, f'{args}: {done.stderr.decode()} {done.stdout.decode()}')
    text = gs.gpustarve('check', *args).stdout.decode()
    return json.loads(done.stdout), ' '.join(text.split())


with gs.scratch() as where:
    one, two = recorded(where, 'one', 1, 400), recorded(where, 'two', 2, 800)
    base = os.path.join(where, 'base.json')
    check(0, one, '--baseline', base, '--update-baseline')
    # so much slower would each step be that of half of the samples it is surely not
    for against in one, base:
        got, text = check(0, two, '--baseline', against, '--min-effect', '60')
        change = got['change']
        gs.equal((change['per'], change['old_samples_per_step'], change['new_samples_per_step']), ('1k_samples', 8, 16), f'{change}')
        for when, samples in ('old', 8), ('new', 16):
            apart = abs(change[f'{when}_step_ms'] * 1000 / samples - change[f'{when}_1k_samples_ms'])
            gs.check(apart < 0.01, f'{when}: {change}')
        whole = change['new_1k_samples_ms'] / change['old_1k_samples_ms'] - 1
        gs.check(abs(whole - change['whole']['value']) < 1e-4, f'{change}')
        gs.check('1,000 samples' in text and '(a step was of 8.00 samples and is of 16.00)' in text, text)
    got, _ = check(0, one, '--baseline', base, '--min-effect', '60')
    gs.equal(got['change']['per'], 'step', 'the same again')

    # Of a baseline whose samples nobody counted, but its batches; and of one of an earlier version.
    with open(base) as f:
        known = json.load(f)
    for name, gone, status in ('batches', ['outcomes'], 4), ('neither', ['outcomes', 'batches'], None):
        less = json.loads(json.dumps(known))
        for key in gone:
            del less['runs'][0][key]
        path = os.path.join(where, name + '.json')
        with open(path, 'w') as f:
            json.dump(less, f)
        if status:
            got, text = check(status, two, '--baseline', path)
            gs.check('a step is of 1.00 batches before and of 2.00 now' in text, text)
            gs.check('change' not in got, f'{got}')
        else:
            done = gs.gpustarve('check', two, '--baseline', path, '--format', 'json')
            gs.equal(json.loads(done.stdout)['change']['per'], 'step', 'nothing is known of either')

    text = ' '.join(gs.gpustarve('report', one, two).stdout.decode().split())
    gs.check('per 1,000 samples than A (' in text and 'a step is of 8.00 samples in A and of 16.00 in B' in text, text[:900])
gs.finish()
