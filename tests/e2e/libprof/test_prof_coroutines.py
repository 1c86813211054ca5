#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""The lines at which coroutines wait while their loop sleeps in the selector, under every Python that is here.
pycoros.py does the looking."""
import concurrent.futures
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import pythons

PROBE = os.path.join(gs.BUILD, 'tests', 'libpystack_probe.so')
WORK = os.path.join(gs.SOURCE, 'tests', 'lib', 'pycoros.py')

if not os.path.exists(PROBE):
    gs.skip('the probe cannot be loaded into Python in this build')


def look(python):
    return subprocess.run([python, WORK, PROBE], env=gs.environment(PYTHONWARNINGS='ignore'),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)


def report(name, done):
    try:
        result = json.loads(done.stdout.decode().splitlines()[-1])
    except (IndexError, ValueError):
        gs.check(False, f'Python {name}: no result, exit {done.returncode}: {done.stderr.decode()[-2000:]}')
        return
    for failure in result['failures']:
        gs.check(False, f'Python {name}: {failure}')
    print(f'Python {name}: {result["figures"]}')


here = pythons.found()
with concurrent.futures.ThreadPoolExecutor(gs.at_once(3)) as pool:
    for name, done in zip(here, pool.map(lambda name: look(here[name]), here)):
        report(name, done)
gs.finish()
