# SPDX-License-Identifier: Apache-2.0
# ctest: timeout=600
"""Real traces of other people's tools, recorded on real GPUs: every value of the reference
program's ledger comes out of `import` and `report`, to the nanosecond."""
import json
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import importing

if not os.path.isdir(importing.TRACES):
    gs.skip('no ../shared/traces here; test_import_variants has small traces of our own')

with gs.scratch() as where:
    runs = {}
    for window, name in (('device', 'expected.json'), ('job', 'expected_job.json')):
        with open(os.path.join(importing.TRACES, name), encoding='utf-8') as f:
            expected = json.load(f)
        for file, want in expected.items():
            if file not in runs:
                done, run = importing.imported(where, os.path.join(importing.TRACES, file))
                gs.check(done.returncode == 0, f'{file}: import: {done.stderr.decode().strip()}')
                runs[file] = os.path.join(where, f'{len(runs)}.gst')
                shutil.move(run, runs[file])
            made = gs.summary(runs[file], '--window', window)
            importing.compare(made and made['gpus'], want, f'{file}, window {window}')

gs.finish()
