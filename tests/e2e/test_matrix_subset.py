#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e serial timeout=300
"""A seeded subset of the planted-fault matrix (tests/matrix). With MATRIX_SEED another seed."""
import os
import sys

import gs

sys.stdout.flush()
os.execv(gs.PYTHON, [gs.PYTHON, os.path.join(gs.SOURCE, 'tests', 'matrix'), '--seed',
                     os.environ.get('MATRIX_SEED', '1')])
