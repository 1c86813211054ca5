#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=300
"""What facts/cupti.h says of CUPTI's versions, done: one that may end the program is left alone, what may
go wrong with graphs is said where there are graphs, and one that cannot use the driver is named rightly."""
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
    s = gpudev.Stream(gpudev.Device(0))
    graph = gpudev.Graph(s, lambda stream: stream.kernel(100_000, name='part')) if sys.argv[1] == 'graphs' else None
    for i in range(4):
        s.kernel(200_000, name='plain')
        if graph:
            graph.launch(s)
        s.synchronize()
        time.sleep(0.2)
    print('well')
    ''')
RISK = 'it may end long programs that launch CUDA graphs'


def run(what, how='plain', **env):
    """(the trace, what CUPTI says is on at the end or None)"""
    with gs.scratch() as where:
        with open(where + '/job.py', 'w') as f:
            f.write(JOB)
        done = prof.run([gs.PYTHON, 'job.py', how], where, WORKLOADS=gs.WORKLOADS, **env)
        gs.equal((done.returncode, done.stdout, done.stderr), (0, b'well\n', b''), what)
        t = prof.trace(where)
        on = [r for r in gs.truth_lines(where + '/truth') if 'enabled' in r]
        if t and t.ops:
            prof.expect_exact(where, t, what)
        return t, on[0] if on else None


def noted(t, words):
    return any(words in n for n in t.bye['notes'])


def left_alone():
    t, on = run('CUPTI 13.0', GPUSIM_CUPTI='13.0')
    gs.equal((len(t.ops), on and on['enabled']), (0, on and []), 'CUPTI 13.0: nothing is recorded, nothing is on')
    gs.check(noted(t, 'is of CUDA 13.0: it may end the program when its buffers are flushed'), f'{t.bye["notes"]}')


def graphs(version, how, said):
    what = f'CUPTI {version}, {how}'
    t, on = run(what, how, GPUSIM_CUPTI=version)
    gs.check(t.ops, f'{what}: nothing is recorded')
    gs.equal(noted(t, RISK), said, f'{what}: {t.bye["notes"]}')


def no_driver(kind, words):
    t, on = run(kind, GPUSTARVE_CUPTI=os.path.join(gs.BUILD, 'gpusim', f'cupti-{kind}', 'libcupti.so.13'))
    gs.equal((len(t.ops), on), (0, None), kind)
    gs.check(noted(t, words), f'{kind}: {t.bye["notes"]}')


gs.side_by_side([left_alone, lambda: graphs('12.6', 'graphs', True), lambda: graphs('12.6', 'plain', False),
                 lambda: graphs('12.4', 'graphs', True), lambda: graphs('11.8', 'graphs', False),
                 lambda: graphs('13', 'graphs', False),
                 lambda: no_driver('endless', 'is of CUDA 13.2: beside a driver that it cannot use it ends the program'),
                 lambda: no_driver('silent', 'answers with error 999 when asked for its version')], 4)
gs.finish()
