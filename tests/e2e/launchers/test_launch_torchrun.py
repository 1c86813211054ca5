#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=600
"""torchrun, of Debian's PyTorch and of the newest that is here: wrapped as a whole, around each worker with an id of its own,
and over two hosts, whose two wrappers and ranks are one run; and a job that it starts anew. Host names are played."""
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import launching
import torches

# 1.13 falls over its own default of these two with Python 3.11, which leaves Std.NONE out of a loop.
RUN = ['-m', 'torch.distributed.run', '--redirects', '1', '--tee', '1']


def around_all(where, name, python):
    job = launching.Job(where, f'torchrun wrapped {name}')
    done = job.start(job.wrapped([python, *RUN, '--standalone', '--nproc_per_node', '2', *job.rank(python=None)]))
    s = job.expect(2)
    said = done.stderr.decode()
    gs.check(s and 'report: ' in said and said.count('gpustarve: ') == 1, f'{job.what}: one box: {said}')


def around_each(where, name, python):
    """With an id the workers' wrappers find each other by it."""
    job = launching.Job(where, f'torchrun around each {name}')
    job.start([python, *RUN, '--rdzv_backend', 'c10d', '--rdzv_endpoint', f'127.0.0.1:{gs.free_ports(1)[0]}', '--rdzv_id', 'seven',
               '--nproc_per_node', '2', '--no_python', *job.wrapped(job.rank(python=python))])
    s = job.expect(2)
    gs.equal(s and s['run']['id'], 'torchelastic-seven', f'{job.what}: its id')


def two_hosts(where, name, python):
    job = launching.Job(where, f'torchrun two hosts {name}')
    master = f'--master_addr 127.0.0.1 --master_port {gs.free_ports(1)[0]}'.split()
    nodes = [subprocess.Popen(
        [gs.WITH_GPUSIM, *job.wrapped([python, *RUN, '--nnodes', '2', '--node_rank', str(k), *master, '--nproc_per_node', '2',
                                       *job.rank(python=None)])],
        env=job.env(GPUSIM_NODE=k, GPUSIM_HOST=f'node{k}', LD_PRELOAD=launching.HOST, GPUSTARVE_RUN_ID='both'), cwd=job.where,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for k in (0, 1)]
    said = [p.communicate(timeout=300 * gs.PATIENCE)[0].decode() for p in nodes]
    gs.equal([p.returncode for p in nodes], [0, 0], f'{job.what}: {said}')
    job.expect(4, hosts=2)


PYTHONS = {'1.13': gs.PYTHON}
PYTHONS.update({t.name: t.python for t in torches.some() if t.number == '3.11'} if gs.BIG else {})
if gs.command([gs.PYTHON, '-c', 'import torch.distributed.run']).returncode:
    gs.skip('no torch.distributed.run for ' + gs.PYTHON)
with gs.scratch() as where:
    for each in PYTHONS.items():
        around_all(where, *each)
        around_each(where, *each)
        two_hosts(where, *each)
gs.finish()
