#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Summaries of every small trace, recorded or imported, fit the normative schema of summary.json."""
import json
import os

import exporting
import gs

try:
    import jsonschema
except ImportError:
    gs.skip('python3-jsonschema is not installed')

NORMATIVE = os.path.join(gs.SHARED, 'schema', 'summary.schema.json')
if not os.path.exists(NORMATIVE):
    gs.skip('no ../shared/schema here; test_cli_report has the copy in docs')

with open(NORMATIVE, encoding='utf-8') as f:
    schema = json.load(f)
check = jsonschema.Draft202012Validator({k: v for k, v in schema.items() if k != '$id'})

with gs.scratch() as where:
    runs = list(exporting.small_imports(where))
    for name, run in runs:
        for options in ([], ['--window', 'device'], list(exporting.PRICE)):
            errors = [f'{e.json_path}: {e.message}' for e in check.iter_errors(gs.summary(run, *options))]
            gs.equal(errors[:3], [], f'{name} {options}')
    gs.check(len(runs) >= 15, f'{len(runs)} runs')
gs.finish()
