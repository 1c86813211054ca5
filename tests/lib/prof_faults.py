# SPDX-License-Identifier: Apache-2.0
"""Each scripted fault of the simulated CUPTI: the job ends well, what the trace holds is true, and
every operation that it lacks lies in the loss spans, for the right reason."""
import functools
import textwrap

import gs
import prof
from prof import BAD_STAMP, CLOCK_STEP, DROPPED, FOREIGN, SECOND

JOB = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    a, b = gpudev.Stream(dev), gpudev.Stream(dev)
    buf, pin = dev.malloc(1 << 20), dev.host_alloc(1 << 20)
    end, steps = time.time() + float(sys.argv[1]), 0
    while time.time() < end or steps < 200:  # so that faults strike on a busy machine, too
        steps += 1
        dev.h2d(buf, pin, 1 << 18, a)
        a.kernel(1_500_000, name='gemm')
        e = a.record(); b.wait(e)
        b.kernel(700_000, name='relu')
        b.synchronize()
        time.sleep(0.002)
    print('well')
    ''')
IDLE = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    s = gpudev.Stream(dev)
    for wait in [3, 1.2, 2.5]:
        s.kernel(1_000_000, name='now and then')
        s.synchronize()
        time.sleep(wait)
    s.kernel(2_500_000_000, name='long')
    s.synchronize()
    print('well')
    ''')
LONG = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    s = gpudev.Stream(dev)
    end = time.time() + float(sys.argv[1])
    while time.time() < end:
        s.kernel(80_000_000, name='long')
        s.kernel(80_000_000, name='long')
        s.synchronize()
    print('well')
    ''')
CAPTURES = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    s = gpudev.Stream(dev)
    def layers(stream):
        for part in range(4):
            for i in range(200):
                stream.kernel(10_000, name='layer')
            time.sleep(0.6)
    for i in range(3):
        graph = gpudev.Graph(s, layers)
        time.sleep(1.2)
        graph.launch(s)
        s.synchronize()
    print('well')
    ''')
