#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=900
"""deepspeed's launcher, of PyPI: on one host, wrapped as a whole and around each rank, and on two by pdsh and ssh, which bring
nothing of the environment along. Host names and what ssh does are played. A campaign (GS_BIG=1; scripts/launcher-venv makes the
environment)."""
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import launching

BIN = launching.venv('deepspeed')
DEEPSPEED = [BIN + '/python', BIN + '/deepspeed']


def port():
    return ['--master_port', str(gs.free_ports(1)[0])]


def around_all(where):
    job = launching.Job(where, 'deepspeed wrapped')
    job.start(job.wrapped([*DEEPSPEED, *port(), '--num_gpus', '2', *job.rank(python=None)]), HOME=job.where)
    job.expect(2)


def around_each(where):
    job = launching.Job(where, 'deepspeed around each')
    job.start([*DEEPSPEED, *port(), '--num_gpus', '2', '--no_python', '--no_local_rank', *job.wrapped(job.rank())], HOME=job.where,
              GPUSTARVE_RUN_ID='each')
    job.expect(2)


def two_hosts(where):
    """What .deepspeed_env names goes along, as it does to real hosts."""
    if not shutil.which('pdsh'):
        return gs.left_out('no pdsh')
    job = launching.Job(where, 'deepspeed two hosts')
    launching.write_ssh(job.where + '/ssh')
    with open(job.where + '/.deepspeed_env', 'w', encoding='utf-8') as f:
        f.write('GPUSTARVE_RUN_ID=both\n')
    with open(job.where + '/hosts', 'w', encoding='utf-8') as f:
        f.write('node0 slots=2\nnode1 slots=2\n')
    job.start([*DEEPSPEED, *port(), '--hostfile', job.where + '/hosts', '--master_addr', '127.0.0.1', '--launcher', 'pdsh',
               '--no_ssh_check', '--no_python', '--no_local_rank', *job.wrapped(job.rank())], HOME=job.where,
              PATH=f'{job.where}:{os.environ["PATH"]}')
    return job.expect(4, hosts=2)


with gs.scratch() as where:
    around_all(where)
    around_each(where)
    two_hosts(where)
gs.finish()
