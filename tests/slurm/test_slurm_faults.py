#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=slurm waits
"""When things break on a Slurm with gpustarve: a node that is lost while jobs run there, whose job
goes on elsewhere and has one history; what it leaves behind on the node, which the next job's Prolog
clears away; a collector that is killed under a job, which does not notice; an NVML that never answers
Prolog. And a slurmctld that is root's makes the report in the job's own folder."""
import os
import signal

import gs
import cluster
import hooked
import jobs

ONE = ['-n1', '--gpus=1']


def begun(site, job):
    cluster.until(f'job {job} is recorded', lambda: [
        r for r in site.runs(job) if gs.gpustarve('report', r).returncode == 0])


def collectors(slurm, site, job=None):
    """[pid] of those that Prolog has started, for a job."""
    return [p for p, text in slurm.others()
            if '/collector' in text and (not job or f'{site.run}/{job}@' in text)]


def left_on(site, job):
    return [n for n in os.listdir(site.run) if n.startswith(f'{job}@')] \
        if os.path.isdir(site.run) else []


def lost_node(site, slurm):
    """Two jobs on n1 when it is lost: one may be requeued, one not."""
    ever = ['--until', '/never', '--first-life', 'yes']
    script = hooked.batch([*ONE, *site.task(*ever)])
    common = ['--partition=task', '-n1', '--gpus=1', '-w', 'n1', '-o', '/dev/null', '-e', '/dev/null']
    again = slurm.sbatch(script, '--requeue', *common)
    never = slurm.sbatch(script, '--no-requeue', *common)
    for job in again, never:
        begun(site, job)
        gs.equal(len(collectors(slurm, site, job)), 1, f'collectors of job {job}')
    slurm.crash('n1', again, never)
    cluster.until('the job waits again', lambda: slurm.job(again)['Restarts'] == '1')

    def elsewhere():
        slurm.tool('scontrol', 'update', f'JobId={again}', 'ReqNodeList=n2', 'StartTime=now')
        return slurm.ended(again)
    cluster.until('the job ends on n2', elsewhere)
    gs.equal(slurm.wait(never)['JobState'], 'NODE_FAIL', 'the other job')
    notes = site.notes(again)
    gs.equal([(n['restart'], n['node']) for n in notes], [(0, 'n1'), (1, 'n2')], 'lives of the job')
    given = [(a['restart'], a['node'], a['end_unix_ns'] is not None) for a in site.allocations(again)]
    gs.equal(given, [(0, 'n1', False), (1, 'n2', True)], 'its GPUs')
    return again, never


def clear_away(site, slurm, jobs_there):
    """What the lost node's jobs left is there until Epilog comes or, here, until the next job does."""
    for job in jobs_there:
        gs.check(collectors(slurm, site, job) and left_on(site, job), f'job {job} left something')
    for name in os.listdir(site.run):  # a job that began long ago
        os.utime(os.path.join(site.run, name), (1_000_000_000, 1_000_000_000), follow_symlinks=False)
    slurm.revive('n1')
    done = slurm.run_step('next', '--partition=both', '-w', 'n1', *ONE, *site.task())
    gs.equal((done.returncode, len(site.runs(done.job))), (0, 1), f'the next job: {done.stderr}')
    cluster.until('all is cleared away', lambda: not any(
        collectors(slurm, site, job) or left_on(site, job) for job in jobs_there))
    return done.job


def killed_collector(site, slurm):
    """The job goes on, and what it does from then on is in its spool."""
    now = os.path.join(site.where, 'enough')
    script = hooked.batch([*ONE, *site.task('--until', now, '--exit', 7)])

    def kill(job):
        begun(site, job)
        for pid in collectors(slurm, site, job):
            os.kill(pid, signal.SIGKILL)
        open(now, 'w', encoding='ascii').close()
    done = slurm.run_batch('orphan', script, '--partition=task', '-w', 'n2', '-n1', '--gpus=1',
                           meanwhile=kill)
    gs.check(b'rank 0 trained' in done.stdout and b'exit code 7' in done.stderr, f'{done.stderr}')
    found = site.runs(done.job)
    if gs.equal(len(found), 1, f'runs {found}'):
        jobs.check_ops('the collector was killed', gs.summary(found[0]), site.ops(done.job))
        gs.check(any(n.endswith('.spool') for n in os.listdir(found[0])), 'a spool')
    gs.check(all(a['end_unix_ns'] for a in site.allocations(done.job)), 'GPUs taken back')
    gs.equal(left_on(site, done.job), [], 'left')


def silent_nvml(site, slurm):
    """The job runs as ever; its GPUs are known by number."""
    done = slurm.run_step('sick', '--partition=sick', '-w', 'n2', *ONE, *site.task('--exit', 7))
    gs.equal((done.returncode, b'rank 0 trained' in done.stdout), (7, True), f'{done.stderr}')
    given = cluster.until('Epilog', lambda: [a for a in site.allocations(done.job) if a['end_unix_ns']])
    gs.equal([[(g['index'] >= 0, g['uuid'], g['name']) for g in a['gpus']] for a in given],
             [[(True, None, None)]], 'its GPU')
    gs.equal(len(site.runs(done.job)), 1, 'its run')
    cluster.until('nobody waits for NVML any more', lambda: not any(
        f'job begin --dir {site.out}' in text for _, text in slurm.others()))


def reported(site, job):
    """EpilogSlurmctld's work, where SlurmUser is root: in the job's folder, its owner's."""
    folder = os.path.join(site.out, f'test-{job}.job')
    for name in 'report.html', 'summary.json':
        path = os.path.join(folder, name)
        cluster.until(path, lambda p=path: os.path.exists(p))
        gs.equal(os.stat(path).st_uid, os.stat(folder).st_uid, f'owner of {name}')


def main():
    why = cluster.missing()
    if why:
        gs.skip(why)
    with gs.scratch() as where:
        site = hooked.Site(where)
        site.settings(comment='off', state=os.path.join(where, 'verdicts'))
        ctld = site.hook('epilogslurmctld', 'plain|task|sick')
        with site.cluster(nodes=2, EpilogSlurmctld=ctld) as slurm:
            lost = hooked.beside_each_other({
                'lost node': lambda: lost_node(site, slurm),
                'silent NVML': lambda: silent_nvml(site, slurm),
                'killed collector': lambda: killed_collector(site, slurm)})
            if 'lost node' in lost:
                reported(site, clear_away(site, slurm, lost['lost node']))
            gs.equal(slurm.drained(), '', 'nodes')
            gs.equal(jobs.leftovers(slurm), [], 'left')
            gs.equal(slurm.stop(), [], 'what had to be killed')
    gs.finish()


main()
