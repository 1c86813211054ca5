#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""libprof and an NVML that is slow, hangs, or ends while it is asked: the job does not notice, and all
but what NVML tells is recorded."""
import os
import time

import gs
import prof

STORM = os.path.join(gs.BUILD, 'workloads', 'forkstorm')


def calls(where):
    path = os.path.join(where, 'calls')
    return [line.split() for line in open(path)] if os.path.exists(path) else []


def hangs():
    with gs.scratch() as where:
        began = time.monotonic()
        done = prof.run([prof.MIXLOOP, 'steps=20'], where, GPUSIM_NVML='hang',
                        GPUSIM_NVML_CALLS=os.path.join(where, 'calls'))
        gs.equal(done.returncode, 0, f'NVML hangs: {done.stderr.decode()[-500:]}')
        t = prof.trace(where)
        if t:
            prof.expect_exact(where, t, 'NVML hangs')
            gs.check(t.bye and any('still under way' in n for n in t.bye['notes']),
                     f'NVML hangs: a note: {t.bye and t.bye["notes"]}')
            gs.equal(len(t.hello['devices']), 1, 'NVML hangs: the driver names its device')
        print(f'NVML hangs: {time.monotonic() - began:.1f} s', flush=True)


def exits():
    """The program ends while a call is under way: it is waited for, no other begins."""
    with gs.scratch() as where:
        path = os.path.join(where, 'calls')
        done = prof.run([STORM, 'until', path, 'GetMemoryInfo'], where, GPUSIM_NVML='slow:60',
                        GPUSIM_NVML_CALLS=path)
        gs.equal(done.returncode, 0, f'exit: {done.stderr.decode()[-500:]}')
        seen = [c[1] for c in calls(where)]
        gs.check('nvmlDeviceGetMemoryInfo' in seen, f'exit: NVML was asked: {seen}')
        gs.check('destroyed-beside-a-call' not in seen, f'exit: NVML ended beside a call: {seen}')


gs.side_by_side([hangs, exits])
gs.finish()
