#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=300
"""kill -9 of the trainer, of the collector, and of both, at random moments of `gpustarve run`. What
ended a second before the kill and was not held back by CUPTI is in the trace; the hole that is
stated contains every operation that is missing, and lasts at most two seconds longer than CUPTI
held records back; the report comes all the same.

    test_main_kill.py [FIRST_SEED [COUNT]]"""
import collections
import functools
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

SECOND = 1_000_000_000
SENT = SECOND // 4    # from a flush until what it gave is out of the process
PREEMPTED = 20_000_000  # what libprof keeps clear of a moment, and as much again
JOBS = {
    # A few hundred operations in a second, the device idle in between.
    'calm': ['--pause-every', 10, '--pause-us', 40000, '--sync-every', 10],
    # Some thousands, always something in flight.
    'busy': ['--pause-every', 40, '--pause-us', 8000, '--sync-every', 4000, '--max-ns', 400000],
    # One kernel of two seconds, behind which its thread's buffers wait.
    'withheld': ['--pause-every', 20, '--pause-us', 20000, '--sync-every', 0, '--long-ms', 2000],
}


def processes(word, where):
    """Pids of our own processes: those with this word and this folder in their command lines."""
    out = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as f:
                line = f.read().decode(errors='replace')
        except OSError:
            continue
        if word in line.split('\0')[0] and where in line:
            out.append(int(pid))
    return out


def await_trainer(truth, patience=120):
    end = time.monotonic() + patience * gs.PATIENCE
    while time.monotonic() < end:
        for name in os.listdir(truth):
            if os.path.getsize(os.path.join(truth, name)):
                return int(name.split('.')[0])
        time.sleep(0.01)
    raise RuntimeError('no trainer')


def strike(whom, where, truth, rng):
    """Kills at a random moment of the first seconds; returns when, in ns."""
    trainer = await_trainer(truth)
    collectors = processes('gpustarve-collector', where)
    gs.equal(len(collectors), 1, 'one collector')
    time.sleep(rng.uniform(2.2, 4.5))
    victims = {'trainer': [trainer], 'collector': collectors, 'both': [trainer] + collectors}[whom]
    if rng.random() < 0.5:
        victims.reverse()
    when = time.time_ns()
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    return when, trainer


def holes(run):
    done = gs.gpustarve('dump', run, '--streams')
    gs.equal(done.returncode, 0, f'dump: {done.stderr.decode()}')
    out = []
    for line in done.stdout.decode().splitlines():
        f = line.split('\t')
        if f[0] == '# hole':
            out.append([int(f[2]), int(f[2]) + int(f[3])])
    return out


def missing_ops(where, pid, run):
    """(missing, extra, all) truth operations."""
    t = prof.trace(where, damaged=True)
    rows = prof.truth(where, pid, t and t.hello['graphs'] == 'node')
    got = collections.Counter(prof.key_of_op(e) for e in t.ops) if t else collections.Counter()
    lack = []
    for r in rows:
        key = prof.key_of_truth(r)
        if got[key]:
            got[key] -= 1
        else:
            lack.append(r)
    return lack, list(got.elements()), rows, t


def flushes(truth):
    return sorted((r['end_ns'], r['held_since_ns'] or r['flush']) for r in gs.truth_lines(truth)
                  if 'flush' in r)


