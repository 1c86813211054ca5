#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=300
"""Off is off: whatever libprof lacks to record with (threads, memory, a kind that CUPTI refuses), nothing
of CUPTI's stays on that nobody takes, the job goes on, and one line says why."""
import functools
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

JOB = os.path.join(gs.SOURCE, 'tests', 'lib', 'arming.py')
TOUCH = os.path.join(gs.plain(gs.BUILD), 'tests', 'armtouch.so')
PLAIN = """
import os, sys, time
sys.path.insert(0, os.environ['WORKLOADS'])
import gpudev
s = gpudev.Stream(gpudev.Device(0))
for i in range(20):
    s.kernel(200_000, name='early')
s.synchronize()
time.sleep(0.3)
print('{}')
"""


def run(what, argv, damaged=False, **env):
    """(what CUPTI says is on at the end, the trace or None, lines on stderr, what was printed)"""
    with gs.scratch() as where:
        with open(where + '/job.py', 'w') as f:
            f.write(PLAIN)
        environment = prof.environment(where, WORKLOADS=gs.WORKLOADS, **env)
        os.chmod(where, 0o777)
        os.chmod(where + '/truth', 0o777)
        done = gs.command([gs.WITH_GPUSIM, gs.PYTHON, *argv], env=environment, cwd=where)
        if not gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-600:]}'):
            return None, None, [], {}
        on = [r for r in gs.truth_lines(where + '/truth') if 'enabled' in r]
        gs.check(len(on) < 2, f'{what}: lines about what is on')
        on = on[0] if on else dict(enabled=[], calls=0, all_sync=1)  # CUPTI was never asked for anything
        found = prof.traces(where, damaged)
        gs.check(len(found) < 2, f'{what}: streams')
        t = found[0] if found else None
        if t and on['enabled']:
            if damaged and not t.frames['hello']:
                t.frames['hello'].append(dict(graphs='graph'))
            lack, extra = prof.missing(where, t)
            if damaged:  # names are the first to go
                lack, extra = ({k[:5] for k in a} - {k[:5] for k in b} for a, b in ((lack, extra), (extra, lack)))
            bare = [k for k in lack if gs.subtract([[k[3], k[4]]], t.lost())]
            gs.equal((bare, list(extra)), ([], []), f'{what}: missing without a word, and never were')
            gs.check(damaged or not lack, f'{what}: missing')
        return on, t, done.stderr.decode().splitlines(), json.loads(done.stdout)


def off(what, on, all_sync=1):
    gs.equal((on and on['enabled'], on and on['calls'], on and on['all_sync']), ([], 0, all_sync), f'{what}: on')


def refused(kind, code, text, version):
    """What recording needs is refused after others were switched on."""
    what = f'CUPTI {version} refuses kind {kind}'
    on, t, err, _ = run(what, ['job.py'], GPUSIM_CUPTI=version, GPUSIM_FAULT=f'refuse:kind={kind},code={code}')
    off(what, on)
    gs.equal(err, [], f'{what}: stderr')
    if gs.check(t, f'{what}: no run'):
        gs.equal(len(t.ops), 0, f'{what}: operations')
        gs.equal(len([n for n in t.hello['notes'] if f'error {code} ({text})' in n]), 1,
                 f'{what}: {t.hello["notes"]}')
        gs.check(t.bye, f'{what}: Bye')


def nothing():
    """A program that initialises CUDA and launches nothing leaves no run."""
    what = 'a program that launches nothing'
    on, t, err, _ = run(what, ['-c', "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0); print('{}')"])
    gs.check(on and 10 in on['enabled'], f'{what}: {on}')
    gs.equal((t, err), (None, []), what)


def one_less():
    """What it can do without: all else goes on, and the trace says what it lacks."""
    what = 'CUPTI refuses memsets'
    on, t, err, _ = run(what, ['job.py'], GPUSIM_FAULT='refuse:kind=2,code=27')
    gs.check(on and 10 in on['enabled'] and 2 not in on['enabled'], f'{what}: {on}')
    gs.equal((err, len(t.ops)), ([], 20), what)
    gs.check(any('memsets' in n for n in t.hello['notes']), f'{what}: {t.hello["notes"]}')


def refused_again():
    """After a session of another client: nothing half on, all of that time is told, and it is tried again."""
    what = 'refused after a session'
    on, t, err, seen = run(what, [JOB, 'again', '6.0'], True, LD_PRELOAD=gs.LIBPROF, GPUSTARVE_REARM_SECONDS=1,
                           GPUSIM_FAULT='refuse:kind=10,code=39,nth=3')  # ours, the client's, ours
    gs.equal((seen, err), (dict(kernels=20, unknown=0), []), what)
    notes = t.bye['notes']
    gs.check(any('error 39 when it was switched on again' in n for n in notes), f'{what}: {notes}')
    gs.check(on and 10 in on['enabled'] and any(o['name'] == 'after' for o in t.ops), f'{what}: never came back: {on}')
    gs.check(t.lost(prof.FOREIGN), f'{what}: no loss')


def threads(left):
    what = f'{left} threads left'
    on, t, err, _ = run(what, [JOB, 'crowd', str(left)])
    if left > 1:
        gs.check(on and 10 in on['enabled'], f'{what}: {on}')
        gs.equal((err, t and len(t.ops)), ([], 20), what)
        return
    off(what, on)
    if left:
        gs.equal(err, [], f'{what}: stderr')
        gs.check(t and t.bye and any('thread' in n for n in t.hello['notes']), f'{what}: no line in the run')
    else:
        gs.equal((len(err), t), (1, None), f'{what}: {err}')
        gs.check(err and err[0].startswith('gpustarve: nothing is recorded: ') and 'thread' in err[0], f'{what}: {err}')


def memory(n):
    """From its nth block on libprof gets no memory while it arms and begins. Returns how many it asked for."""
    what = f'no memory from block {n} on'
    on, t, err, seen = run(what, [JOB, 'starve', str(n)], True, LD_PRELOAD=f'{gs.LIBPROF} {TOUCH}')
    gs.check(len(err) < 2 and all(x.startswith('gpustarve: ') for x in err), f'{what}: {err}')
    if on and not on['enabled']:
        off(what, on)
    elif on:
        gs.check(t and t.bye and t.ops, f'{what}: CUPTI is on and nothing is recorded')
    return seen.get('blocks', 0)


cases = [functools.partial(refused, *c) for c in (
    (10, 43, 'not on a MIG device', '13'), (10, 41, 'not with confidential computing', '11.8'),
    (1, 27, 'not supported here', '12.4'))] + [one_less, nothing, refused_again]
if os.geteuid() == 0:
    cases += [functools.partial(threads, n) for n in (0, 1, 2)]
else:
    print('RLIMIT_NPROC: not tried, only root can become a user without processes')
blocks = memory(0)
gs.check(blocks >= 4, f'{blocks} blocks')
points = range(1, blocks + 1) if gs.BIG else sorted({1, 2, 3, *range(4, blocks, max(1, blocks // 6))})
cases += [functools.partial(memory, n) for n in points]
gs.side_by_side(cases, 4)
print(f'{blocks} blocks asked for, {len(points)} times refused')
gs.finish()
