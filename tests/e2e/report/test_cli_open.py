#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""report --open and run --open: on a terminal the page goes to $BROWSER, or to xdg-open where there is a
screen, which nobody waits for and whose failure is none of ours; without a terminal nothing is started."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny
from terminal import Terminal

BRIEF = [os.path.join(gs.BUILD, 'workloads', 'mixloop'), '--ops=40', '--pause-every=20', '--pause-us=1000']


def browser(where, name, text):
    path = os.path.join(where, name)
    with open(path, 'w') as f:
        f.write('#!/bin/sh\n' + text)
    os.chmod(path, 0o755)
    return path


def env(**more):
    return gs.environment(**{'TERM': 'dumb', 'BROWSER': None, 'DISPLAY': None, 'WAYLAND_DISPLAY': None, **more})


def shown(*argv, **more):
    """What a terminal of 200 columns shows, and the exit status."""
    t = Terminal(argv, 24, 200, env(**more))
    status = t.finish()
    return status, t.raw


def opened(log):
    """The words that the browser was started with, once they are there."""
    def words():
        if not os.path.exists(log):
            return None
        with open(log) as f:
            text = f.read()
        return text.endswith('\n') and text
    text = gs.until('the browser is started', words)
    if os.path.exists(log):
        os.remove(log)
    return (text or '').split()


with gs.scratch() as where:
    where = os.path.realpath(where)
    log, go = os.path.join(where, 'log'), os.path.join(where, 'go')
    os.mkfifo(go)
    # Says what it was started with, and goes on until it is let go: who waited for it would never end.
    slow = browser(where, 'slow', f'echo "$@" > {log}.new; mv {log}.new {log}; echo noise; echo noise >&2\n'
                   f'read x < {go}\n')
    fails = browser(where, 'fails', 'exit 7\n')
    run = tiny.imported(where)
    page = os.path.join(os.path.realpath(run), 'report.html')

    status, told = shown(gs.CLI, 'report', run, '--open', BROWSER=f'{where}/none:{slow} -new %s')
    gs.equal(opened(log), ['-new', page], 'the first browser that is there, %s is the page')
    with open(go, 'w') as f:
        f.write('\n')
    gs.equal(status, 0, told)
    gs.check('noise' not in told and 'report.html' in told, f'what is shown: {told}')
    with open(page) as f:
        gs.check(f.read(20).lower().startswith('<!doctype html>'), 'the page is written')

    status, told = shown(gs.CLI, 'report', run, '--open', '-o', f'{where}/mine.html', BROWSER=slow)
    gs.equal(opened(log), [f'{where}/mine.html'], 'the page that -o names')
    with open(go, 'w') as f:
        f.write('\n')

    status, told = shown(gs.CLI, 'report', run, '--open', BROWSER=fails)
    gs.equal(status, 0, f'a browser that fails: {told}')
    status, told = shown(gs.CLI, 'report', run, '--open')
    gs.check(status == 0 and 'no browser is known here' in told, f'no browser: {status} {told}')

    os.remove(page)
    done = gs.gpustarve('report', run, '--open', env=env(BROWSER=slow))
    gs.check(done.returncode == 0 and os.path.exists(page), f'without a terminal: {done.stderr}')
    gs.equal(done.stderr.decode().count('\n'), 1, f'without a terminal one line says where it is: {done.stderr}')
    for wrong in ['--format', 'text'], ['-o', '-']:
        done = gs.gpustarve('report', run, '--open', *wrong)
        gs.check(done.returncode == 1 and b'--open' in done.stderr, f'{wrong}: {done.stderr}')

    os.makedirs(f'{where}/bin')
    os.symlink(slow, f'{where}/bin/xdg-open')
    os.chdir(where)
    status, told = shown(gs.WITH_GPUSIM, gs.CLI, 'run', '--open', '--', *BRIEF, DISPLAY=':9',
                         PATH=f'{where}/bin:/usr/bin:/bin')
    made, = gs.runs(os.path.join(where, 'gpustarve-runs'))
    gs.equal(opened(log), [os.path.join(os.path.realpath(made), 'report.html')], f'run --open: {told}')
    with open(go, 'w') as f:
        f.write('\n')
    gs.equal(status, 0, told)
    done = gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '--open', '--', *BRIEF], env=env(BROWSER=slow))
    gs.equal(done.returncode, 0, done.stderr)
    gs.check(not os.path.exists(log), 'without a terminal no browser is started')
gs.finish()