def after_death(what, where, run, truth, when, pid, s):
    """The trainer was killed: what is there, and what is said of the rest."""
    lack, extra, rows, t = missing_ops(where, pid, run)
    seen = {(r['launch_ns'], r['end_ns']) for r in rows}
    gs.equal(len([k for k in extra if k[4] < when - SECOND // 5]), 0, f'{what}: invented')
    told = flushes(truth)
    given = max((f for f in told if f[0] <= when - SENT), default=None)
    if not gs.check(given, f'{what}: no flush before the kill'):
        return
    bare = [r for r in lack if r['end_ns'] <= when - SECOND and
            r['launch_ns'] < given[1] - PREEMPTED]
    gs.equal(len(bare), 0, f'{what}: of {len(rows)} operations {len(lack)} are missing, ended long '
             f'before the kill {[(when - r["end_ns"]) / 1e9 for r in bare[:3]]} s')
    found = holes(run)
    if not gs.equal(len(found), 1, f'{what}: holes'):
        return
    (begin, end), = found
    outside = [r for r in lack if r['start_ns'] < when and
               not (begin <= r['end_ns'] and r['start_ns'] <= end)]
    gs.equal(len(outside), 0, f'{what}: of {len(lack)} missing, not in the hole: {outside[:2]}')
    before = max((f for f in told if f[0] <= when - 5 * SECOND // 4), default=None)
    withheld = before[0] - before[1] if before else when - told[0][0]
    gs.check(end - begin <= 2 * SECOND + withheld + PREEMPTED,
             f'{what}: a hole of {(end - begin) / 1e9:.2f} s, withheld {withheld / 1e9:.2f} s')
    gs.check(when - SECOND // 10 <= end <= when + SECOND, f'{what}: ends {(end - when) / 1e9} s off')
    gpu, = s['gpus']
    held_out = gpu['classes'].get('excluded.unobserved', 0)
    work = gs.union([e['start'], e['end']] for e in t.ops)
    gs.equal(held_out, gs.measure(gs.subtract([[begin, end]], work)), f'{what}: excluded.unobserved')
    gs.check(not s['run']['complete'], f'{what}: called complete')
    print(f'{what}: {len(rows)} operations, {len(lack)} missing, hole {(end - begin) / 1e9:.2f} s, '
          f'withheld {withheld / 1e9:.2f} s', flush=True)


def after_loss_of_collector(what, where, run, when, pid, s):
    """The trainer went on: nothing is missing."""
    lack, extra, rows, t = missing_ops(where, pid, run)
    gs.equal((len(lack), len(extra)), (0, 0), f'{what}: of {len(rows)} operations')
    gs.check(max(r['start_ns'] for r in rows) > when + SECOND, f'{what}: the job went on')
    gs.equal(holes(run), [], f'{what}: holes')
    gs.equal(s['gpus'][0]['ops'], len(rows), f'{what}: operations reported')
    gs.equal(s['gpus'][0]['classes'].get('excluded.unobserved', 0), 0, f'{what}: unobserved')
    gs.check(s['run']['complete'], f'{what}: complete')
    print(f'{what}: {len(rows)} operations, all there', flush=True)


def one(whom, job, seed, version):
    rng = random.Random(seed)
    what = f'kill of {whom}, {job}, CUPTI {version}, seed {seed}'
    with gs.scratch() as where:
        truth = os.path.join(where, 'truth')
        os.mkdir(truth)
        # With the collector alone killed the job must end by itself, some seconds later.
        hold = ['--ops', 10**9]
        if whom == 'collector':
            hold = ['--ops', {'calm': 2200, 'busy': 44000, 'withheld': 8500}[job]]
        p = subprocess.Popen(
            [str(a) for a in [gs.WITH_GPUSIM, gs.CLI, 'run', '-o', os.path.join(where, 'runs'),
                              '--max-overhead', 0, '--price', 2, '--', prof.MIXLOOP, *hold,
                              '--streams', 3, '--graph', 20, *JOBS[job]]],
            env=gs.environment(GPUSIM_TRUTH=truth, GPUSIM_CUPTI=version, GPUSIM_TRUTH_FLUSHES=1),
            cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            when, pid = strike(whom, where, truth, rng)
            out, err = p.communicate(timeout=90 * gs.PATIENCE)
        finally:
            p.kill()
        want = 0 if whom == 'collector' else -signal.SIGKILL
        gs.equal(p.returncode, want, f'{what}: exit status: {err.decode()[-600:]}')
        run, = gs.runs(os.path.join(where, 'runs'))
        gs.check(os.path.exists(os.path.join(run, 'report.html')), f'{what}: no report')
        # Which one depends on who had the cores: copies that wait are input, calls that do are the host's.
        box = ' '.join(err.decode().split())
        gs.check(re.search(r'gpustarve: (inconclusive|busy|[a-z]+-bound)\b', box) and '; 1x NVIDIA' in box and
                 'report.html' in box, f'{what}: no verdict: {box}')
        gs.equal(gs.gpustarve('verify', run).returncode, 0, f'{what}: verify')
        s = gs.summary(run)
        if s and whom == 'collector':
            after_loss_of_collector(what, where, run, when, pid, s)
        elif s:
            after_death(what, where, run, truth, when, pid, s)


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    gs.side_by_side([functools.partial(one, whom, job, 100 * seed + 10 * i + k, ('13', '11.8')[(i + k) % 2])
                     for seed in range(first, first + count)
                     for i, whom in enumerate(('trainer', 'collector', 'both'))
                     for k, job in enumerate(JOBS)], width=2)
    gs.finish()


main()
