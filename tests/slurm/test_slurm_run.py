#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=slurm waits
"""`gpustarve run` inside srun, and libprof preloaded by hand, on a Slurm where no admin has done a
thing: a step is one run with the right ranks, hosts, operations and held time, and the job ends and
says what it does without us. A test that is killed leaves no daemon and no job."""
import json
import os
import shlex
import shutil
import signal
import subprocess
import time

import gs
import cluster
import jobs

VICTIM = r'''
import json, os, sys, time
sys.path[:0] = sys.argv[2:]
import cluster
c = cluster.Cluster(sys.argv[1], nodes=1)
c.start()
job = c.sbatch('#!/bin/sh\nsetsid sleep 1000 &\nsrun sleep 1001\n')
cluster.until('the job', lambda: sum('sleep 100' in row[1] for row in c.others()) >= 2)
print(json.dumps([row[0] for row in c.others()] + list(c.ask(list=True)['alive'].values())), flush=True)
time.sleep(1000)
'''


def lives(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
            return f.read().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


def killed(where):
    """The test itself is killed; its daemons, its job and the job's own background go with it."""
    victim = subprocess.Popen([gs.PYTHON, '-c', VICTIM, where, jobs.HERE, os.path.dirname(gs.__file__)],
                              stdout=subprocess.PIPE, env=gs.environment())
    pids = json.loads(victim.stdout.readline() or '[]')
    gs.check(len(pids) >= 6, f'killed: only {pids} lived')
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    try:
        cluster.until('the end of all', lambda: not any(lives(p) for p in pids))
    except TimeoutError:
        gs.check(False, f'killed: {[p for p in pids if lives(p)]} live on')
    print(f'killed: {len(pids)} processes ended', flush=True)


def timed(slurm, *argv, **kw):
    begin = time.time_ns()
    done = slurm.srun(*argv, **kw)
    return done, time.time_ns() - begin


def check_step(what, site, job, done, plain, outside):
    jobs.same_job(what, done, plain)
    found = gs.runs(site.out)
    if not gs.equal(len(found), 1, f'{what}: runs {found}'):
        return
    run = found[0]
    s, notes = gs.summary(run), site.notes(job)
    gs.equal(len(notes), 4, f'{what}: tasks')
    jobs.check_hosts_and_ranks(what, s, notes)
    jobs.check_ops(what, s, site.ops(job))
    jobs.check_life(what, s, notes, outside)
    gs.equal((len(s['gpus']), s['run']['ranks'], s['run']['complete']), (4, 4, True), what)
    gs.equal(gs.gpustarve('report', run, '--format', 'json', '-o', os.path.join(run, 'summary.json'))
             .returncode, 0, f'{what}: report')
    verified = gs.gpustarve('verify', run)
    gs.check(verified.returncode == 0, f'{what}: verify: {verified.stdout + verified.stderr}')
    os.rename(run, run + '.seen')
    print(f'{what}: {os.path.basename(run)}, {len(s["gpus"])} GPUs on {s["run"]["hosts"]}', flush=True)


def steps(site, slurm):
    four = ['-N2', '--ntasks-per-node=2', '--gpus-per-task=1', '--gpu-bind=single:1']
    plain, _ = timed(slurm, *four, *site.task('--exit', 3))
    gs.equal((plain.returncode, len(plain.stdout.splitlines())), (3, 8), 'without us')
    quiet = [gs.CLI, 'run', '--quiet', '-o', site.out, '--']
    done, outside = timed(slurm, *four, *site.task('--exit', 3, wrapper=quiet))
    check_step('run inside srun', site, 2, done, plain, outside)
    env = slurm.environment(LD_PRELOAD=gs.LIBPROF, GPUSTARVE_OUT=site.out)
    done, outside = timed(slurm, *four, *site.task('--exit', 3), env=env)
    check_step('preloaded by hand', site, 3, done, plain, outside)
    told = slurm.srun(*four, *site.task(wrapper=[gs.CLI, 'run', '--price', '2', '-o', site.out, '--']))
    gs.equal(told.stderr.decode().count('gpustarve: '), 1, f'one verdict: {told.stderr.decode()}')
    shutil.rmtree(site.out)
    os.mkdir(site.out, 0o1777)
    several(site, slurm, four)
    gs.equal(slurm.drained(), '', 'nodes')
    gs.equal(jobs.leftovers(slurm), [], 'left')


def several(site, slurm, four):
    """Commands of one step, each with a wrapper: a run for each, with its ranks of both nodes, its label and its end."""
    commands = [shlex.join(map(str, site.task('--exit', status, wrapper=[gs.CLI, 'run', '-q', '-o', site.out, '--label', label, '--'])))
                for label, status in (('exp=a', 3), ('exp=b', 0))]
    slurm.srun(*four, 'bash', '-c', '; '.join(commands))
    found = [(s['run']['labels'].get('exp'), s['run']['exit_status'], s['run']['ranks'], len(s['gpus']), len(s['run']['hosts']))
             for s in map(gs.summary, gs.runs(site.out))]
    gs.equal(sorted(found), [('a', 3, 4, 4, 2), ('b', 0, 4, 4, 2)], f'several commands of a step: {gs.runs(site.out)}')
    gs.equal([n for n in os.listdir(site.out) if n.startswith('.')], [], 'several commands: nothing beside their runs')


def main():
    why = cluster.missing()
    if why:
        gs.skip(why)
    with gs.scratch() as where:
        site = jobs.Site(where)
        with site.cluster() as slurm:
            steps(site, slurm)
            gs.equal(slurm.stop(), [], 'what had to be killed')
    with gs.scratch() as where:
        killed(where)
    gs.finish()


main()
