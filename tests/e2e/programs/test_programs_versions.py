#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=3600
"""What libprof and the shim do in torch (RecordFunction's ranges, both kinds of loader, torch.profiler's sessions, worker
processes, saving) holds in each torch and each Python that is here: the tests of these parts, played with that Python.
GS_BIG=1: all of them; else one with the newest."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import torches

E2E = os.path.join(gs.SOURCE, 'tests', 'e2e')
# They take their torch from gs.PYTHON.
EACH = ('ranges/test_ranges_late.py', 'ranges/test_shim_exceptions.py', 'ranges/test_ranges_kill.py',
        'ranges/test_shim_torch.py', 'sample/test_workers_rows.py')
NEWEST = ('sample/test_workers_forks.py', 'sample/test_workers_samples.py', 'sample/test_workers_nested.py',
          'libprof/test_prof_lend.py')

ALL = torches.some()
WHOLE = [(torch, test) for torch in ALL for test in EACH] + [(ALL[-1], test) for test in NEWEST]
PLAYED = WHOLE if gs.BIG else [(ALL[-1], EACH[0])]


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


if not gs.BIG:
    gs.left_out(f'{len(WHOLE) - 1} tests with a torch and a Python of theirs (GS_BIG=1 plays them)')
for torch, test in PLAYED:
    play(torch, test)
gs.finish()
