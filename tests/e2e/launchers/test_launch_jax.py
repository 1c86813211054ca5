#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=900
"""JAX in several processes, of PyPI: found by mpirun's variables, and by arguments in the program, which nobody else knows: there
RANK and its like say it again. A campaign (GS_BIG=1; scripts/launcher-venv makes the environment)."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import launching

BIN = launching.venv('python')
PROGRAM = [BIN + '/python', os.path.join(gs.WORKLOADS, 'jax_rank.py'), '--steps', str(launching.STEPS)]
if gs.command([BIN + '/python', '-c', 'import jax']).returncode:
    gs.skip('no jax in ' + BIN)


def by_mpirun(where):
    if not shutil.which('mpirun'):
        return gs.left_out('no mpirun')
    job = launching.Job(where, 'jax by mpirun')
    job.start(['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', '2', *job.wrapped([*PROGRAM, '--told', job.told])],
              JAX_PLATFORMS='cpu')
    return job.expect(2)


def by_arguments(where):
    job = launching.Job(where, 'jax by arguments')
    at = f'127.0.0.1:{gs.free_ports(1)[0]}'
    shm = os.path.join(job.where, 'simulated')
    both = [subprocess.Popen(
        [gs.WITH_GPUSIM, *job.wrapped([*PROGRAM, '--told', job.told, '--process', f'{i}:2:{at}'])], cwd=job.where,
        env=job.env(JAX_PLATFORMS='cpu', GPUSIM_SHM=shm, GPUSTARVE_RUN_ID='jax', RANK=i, WORLD_SIZE=2, LOCAL_RANK=i),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for i in (0, 1)]
    said = [p.communicate(timeout=300 * gs.PATIENCE)[0].decode() for p in both]
    gs.equal([p.returncode for p in both], [0, 0], f'{job.what}: {said}')
    job.expect(2)


with gs.scratch() as where:
    by_mpirun(where)
    by_arguments(where)
gs.finish()
