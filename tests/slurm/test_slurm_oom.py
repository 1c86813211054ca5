#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=slurm waits
"""A job that takes more memory than it asked for is killed by the kernel, on a Slurm that limits
memory by cgroups. It ends and says what it does without us; what it did until then is in its trace;
its GPUs are given back, its node stays in use, and the collector that ran beside it is stopped."""
import os

import gs
import cluster
import hooked
import jobs


def greedy(site, slurm, partition):
    """Computes until its trace has something in it, then takes all that it can get."""
    now = os.path.join(site.where, f'grow-{partition}')
    script = hooked.batch(['-n1', '--gpus=1', *site.task('--until', now, '--grow', 800)])

    def grow(job):
        cluster.until('the job computes', lambda: any(n.get('uuid') for n in site.notes(job)))
        if partition != 'plain':
            cluster.until('the job is recorded', lambda: [
                r for r in site.runs(job) if gs.gpustarve('report', r).returncode == 0])
        open(now, 'w', encoding='ascii').close()
    return slurm.run_batch(f'greedy-{partition}', script, f'--partition={partition}', '--mem=600M',
                           '--gpus=1', meanwhile=grow)


def check(site, done, plain):
    jobs.same_job('out of memory', done, plain)
    gs.check(b'oom-kill' in done.stderr, f'Slurm says so: {done.stderr}')
    notes, found = site.notes(done.job), site.runs(done.job)
    if gs.equal(len(found), 1, f'runs {found}'):
        s = gs.summary(found[0])
        jobs.check_hosts_and_ranks('out of memory', s, notes)
        got, truth = s['gpus'][0]['ops'], sum(site.ops(done.job).values())
        gs.check(0 < got <= truth, f'{got} operations of {truth}')
        print(f'{got} of {truth} operations', flush=True)
    given = site.allocations(done.job)
    gs.equal([len(a['gpus']) for a in given], [1], 'GPUs given')
    gs.check(all(a['end_unix_ns'] for a in given), 'and taken back')


def main():
    why = cluster.missing() or cluster.no_memory_limits()
    if why:
        gs.skip(why)
    with gs.scratch() as where:
        site = hooked.Site(where)
        with site.cluster(nodes=1, cgroup=True) as slurm:
            done = hooked.beside_each_other({p: lambda p=p: greedy(site, slurm, p)
                                             for p in ('plain', 'task')})
            if len(done) == 2:
                check(site, done['task'], done['plain'])
            gs.equal(slurm.drained(), '', 'nodes')
            gs.equal(jobs.leftovers(slurm), [], 'left')
            gs.equal(slurm.stop(), [], 'what had to be killed')
    gs.finish()


main()
