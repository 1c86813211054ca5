#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Runs whose kernels were not recorded for most of the time: what is told per step, of workers and of
gains is of the recorded time or not known, and counts say what they are of. The truth is the same run
with all its records."""
import json
import os
import re
import subprocess
import sys
from decimal import Decimal

sys.path[:0] = [sys.path[0] + '/../../lib']
import gs
import pagekeys
import schema

S, MS, US = 1_000_000_000, 1_000_000, 1_000
PID, WORKER, FOREIGN, GOVERNOR = 100, 200, 3, 6
SETTINGS = 'kind=torch workers=1 prefetch=2 persistent=0 in_order=1 start=fork batch=8 pin=0 dataset=Rows made=/srv/train.py:31'
FETCH, COMPUTE = 40 * MS, 10 * MS  # one worker: four keep up


def lines(dark=(), reason=FOREIGN, marks=False, waits=True, per_step=1, busy_middle=False):
    """Steps of a batch of 40 ms and a kernel of 10 ms; in the middle, if asked for, the kernel takes 80 ms."""
    out, rows, t, made_at = [], [], 3 * S, 3 * S
    seen = lambda a, b: all(b <= x or a >= y for x, y in dark)
    for i in range(400):
        ready = made_at + FETCH
        rows.append(f'batch 2 {made_at} {ready} {WORKER} {WORKER} 1 1 {i + 1} {MS} 0')
        begin, t = t, max(t, ready) + US
        made_at = max(ready, begin)
        rows.append(f'batch 3 {begin} {t} {PID} {PID} 1 0 {i + 1} {MS} 0')
        if waits:
            out.append(f'range 1 {begin} {t} {PID} 0 enumerate(DataLoader)')
        runs = 8 * COMPUTE if busy_middle and 100 <= i < 200 else COMPUTE
        for k in range(per_step):
            a, b = t + 20 * US, t + 20 * US + runs // per_step
            if seen(a, b):
                out.append(f'api {t} {t + 10 * US} {i * 8 + k + 1} {PID} cudaLaunchKernel')
                out.append(f'op {a} {b} {i * 8 + k + 1} 7')
            t = b + 20 * US
        out.append(f'sync 3 {t - runs // per_step} {t}')
        if marks:
            out.append(f'range 4 {begin} {t} {PID} 0 step')
    head = [f'process {PID} {S} {t + S}', 'period 10000000', f'batch 1 {3 * S - MS} {3 * S} {PID} {PID} 1 0 0 0 0 {SETTINGS}']
    return '\n'.join(head + rows + out + [f'loss {reason} {a} {b}' for a, b in dark]) + '\n'


def record(where, name, text):
    folder = os.path.join(where, name + '.gst')
    os.makedirs(folder)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'evidence_make'), folder], input=text, text=True, check=True)
    return folder


def report(run, form):
    done = gs.gpustarve('report', run, '--format', form, '--price', '36')
    gs.equal(done.returncode, 0, f'{form}: {done.stderr.decode()[-300:]}')
    return done.stdout.decode()


def summary(run):
    s = json.loads(report(run, 'json'))
    gs.equal(schema.errors(schema.close(schema.ours()), s)[:3], [], 'schema')
    return s


def expect_quiet(run, what):
    """Nothing of a step, a day or a GPU-hour is told: what was lost is known of a part of the time."""
    for form in 'text', 'html':
        text = report(run, form)
        text = ' '.join((pagekeys.markup(text) if form == 'html' else text).split())
        for words in r'per thousand steps', r'\d per day', r'of training was paid', r'that a thousand steps take':
            gs.check(not re.search(words, text), f'{what}, {form}: "{words}"')


def expect_read_back(run, s):
    """A page of summary.json says what that of the trace does."""
    path = os.path.join(run, 'summary.json')
    gs.gpustarve('report', run, '--format', 'json', '--price', '36', '-o', path)
    gs.equal(gs.gpustarve('verify', run).returncode, 0, 'verify makes it anew')
    again = gs.gpustarve('report', path, '--format', 'json').stdout.decode()
    gs.equal(json.loads(again)['steps'], s['steps'], 'read back')
    gs.equal(json.loads(again)['quality'].get('unrecorded'), s['quality'].get('unrecorded'), 'read back')


with gs.scratch() as where:
    whole = summary(record(where, 'whole', lines()))
    gs.check('unrecorded' not in whole['quality'] and 'recorded' not in whole['steps'], 'all recorded: no word of it')
    gs.equal(whole['loader']['need']['workers_needed'], 4, 'four keep up')

    end = 3 * S + 100 * S
    for name, dark, reason in (('after', [(7 * S, end)], FOREIGN), ('amid', [(6 * S, 14 * S)], GOVERNOR),
                               ('twice', [(5 * S, 8 * S), (10 * S, 16 * S)], GOVERNOR)):
        run = record(where, name, lines(dark, reason))
        s = summary(run)
        gs.equal((s['steps']['count'], s['steps']['counted']), (400, 'batches'), f'{name}: steps by batches')
        gs.check(0 < s['steps']['recorded'] < 300, f'{name}: of them were recorded: {s["steps"]}')
        gs.check(abs(s['steps']['median_ns'] - whole['steps']['median_ns']) < MS, f'{name}: times of recorded ones')
        gs.check(s['steps']['p95_ns'] < 60 * MS, f'{name}: none lasts as long as what was not recorded')
        gs.check(abs(s['cost']['usd_per_step'] * 400 - s['cost']['usd']) < 1e-6, f'{name}: dollars of all over all')
        need = s['loader']['need']
        gs.equal(need['workers_needed'], 4, f'{name}: workers')
        gs.check(abs(need['step_ns'] - whole['loader']['need']['step_ns']) < MS, f'{name}: {need}')
        loader, told = s['loader'], s['quality']['unrecorded']
        gs.check(loader['exposed_ns'] + loader['hidden_ns'] + told['wait_ns'] <= loader['wait_ns'] + MS, f'{name}: waits: {loader} {told}')
        gs.check(loader['hidden_ns'] < loader['wait_ns'] // 50, f'{name}: none is hidden: {loader["hidden_ns"]}')
        recorded = s['ledger']['working_ns'] - told['ns']
        gs.check(need['saving_upper_ns'] < recorded, f'{name}: what is saved is of recorded time')
        text = ' '.join(report(run, 'text').split())
        gs.check('of the training time in which kernels were recorded' in text, f'{name}: the gain says of what it is')
        gs.check(' of what was recorded of this run' in text, f'{name}: so does the saving')
        expect_quiet(run, name)
        expect_read_back(run, s)
        page = report(run, 'html')
        gs.equal(pagekeys.problems(page, json.loads(report(run, 'json'), parse_float=Decimal))[0][:5], [], f'{name}: the page')

    run = record(where, 'mixed', lines([(3 * S + 50 * MS * 100, end)], busy_middle=True))
    s = summary(run)
    gs.equal(s['loader']['need']['workers_needed'], 4, 'of the recorded time, whatever came after it')

    run = record(where, 'marked', lines([(7 * S, end)], marks=True))
    s = summary(run)
    gs.equal((s['steps']['count'], s['steps']['counted'], s['steps']['source']), (400, 'marks', 'range'), 'marks go on')
    expect_quiet(run, 'marked')

    run = record(where, 'alone', lines([(7 * S, end)], waits=False))
    s = summary(run)
    gs.equal(s['steps']['counted'], 'recorded', 'nobody counts the others')
    gs.equal(s['steps']['count'], s['steps']['recorded'], 'then it is of the recorded ones')
    gs.equal(s['cost']['usd_per_step'], None, 'and no dollars are told of one')
    text = ' '.join(report(run, 'text').split())
    gs.check('while kernels were recorded; how many there were in all is not known' in text, f'said: {text[:2000]}')
    expect_quiet(run, 'alone')
    done = gs.gpustarve('check', run, '--budget', 'step_ms_median<=1000', '--budget', 'usd_per_1k_steps<=1000', '--price', '36')
    gs.check(done.returncode != 0 and b'kernels were not recorded for a part' in b' '.join(done.stdout.split()), f'check: {done.stdout.decode()[:800]}')
    done = gs.gpustarve('fit', run, '--format', 'json')
    gs.check(done.returncode != 0 or not json.loads(done.stdout)['steps'], 'fit tells none of a step')

    run = record(where, 'little', lines([(7 * S, 7 * S + 60 * MS)]))
    s = summary(run)
    gs.check('unrecorded' not in s['quality'] and s['steps']['count'] in (396, 397, 398), f'of next to nothing nothing is said: {s["steps"]}')
gs.finish()
