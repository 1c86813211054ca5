#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=600
"""ledger.estimated against what is true, over a few of the made-up runs of tests/estimates/coverage: busy
time within 2 points, most of what was a tenth of the time within 3, most truths within their
intervals. The campaign of 200 runs prints the table and holds the intervals to 86 to 94 %.

    test_estimate_coverage.py [FIRST_SEED [COUNT]]"""
import importlib.machinery
import importlib.util
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

path = os.path.join(gs.SOURCE, 'tests', 'estimates', 'coverage')
loader = importlib.machinery.SourceFileLoader('coverage', path)
coverage = importlib.util.module_from_spec(importlib.util.spec_from_loader('coverage', loader))
os.environ.setdefault('GPUSTARVE_BUILD', gs.BUILD)
sys.dont_write_bytecode = True
loader.exec_module(coverage)

first = int(sys.argv[1]) if len(sys.argv) > 1 else 9000
count = int(sys.argv[2]) if len(sys.argv) > 2 else 200 if gs.BIG else 10
rows, unknown, whole = coverage.campaign(range(first, first + count))
coverage.table(rows, unknown, whole)
gs.equal(coverage.verdict(rows, whole, *(() if count >= 200 else (.75, 1, .2))), [], f'{count} runs')
gs.finish()
