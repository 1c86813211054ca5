# SPDX-License-Identifier: Apache-2.0
"""What the tests of libprof share: a program with libprof preloaded (no wrapper around it), the
trace it left as parsed lines, and the comparison with the simulator's truth."""
import collections
import glob
import json
import os

import gs

DUMP = os.path.join(gs.BUILD, 'tests', 'prof_dump')
MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')
OP, API, SYNC, RANGE = 1, 2, 3, 4
KERNEL, COPY, MEMSET, GRAPH = 1, 2, 3, 4
DROPPED, BAD_STAMP, FOREIGN, SUSPENDED, CLOCK_STEP, GOVERNOR, DETACHED, FRAMES = range(1, 9)
KINDS = {'kernel': KERNEL, 'memcpy': COPY, 'memset': MEMSET, 'graph': GRAPH}
SECOND = 1_000_000_000


def environment(where, preload=True, **more):
    """Preloads libprof; the trace goes to where/runs, the truth to where/truth."""
    os.makedirs(os.path.join(where, 'truth'), exist_ok=True)
    env = gs.environment(GPUSTARVE_OUT=os.path.join(where, 'runs'), GPUSTARVE_MAX_OVERHEAD=0,
                         GPUSIM_TRUTH=os.path.join(where, 'truth'))
    if preload:
        env['LD_PRELOAD'] = gs.LIBPROF
    env.update({k: str(v) for k, v in more.items() if v is not None})
    return env


def run(argv, where, simulator=True, preload=True, timeout=240, umask=-1, **env):
    """The completed process, run with libprof preloaded on the simulator."""
    prefix = [gs.WITH_GPUSIM] if simulator else []
    return gs.command(prefix + list(argv), env=environment(where, preload, **env), cwd=where,
                      timeout=timeout, umask=umask)


class Trace:
    """One stream: its frames and its events."""

    def __init__(self, stream):
        self.stream = stream
        self.frames = collections.defaultdict(list)
        self.events = collections.defaultdict(list)
        self.samples, self.batches = [], []

    @property
    def hello(self):
        return self.frames['hello'][-1]

    @property
    def bye(self):
        return self.frames['bye'][-1] if self.frames['bye'] else None

    @property
    def ops(self):
        return self.events[OP]

    @property
    def losses(self):
        return [s for f in self.frames['loss'] for s in f['spans']]

    @property
    def complete(self):
        """Latest 'complete up to' that the stream states."""
        last = self.bye['last'] if self.bye else self.frames['pulse'][-1]
        return last['complete']

    def lost(self, *reasons):
        return gs.union([s['start'], s['end']] for s in self.losses
                        if not reasons or s['reason'] in reasons)


def files(where):
    return sorted(glob.glob(os.path.join(where, 'runs', '*', '*.spool')) +
                  glob.glob(os.path.join(where, 'runs', '*', '*.gst')))


def traces(where, damaged=False):
    """All streams below where/runs. Damage and missing frames fail the test unless expected."""
    return read(files(where), damaged)


def read(found, damaged=False):
    """The streams of these files."""
    if not found:
        return []
    done = gs.command([DUMP] + found)
    if not damaged:
        gs.equal(done.returncode, 0, f'reading the trace: {done.stderr.decode()[:500]}')
    out = []
    for line in done.stdout.decode().splitlines():
        row = json.loads(line)
        if 'stream' in row and len(row) == 1:
            out.append(Trace(row['stream']))
        elif 'event' in row:
            out[-1].events[row['event']].append(row)
        elif 'sample' in row:
            out[-1].samples.append(row)
        elif 'batch' in row:
            out[-1].batches.append(row)
        else:
            out[-1].frames[row['frame']].append(row)
    return out


def trace(where, damaged=False):
    found = traces(where, damaged)
    gs.equal(len(found), 1, 'streams')
    return found[0] if found else None


def truth(where, pid=None, nodes=False):
    """The simulator's operations. A graph launch is one operation, or its nodes are."""
    rows = gs.truth_ops(os.path.join(where, 'truth'))
    return [r for r in rows if r['kind'] in KINDS and 'fault' not in r and (pid is None or r['pid'] == pid) and
            (r['kind'] != 'graph' if nodes else 'node' not in r)]


def key_of_truth(r):
    return (KINDS[r['kind']], r['ordinal'], r['stream'], r['start_ns'], r['end_ns'],
            r.get('name') or '' if r['kind'] == 'kernel' else '',
            r.get('bytes', 0) if r['kind'] in ('memcpy', 'memset') else 0)


def key_of_op(e):
    return (e['op'], e['device'], e['stream'], e['start'], e['end'], e['name'],
            e['bytes'] if e['op'] in (COPY, MEMSET) else 0)


def missing(where, t, pid=None):
    """(truth operations that the trace lacks, operations that the truth lacks), as Counters."""
    rows = truth(where, pid, t.hello['graphs'] == 'node')
    want = collections.Counter(key_of_truth(r) for r in rows)
    got = collections.Counter(key_of_op(e) for e in t.ops)
    return want - got, got - want


def expect_exact(where, t, what, pid=None):
    lack, extra = missing(where, t, pid)
    gs.equal(sum(lack.values()), 0, f'{what}: operations missing, such as {list(lack)[:2]}')
    gs.equal(sum(extra.values()), 0, f'{what}: operations too many, such as {list(extra)[:2]}')
    return len(t.ops)
