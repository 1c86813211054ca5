#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits first timeout=200
"""A full disk, and directories that may not be written to: the job's output, files and exit status
are what they are without us, and one line tells. Under the wrapper and with plain preloading."""
import functools
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

JOB = r'''
import os, sys, time
sys.path.insert(0, sys.argv[1])
import gpudev
dev = gpudev.Device(0)
stream = gpudev.Stream(dev)
for i in range(int(sys.argv[2])):
    for k in range(40):
        stream.kernel(30_000 + 7919 * ((i * 40 + k) % 97), f'kernel_{i % 50}_{"x" * 60}')
    stream.synchronize()
    if i % 100 == 0:
        print('step', i, flush=True)
with open('checkpoint', 'wb') as f:
    f.write(bytes(range(256)) * 64)
print('well', file=sys.stderr)
sys.exit(5)
'''


def job(steps):
    return [gs.PYTHON, '-c', JOB, gs.WORKLOADS, str(steps)]


def expected(where, steps):
    """What the job does without us; its output and its checkpoint."""
    done = gs.command([gs.WITH_GPUSIM, *job(steps)], cwd=where)
    gs.equal(done.returncode, 5, done.stderr.decode())
    return done, open(os.path.join(where, 'checkpoint'), 'rb').read()


def compare(what, where, done, bare, checkpoint, verdict):
    gs.equal((done.returncode, done.stdout), (bare.returncode, bare.stdout), f'{what}: the job')
    with open(os.path.join(where, 'checkpoint'), 'rb') as f:
        gs.check(f.read() == checkpoint, f'{what}: the checkpoint')
    ours = [line for line in done.stderr.decode().splitlines() if line != 'well']
    gs.check(b'well\n' in done.stderr, f'{what}: stderr of the job')
    told = [line for line in ours if line.startswith('gpustarve: ')]
    if verdict is None:
        gs.equal(len(ours), 1, f'{what}: one line tells: {ours}')
        gs.check(told and 'gpustarve: ' in told[0] and ';' in told[0], f'{what}: what to do: {told}')
    print(f'{what}:', *ours, sep='\n    ', flush=True)
    return ours


def mounted(path, size):
    os.makedirs(path, exist_ok=True)
    return os.getuid() == 0 and subprocess.run(
        ['mount', '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', path],
        stderr=subprocess.DEVNULL).returncode == 0


def wrapped(where, out):
    return [gs.WITH_GPUSIM, gs.CLI, 'run', '-o', out, '--max-overhead', '0', '--']


# What somebody else has on the disk of that size: of 16 MiB 2 stay free, and less than that is left.
OTHERS = {'8k': 8192, '16m': (16 << 20) - (3 << 19)}


def full(size, plain, what, steps, bare, checkpoint):
    """32 KB of room are gone within a second or two; or there is room for one file of the run
    only; or for none. Whoever notices it, one line tells."""
    name = f'{what}, {"preloaded" if plain else "wrapped"}'
    with gs.scratch() as where:
        disk, truth = os.path.join(where, 'disk'), os.path.join(where, 'truth.jsonl')
        if not mounted(disk, size):
            gs.left_out(f'{name}: only root may mount a file system')
            return
        try:
            out = os.path.join(disk, 'runs')
            if size in OTHERS:
                with open(os.path.join(disk, 'other'), 'wb') as f:
                    f.write(bytes(OTHERS[size]))
            if plain:
                done = gs.command([gs.WITH_GPUSIM, *job(steps)], cwd=where, env=gs.environment(
                    LD_PRELOAD=gs.LIBPROF, GPUSTARVE_OUT=out, GPUSTARVE_MAX_OVERHEAD=0,
                    GPUSIM_TRUTH=truth))
            else:
                done = gs.command(wrapped(where, out) + job(steps), cwd=where,
                                  env=gs.environment(GPUSIM_TRUTH=truth))
            ours = compare(name, where, done, bare, checkpoint, 'some')
            told = [line for line in ours if 'pace' in line or 'room' in line]
            gs.equal(len(told), 1, f'{name}: one line tells: {ours}')
            gs.check(told and told[0].startswith('gpustarve: ') and 'No space' in told[0],
                     f'{name}: no line tells: {ours}')
            gs.check(size != '16m' or 'eighth' in told[0],
                     f'{name}: what is to stay free: {ours}')
            if size not in ('32k', '16m'):  # of those some is there, and a report
                gs.equal(len(ours), 1, f'{name}: nothing else is said: {ours}')
                gs.check(plain or 'nothing could be written' in told[0] or 'unrecorded' in told[0],
                         f'{name}: what came of it: {told}')
                gs.check(plain or not os.path.exists(out), f'{name}: something is left')
            what_is_left(name, out, truth, not plain)
        finally:
            subprocess.run(['umount', '-l', disk], check=True)