HOST_GRAPHS = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    s = gpudev.Stream(dev)
    graph = gpudev.Graph(s, lambda stream: stream.host(lambda: None))
    end = time.time() + float(sys.argv[1])
    s.kernel(1_000_000, name='before')
    s.synchronize()
    while time.time() < end:
        graph.launch(s)
        s.synchronize()
        time.sleep(0.005)
    s.kernel(1_000_000, name='after')
    s.synchronize()
    print('well')
    ''')
FLUSH = SECOND  # half a second, and as much again for a machine that has other things to do


class Case:
    def __init__(self, where, t):
        self.where, self.t = where, t
        lack, extra = prof.missing(where, t)
        self.missing = [(k[3], k[4]) for k in lack.elements()]
        self.extra = list(extra.elements())
        self.faults = [r for r in gs.truth_lines(where + '/truth') if 'fault' in r]

    def covered(self, what, *reasons):
        """Missing operations lie in the spans of these reasons."""
        spans = self.t.lost(*reasons)
        bare = [m for m in self.missing if gs.subtract([list(m)], spans)]
        gs.equal(len(bare), 0, f'{what}: of {len(self.missing)} missing, such as {bare[:1]}, '
                               f'not in {spans[:4]}')

    def bounded(self, what, limit):
        """The spans are no longer than need be."""
        spent = gs.measure(self.t.lost())
        gs.check(spent <= limit, f'{what}: {spent / SECOND:.2f} s of loss, limit '
                                 f'{limit / SECOND:.2f}')


def run(what, fault, seconds=3, job=JOB, **env):
    scratch = gs.scratch()
    where = scratch.__enter__()
    with open(where + '/job.py', 'w') as f:
        f.write(job)
    done = prof.run([gs.PYTHON, 'job.py', str(seconds)], where, GPUSIM_FAULT=fault,
                    WORKLOADS=gs.WORKLOADS, **env)
    gs.equal((done.returncode, done.stdout), (0, b'well\n'), f'{what}: {done.stderr.decode()[-300:]}')
    t = prof.trace(where)
    c = Case(where, t)
    gs.equal(len(c.extra), 0, f'{what}: operations that never were, such as {c.extra[:1]}')
    gs.check(t.bye is not None, f'{what}: Bye')
    print(f'{what}: {len(t.ops)} operations, {len(c.missing)} missing, '
          f'{len(t.losses)} losses, {gs.measure(t.lost()) / SECOND:.2f} s', flush=True)
    scratch.__exit__(None, None, None)
    return c


def quiet(version, v):
    """Nothing is wrong, and nothing is said to be."""
    c = run(f'{version} nothing', '', **v)
    gs.equal((len(c.missing), len(c.t.losses)), (0, 0), 'no fault')


def idle(version, v, level):
    c = run(f'{version} idle at level {level}', '', job=IDLE, GPUSTARVE_LEVEL=level, **v)
    gs.equal((len(c.missing), c.t.losses), (0, []), 'an idle program is not a foreign one')


def captures(version, v):
    c = run(f'{version} captures', '', job=CAPTURES, **v)
    gs.equal((len(c.missing), c.t.losses), (0, []), 'who captures graphs is not robbed')


def host_graphs(version, v):
    """Launches that never make an operation, waited for again and again."""
    c = run(f'{version} graphs of host functions', '', seconds=5, job=HOST_GRAPHS, **v)
    gs.equal((len(c.missing), c.t.losses), (0, []), 'who launches nothing for the device is not robbed')
    gs.equal([o['name'] for o in c.t.ops], ['before', 'after'], 'graphs of host functions: kernels')


def bad_stamps(version, v, name):
    c = run(f'{version} {name}', f'{name}:every=100', **v)
    gs.check(len(c.missing) > 3, f'{name}: nothing struck')
    c.covered(f'{version} {name}', BAD_STAMP)
    gs.equal(c.t.bye['last']['invalid'], len(c.missing), f'{name}: counted')
    gs.equal(len([s for s in c.t.losses if s['reason'] == BAD_STAMP]), len(c.missing),
             f'{name}: told one by one')
    gs.check(all(s['corr'] and s['device'] == 0 and s['stream'] for s in c.t.losses), f'{name}: whose')


def drop(version, v):
    c = run(f'{version} drop', 'drop:nth=300;drop:nth=301', **v)
    gs.equal(len(c.missing), 2, 'drop')
    c.covered(f'{version} drop', DROPPED)
    c.bounded(f'{version} drop', 2 * FLUSH)
    gs.equal(c.t.bye['last']['dropped'], 2, 'drop: counted')


def long_flushes(version, v):
    c = run(f'{version} drops in long flushes', 'drop:nth=4;drop:nth=7', job=LONG,
            GPUSIM_FLUSH_BLOCKS=1, **v)
    gs.equal(len(c.missing), 2, 'drops in long flushes')
    c.covered(f'{version} drops in long flushes', DROPPED)
    gs.equal(c.t.bye['last']['dropped'], 2, 'drops in long flushes: counted')
    c.bounded(f'{version} drops in long flushes', 4 * FLUSH)


def full(version, v):
    c = run(f'{version} full', 'full:records=3', **v)
    gs.equal((len(c.missing), len(c.t.losses)), (0, 0), 'buffers that are full early')


def late(version, v):
    c = run(f'{version} late', 'late:ms=900', **v)
    gs.equal((len(c.missing), c.t.lost(DROPPED, FOREIGN)), (0, []), 'late buffers')


def none(version, v):
    c = run(f'{version} none', 'none:from=1,for=0.5', **v)
    gs.check(len(c.missing) > 20, 'no buffers: nothing lost')
    c.covered(f'{version} none', DROPPED)
    c.bounded(f'{version} none', SECOND // 2 + 2 * FLUSH)


def hang(version, v):
    c = run(f'{version} hang', 'hang:from=1,for=1.5', **v)
    gs.equal(len(c.missing), 0, 'a flush that hangs for a while')


def hang_at_the_end(version, v):
    c = run(f'{version} hangs at the end', 'hang:from=1.5,for=ever', **v)
    c.covered(f'{version} hangs at the end', DROPPED)
    gs.check(any('last flush' in n for n in c.t.bye['notes']), 'the last flush: said so')


def foreign(version, v):
    c = run(f'{version} foreign', 'foreign:from=1,for=2', seconds=12, GPUSTARVE_REARM_SECONDS=4, **v)
    theirs = next(f for f in c.faults if f['fault'] == 'foreign')
    gs.check(len(c.missing) > 100, 'foreign: nothing taken')
    c.covered(f'{version} foreign', FOREIGN)
    gs.equal(gs.subtract([[theirs['start_ns'], theirs['end_ns']]], c.t.lost(FOREIGN)), [],
             'foreign: all of its time')
    gs.check(max(o['end'] for o in c.t.ops) > theirs['end_ns'] + SECOND, 'foreign: never came back')
    c.bounded(f'{version} foreign', 9 * SECOND)


CASES = [(foreign,), (idle, 1), (idle, 0), (captures,), (host_graphs,), (quiet,), (bad_stamps, 'zero'),
         (bad_stamps, 'reverse'), (drop,), (long_flushes,), (full,), (late,), (none,), (hang,),
         (hang_at_the_end,)]  # those that take longest come first


def all_faults(version):
    """Every fault under one version of CUPTI; the test ends here."""
    v = dict(GPUSIM_CUPTI=version)
    gs.side_by_side([functools.partial(case, version, v, *more) for case, *more in CASES])
    gs.finish()
