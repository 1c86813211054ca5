#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What long_make writes is like the traces that its statistics are of, and the table of these is what they say: how often
the GPU has something to do, how long for, how long it is idle, and how much of that before the launch; and a trace has
as many bytes an event as a recorded one."""
import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

MADE = os.path.join(gs.SOURCE, 'tests', 'made')
TRACES = os.path.join(gs.SHARED, 'traces')
EVENTS = 400_000
# Name, value of a GPU, by how much it may be off: as a factor, or in points.
LIKE = [('operations a second', lambda g: g['ops'] / g['span_ns'] * 1e9, 'times', 1.4),
        ('busy time of an operation', lambda g: g['busy_ns'] / g['ops'], 'times', 1.5),
        ('gaps to 100 operations', lambda g: 100 * g['gaps'] / g['ops'], 'points', 6),
        ('idle share', lambda g: 100 * g['idle_ns'] / g['span_ns'], 'points', 10),
        ('EMPTY share', lambda g: 100 * g['empty_ns'] / g['span_ns'], 'points', 10),
        ('share of exposed collectives', lambda g: 100 * g['comm_exposed_ns'] / g['span_ns'], 'points', 10),
        ('share of exposed copies', lambda g: 100 * g['copy_exposed_ns'] / g['span_ns'], 'points', 6)]


def close(made, real, how, most):
    return abs(made - real) <= most if how == 'points' else real / most <= made <= real * most


def made(where, number):
    """(the GPU's part of the summary, bytes an event)"""
    run = os.path.join(where, f'{number}.gst')
    os.makedirs(run)
    done = subprocess.run([os.path.join(gs.BUILD, 'tests', 'long_make'), run, str(EVENTS), '1', str(number)], check=True,
                          stdout=subprocess.PIPE)
    size = os.path.getsize(os.path.join(run, '0.gst'))
    said = gs.gpustarve('report', run, '--window', 'device', '--format', 'json')
    return json.loads(said.stdout)['gpus'][0], size / int(done.stdout)


def check_like(where, names):
    with open(os.path.join(TRACES, 'expected.json'), encoding='utf-8') as file:
        expected = json.load(file)
    for number, name in enumerate(names):
        gpu, size = made(where, number)
        for what, of, how, most in LIKE:
            here, there = of(gpu), of(expected[name][0])
            gs.check(close(here, there, how, most), f'{name}: {what}: {here:.2f}, recorded {there:.2f}')
        gs.check(2.5 < size < 4.5, f'{name}: {size:.2f} bytes an event')


def check_table():
    """Changes of what libprof records change it, too."""
    path = os.path.join(MADE, 'long_stats.def')
    with open(path, 'rb') as file:
        kept = file.read()
    done = subprocess.run([gs.PYTHON, os.path.join(MADE, 'long_stats.py'), '--print'], stdout=subprocess.PIPE, check=True)
    gs.check(done.stdout == kept, f'{path} is not what the traces say: run tests/made/long_stats.py')


names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(TRACES, '*.json.gz')))
if not names:
    gs.skip(f'no traces in {TRACES}')
with gs.scratch() as where:
    check_like(where, names)
check_table()
gs.finish()
