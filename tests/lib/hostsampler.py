# SPDX-License-Identifier: Apache-2.0
"""What the tests of the host sampler share: hostwaits.py with libprof, and its samples."""
import json
import os

import gs
import prof

SCRIPT = os.path.join(gs.WORKLOADS, 'hostwaits.py')
SUBMITTER, WORKER, PIN, WORKER_OTHER = 1, 2, 3, 4
RUNNING, SLEEPING, DISK = 1, 2, 3
(NONE, READ, WRITE, FAULT, SOCKET, PIPE, QUEUE, SLEEP, GIL, LOCK_SHARED, LOCK, CHILD, GPU, STOPPED,
 OTHER, UNKNOWN) = range(16)
TORN, NO_PYTHON, STEADY, HELD, BY_PARENT, CENSUS, GC = (1 << i for i in range(7))


def run(where, mode, *args, prefix=(), timeout=240, **env):
    """Returns what the script said and the trace of the trainer, or None."""
    done = prof.run([*prefix, gs.PYTHON, SCRIPT, mode, *args], where, timeout=timeout,
                    **env)
    if not gs.equal(done.returncode, 0, f'{mode} {args}: {done.stderr.decode()[-800:]}'):
        return None, None
    said = json.loads(done.stdout.decode().splitlines()[-1])
    found = [t for t in prof.traces(where) if t.hello['pid'] == said['pid']]
    gs.equal(len(found), 1, f'{mode}: streams of the trainer')
    return said, found[0] if found else None


def functions(sample):
    """The functions of the script on the stack, innermost first."""
    frames = (frame.split('\t') for frame in sample['stack'].split('\n'))
    return [f[0] for f in frames if len(f) >= 3 and f[1].endswith('hostwaits.py')]


def in_planted(samples):
    return [s for s in samples if any('planted' in f for f in functions(s))]


def looks(trace, role):
    return [s for s in trace.samples if s['role'] == role and not s['flags'] & CENSUS]


def waited_for_core(trace):
    """Ids of samples that show a thread ready to run, and of which the kernel's own count says that
    it got no core between the looks before and after: on a busy machine that is what it waited for."""
    out, by_thread = set(), {}
    for s in trace.samples:
        by_thread.setdefault((s['pid'], s['tid']), []).append(s)
    for mine in by_thread.values():
        mine.sort(key=lambda s: s['sample'])
        for before, s, after in zip([mine[0]] + mine, mine, mine[1:] + [mine[-1]]):
            if s['state'] == RUNNING and after['delay'] - before['delay'] >= 200_000:
                out.add(id(s))
    return out
