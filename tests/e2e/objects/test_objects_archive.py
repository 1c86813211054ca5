#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""A collector with --archive: each run that has ended is in the object store before it is marked as done, through
storms and a SIGKILL of the collector, and no run that has no copy goes by its age."""
import os
import shutil
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import objectstore
from central import Centre
from collector import bin_dir, wait_for

RECORDED = os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', 'h100-cnn.gst')
RUNS = [('vision', f'v{i}') for i in range(4)] + [('text', f't{i}') for i in range(3)]


def make_runs(where, runs=RUNS, age_s=3600):
    for team, run in runs:
        path = os.path.join(where, 'runs', team, run + '.gst')
        shutil.copytree(RECORDED, path)
        for name in os.listdir(path):
            os.utime(os.path.join(path, name), (time.time() - age_s, time.time() - age_s))


def is_done(where, team, run):
    return os.path.exists(os.path.join(where, 'runs', team, run + '.gst', 'digest.done'))


def centre(where, *options):
    return Centre(bin_dir(), where, https=False, base=os.path.join(where, 'runs'), tokens=None,
                  options=['--no-token', '--store', f'sqlite:{where}/fleet', '--archive', 's3://traces/site', *options])


def names(store):
    return {tuple(k.split('/')[1:3]) for b, k in list(store.objects) if k.endswith('/run.json')}


def billed(where):
    done = gs.gpustarve('fleet', '--store', f'sqlite:{where}/fleet', '--by', 'run', '--format', 'csv')
    return [line for line in done.stdout.decode().splitlines() if line.count(',') > 3][1:]


def test_each_once_through_storms_and_kills():
    with gs.scratch() as where, objectstore.Checked() as store:
        os.environ.update(store.environment())
        make_runs(where)
        store.next.extend([503] * 9)
        with centre(where) as c:
            wait_for(lambda: names(store), 'the first copy', 120)
            c.kill()
        with centre(where) as c:
            wait_for(lambda: all(is_done(where, *r) for r in RUNS), 'all are done', 240)
            c.stop()
            counted = c.counters()
        gs.equal(names(store), set(RUNS), 'runs in the archive, below their teams')
        for team, run in RUNS:
            env = gs.environment(HOME='/nowhere', **store.environment())
            far, near = (gs.command([gs.CLI, 'report', at, '--format', 'json'], env=env)
                         for at in (f's3://traces/site/{team}/{run}', os.path.join(where, 'runs', team, run + '.gst')))
            gs.equal(far.stdout, near.stdout, f'{run}: the report')
        gs.check(counted.get('archived', 0) >= 1, f'counted: {counted}')
        gs.equal(len(billed(where)), 2, 'the runs are copies of one: billed once for each team')


def test_what_has_no_copy_stays():
    """An archive that refuses all: digests are in the store, and no run goes by its age; then it takes them, and they go."""
    with gs.scratch() as where, objectstore.Checked() as store:
        os.environ.update(store.environment(), AWS_SECRET_ACCESS_KEY='wrong')
        make_runs(where, RUNS[:2], age_s=7200)
        with centre(where, '--keep', '1h') as c:
            wait_for(lambda: 'archive of v0.gst: exit status 1: gpustarve: put: s3://traces/site/vision: SignatureDoesNotMatch' in c.log(), 'refused', 120)
            c.stop()
            gs.check(c.counters().get('archive_failures'), f'{c.counters()}')
        gs.check(os.environ['AWS_ACCESS_KEY_ID'] not in c.log() and 'wrong' not in c.log(), 'no secret in the log')
        gs.equal(len(billed(where)), 1, 'the bill has it all the same')
        gs.check(not any(is_done(where, *r) for r in RUNS[:2]), 'not done')
        sweep = gs.command([os.path.join(bin_dir(), 'gpustarve-collector'), '--dir', os.path.join(where, 'runs'), '--sweep',
                            '--keep', '1h', '--store', f'sqlite:{where}/fleet'])
        gs.check(b'removed' not in sweep.stdout, sweep.stdout)
        os.environ.update(store.environment())
        with centre(where) as c:
            wait_for(lambda: all(is_done(where, *r) for r in RUNS[:2]), 'all are done', 120)
        sweep = gs.command([os.path.join(bin_dir(), 'gpustarve-collector'), '--dir', os.path.join(where, 'runs'), '--sweep',
                            '--keep', '1h', '--store', f'sqlite:{where}/fleet'])
        gs.equal(sweep.stdout.count(b'removed vision'), 2, sweep.stdout)


def test_wrong_options():
    for options, why in ((['--archive', 's3://traces'], b'--store'), (['--store', 'sqlite:x', '--archive', 'http://x'], b's3://BUCKET')):
        done = gs.command([os.path.join(bin_dir(), 'gpustarve-collector'), '--unix', '/nowhere/s', *options])
        gs.equal(done.returncode != 0, True, f'{options}')
        gs.check(why in done.stderr, f'{done.stderr}')


if __name__ == '__main__':
    gs.run_tests(globals())
