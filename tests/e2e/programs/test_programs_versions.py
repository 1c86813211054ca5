#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=3600
"""What libprof and the shim do in torch (RecordFunction's ranges, both kinds of loader, torch.profiler's sessions, worker
processes, saving) holds in each torch and each Python that is here: the tests of these parts, played with that Python.
A campaign (GS_BIG=1)."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import torches

torches.campaign()

E2E = os.path.join(gs.SOURCE, 'tests', 'e2e')
# They take their torch from gs.PYTHON.
EACH = ('ranges/test_ranges_late.py', 'ranges/test_shim_exceptions.py', 'ranges/test_ranges_kill.py',
        'ranges/test_shim_torch.py', 'sample/test_workers_rows.py')
NEWEST = ('sample/test_workers_forks.py', 'sample/test_workers_samples.py', 'sample/test_workers_nested.py',
          'libprof/test_prof_lend.py')

ALL = torches.some()
PLAYED = [(torch, test) for torch in ALL for test in EACH] + [(ALL[-1], test) for test in NEWEST]


def play(torch, test):
    what = f'{torch.name}: {test}'
    env = gs.environment(GPUSTARVE_PYTHON=torch.python, GPUSTARVE_SOURCE=gs.SOURCE)
    done = gs.command([gs.PYTHON, os.path.join(E2E, test)], env=env, timeout=600)
    if done.returncode == 77:
        gs.left_out(f'{what}: {done.stdout.decode().strip()[-200:]}')
    else:
        text = (done.stdout + done.stderr).decode(errors='replace')
        gs.equal(done.returncode, 0, f'{what}: {text[-3000:]}')
        print(f'{what}: {text.strip().splitlines()[-1]}', flush=True)


for torch, test in PLAYED:
    play(torch, test)
gs.finish()
