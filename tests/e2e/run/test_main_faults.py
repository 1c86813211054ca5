#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits first timeout=400
"""Each scripted fault of the simulator under `gpustarve run`, in one of two processes with a device
each: the job ends well; what the report calls lost is, per device, at least the measure of the lost
operations outside all recorded ones, and at most that plus one flush interval for each fault; time
that a foreign client took is unobserved; and a GPU that lost much is inconclusive, never
input-bound."""
import functools
import os
import sys
import textwrap

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

SECOND = prof.SECOND
FLUSH = SECOND // 2 + SECOND // 4  # half a second by design, and what any machine may be late
JOB = textwrap.dedent(r'''
    import os, subprocess, sys, time
    sys.path.insert(0, sys.argv[1])
    if 'RANK' not in os.environ:
        ranks = [subprocess.Popen([sys.executable, *sys.argv], env=dict(os.environ, RANK=str(r),
                                  LOCAL_RANK=str(r))) for r in range(2)]
        sys.exit(max(p.wait() for p in ranks))
    import gpudev
    rank = int(os.environ['RANK'])
    dev = gpudev.Device(rank)
    a, b = gpudev.Stream(dev), gpudev.Stream(dev)
    buf, pin = dev.malloc(1 << 20), dev.host_alloc(1 << 20)
    end, steps = time.time() + float(sys.argv[2]), 0
    while time.time() < end or steps < 40 * float(sys.argv[2]):  # so that faults strike on a busy machine, too
        steps += 1
        dev.h2d(buf, pin, 1 << 18, a)
        a.kernel(1_500_000, name='gemm')
        e = a.record(); b.wait(e)
        b.kernel(700_000, name='relu')
        b.synchronize()
        time.sleep(0.002)
    os.write(1, b'well\n')
    ''')


class Run:
    """One run of the job, its summary, and what each device did not get recorded."""

    def __init__(self, what, where, seconds, **env):
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(JOB)
        done, self.path, self.truth = gs.traced(
            [gs.PYTHON, 'job.py', gs.WORKLOADS, str(seconds)], where,
            ['--quiet', '--max-overhead', 0], GPUSIM_DEVICES=2, **env)
        gs.equal((done.returncode, done.stdout), (0, b'well\nwell\n'),
                 f'{what}: {done.stderr.decode()[-400:]}')
        self.summary = self.path and gs.summary(self.path)
        self.faults = [r for r in gs.truth_lines(self.truth) if 'fault' in r]
        self.devices = {}
        for t in prof.traces(where, damaged=True):
            rows = prof.truth(where, t.hello['pid'], t.hello['graphs'] == 'node')
            lack, extra = prof.missing(where, t, t.hello['pid'])
            gs.equal(sum(extra.values()), 0, f'{what}: operations that never were')
            self.devices[rows[0]['uuid'].lower()] = (t, [(k[3], k[4]) for k in lack.elements()])

    def of(self, gpu):
        return self.devices[gpu['uuid'].lower()]


def bare_measure(t, missing, window=None):
    """What the missing operations, or a window, took outside all recorded ones."""
    done = gs.union([e['start'], e['end']] for e in t.ops)
    return gs.measure(gs.subtract(gs.union(window or [list(m) for m in missing]), done))


def flush_interval(t):
    """On a busy machine the sender's thread waits for a CPU: the pulses it sends each second say by how much."""
    told = [p['complete'] for p in t.frames['pulse'] if p['complete']]
    return FLUSH + max([0, *(b - a - SECOND for a, b in zip(told, told[1:]))])


def check_losses(what, run, faults, more):
    for g in run.summary['gpus']:
        t, missing = run.of(g)
        lost, least = g['classes'].get('device.lost', 0), bare_measure(t, missing)
        most = least + (faults * flush_interval(t) + more if g['index'] == 0 else 0)
        gs.check(least <= lost <= most, f'{what}: GPU {g["index"]}: {len(missing)} missing, lost '
                 f'{lost / 1e9:.4f} s, want {least / 1e9:.4f} to {most / 1e9:.4f}')
        gs.equal(sum(g['classes'].values()), g['held_ns'], f'{what}: the classes')
        gs.check(g['verdict'] != 'input-bound', f'{what}: GPU {g["index"]} is {g["verdict"]}')
        print(f'{what}: GPU {g["index"]}: {len(missing)} missing, lost {lost / 1e9:.3f} s of at least '
              f'{least / 1e9:.3f}, unobserved '
              f'{g["classes"].get("excluded.unobserved", 0) / 1e9:.3f}, {g["verdict"]}', flush=True)


def losing(what, fault, least, faults=None, more=0, seconds=3, tries=3, **env):
    """A fault that costs records. faults: how many it is; None: one for each strike. more: by how
    much it makes a flush interval longer."""
    with gs.scratch() as where:
        run = Run(what, where, seconds, GPUSIM_FAULT=f'{fault},rank=0', **env)
        if not run.summary:
            return
        if least and not run.faults and tries:  # a busy machine began when its time was over
            return losing(what, fault, least, faults, more, seconds, tries - 1, **env)
        gone = [len(run.of(g)[1]) for g in sorted(run.summary['gpus'], key=lambda g: g['index'])]
        gs.check(gone[0] >= least and gone[1] == 0, f'{what}: missing {gone}')
        check_losses(what, run, len(run.faults) if faults is None else faults, more)
        q = run.summary['quality']
        if least:
            gs.check(q['dropped'] + q['invalid'] or q['notes'], f'{what}: nobody tells')


