#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""--alert step_slower_pct: after three runs of a training a fourth one whose steps take 34 % longer is told of while it goes
on, and one like the first is not. Nobody is asked before step 200, and one child reads at a time."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import collector
from collector import Collector, wait_for

MS = 40  # some milliseconds more, which a busy machine takes for each step, are no matter
LOOP = os.path.join(gs.WORKLOADS, 'steploop.py')
OPTIONS = ['--alert', 'step_slower_pct>15', '--limit', 'steps-after=1s']


def begun(c, ms, run):
    """A job of many steps: it ends when it is told to."""
    return subprocess.Popen([gs.WITH_GPUSIM, gs.CLI, 'run', '--quiet', '--no-report', '-o', c.base,
                             '--collector', 'unix:' + c.socket, '--', gs.PYTHON, LOOP, str(ms), '1000000'],
                            cwd=c.root, env=gs.environment(GPUSTARVE_RUN_ID=run), start_new_session=True)


def end(jobs):
    for job in jobs:
        os.killpg(job.pid, signal.SIGTERM)
    for job in jobs:
        job.wait(60)


def known(c):
    """Runs of which the steps are kept: {id}."""
    folder = os.path.join(c.base, '.steps')
    files = [n for n in os.listdir(folder) if n.endswith('.json')] if os.path.isdir(folder) else []
    gs.check(len(files) <= 1, f'it is one training: {files}')
    if not files:
        return set()
    with open(os.path.join(folder, files[0]), encoding='utf-8') as f:
        return {r['id'] for r in json.load(f)['runs']}


def fired(c, run):
    path = os.path.join(c.base, run + '.gst', 'alerts.jsonl')
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as f:
        return [json.loads(line) for line in f]


with Collector(collector.bin_dir(), options=OPTIONS) as c:
    jobs = [begun(c, MS, f'old{i}') for i in range(3)]
    try:
        wait_for(lambda: len(known(c)) == 3, 'three runs are known', 120)
        end(jobs)
        jobs = [begun(c, MS, 'alike'), begun(c, MS * 1.34, 'dearer')]
        wait_for(lambda: len(known(c)) == 5 and fired(c, 'dearer'), 'both are looked at', 120)
        gs.equal([job.poll() for job in jobs], [None, None], 'they go on')
    finally:
        end(jobs)
    one = fired(c, 'dearer')
    gs.equal([(a['condition'], a['metric'], a['by']) for a in one], [('step_slower_pct>15', 'step_slower_pct', 'collector')],
             'it is told of once')
    gs.check(200000 < one[0]['value'] < 500000, f'34 % in millionths: {one[0]["value"]}')
    for run in 'old0', 'old1', 'old2', 'alike':
        gs.equal(fired(c, run), [], f'{run}: nothing to tell')
    gs.check('alert: dearer: steps take longer than in the last runs' in c.errors(), c.errors()[-900:])
    gs.equal(gs.gpustarve('run', '--alert', 'step_slower_pct>15', '--', 'true', cwd=c.root).returncode, 1, 'of a collector alone')
gs.finish()
