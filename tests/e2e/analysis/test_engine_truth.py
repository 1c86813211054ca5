# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Runs on the simulated GPU, judged twice: by the engine from what libprof traced, and by the
independent reference from what the simulator says is true. Every number of every GPU must be
equal with --window device, for every CUPTI that there is, with ids that wrap; and for a real data
loader, whose ranges the reference gets from `gpustarve dump`."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import oracle
import ranks
import truth_to_kineto

DUMP = os.path.join(gs.BUILD, 'tests', 'engine_dump')
MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')
VERSIONS = ('13', '12.6', '12.4', '11.8')
NODES = ('12.4', '11.8')                     # no graphs as wholes before 12.5
# The reference knows records alone: no samples, no shim.
RECORDS = dict(GPUSTARVE_SAMPLER='0', GPUSTARVE_SHIM='0')
CASES = {
    'several streams, waits, graphs': (['--ops', '12000'], {}),
    'three processes on one device': (['--ops', '4000', '--processes', '3'], {}),
    'four devices, collectives, peers': (['--ops', '4000', '--processes', '4', '--devices', '4',
                                          '--peer', '5', '--collective-every', '500'],
                                         {'GPUSIM_DEVICES': '4'}),
}
LATE = '''
import os, sys, time
sys.path.insert(0, sys.argv[1])
import gpudev
rank, world = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
s = gpudev.Stream(gpudev.Device(rank))
for step in range(20):
    if rank == 2:
        time.sleep(0.04)
    s.kernel(2_000_000, 'forward')
    s.collective(200_000, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 1, world)
    s.synchronize()
'''


def compare(what, run, want):
    done = gs.command([DUMP, '--window', 'device', run])
    if not gs.check(done.returncode == 0, f'{what}: {done.stderr.decode()}'):
        return
    got = json.loads(done.stdout)
    if not gs.equal(len(got), len(want), f'{what}: devices'):
        return
    for g, w in zip(got, want):
        g = gs.without_ranks(g, f'{what}: device {w["index"]}')
        for k in w:
            if k != 'index':
                gs.equal(g[k], w[k], f'{what}: device {w["index"]}: {k}')
        unknown = g['classes'].get('device.unknown', 0)
        gs.check(unknown * 50 <= g['held_ns'],
                 f'{what}: device {w["index"]}: device.unknown is {unknown} of {g["held_ns"]} ns')


def one(ref, version, what, args, env):
    with gs.scratch() as where:
        done, run, truth = gs.traced([MIXLOOP, *args], where, options=['--no-report'],
                                     GPUSIM_CUPTI=version, GPUSIM_TRUTH_API='1', **RECORDS,
                                     GPUSIM_CORRELATION_START=str(2**32 - 5000), **env)
        what = f'CUPTI {version}, {what}'
        if not gs.check(done.returncode == 0 and run, f'{what}: {done.stderr.decode()}'):
            return
        path = os.path.join(where, 'truth.json')
        truth_to_kineto.write(truth, path, nodes=version in NODES)
        compare(what, run, ref.ledger(path, 'device'))


def ranges_of(run):
    """The ranges of the run's only process, as truth_to_kineto takes them."""
    pid = None
    for line in gs.gpustarve('dump', run).stdout.decode().splitlines():
        f = line.split('\t')
        if f[0] == '# stream':
            pid = int(next(x for x in f if x.startswith('pid '))[4:])
        elif len(f) >= 8 and f[1] in ('loader', 'user', 'step', 'optimizer', 'operator'):
            start = int(f[2])
            yield {'pid': pid, 'tid': int(f[4]), 'start_ns': start, 'end_ns': start + int(f[3]),
                   'name': f[7], 'cat': 'cpu_op' if f[1] == 'operator' else 'user_annotation'}


def loader(ref, what, *args):
    script = os.path.join(gs.WORKLOADS, 'train_loader.py')
    with gs.scratch() as where:
        done, run, truth = gs.traced([gs.PYTHON, script, '--steps', 30, *args], where,
                                     options=['--no-report'], GPUSIM_TRUTH_API='1', **RECORDS)
        if not gs.check(done.returncode == 0 and run, f'{what}: {done.stderr.decode()}'):
            return
        ranges = list(ranges_of(run))
        gs.check(len(ranges) >= 30, f'{what}: {len(ranges)} ranges')
        path = os.path.join(where, 'truth.json')
        truth_to_kineto.write(truth, path, ranges)
        compare(what, run, ref.ledger(path, 'device'))


def late_rank(ref):
    """What three ranks wait for a fourth in collectives, as happens wherever a machine is busy."""
    with gs.scratch() as where:
        done, run, truth = gs.traced([gs.PYTHON, ranks.LAUNCH, '--ranks', 4, gs.PYTHON, '-c', LATE,
                                      gs.WORKLOADS], where, options=['--no-report'], GPUSIM_DEVICES=4,
                                     GPUSIM_TRUTH_API='1', GPUSIM_NCCL_PARAM=1, **RECORDS)
        if not gs.check(done.returncode == 0 and run, f'a late rank: {done.stderr.decode()}'):
            return
        waited = sum(g['classes'].get('comm.skew', 0) for g in gs.summary(run, '--window', 'device')['gpus'])
        gs.check(waited > 0, f'a late rank: waited {waited} ns for it')
        path = os.path.join(where, 'truth.json')
        truth_to_kineto.write(truth, path)
        compare('a late rank', run, ref.ledger(path, 'device'))


def main():
    if not oracle.is_here():
        gs.skip('../shared/oracle is not here')
    ref_ledger = oracle.ref_ledger()
    for version in VERSIONS:
        for what, (args, env) in CASES.items():
            one(ref_ledger, version, what, args, env)
    late_rank(ref_ledger)
    loader(ref_ledger, 'loader, waits', '--workers', 0, '--sample-ms', 2, '--optimizer', '--nvtx')
    loader(ref_ledger, 'loader, hidden', '--workers', 2, '--gpu-ms', 12, '--sync', 'late')
    gs.finish()


main()
