#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e serial timeout=240
"""libprof's reader of Python stacks under every Python that is here: threads that are blocked and
that run flat out, the global lock, the collector, forked and spawned children, a child that is
another Python, and processes that may not read memory as they like. pystack.py does the looking."""
import concurrent.futures
import errno
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import gs
import pythons

PROBE = os.path.join(gs.BUILD, 'tests', 'libpystack_probe.so')
WORK = os.path.join(gs.SOURCE, 'tests', 'lib', 'pystack.py')

if not os.path.exists(PROBE):
    gs.skip('the probe cannot be loaded into Python in this build')


def start(python, mode, other):
    env = gs.environment(PYSTACK_OTHER=other, PYTHONWARNINGS='ignore')
    return subprocess.Popen([python, WORK, PROBE, mode], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def finish(name, mode, process):
    try:
        out, err = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    try:
        result = json.loads(out.decode().splitlines()[-1])
    except (IndexError, ValueError):
        gs.check(False, f'Python {name}, {mode}: no result, exit {process.returncode}: {err.decode()[-2000:]}')
        return {}
    for failure in result['failures']:
        gs.check(False, f'Python {name}, {mode}: {failure}')
    return result['figures']


def another(here, name):
    """A Python of another version than that."""
    return next((path for n, path in sorted(here.items()) if n.split()[0] != name.split()[0]), None)


def look(here, name):
    other = another(here, name)
    figures = {}
    for mode in ('children', 'forbidden', 'threads'):
        figures.update(finish(name, mode, start(here[name], mode, other)))
    return figures


def check_unknown():
    """A Python that is not known is refused, and told."""
    code = ('import ctypes, sys; p = ctypes.CDLL(sys.argv[1]); p.probe_note.restype = ctypes.c_char_p; '
            'print(p.probe_open(0), p.probe_note().decode())')
    for python in pythons.paths('3.7'):
        said = subprocess.run([python, '-c', code, PROBE], stdout=subprocess.PIPE, timeout=20).stdout.decode()
        known = f'versions {pythons.KNOWN[0]} to {pythons.KNOWN[-1]} are known'
        gs.equal(said.strip(), f'{-errno.EOPNOTSUPP} Python 3.7: no Python stacks: {known}', f'{python}')
        print('Python 3.7:', said.strip())


here = pythons.found()
print('not here:', ', '.join(pythons.missing(here)) or 'none')
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    done = list(pool.map(lambda name: look(here, name), here))
for name, figures in zip(here, done):
    if figures:
        print('Python {0}: {stale} of 200 new threads with a wrong tid; blocked: 0 torn of {blocked}; flat out: '
              '{torn_percent:.2f} % torn (median of rounds {median_percent:.2f} %), {impossible} impossible of {running}; a walk of {short}, '
              '{deep}'.format(name, **figures))
check_unknown()
gs.finish()
