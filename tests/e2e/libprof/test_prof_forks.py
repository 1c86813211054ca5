#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=900
"""Programs that start children from 16 threads while libprof arms, loads its libraries, asks NVML,
unwinds, lends CUPTI and takes it back: every child ends with the status it should, and none hangs.
The loader is made to take its time in the middle of each library of ours (LD_AUDIT), NVML in each
call. GS_BIG=1: 10,000 children."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

STORM = os.path.join(gs.BUILD, 'workloads', 'forkstorm')
SLOW = os.path.join(gs.plain(gs.BUILD), 'gpusim', 'gpusim-slowload.so')
# What libprof loads, or has loaded.
OURS = 'libnvidia-ml:libcupti:libunwind:liblzma'
PATIENCE_MS = 2000  # of a fork, at most


def storm(what, children, kinds, seconds=20, early=20, **env):
    """One storm's own account, and its trace."""
    with gs.scratch() as where:
        done = prof.run([STORM, 'storm', 16, children, seconds, kinds, early], where, timeout=800,
                        GPUSIM_NVML_CALLS=os.path.join(where, 'calls'), **env)
        said = done.stdout.decode().splitlines()
        if not gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-500:]}') or not said:
            gs.finish()
        seen = json.loads(said[-1])
        print(f'{what}: {said[-1]}', flush=True)
        for bad in 'killed', 'hung', 'failed':
            gs.equal(seen[bad], 0, f'{what}: children {bad}')
        gs.equal(seen['wrong'], {}, f'{what}: children with another status: '
                                    f'{sorted(set(done.stderr.decode().splitlines()))[:3]}')
        gs.check(seen['children'] >= 16, f'{what}: only {seen["children"]} children')
        with open(os.path.join(where, 'calls')) as f:
            seen['calls'] = f.read().split()
        gs.check('nvmlInit_v2' in seen['calls'], f'{what}: NVML was loaded and asked')
        return seen, prof.trace(where)


many = 10000 if gs.BIG else 0
_, t = storm('every kind', many or 500, 'fnevs', seconds=600 if gs.BIG else int(4 * gs.PATIENCE))
gs.check(len(t.ops) > 0, 'the GPU was recorded meanwhile')
unwound = sum(bool(sample['native']) for sample in t.samples)
print(f'{len(t.samples)} looks, {unwound} of them unwound a thread')
gs.check(unwound > 0 or not gs.BIG, 'threads were unwound meanwhile')
storm('slow loads', many or 600, 'f', LD_AUDIT=SLOW, SLOWLOAD=OURS, SLOWLOAD_MS=50)
storm('slow NVML', many // 10 or 100, 'n', GPUSIM_NVML='slow:20')

# A call that never returns: a fork waits for it once.
seen, t = storm('a stuck NVML', 400, 'f', seconds=10, early=0, GPUSIM_NVML='stuck')
if 'nvmlDeviceGetMemoryInfo' in seen['calls']:
    gs.check(seen['longest_fork_ms'] >= PATIENCE_MS * 3 // 4, 'a fork waited for NVML')
    gs.check(any('fork could wait' in n for n in t.bye['notes']), f'a note: {t.bye["notes"]}')
gs.finish()
