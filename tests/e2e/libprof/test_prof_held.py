#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,waits timeout=300
"""What CUPTI 13.1 and later tell of streams that run the program's own functions, of launches that find a
full queue, and of code that is loaded at its first launch: asked for there, recorded exactly, and told by
the report as causes of their own. Of older versions all is as before."""
import os
import sys
import textwrap

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

JOB = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    s = gpudev.Stream(dev)
    graph = gpudev.Graph(s, lambda stream: (stream.kernel(1_000_000, name='part'),
                                            stream.host(lambda: time.sleep(.03)),
                                            stream.kernel(1_000_000, name='part')))
    for i in range(10):
        s.kernel(2_000_000, name='plain')
        s.host(lambda: time.sleep(.02))
        s.kernel(2_000_000, name='plain')
        s.synchronize()
    for i in range(3):
        graph.launch(s)
        s.synchronize()
    for i in range(40):  # who loses the core for less than eight of them finds the queue full all the same
        s.kernel(25_000_000, name='crowd')
    s.synchronize()
    ''')
MS = 1_000_000
HOST_FUNCTION, QUEUE_FULL, CODE_LOAD = 5, 9, 10


def run(where, version, **env):
    """(the trace, the truth's host functions, the summary)"""
    with open(where + '/job.py', 'w') as f:
        f.write(JOB)
    done = prof.run([gs.PYTHON, 'job.py'], where, WORKLOADS=gs.WORKLOADS, GPUSIM_CUPTI=version,
                    GPUSIM_QUEUE=8, GPUSIM_LAZY_MS=40, **env)
    gs.equal((done.returncode, done.stderr), (0, b''), version)
    t = prof.trace(where)
    prof.expect_exact(where, t, version)
    hosts = [r for r in gs.truth_ops(where + '/truth') if r['kind'] == 'host']
    run_dir = os.path.dirname(prof.files(where)[0])
    return t, hosts, gs.summary(run_dir, '--window', 'device')


def of(t, kind, op):
    return [e for e in t.events[kind] if e['op'] == op]


def recorded(version, graphs):
    with gs.scratch() as where:
        t, hosts, s = run(where, version, GPUSTARVE_GRAPHS=graphs)
        what = f'CUPTI {version}, graphs by {graphs}'
        got = sorted((e['start'], e['end'], e['stream'], e['corr']) for e in of(t, prof.SYNC, HOST_FUNCTION))
        gs.equal(len(hosts), 13, f'{what}: host functions of the truth')
        gs.equal(got, sorted((h['start_ns'], h['end_ns'], h['stream'], h['correlation']) for h in hosts),
                 f'{what}: host functions')
        gs.equal(sum(e['graph'] != 0 for e in of(t, prof.SYNC, HOST_FUNCTION)), 3, f'{what}: in graphs')
        loads, full = of(t, prof.RANGE, CODE_LOAD), of(t, prof.RANGE, QUEUE_FULL)
        calls = [e for e in t.events[prof.API] if e['name'] == 'cuLaunchKernel']
        gs.equal(len(loads), 3, f'{what}: functions that are launched, plain, part and crowd')
        gs.check(all(e['end'] - e['start'] >= 40 * MS for e in loads), f'{what}: {loads}')
        gs.check(len(full) >= 25, f'{what}: {len(full)} launches found a full queue')
        for e in loads + full:
            gs.check(any(c['tid'] == e['tid'] and c['start'] <= e['start'] and e['end'] <= c['end'] for c in calls),
                     f'{what}: {e} lies in no launch')
        alone = sum(h['end_ns'] - h['start_ns'] for h in hosts if graphs == 'node' or 'graph' not in h)
        held = s['gpus'][0]['classes'].get('device.host_code', 0)
        gs.check(.95 * alone <= held <= alone, f'{what}: held by host code {held} of {alone} ns')
        warm = s['gpus'][0]['classes'].get('host.warmup', 0)
        gs.check(warm >= 38 * MS, f'{what}: {warm} ns of loading, of crowd, between the first operation and the last')
        gs.check(any(f['class'] == 'device.host_code' for f in s['findings']), f'{what}: no finding')


def older():
    with gs.scratch() as where:
        t, hosts, s = run(where, '13')
        gs.equal(len(hosts), 13, 'CUPTI 13.0: host functions of the truth')
        gs.equal((of(t, prof.SYNC, HOST_FUNCTION), of(t, prof.RANGE, CODE_LOAD), of(t, prof.RANGE, QUEUE_FULL)),
                 ([], [], []), 'CUPTI 13.0: records that it has not')
        gs.check(not any('host functions' in n for n in t.bye['notes']), f'CUPTI 13.0: {t.bye["notes"]}')
        gs.check('device.host_code' not in s['gpus'][0]['classes'], 'CUPTI 13.0: held by host code')


def left_out():
    """At level 0, where no call is recorded, and where only kernels are asked for."""
    for env in (dict(GPUSTARVE_LEVEL=0), dict(GPUSTARVE_ONLY='kernel')):
        with gs.scratch() as where:
            with open(where + '/job.py', 'w') as f:
                f.write(JOB)
            prof.run([gs.PYTHON, 'job.py'], where, WORKLOADS=gs.WORKLOADS, GPUSIM_CUPTI='13.1', **env)
            t = prof.trace(where)
            gs.equal((len(t.ops) > 0, of(t, prof.SYNC, HOST_FUNCTION)), (True, []), f'{env}')


recorded('13.1', 'graph')
recorded('13.1', 'node')
older()
left_out()
gs.finish()