def what_is_left(name, out, truth, wrapped):
    """What reached the disk can be read. What did not is neither busy nor waste: all of the time
    after the last operation that is there is unobserved, or not held."""
    for run in gs.runs(out):
        done = gs.gpustarve('report', run, '--format', 'json')
        gs.check(done.returncode in (0, 1), f'{name}: report: {done.returncode} {done.stderr}')
        if done.returncode:
            continue
        s = json.loads(done.stdout)
        if wrapped:
            whole(name, run, s, truth)
        for g in s['gpus']:
            ops = gs.truth_ops(truth)
            busy = gs.measure(gs.union([o['start_ns'], o['end_ns']] for o in ops))
            unseen = g['classes'].get('excluded.unobserved', 0) + g['classes'].get('device.lost', 0)
            gs.equal(sum(g['classes'].values()), g['held_ns'], f'{name}: the classes')
            gs.check(not s['run']['complete'] or g['ops'] == len(ops), f'{name}: called complete')
            print(f'{name}: {g["ops"]} of {len(ops)} operations, {g["busy_ns"] / 1e9:.3f} of '
                  f'{busy / 1e9:.3f} s busy, {unseen / 1e9:.3f} s unobserved or lost, held '
                  f'{g["held_ns"] / 1e9:.3f} s, complete {s["run"]["complete"]}', flush=True)
            gs.check(g['classes'].get('excluded.teardown', 0) * 4 < g['held_ns'],
                     f'{name}: called teardown: {g["classes"]}')


def whole(name, run, s, truth):
    """The wrapper saw the end of the process, and run.json had room for it: the GPU was held until
    then, however early the disk was full."""
    ops = gs.truth_ops(truth)
    first, last = min(o['start_ns'] for o in ops), max(o['end_ns'] for o in ops)
    with open(os.path.join(run, 'run.json')) as f:
        record = json.load(f)
    gs.equal((record['exit_status'], [e['status'] for e in record['exits']]), (5, [5]),
             f'{name}: run.json')
    gs.check(record['exits'][0]['end_ns'] >= last, f'{name}: the end in run.json')
    for g in s['gpus']:
        gs.check(g['held_ns'] >= last - first, f'{name}: held {g["held_ns"]} of {last - first} ns')


def unwritable(what, plain, steps, bare, checkpoint):
    """A file where the folder should be (also for root), and one without permissions (others)."""
    with gs.scratch() as where:
        blocked = os.path.join(where, 'blocked')
        open(blocked, 'w').close()
        out = os.path.join(blocked, 'runs')
        if what == 'a folder that takes no files':
            out = '/proc/self/fdinfo/runs'
        if plain:
            done = gs.command([gs.WITH_GPUSIM, *job(steps)], cwd=where, env=gs.environment(
                LD_PRELOAD=gs.LIBPROF, GPUSTARVE_OUT=out))
        else:
            done = gs.command(wrapped(where, out) + job(steps), cwd=where)
        compare(f'{what}, {"preloaded" if plain else "wrapped"}', where, done, bare, checkpoint, None)


STEPS = 300
with gs.scratch() as where:
    told = expected(where, STEPS)
cases = [functools.partial(full, size, plain, what, STEPS, *told) for plain in (False, True)
         for size, what in (('32k', 'a disk that fills'), ('4k', 'a full disk'), ('8k', 'no room at all'),
                             ('16m', 'a disk of which the rest is to stay free'))]
cases += [functools.partial(unwritable, what, plain, STEPS, *told) for plain in (False, True)
          for what in ('a file in the way', 'a folder that takes no files')]
gs.side_by_side(cases)
gs.finish()
