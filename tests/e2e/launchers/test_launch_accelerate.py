#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=900
"""accelerate launch, of PyPI, with the newest PyTorch: one run with all ranks, wrapped as a whole and around each rank. A
campaign (GS_BIG=1; scripts/torch-venvs makes the environment)."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import launching
import torches

torches.campaign()
TORCHES = [t for t in torches.some() if t.number == '3.11' and os.path.exists(os.path.join(t.packages, 'accelerate'))]
LAUNCH = ['-m', 'accelerate.commands.launch', '--multi_gpu', '--num_machines', '1', '--mixed_precision', 'no',
          '--dynamo_backend', 'no', '--num_processes', '2']


def port():
    return ['--main_process_port', str(gs.free_ports(1)[0])]


def around_all(where, torch):
    job = launching.Job(where, f'accelerate wrapped {torch.name}')
    job.start(job.wrapped([torch.python, *LAUNCH, *port(), *job.rank(python=None)]), HF_HOME=job.where)
    job.expect(2)


def around_each(where, torch):
    job = launching.Job(where, f'accelerate around each {torch.name}')
    job.start([torch.python, *LAUNCH, *port(), '--rdzv_conf', 'rdzv_backend=c10d', '--no_python',
               *job.wrapped(job.rank(python=torch.python))], HF_HOME=job.where, GPUSTARVE_RUN_ID='each')
    job.expect(2)


with gs.scratch() as where:
    for each in TORCHES[-1:]:
        around_all(where, each)
        around_each(where, each)
if not TORCHES:
    gs.skip('no accelerate in ' + torches.ROOT)
gs.finish()
