#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""What a stream says of itself: ranks that make one run whatever launched them, labels, scheduler
ids, devices with UUID and MIG profile, facts from NVML, the bound on libprof's memory, and a foreign
client that changes CUPTI's clock."""
import collections
import os
import subprocess
import sys
import textwrap

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
from prof import DROPPED, FOREIGN, SECOND

WORK = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    s = gpudev.Stream(dev)
    buf = dev.malloc(1 << 30)
    end = time.time() + float(sys.argv[1])
    while time.time() < end:
        for i in range(8):
            s.kernel(500_000, name=f'layer{i}')
        s.synchronize()
    ''')


def script(where):
    with open(os.path.join(where, 'train.py'), 'w') as f:
        f.write(WORK)


def ranks():
    """As torchrun does: one launcher that never touches the GPU, and ranks that it execs."""
    with gs.scratch() as where:
        script(where)
        launcher = 'for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r WORLD_SIZE=4 /usr/bin/python3 ' \
                   'train.py 0.5 & done; wait'
        done = prof.run(['/bin/bash', '-c', launcher], where, WORKLOADS=gs.WORKLOADS, GPUSIM_DEVICES=4,
                        GPUSTARVE_LABELS='team=vision,try=2,flag')
        gs.equal(done.returncode, 0, f'ranks: {done.stderr.decode()}')
        found = prof.traces(where)
        gs.equal(sorted(t.hello['rank'] for t in found), [0, 1, 2, 3], 'ranks')
        gs.equal({(t.hello['world'], t.hello['has_rank']) for t in found}, {(4, 1)}, 'world')
        gs.equal({t.hello['run'] for t in found}, {os.path.basename(d)[:-4] for d in
                                                   gs.runs(where + '/runs')}, 'one run')
        gs.equal(len(gs.runs(where + '/runs')), 1, 'one directory')
        gs.equal(found[0].hello['labels'], {'team': 'vision', 'try': '2', 'flag': ''}, 'labels')
        gs.equal(found[0].hello['command'], ['/usr/bin/python3', 'train.py', '0.5'], 'command')


def scheduler():
    with gs.scratch() as where:
        script(where)
        prof.run([gs.PYTHON, 'train.py', '0.2'], where, WORKLOADS=gs.WORKLOADS, SLURM_JOB_ID='42',
                 SLURM_STEP_ID='1', SLURM_CLUSTER_NAME='big', SLURM_PROCID='3', SLURM_NTASKS='8')
        t = prof.trace(where)
        gs.equal(t.hello['run'], 'slurm-big-42.1-0', 'run id of a step')
        gs.equal((t.hello['rank'], t.hello['world']), (3, 8), 'rank of a step')


def facts():
    with gs.scratch() as where:
        script(where)
        done = prof.run([gs.PYTHON, 'train.py', '3.5'], where, WORKLOADS=gs.WORKLOADS,
                        GPUSIM_DEVICES=2, GPUSIM_NVML='outside', GPUSIM_NAME='NVIDIA A100-SXM4-80GB,NVIDIA L4')
        gs.equal(done.returncode, 0, 'facts')
        t = prof.trace(where)
        names = [d['name'] for d in t.hello['devices']]
        gs.equal(names, ['NVIDIA A100-SXM4-80GB (simulated)', 'NVIDIA L4 (simulated)'], 'names')
        gs.equal([d['nvml'] for d in t.hello['devices']], [0, 1], 'NVML indices')
        gs.equal(t.hello['devices'][0]['uuid'], prof.truth(where)[0]['uuid'][4:].replace('-', ''),
                 'UUID')
        gs.equal(t.hello['notes'], [], 'notes')
        rows = [d for f in t.frames['facts'] for d in f['devices']]
        gs.check(rows, 'facts were written')
        gs.equal({d['ordinal'] for d in rows}, {0}, 'facts of the device in use only')
        gs.check(all(d['used'] >= 1 << 30 and d['total'] > 70 << 30 for d in rows),
                 f'memory: {rows}')
        # What NVML was asked is written half a second later. Its window is longer than what lies between
        # the first operation and the look, and on a busy machine that may be next to nothing.
        later = max(f['t'] for f in t.frames['facts']) - min(op['start'] for op in t.ops)
        if later > 0.65 * SECOND:
            gs.check(any(d['utilization'] > 5 for d in rows), f'utilisation: {rows}')
        else:
            gs.left_out('utilisation: NVML was asked right after the first operation')
        gs.equal({d['others'] for d in rows}, {0}, 'alone, whatever pid NVML knows it by')


def mig():
    with gs.scratch() as where:
        script(where)
        prof.run([gs.PYTHON, 'train.py', '0.3'], where, WORKLOADS=gs.WORKLOADS,
                 GPUSIM_MIG='0:1g.10gb,3g.40gb')
        t = prof.trace(where)
        d = t.hello['devices'][0]
        gs.equal((d['mig'], d['slices']), ('1g.10gb', 1), f'MIG: {d}')


def memory():
    """Four threads as fast as they can, at node level: the peak stays below 64 MB."""
    with gs.scratch() as where:
        done = prof.run([prof.MIXLOOP, '--ops', 250000, '--min-ns', 100, '--max-ns', 300,
                         '--sync-every', 100000, '--pause-every', 100000], where,
                        GPUSTARVE_GRAPHS='node', GPUSIM_TRUTH='')
        gs.equal(done.returncode, 0, f'memory: {done.stderr.decode()[-200:]}')
        t = prof.trace(where)
        last = t.bye['last']
        gs.check(last['memory'] <= 64_000_000, f'memory: {last["memory"]} bytes')
        # Where others take the cores away for long, all buffers are full some time. Then it is said.
        gs.equal(bool(last['dropped']), bool(t.lost(DROPPED)), f'memory: {last["dropped"]} dropped')
        if last['dropped']:
            gs.left_out(f'memory: {last["dropped"]} records were dropped on this machine, and told')
        print(f'{len(t.ops)} operations, {last["events"]} events, peak '
              f'{last["memory"] / 1e6:.1f} MB, {last["cpu"] / last["events"]:.0f} ns of CPU per event')


def approximate(want, got, tolerance):
    """What of both has no partner with nearly its times."""
    left = collections.defaultdict(list)
    for k in sorted(got, key=lambda k: k[3]):
        left[k[:3] + k[5:]].append(k)
    lack = []
    for k in sorted(want, key=lambda k: k[3]):
        mine = left[k[:3] + k[5:]]
        hit = next((g for g in mine if abs(g[3] - k[3]) <= tolerance >= abs(g[4] - k[4])), None)
        mine.remove(hit) if hit else lack.append(k)
    return lack, [k for rest in left.values() for k in rest]


def foreign_clock():
    """torch.profiler leaves a cycle counter in the records: the time until it is understood is
    foreign, and later stamps are carried to the trace's clock."""
    with gs.scratch() as where:
        script(where)
        done = prof.run([gs.PYTHON, 'train.py', '9'], where, WORKLOADS=gs.WORKLOADS,
                        GPUSTARVE_REARM_SECONDS=2,
                        GPUSIM_FAULT='foreign:from=1.2,for=1.5,clock=2.5')
        gs.equal(done.returncode, 0, 'foreign clock')
        t = prof.trace(where)
        lack, extra = prof.missing(where, t)
        carried = len(list(extra.elements()))
        lack, extra = approximate(lack.elements(), extra.elements(), 20_000)
        gs.equal(extra[:1], [], f'foreign clock: {len(extra)} operations that never were')
        spans = t.lost(FOREIGN)
        bare = [k for k in lack if gs.subtract([[k[3], k[4]]], spans)]
        gs.equal(len(bare), 0, f'foreign clock: {len(lack)} missing, some outside {spans}')
        gs.equal(t.lost(*[r for r in range(1, 9) if r != FOREIGN]), [], 'foreign clock: other losses')
        gs.check(gs.measure(spans) < 9 * SECOND, f'foreign clock: {spans}')
        gs.check(carried > 200, f'foreign clock: {carried} operations carried')
        gs.check(any('clock' in n for n in t.bye['notes']), 'foreign clock: a note')
        rows = [r for f in t.frames['clock'] for r in f['triplets']]
        gs.check(all(abs(r[1] - r[3]) < SECOND for r in rows), 'clock frames')

for test in [ranks, scheduler, facts, mig, memory, foreign_clock]:
    before = len(gs.failures)
    test()
    print('ok  ' if len(gs.failures) == before else 'FAIL', test.__name__, flush=True)
gs.finish()
