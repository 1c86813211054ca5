#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""A job that never touches a GPU ends with one line that says so, and no report of zeros."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

with gs.scratch() as where:
    out = os.path.join(where, 'runs')
    done = gs.gpustarve('run', '-o', out, '--', 'bash', '-c', 'echo hello; exit 3', cwd=where)
    gs.equal(done.returncode, 3, 'exit status')
    gs.equal(done.stdout, b'hello\n', 'stdout')
    lines = done.stderr.decode().splitlines()
    gs.equal(len(lines), 1, f'lines on stderr: {lines}')
    gs.check(lines and 'GPU' in lines[0], f'the line speaks of the GPU: {lines}')
    for run in gs.runs(out):
        gs.check(not os.path.exists(os.path.join(run, 'report.html')), 'no report')
        gs.check(not os.path.exists(os.path.join(run, 'summary.json')), 'no summary')
gs.finish()
