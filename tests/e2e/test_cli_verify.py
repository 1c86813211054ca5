#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""verify: agrees with what report wrote, and exits 2 when any one digit of it is another; also of what
samples and batches told."""
import json
import os
import random

import gs
import tiny

def change_digits(run, path, count):
    """Each of so many digits changed alone makes verify exit 2; returns how often it names the key."""
    with open(path) as f:
        text = f.read()
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    named = 0
    for at in random.sample(digits, count):
        other = random.choice([d for d in '0123456789' if d != text[at]])
        with open(path, 'w') as f:
            f.write(text[:at] + other + text[at + 1:])
        done = gs.gpustarve('verify', run)
        line = text[:at].count('\n') + 1
        gs.equal(done.returncode, 2, f'digit at {at}, line {line}: {text.splitlines()[line - 1]}')
        gs.check(done.stderr.startswith(b'gpustarve: '), 'one line says so')
        named += b': summary.json says' in done.stdout
    with open(path, 'w') as f:
        f.write(text)
    return named


def loader():
    """A job whose loader starves it: findings with lines of code, facts of the loader."""
    with gs.scratch() as where:
        done, run, _ = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps',
                                  '40', '--sample-ms', '8', '--workers', '1'], where)
        gs.equal(done.returncode, 0, f'loader: {done.stderr.decode()[-300:]}')
        path = os.path.join(run, 'summary.json')
        gs.equal(gs.gpustarve('verify', run).returncode, 0, 'loader: as run left it')
        gs.gpustarve('report', run, '--format', 'json', '-o', path)
        one = str(min(os.sched_getaffinity(0)))
        for how in ['taskset', '-c', one], []:  # one thread, and many
            done = gs.command([*how, gs.CLI, 'verify', run])
            gs.equal(done.returncode, 0, f'loader: {how}: {done.stdout} {done.stderr}')
        with open(path) as f:
            made = json.load(f)
        gs.check(any(f['where'].get('function') for f in made['findings']), 'a line of code')
        gs.check(made['loader'].get('settings'), 'settings of the loader')
        change_digits(run, path, 40)


random.seed(5)
with gs.scratch() as where:
    run = tiny.imported(where, gpus=2)
    path = os.path.join(run, 'summary.json')
    done = gs.gpustarve('verify', run)
    gs.equal(done.returncode, 1, 'no summary yet')
    gs.check(b'report' in done.stderr, 'says how to make one')
    for options in ['--price', '6.88'], ['--window', 'device', '--waste', 'input.*'], \
            ['--price-model', 'spot'], []:
        gs.gpustarve('report', run, '--format', 'json', '-o', path, *options)
        done = gs.gpustarve('verify', run)
        gs.equal(done.returncode, 0, f'verify {options}: {done.stdout} {done.stderr}')
    gs.gpustarve('report', run, '--format', 'json', '-o', path, '--price', '6.88')
    with open(path) as f:
        text = f.read()
    named = change_digits(run, path, 120)
    gs.check(named > 60, f'the key is named: {named} of 120')
    with open(path, 'w') as f:
        f.write(text.replace('  ', '\t').replace('": ', '":'))
    gs.equal(gs.gpustarve('verify', run).returncode, 0, 'white space does not matter')
    with open(path, 'w') as f:
        f.write(text[:len(text) // 2])
    gs.equal(gs.gpustarve('verify', run).returncode, 2, 'a cut summary')
loader()
gs.finish()
