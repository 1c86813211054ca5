#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits first timeout=600
"""The scripted faults of prof_faults.py under CUPTI 13."""
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import prof_faults

prof_faults.all_faults('13')
