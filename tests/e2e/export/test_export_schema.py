#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Summaries of every small trace, recorded or imported, fit the agreed schema of summary.json, and ours
speaks of each of their members."""
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import exporting
import gs
import schema

try:
    import jsonschema  # noqa: F401 (schema uses it)
except ImportError:
    gs.skip('python3-jsonschema is not installed')

agreed, closed = schema.agreed(), schema.close(schema.ours())
if agreed:
    agreed = schema.widened(agreed, schema.ours())
if not agreed:
    gs.left_out('no ../shared/schema: compared with docs/summary.schema.json only')

with gs.scratch() as where:
    runs = list(exporting.small_imports(where))
    for name, run in runs:
        for options in ([], ['--window', 'device'], list(exporting.PRICE)):
            made = gs.summary(run, *options)
            gs.equal(schema.errors(closed, made)[:3], [], f'{name} {options}: our schema')
            if agreed:
                gs.equal(schema.errors(agreed, made)[:3], [], f'{name} {options}: the agreed schema')
    gs.check(len(runs) >= 15, f'{len(runs)} runs')
gs.finish()
