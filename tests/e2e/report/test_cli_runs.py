#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=60
"""`runs` lists a folder, and -1, -2 name its runs wherever a command takes runs."""
import json
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny

PRICE = ('--price', '3.99')


def says(done):
    return done.stderr.decode()


def summarised(run):
    made = gs.gpustarve('report', run, '--format', 'json', *PRICE, '-o', os.path.join(run, 'summary.json'))
    gs.equal(made.returncode, 0, f'summary of {run}: {says(made)}')


with gs.scratch() as where:
    folder = os.path.join(where, 'my runs')
    os.mkdir(folder)
    # Written in another order than their names have.
    for age, (name, wait) in enumerate((('b', 4000), ('c', 2000), ('a', 1))):
        run = tiny.imported(folder, name, wait_us=wait)
        if name != 'c':
            summarised(run)
        for file in os.listdir(run):
            os.utime(os.path.join(run, file), (1_700_000_000 - 60 * age,) * 2)
    os.mkdir(os.path.join(folder, 'empty.gst'))
    env = gs.environment(GPUSTARVE_OUT=folder)

    def asked(*args):
        return gs.gpustarve(*args, env=env)

    done = asked('runs')
    gs.equal(done.returncode, 0, f'runs: {says(done)}')
    lines = done.stdout.decode().splitlines()
    gs.equal([line.split()[0] for line in lines], ['run', '-1', '-2', '-3'], 'a line for each run')
    gs.check('input-bound' in lines[1] and 'import' not in lines[2], f'the verdict of the newest: {lines}')
    gs.check('no summary: gpustarve report -2' in lines[2], f'one without a summary: {lines[2]}')

    done = asked('runs', '--format', 'json', '--last', '2')
    rows = json.loads(done.stdout)
    gs.equal([os.path.basename(r['path']) for r in rows], ['b.gst', 'c.gst'], 'newest first, two of them')
    one = gs.summary(os.path.join(folder, 'b.gst'), *PRICE)
    gs.equal(rows[0]['verdict'], one['verdict'], 'the summary tells')
    gs.equal(rows[0]['gpu_ns'], sum(g['held_ns'] for g in one['gpus']), 'GPU time')
    gs.check('verdict' not in rows[1], 'nothing is said of one without a summary')

    def shown(*args):
        done = asked('report', *args, '--format', 'json', *PRICE)
        gs.equal(done.returncode, 0, f'report {args}: {says(done)}')
        return json.loads(done.stdout)

    gs.equal(shown(), one, 'without a run it is the newest')
    gs.equal(shown('-1'), one, '-1')
    gs.equal(shown('-3'), gs.summary(os.path.join(folder, 'a.gst'), *PRICE), '-3')
    done = asked('report', '-3', '-1', *PRICE)
    gs.equal(done.returncode, 0, f'two are compared: {says(done)}')
    gs.check(' A ' in done.stdout.decode() and ' B ' in done.stdout.decode(), 'A and B')
    for back in ('-4', '-999'):
        done = asked('report', back)
        gs.check(done.returncode == 1 and 'has 3 runs' in says(done), f'{back}: {says(done)}')
    for word in ('-0', '-1000', '-1x', '-01'):
        gs.equal(asked('report', word).returncode, 1, f'{word} names nothing')
    for command in ('verify', 'dump'):
        done = asked(command, '-1')
        gs.equal(done.returncode, 0, f'{command} -1: {says(done)}')

    done = asked('check', '-1')
    gs.check(done.returncode == 1 and 'nothing to judge the run by' in says(done),
             f'a check of nothing: {done.returncode} {says(done)}')
    gs.equal(asked('check', '-1', '--budget', 'starved_pct<=100').returncode, 0, 'a budget that holds')
    gs.equal(asked('check', '-1', '--budget', 'starved_pct<=1').returncode, 2, 'one that does not')
    gs.equal(asked('check', '--budget', 'starved_pct<=1').returncode, 1, 'check wants a run')

    shutil.rmtree(folder)
    for command in ('runs', 'report'):
        done = asked(command)
        gs.check(done.returncode == 1 and says(done).count('\n') == 1, f'{command} of nothing: {says(done)}')
gs.finish()
