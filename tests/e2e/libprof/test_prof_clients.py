#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=300
"""Other clients of CUPTI that come untold, each with its own ways with buffers that it is handed and
never asked for: the job does not die of it, what the trace lacks lies in its foreign spans, and after
the last session recording goes on."""
import functools
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
import prof_faults
from prof import DROPPED, FOREIGN, SECOND

EARLY = 'early;'  # empty buffers come back, too
ONE = 'foreign:from=1,for=1.5,kind='
CASES = {
    'frees': ONE + 'free',
    'frees, small buffers of its own': ONE + 'free,kb=16',
    'recycles at its size': ONE + 'recycle',
    'recycles at the largest size': ONE + 'recycle,kb=65536',
    'frees empty ones': EARLY + ONE + 'empty',
    'caches, reuses empty ones': EARLY + ONE + 'cache,ms=1500',
    'keeps': ONE + 'keep',
    'subscribes': ONE + 'subscribe',
    'frees, then finalizes': ONE + 'free,finalize=1',
    'a second before the first one\'s buffers came back':
        'foreign:from=1,for=0.6,kind=free,flush=0;foreign:from=1.7,for=1,kind=recycle',
    'leaves its buffers to us': ONE + 'recycle,flush=0',
}
had = []  # for each case: did another client get a buffer of ours?
SECONDS = 10 + 5 * gs.PATIENCE  # after each time that it was taken from libprof yields for twice as long
AFTER = SECOND  # so long before its end the job is traced again


def case(what, version, fault):
    c = prof_faults.run(f'{version} {what}', fault, seconds=SECONDS, GPUSIM_CUPTI=version,
                        GPUSTARVE_REARM_SECONDS=1)
    sessions = [f for f in c.faults if f['fault'] == 'foreign']
    gs.equal(len(sessions), fault.count('foreign'), f'{what}: sessions')
    c.covered(what, FOREIGN, DROPPED)
    if 'subscribe' in fault:
        gs.equal((len(c.missing), c.t.losses), (0, []), f'{what}: takes nothing')
        return
    gs.check(len(c.missing) > 20, f'{what}: took nothing')
    had.append(sum(s['strangers'] for s in sessions) > 0)
    last = max(e['end'] for e in c.t.ops)
    gs.check(gs.subtract([[last - AFTER, last]], c.t.lost(FOREIGN)) == [[last - AFTER, last]],
             f'{what}: recording goes on after it, but {c.t.lost(FOREIGN)}')


if __name__ == '__main__':
    gs.side_by_side([functools.partial(case, what, version, fault)
                     for version in ('13', '12.6') for what, fault in CASES.items()
                     if version == '13' or what in ('frees', 'recycles at its size')], 13)
    # Whether one is with CUPTI when a session ends, is chance.
    gs.check(sum(had) > len(had) / 2, f'others had buffers of ours in {sum(had)} of {len(had)} cases')
    gs.finish()
