# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""A training thread that looks for its batch again and again, and sleeps in between: soon after a look at it there is
another one, for one alone does not tell such a thread from one that sleeps once."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

SLEEP, SUBMITTER = 7, 1
CLOSE_NS = 4_000_000  # looks are 4.4 ms apart at the least otherwise
PROGRAM = f"""
import sys, time
sys.path.insert(0, {gs.WORKLOADS!r})
import gpudev
device = gpudev.Device(0)
stream = gpudev.Stream(device)
for step in range(60):
    stream.kernel(2_000_000)
    stream.synchronize()
    for _ in range(30):
        time.sleep(0.001)
"""

with gs.scratch() as where:
    done = prof.run([gs.PYTHON, '-c', PROGRAM], where)
    gs.equal((done.returncode, done.stderr), (0, b''), 'the program')
    times = [(s['sample'], s['cpu']) for s in prof.trace(where).samples if s['wait'] == SLEEP and s['role'] == SUBMITTER]
    close = sum(b[0] - a[0] < CLOSE_NS and a[1] != b[1] for a, b in zip(times, times[1:]))
    gs.check(len(times) > 50 and close >= 10, f'{close} of {len(times)} looks soon after another, with a turn in between')
    print(f'{close} of {len(times)} looks')
gs.finish()
