#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=slurm
"""Jobs of all kinds on a real Slurm with gpustarve in place: through TaskProlog, through the SPANK
plugin, through both, in a partition that the plugin records; steps of a script, two nodes, an array,
requeued, without an environment, one that never uses its GPUs, cancelled, killed, on a node that has no
gpustarve, on one whose library cannot be read, opted out. Each ends and says what it does without us,
byte by byte; each has one report, with its ranks, hosts, operations and time; no node drains; nothing is
left. (Out of memory: test_slurm_oom. Lost nodes, killed collectors: test_slurm_faults.)"""
import functools
import json
import os
import time

import gs
import cluster
import hooked
import jobs

FOUR = ['-N2', '--ntasks-per-node=2', '--gpus-per-task=1', '--gpu-bind=single:1', '-x', 'n3,n4']
ONE = ['-n1', '--gpus=1', '-x', 'n3,n4']
STEP = ['-n1', '--gpus=1']


class Cases:
    """A method per job; the partition is the first argument."""

    def __init__(self, site, slurm):
        self.site, self.slurm = site, slurm

    def task(self, *args, **kw):
        return self.site.task(*args, **kw)

    def option(self, partition):
        return [f'--partition={partition}'] + \
            (['--gpustarve'] if partition in ('spank', 'both') else [])

    def step(self, partition, name, *more, **kw):
        return self.slurm.run_step(f'{name}-{partition}', *self.option(partition), *more, **kw)

    def batch(self, partition, name, script, *more, **kw):
        return self.slurm.run_batch(f'{name}-{partition}', script, *self.option(partition), *more,
                                    **kw)

    def four(self, partition):
        return self.step(partition, 'four', *FOUR, *self.task('--exit', 3))

    def script(self, partition):
        script = hooked.batch([*STEP, *self.task()], [*STEP, *self.task('--exit', 5)])
        return self.batch(partition, 'script', script, *ONE)

    def no_environment(self, partition):
        return self.step(partition, 'noenv', '--export=NONE', *ONE, *self.task())

    def idle(self, partition):
        return self.step(partition, 'idle', '-n1', '--gpus=2', '-x', 'n3,n4', *self.task('--only', 9))

    def one_of_four(self, partition):
        return self.step(partition, 'waste', '-N1', '-n1', '--gpus-per-node=4', '-x', 'n3,n4',
                         *self.task())

    def opted_out(self, partition):
        env = self.slurm.environment(GPUSTARVE='0')
        return self.step(partition, 'out', *ONE, *self.task(), env=env)

    def no_library(self, partition):
        return self.step(partition, 'nolib', '-n1', '--gpus=1', '-w', 'n3', *self.task('--exit', 4))

    def unreadable(self, partition):
        return self.step(partition, 'unread', '-n1', '--gpus=1', '-w', 'n4', *self.task('--exit', 4),
                         user='nobody')

    def other_user(self, partition):
        return self.step(partition, 'nobody', *ONE, *self.task(), user='nobody')

    def begun(self, job, recorded=True):
        """Its task computes, and what it did so far lies in the trace."""
        cluster.until(f'job {job} computes', lambda: any(n.get('uuid') for n in self.site.notes(job)))
        if recorded:
            cluster.until(f'job {job} is recorded', lambda: any(self.operations(r) for r in self.site.runs(job)))

    def operations(self, run):
        """Of a run that goes on, so far."""
        done = gs.gpustarve('report', run, '--format', 'json')
        return not done.returncode and sum(g['ops'] for g in json.loads(done.stdout)['gpus'])

    def cancelled(self, partition):
        script = hooked.batch([*STEP, *self.task('--until', '/never')])

        def cancel(job):
            self.begun(job, recorded=partition != 'plain')
            self.slurm.tool('scancel', job)
        return self.batch(partition, 'cancel', script, *ONE, meanwhile=cancel)

    def again(self, job):
        """A requeued job has to wait for two minutes unless somebody says otherwise. On another
        node, for slurmd knows the job for that long and would not run Prolog again."""
        if self.slurm.job(job)['Restarts'] == '1':
            self.slurm.tool('scontrol', 'update', f'JobId={job}', 'ExcNodeList=n1,n3,n4', 'StartTime=now')
        return len({n['restart'] for n in self.site.notes(job)}) == 2

    def requeued(self, partition):
        script = hooked.batch([*STEP, *self.task('--until', '/never', '--first-life', 'yes')])

        def requeue(job):
            self.begun(job, recorded=partition != 'plain')
            self.slurm.tool('scontrol', 'requeue', job)
            cluster.until(f'job {job} again', lambda: self.again(job))
        return self.batch(partition, 'requeue', script, *STEP, '-x', 'n2,n3,n4', '--requeue',
                          meanwhile=requeue)

    def killed(self, partition):
        now = os.path.join(self.site.where, f'crash-{partition}')
        script = hooked.batch([*STEP, *self.task('--until', now, '--crash')])

        def crash(job):
            self.begun(job, recorded=partition != 'plain')
            open(now, 'w', encoding='ascii').close()
        return self.batch(partition, 'killed', script, *ONE, meanwhile=crash)

    def array(self, partition):
        return self.slurm.run_array(f'array-{partition}', hooked.batch([*STEP, *self.task('--exit', 6)]),
                                    (3, 4), *self.option(partition), *ONE)


