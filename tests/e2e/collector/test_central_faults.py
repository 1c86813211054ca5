#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits
"""Some rounds of tests/faults, the campaign of faults between nodes and centre: each kind of fault once,
partitions of two seconds. With GS_BIG all of it. GPUSTARVE_TEST_SEED deals them otherwise."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

SIZE = ['--rounds', '200'] if gs.BIG else ['--rounds', '6', '--worlds', '3', '--long', '0', '--pairs', '0']
SEED = os.environ.get('GPUSTARVE_TEST_SEED', '5')

os.execv(gs.PYTHON, [gs.PYTHON, os.path.join(gs.SOURCE, 'tests', 'faults'), '--verbose', '--seed', SEED, *SIZE])