def foreign(what, fault, seconds=8, **env):
    with gs.scratch() as where:
        run = Run(what, where, seconds, GPUSIM_FAULT=f'{fault},rank=0', **env)
        if not run.summary:
            return
        theirs = [f for f in run.faults if f['fault'] == 'foreign']
        for g in run.summary['gpus']:
            t, missing = run.of(g)
            unseen = g['classes'].get('excluded.unobserved', 0)
            if g['index']:
                gs.equal((len(missing), unseen), (0, 0), f'{what}: the other device')
                continue
            gs.check(len(missing) > 50, f'{what}: {len(missing)} missing')
            window = [[f['start_ns'], f['end_ns']] for f in theirs]
            least = bare_measure(t, (), window)
            gs.check(unseen >= least, f'{what}: unobserved {unseen / 1e9:.3f} s of {least / 1e9:.3f}')
            bare = bare_measure(t, missing)
            hidden = unseen + g['classes'].get('device.lost', 0)
            gs.check(hidden >= bare, f'{what}: {bare / 1e9:.3f} s of work is gone, told '
                     f'{hidden / 1e9:.3f}')
            gs.check(g['verdict'] != 'input-bound', f'{what}: {g["verdict"]}')
            print(f'{what}: {len(missing)} missing, unobserved {unseen / 1e9:.3f} s, theirs '
                  f'{gs.measure(window) / 1e9:.3f} s, {g["verdict"]}', flush=True)


def planted_loss(**env):
    """A training loop whose loader is quick; for a third of its time nothing is recorded."""
    with gs.scratch() as where:
        done, path, truth = gs.traced(
            [gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps', 350, '--batch', 2,
             '--dataset', 'sleep', '--sample-ms', 0.05, '--gpu-ms', 12, '--sync', 'late'], where,
            ['--quiet'], GPUSIM_FAULT='none:from=0.5,for=3', **env)
        gs.equal(done.returncode, 0, f'planted loss: {done.stderr.decode()[-300:]}')
        s = gs.summary(path)
        if not s:
            return
        g, = s['gpus']
        inputs = sum(v for k, v in g['classes'].items() if k.startswith('input.'))
        lost = g['classes'].get('device.lost', 0)
        within = g['held_ns'] - sum(g['classes'].get(f'excluded.{k}', 0)
                                    for k in ('startup', 'teardown'))
        gs.check(lost * 5 >= within, f'planted loss: lost {lost} of {within}')
        if inputs * 20 < within:
            gs.equal((g['verdict'], s['verdict'], s['flagged']), ('inconclusive', 'inconclusive', False),
                     'planted loss')
        else:
            gs.left_out(f'planted loss: a busy machine kept the loader from being quick: {inputs} of {within}')
            gs.equal((g['verdict'], s['verdict']), ('input-bound', 'input-bound'), 'planted loss, a slow loader')
        print(f'planted loss: {100 * lost / within:.0f} % lost, {g["verdict"]}', flush=True)


def failing_call(call):
    """A driver call that fails is the job's own trouble: it ends as without us."""
    with gs.scratch() as where:
        fault = f'fail:call={call},nth=1,code=2'
        argv = [gs.PYTHON, '-c', 'import os\nos.environ["RANK"] = "0"\n' + JOB, gs.WORKLOADS, '0.5']
        bare = gs.command([gs.WITH_GPUSIM, *argv], env=gs.environment(GPUSIM_FAULT=fault))
        done, _, _ = gs.traced(argv, where, ['--quiet'], GPUSIM_FAULT=fault)
        gs.equal((done.returncode, done.stdout, done.stderr),
                 (bare.returncode, bare.stdout, bare.stderr), f'{call} fails')
        gs.check(bare.returncode, f'{call} fails: the job does not')


OLD = dict(GPUSIM_CUPTI='11.8')
CASES = [
    (foreign, 'foreign', 'foreign:from=1,for=1.5', {}),
    (foreign, 'foreign, CUPTI 11.8', 'foreign:from=1,for=1.5', OLD),
    (foreign, 'foreign, finalize', 'foreign:from=1,for=1,finalize=1', {}),
    (foreign, 'foreign, clock', 'foreign:from=1,for=1.5,clock=2.1', {}),
    (losing, 'nothing', 'full:records=100000', dict(least=0)),
    (losing, 'zero', 'zero:every=100', dict(least=4)),
    (losing, 'zero, CUPTI 11.8', 'zero:every=100', dict(least=4, **OLD)),
    (losing, 'reverse', 'reverse:every=77', dict(least=4)),
    (losing, 'drop', 'drop:nth=300', dict(least=1, faults=1)),
    (losing, 'drop, CUPTI 11.8', 'drop:nth=300', dict(least=1, faults=1, **OLD)),
    (losing, 'none', 'none:from=1,for=0.5', dict(least=20, faults=2)),
    (losing, 'none, CUPTI 11.8', 'none:from=1,for=0.5', dict(least=20, faults=2, **OLD)),
    (losing, 'full', 'full:records=3', dict(least=0)),
    (losing, 'late', 'late:ms=900', dict(least=0)),
    (losing, 'hang', 'hang:from=1,for=1', dict(least=0)),
    # The last flush interval lasts from before the hang to the end: 1.5 s, and 2 s of patience.
    (losing, 'hang at the end', 'hang:from=1.5,for=ever',
     dict(least=1, faults=1, more=4 * SECOND)),
]
gs.side_by_side([functools.partial(test, what, fault, **kw) for test, what, fault, kw in CASES])
planted_loss()
for call in 'cuMemAlloc_v2', 'cuModuleLoadData', 'cuLaunchKernel':
    failing_call(call)
gs.finish()