# Job, partitions, tasks that a report tells of, GPUs given in each life.
MATRIX = [
    ('four', ('plain', 'task', 'spank', 'both'), 4, 4),
    ('script', ('plain', 'both'), 2, 1),
    ('no_environment', ('plain', 'task', 'spank'), 1, 1),
    ('idle', ('plain', 'task'), 0, 2),
    ('one_of_four', ('plain', 'task'), 1, 4),
    ('opted_out', ('plain', 'both'), 0, 1),
    ('no_library', ('plain', 'both'), 0, 0),
    ('unreadable', ('plain', 'task', 'spank'), 0, 1),
    ('other_user', ('plain', 'task', 'always'), 1, 1),
    ('cancelled', ('plain', 'task'), 1, 1),
    ('requeued', ('plain', 'both'), 2, 1),
    ('killed', ('plain', 'task'), 1, 1),
    ('array', ('plain', 'task'), 1, 1),
]
UNSEEN = ('opted_out', 'unreadable')  # which the hooks say in the job's folder


def listed(preload):
    return sum(p.endswith('/libprof.so') for p in preload.split(':'))


class Judge:
    def __init__(self, site, slurm):
        self.site, self.slurm = site, slurm

    def __call__(self, what, done, tasks, gpus):
        notes = self.site.notes(done.job)
        gs.check(notes, f'{what}: nothing ran')
        preloaded = 0 if what.split()[0] in UNSEEN + ('no_library',) else 1
        gs.equal({listed(n['preload']) for n in notes}, {preloaded}, f'{what}: libprof is listed')
        self.runs(what, done.job, notes, tasks)
        if gpus:
            given = self.site.allocations(done.job)
            jobs.check_allocations(what, given, notes, gpus, done.begin, time.time_ns())
            self.said_unseen(what, done.job, notes[0]['node'])
            self.report(what, done, notes, given)

    def said_unseen(self, what, job, node):
        marks = [n for n in os.listdir(os.path.join(self.site.out, f'test-{job}.job'))
                 if n.startswith('unrecorded-')]
        gs.equal(marks, [f'unrecorded-{node}'] if what.split()[0] in UNSEEN else [], f'{what}: marks')

    def report(self, what, done, notes, given):
        """All steps and lives of the job in one."""
        job, name = done.job, '{}_{}'.format(*done.array) if done.array else done.job
        asked = gs.gpustarve('report', '--job', name, '--dir', self.site.out, '--price', hooked.PRICE,
                             '--format', 'json')
        if not gs.equal(asked.returncode, 0, f'{what}: report --job: {asked.stderr.decode()}'):
            return
        s = json.loads(asked.stdout)
        recorded = [n for n in notes if n.get('uuid') and listed(n['preload'])]
        seen = what.split()[0] not in UNSEEN
        jobs.check_job_report(what, s, recorded, given, hooked.PRICE, seen)
        if recorded:
            jobs.check_hosts_and_ranks(what, s, recorded)
        slurm = s['run']['slurm']
        gs.equal((slurm['job'], slurm['partition'], slurm['restart'] or 0, s['run']['user']),
                 (int(job), what.split()[1], max(n['restart'] for n in notes), given[0]['user']),
                 f'{what}: whose it is')
        gs.equal((slurm['array_job'], slurm['array_task']), done.array or (None, None), f'{what}: its array')

    def runs(self, what, job, notes, tasks):
        """A run for each step of each life, and in each of them its tasks alone."""
        told, ops = 0, {}
        steps = {(n['step'], n['restart']) for n in notes if n.get('uuid') and listed(n['preload'])}
        found = self.site.runs(job)
        gs.equal(len(found), len(steps), f'{what}: runs {found}')
        for run in found:
            s = gs.summary(run)
            step = s['run']['slurm']['steps'], s['run']['slurm']['restart'] or 0
            mine = [n for n in notes if ([n['step']], n['restart']) == step]
            jobs.check_hosts_and_ranks(what, s, mine)
            told += len([n for n in mine if n.get('uuid')])
            for g in s['gpus']:
                uuid = g['uuid'].lower()
                ops[uuid] = ops.get(uuid, 0) + g['ops']
        gs.equal(told, tasks, f'{what}: tasks told of')
        if tasks:
            truth = self.site.ops(job)
            if what.split()[0] in ('cancelled', 'requeued', 'killed'):
                # The last second may be lost, and of the truth the last 50 ms: some twelve operations.
                gs.check(all(0 < ops.get(u, 0) <= n + 30 for u, n in truth.items()), f'{what}: {ops} of {truth}')
            else:
                gs.equal(ops, truth, f'{what}: operations')


def all_of(done):
    """One job, or each task of an array."""
    return done if isinstance(done, list) else [done]


def judge(site, slurm, done):
    check = Judge(site, slurm)
    for name, partitions, tasks, gpus in MATRIX:
        plain = done.get(f'{name} plain')
        for partition in partitions if plain else ():
            what = f'{name} {partition}'
            if partition == 'plain' or what not in done:
                continue
            for one, bare in zip(all_of(done[what]), all_of(plain)):
                check(what, one, tasks, gpus)
                jobs.same_job(what, one, bare)
                print(f'{what}: job {one.job}, {tasks} tasks, {gpus} GPUs', flush=True)


def main():
    why = cluster.missing()
    if why:
        gs.skip(why)
    with gs.scratch() as where:
        site = hooked.Site(where)
        with site.cluster() as slurm:
            cases = Cases(site, slurm)
            done = hooked.beside_each_other({
                f'{n} {p}': functools.partial(getattr(cases, n), p)
                for n, partitions, _, _ in MATRIX for p in partitions})
            gs.equal(jobs.leftovers(slurm), [], 'left')
            judge(site, slurm, done)
            gs.equal(slurm.drained(), '', 'nodes')
            gs.equal(slurm.stop(), [], 'what had to be killed')
    gs.finish()


main()
