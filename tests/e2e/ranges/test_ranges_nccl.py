#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Four ranks with a communicator of all and one of each half: every call's range in the trace names its own, the same on
all that are in it, and each kernel was launched in a range of a call or at the end of a group. So the report knows the
communicators without having to learn them of what ended together."""
import collections
import glob
import json
import os
import shutil
import subprocess
import sys

sys.path[:0] = [sys.path[0] + '/../../lib', sys.path[0] + '/../gpusim']
import gs
import ranges
import test_gpusim
import test_gpusim_nccl

RANKS = 4
API, RANGE = 2, 4
CALLS = '''
half = P()
ok(nccl.ncclCommSplit(comm, r // 2, r % 2, ctypes.byref(half), None))
a, b = put([0] * n), put([0] * n)
for i in range(3):
    call('ncclAllReduce', a, a, 4, I32, MAX, comm, s.handle)
    call('ncclAllGather', a, b, 1, I32, comm, s.handle)
    call('ncclAllReduce', a, a, 4, I32, MAX, half, s.handle)
    ok(nccl.ncclGroupStart())
    call('ncclBcast', a, 4, I32, 0, half, s.handle)
    ok(nccl.ncclGroupEnd())
    ok(nccl.ncclGroupStart())
    call('ncclSend', a, 4, I32, (r ^ 1) % 2, half, s.handle)
    call('ncclRecv', b, 4, I32, (r ^ 1) % 2, half, s.handle)
    ok(nccl.ncclGroupEnd())
s.synchronize()
print(json.dumps(dict(rank=r)))
'''
WANTED = {'ncclAllReduce': ['all', 'half'] * 3, 'ncclAllGather': ['all'] * 3, 'ncclBroadcast': ['half'] * 3,
          'ncclSend': ['half'] * 3, 'ncclRecv': ['half'] * 3}


def run(where, **env):
    os.makedirs(os.path.join(where, 'meet'))
    text = 'import json\n' + test_gpusim_nccl.COMM + CALLS
    process = []
    for r in range(RANKS):
        own = os.path.join(where, str(r))
        os.makedirs(own)
        argv, full = ranges.preloaded(test_gpusim.python(text), own, GPUSIM_SHM=os.path.join(where, 'shm'),
                                      GPUSIM_DEVICES=RANKS, RANK=r, RANKS=RANKS, DIR=os.path.join(where, 'meet'),
                                      CUDA_VISIBLE_DEVICES=r, GPUSIM_QUIET=1, **env)
        process.append(subprocess.Popen(argv, env=full, cwd=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    try:
        said = [p.communicate(timeout=100) for p in process]
    finally:
        for p in process:
            p.kill()
    for r, (out, err) in enumerate(said):
        if gs.equal((process[r].returncode, err.decode()[-2000:]), (0, ''), f'rank {r}: exit status'):
            gs.equal(json.loads(out), {'rank': r}, f'rank {r}')
    return [ranges.trace(os.path.join(where, str(r))) for r in range(RANKS)]


def calls(rows):
    """name: the communicators of its calls, in order."""
    by = collections.defaultdict(list)
    for row in ranges.joined(ranges.ranges(rows)):
        if row['name'] in WANTED:
            by[row['name']].append(row['bytes'])
    return by


def communicators():
    with gs.scratch() as where:
        traces = run(where)
        if not gs.equal([len(t) for t in traces], [1] * RANKS, 'streams'):
            return
        rank = [calls(t[0]) for t in traces]
        whole = {c for by in rank for c in by['ncclAllGather']}
        half = [set(by['ncclBroadcast']) for by in rank]
        gs.equal(len(whole), 1, f'communicators of all: {whole}')
        gs.equal([len(h) for h in half], [1] * RANKS, f'communicators of halves: {half}')
        gs.equal([half[0] == half[1], half[2] == half[3], half[0] == half[2]], [True, True, False], f'halves: {half}')
        gs.check(0 not in whole.union(*half) and not whole & set().union(*half), f'{whole} {half}')
        for r, by in enumerate(rank):
            name = {c: 'all' for c in whole} | {c: 'half' for c in half[r]}
            gs.equal({n: [name.get(c, c) for c in v] for n, v in by.items()}, WANTED, f'rank {r}: communicators')
            others = {row['bytes'] for row in ranges.ranges(traces[r][0]) if row['name'] not in WANTED}
            gs.equal(others, {0}, f'rank {r}: communicators of other ranges')
        launched_in(traces)
        told(where)
        print(f'{sum(len(v) for by in rank for v in by.values())} calls of {len(whole.union(*half))} communicators')


def launched_in(traces):
    """What docs/FORMAT.md says of where kernels are launched."""
    for r, t in enumerate(traces):
        around = [row for row in ranges.ranges(t[0]) if row['bytes'] or row['name'] == 'ncclGroupEnd']
        kernel = {row['corr'] for row in t[0] if row.get('event') == 1 and 'ncclDevKernel' in row['name']}
        launch = [row for row in t[0] if row.get('event') == API and row['corr'] in kernel]
        gs.equal((len(kernel), len(launch)), (15, 15), f'rank {r}: kernels and launches')
        lost = [row for row in launch if not any(row['tid'] == a['tid'] and a['start'] <= row['start'] <= row['end'] <= a['end']
                                                 for a in around)]
        gs.equal(lost, [], f'rank {r}: launches outside of calls')


def groups(where):
    """Of the ranks' traces as one run: [(members, told)] of each communicator's collectives, by name of kernel."""
    run = os.path.join(where, 'all.gst')
    os.makedirs(run)
    for r in range(RANKS):
        for path in glob.glob(os.path.join(where, str(r), 'runs', '*.gst', '*')):
            shutil.copy(path, run)
    by = collections.defaultdict(list)
    for g in gs.summary(run)['ranks']['groups']:
        by[next(w for w in ('AllReduce', 'SendRecv', g['name']) if w in g['name'])].append((g['members'], g['told']))
    return {k: sorted(v) for k, v in by.items()}


def told(where):
    """AllReduce of all and of halves are kernels of one name, and only one of each is in a step."""
    got = groups(where)
    gs.equal({k: v for k, v in got.items() if k != 'SendRecv'},
             {'AllReduce': [([0, 1], True), ([0, 1, 2, 3], True), ([2, 3], True)]}, f'communicators: {got}')
    gs.equal(got.get('SendRecv'), [([0, 1], True), ([2, 3], True)], f'sends and receives: {got}')


def none():
    with gs.scratch() as where:
        rows = [row for t in run(where, NCCL_NVTX_DISABLE=1) for row in ranges.ranges(t[0])]
        gs.equal([row for row in rows if row['bytes'] or row['name'].startswith('nccl')], [], 'with NCCL_NVTX_DISABLE=1')


communicators()
none()
gs.finish()
