# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""A loop in C that marks itself with NVTX: every range is in the trace, with its name, thread and
class, and begins and ends within its own calls. GPUSTARVE_NVTX=0 records none."""
import collections
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

LOOP = os.path.join(gs.BUILD, 'workloads', 'nvtx_loop')
TYPES = {'loader': ranges.LOADER, 'user': ranges.USER, 'operator': ranges.OPERATOR}


def own_rows(path):
    rows = collections.defaultdict(list)
    for line in open(path):
        kind, tid, b0, b1, e0, e1, name = line.rstrip('\n').split(' ', 6)
        rows[int(tid), TYPES[kind], name].append(tuple(map(int, (b0, b1, e0, e1))))
    return rows


def case(steps, threads, **env):
    with gs.scratch() as where:
        own = os.path.join(where, 'own')
        ranges.run([LOOP, own, steps, threads], where, **env)
        streams = ranges.trace(where)
        if gs.equal(len(streams), 1, 'streams'):
            return own_rows(own), ranges.joined(ranges.ranges(streams[0]))
    return {}, []


def exact(steps, threads, **env):
    what = f'{steps} steps, {threads} more threads {env or ""}'
    own, rows = case(steps, threads, **env)
    got = collections.defaultdict(list)
    for r in rows:
        got[r['tid'], r['op'], r['name']].append((r['start'], r['end']))
    gs.equal({k: len(v) for k, v in got.items()}, {k: len(v) for k, v in own.items()},
             f'{what}: ranges by thread, class and name')
    wrong = [(k, mine, theirs) for k in own
             for mine, theirs in zip(sorted(own[k]), sorted(got.get(k, [])))
             if not (mine[0] <= theirs[0] <= mine[1] and mine[2] <= theirs[1] <= mine[3])]
    gs.equal(wrong[:3], [], f'{what}: ranges that do not fit their calls')
    print(f'{what}: {len(rows)} ranges', flush=True)


exact(60, 0)
exact(100, 4)
exact(20, 0, GPUSIM_CUPTI='11.8')
gs.equal(case(10, 0, GPUSTARVE_NVTX=0)[1], [], 'ranges with GPUSTARVE_NVTX=0')
gs.finish()
