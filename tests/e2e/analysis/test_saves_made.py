# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""A short part of tests/insurance."""
import os
import runpy
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

runpy.run_path(os.path.join(gs.SOURCE, 'tests', 'insurance'))['main'](1500, 0)
gs.finish()
