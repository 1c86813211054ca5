#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""mpirun of OpenMPI: wrapped as a whole, around each rank, and over two hosts; and two jobs are two runs, also where mpirun has
the same process number in each, as in containers. Host names and what ssh does are played: ranks of the other host are started
here, under its name."""
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import launching

MPIRUN = ['mpirun', '--allow-run-as-root', '--oversubscribe']
BY = '--by', 'OMPI_COMM_WORLD_RANK,OMPI_COMM_WORLD_SIZE,OMPI_COMM_WORLD_LOCAL_RANK'

def around_all(where):
    job = launching.Job(where, 'mpirun wrapped')
    job.start(job.wrapped([*MPIRUN, '-n', '2', *job.rank(*BY)]))
    job.expect(2)


def around_each(where):
    job = launching.Job(where, 'mpirun around each')
    done = job.start([*MPIRUN, '-n', '2', *job.wrapped(job.rank(*BY))])
    job.expect(2)
    gs.equal(done.stderr.decode().count('report: '), 1, f'one box for both: {done.stderr.decode()}')


def same_numbers(where):
    """Containers: mpirun is the same number each time, and PMIX_NAMESPACE is made of that."""
    job = launching.Job(where, 'mpirun again')
    spaces = ['unshare', '--pid', '--fork', '--mount-proc']
    if gs.command([*spaces, 'true']).returncode:
        return gs.left_out('no pid namespaces')
    for _ in range(2):
        shutil.rmtree(job.told)
        os.mkdir(job.told)
        job.start([*spaces, *MPIRUN, '-n', '2', *job.wrapped(job.rank(*BY))])
    gs.equal(len(gs.runs(job.runs)), 2, f'two jobs are two runs: {gs.runs(job.runs)}')
    for run in gs.runs(job.runs):
        s = gs.summary(run)
        gs.equal(s and (s['run']['ranks'], [g['ops'] for g in s['gpus']]), (2, [launching.STEPS] * 2), f'{run}: ranks')
    return None


def two_hosts(where):
    job = launching.Job(where, 'mpirun two hosts', gpus=2)
    ssh = os.path.join(job.where, 'ssh')
    launching.write_ssh(ssh)
    job.start([*MPIRUN, '--mca', 'plm_rsh_agent', ssh, '--mca', 'btl_tcp_if_include', 'lo', '--host', 'localhost:2,there:2', '-n', '4',
               *job.wrapped(job.rank(*BY))])
    job.expect(4, hosts=2)


if not shutil.which('mpirun'):
    gs.skip('no mpirun (Debian: openmpi-bin)')
with gs.scratch() as where:
    around_all(where)
    around_each(where)
    same_numbers(where)
    two_hosts(where)
gs.finish()
