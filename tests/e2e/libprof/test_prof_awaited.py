#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=240
"""What blocked threads wait for and which threads hold it, under every Python that is here: queues held in
every way there is, and decoys. pyreach.py does the looking."""
import concurrent.futures
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import pythons

PROBE = os.path.join(gs.BUILD, 'tests', 'libpystack_probe.so')
WORK = os.path.join(gs.SOURCE, 'tests', 'lib', 'pyreach.py')
MODES = ('queues', 'others', 'changing', 'children')

if not os.path.exists(PROBE):
    gs.skip('the probe cannot be loaded into Python in this build')


def look(python, mode):
    return subprocess.run([python, WORK, PROBE, mode], env=gs.environment(PYTHONWARNINGS='ignore'),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)


def report(name, mode, done):
    try:
        result = json.loads(done.stdout.decode().splitlines()[-1])
    except (IndexError, ValueError):
        gs.check(False, f'Python {name}, {mode}: no result, exit {done.returncode}: {done.stderr.decode()[-2000:]}')
        return
    for failure in result['failures']:
        gs.check(False, f'Python {name}, {mode}: {failure}')
    print(f'Python {name}, {mode}: {result["figures"]}')


here = pythons.found()
print('not here:', ', '.join(pythons.missing(here)) or 'none')
turns = [(name, mode) for name in here for mode in MODES]
with concurrent.futures.ThreadPoolExecutor(gs.at_once(3)) as pool:
    for (name, mode), done in zip(turns, pool.map(lambda turn: look(here[turn[0]], turn[1]), turns)):
        report(name, mode, done)
gs.finish()
