#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits
"""Some rounds of tests/faults, the campaign of faults between nodes and centre: each kind of fault at
least once, partitions of two seconds. With GS_BIG all of it. The seed is new each time and is printed."""
import os
import subprocess
import sys

import gs

SIZE = ['--rounds', '200'] if gs.BIG else ['--rounds', '6', '--worlds', '3', '--long', '0', '--pairs', '0']
SEED = ['--seed', os.environ['GPUSTARVE_TEST_SEED']] if 'GPUSTARVE_TEST_SEED' in os.environ else []

sys.exit(subprocess.call([gs.PYTHON, os.path.join(gs.SOURCE, 'tests', 'faults'), '--verbose', *SIZE, *SEED]))
