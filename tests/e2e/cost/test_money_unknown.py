#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""A GPU that no list knows: run, text, JSON and page speak of GPU-hours and how to set a price, and
there is no dollar sign anywhere; an unknown one beside a known one the same."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import pagekeys

TIME = 'GPU-(hours|minutes|seconds)'
TRAIN = [gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps', '20', '--sample-ms', '3']
BOTH = [gs.PYTHON, '-c', 'import subprocess, sys\nfor d in "01":\n'
        '    subprocess.run(sys.argv[1:] + ["--device", d], check=True)', *TRAIN]

for what, argv, names in ('unknown', TRAIN, 'Some Accelerator 9000'), \
        ('one of two', BOTH, 'NVIDIA H100 80GB HBM3,Some Accelerator 9000'):
    with gs.scratch() as where:
        done, run, _ = gs.traced(argv, where, (), GPUSIM_DEVICES=2, GPUSIM_NAME=names)
        gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
        told = done.stderr.decode()
        gs.check('$' not in told and re.search(TIME, told) and '--price' in told, f'{what}: run: {told}')
        with open(os.path.join(run, 'report.html')) as f:
            page = pagekeys.markup(f.read())
        text = gs.gpustarve('report', run).stdout.decode()
        for form, shown in ('text', text), ('page', page):
            gs.check('$' not in shown, f'{what}: no dollar sign in the {form}')
            gs.check(re.search(TIME, shown) and '--price' in shown and 'Some Accelerator 9000' in shown,
                     f'{what}: the way in the {form}')
        s = gs.summary(run)
        gs.equal((s['cost']['usd'], s['cost']['wasted_usd'], s['cost']['usd_per_step']),
                 (None, None, None), f'{what}: cost')
        gs.check(s['cost']['gpu_hours'] > 0, 'GPU-hours')
        gs.check('$' not in gs.gpustarve('report', run, '--format', 'json').stdout.decode(), 'JSON')
        priced = gs.summary(run, '--price', '2.5')
        gs.check(priced['cost']['usd'] > 0, 'with a price there are dollars')
gs.finish()
