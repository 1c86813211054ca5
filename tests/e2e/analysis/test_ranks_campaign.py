#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,ranks timeout=300
"""A few runs of each scenario of tests/ranks/campaign: planted late, slow, dead and hung ranks are
named and nobody else is; what is charged is what is true; clocks are aligned."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

RUNS = os.environ.get('GS_RANKS_RUNS', '3')


def campaign(*options):
    done = gs.command([gs.PYTHON, os.path.join(gs.SOURCE, 'tests', 'ranks', 'campaign'), '--jobs', 2, *options],
                      timeout=280)
    sys.stdout.write(done.stdout.decode())
    gs.equal(done.returncode, 0, f'campaign {options}: {done.stderr.decode()[-2000:]}')


campaign('--runs', RUNS)
campaign('--runs', RUNS, '--nccl', '--only', 'abreast,drift,grid,chain,stages,islands,one_expert')
campaign('--runs', 1, '--only', 'clean_three,three_tensor,three_all')    # of 64 ranks
gs.finish()
