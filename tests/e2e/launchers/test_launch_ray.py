#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=900
"""Ray, of PyPI: a cluster that the wrapped program starts itself, and one that was there before, which is given what it needs by
runtime_env. Each is one run with all ranks. A campaign (GS_BIG=1; scripts/launcher-venv makes the environment)."""
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import launching

BIN = launching.venv('ray')
DRIVER = [BIN + '/python', os.path.join(gs.WORKLOADS, 'ray_ranks.py'), '--ranks', '2', '--steps', str(launching.STEPS)]
QUIET = {'RAY_AUTH_MODE': 'disabled', 'RAY_USAGE_STATS_ENABLED': '0', 'RAY_DISABLE_IMPORT_WARNING': '1'}


def own_cluster(where):
    job = launching.Job(where, 'ray of its own')
    job.start(job.wrapped([*DRIVER, '--told', job.told]), HOME=job.where, **QUIET)
    job.expect(2)


def there_before(where):
    """The cluster has none of our variables; the driver passes on those that it was wrapped with."""
    job = launching.Job(where, 'ray there before')
    port = gs.free_ports(1)[0]
    sim = os.path.join(job.where, 'simulated')
    more = dict(QUIET, HOME=job.where, GPUSIM_SHM=sim, RAY_ADDRESS=f'127.0.0.1:{port}')
    start = [BIN + '/python', BIN + '/ray', 'start', '--head', '--port', str(port), '--num-cpus', '2', '--num-gpus', '2',
             '--include-dashboard', 'false', '--temp-dir', job.where + '/ray']
    # --block: what ray starts ends with it.
    with open(job.where + '/ray.log', 'wb') as log:
        cluster = subprocess.Popen([gs.WITH_GPUSIM, *start, '--block'], env=job.env(**more), cwd=job.where, stdout=log, stderr=log)
    try:
        gs.until('the cluster is there', lambda: not gs.command(
            [BIN + '/python', BIN + '/ray', 'status'], env=job.env(**more)).returncode, 120)
        job.start(job.wrapped([*DRIVER, '--told', job.told, '--give']), **more)
        job.expect(2, complete=False)  # workers are the cluster's: Ray ends them when and how it likes
    finally:
        cluster.terminate()
        cluster.wait(timeout=60)


with gs.scratch() as where:
    own_cluster(where)
    there_before(where)
gs.finish()
