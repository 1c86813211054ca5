#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""`check --at-step N`: a job whose steps are 34 % longer than those of the runs before is told so while it goes on, and one
alike passes; what ends before that step is judged as it is, with a warning. test_view_check counts false alarms."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import replaying

STEP = 100
CASE = {'workers': 2, 'dataset': 'sleep', 'batch': 2, 'sample-ms': 2, 'seed': 1}
PASS, FAIL, WARN, OTHER = 0, 2, 3, 4


def recorded(where, name, **more):
    return replaying.record(dict(CASE, **{'gpu-ms': 30, 'steps': STEP + 20}, **more), os.path.join(where, name))


def begun(where, name, gpu_ms):
    """A job of many steps, and the run directory that it makes."""
    folder = os.path.join(where, name)
    os.makedirs(os.path.join(folder, 'truth'))
    case = dict(CASE, **{'gpu-ms': gpu_ms, 'steps': 100000})
    loop = [gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), *replaying.options(case, ('gpu-ms',))]
    job = subprocess.Popen([gs.WITH_GPUSIM, gs.CLI, 'run', '--quiet', '--no-report', '-o', os.path.join(folder, 'runs'), '--',
                            *loop], cwd=folder, env=gs.environment(GPUSIM_TRUTH=os.path.join(folder, 'truth')),
                           start_new_session=True)
    found = gs.until(f'{name}: a run', lambda: gs.runs(os.path.join(folder, 'runs')))
    return job, found[-1]


def end(job):
    os.killpg(job.pid, signal.SIGTERM)
    job.wait(480 * gs.PATIENCE)


def live(where, name, gpu_ms, baseline, status):
    job, run = begun(where, name, gpu_ms)
    try:
        done = gs.gpustarve('check', run, '--at-step', str(STEP), '--baseline', baseline, '--run-spread', '2', '--min-effect', '15',
                            timeout=480)
        gs.equal(job.poll(), None, f'{name}: the job still runs')
        gs.equal(done.returncode, status, f'{name}: {done.stdout.decode()[-900:]}{done.stderr.decode()[-300:]}')
        return done.stdout.decode()
    finally:
        end(job)


with gs.scratch() as where:
    baseline = os.path.join(where, 'baseline.json')
    for i in range(3):
        done = gs.gpustarve('check', recorded(where, f'old{i}'), '--at-step', str(STEP), '--baseline', baseline,
                            '--add-to-baseline')
        gs.equal(done.returncode, PASS, f'a baseline: {done.stderr.decode()}')
    live(where, 'alike', 30, baseline, PASS)
    out = ' '.join(live(where, 'slower', 40.2, baseline, FAIL).split())
    gs.check('regression' in out.lower() or 'slower' in out.lower(), out[-600:])
    short = recorded(where, 'short', **{})
    done = gs.gpustarve('check', short, '--at-step', '4000', '--baseline', baseline, '--fail-on-warn')
    gs.check(done.returncode == WARN and b'not the 4000 of --at-step' in done.stdout,
             f'a run that is over: {done.returncode} {done.stdout.decode()[-500:]}')
    for bad in (['--at-step', '49'], ['--at-step', '5000'], ['--at-step', 'x'], ['--at-step', '100', '--replay', baseline]):
        gs.equal(gs.gpustarve('check', short, '--baseline', baseline, *bad).returncode, 1, f'{bad}')
gs.finish()
