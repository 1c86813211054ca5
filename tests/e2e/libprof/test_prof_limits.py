#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits first timeout=600
"""What libprof does when it may not or cannot go on as before: a full disk, a directory that cannot
be written, a limit on the trace's size, a limit on its cost, a process that was stopped, no CUPTI at
all, the real CUPTI without a driver, memory that a burst of work has left. The job never notices; the
trace says what it lacks."""
import os
import signal
import subprocess
import sys
import textwrap
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
from prof import DETACHED, FRAMES, GOVERNOR, SECOND, SUSPENDED

JOB = textwrap.dedent('''
    import os, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    s = gpudev.Stream(dev)
    print('go', flush=True)
    end = time.time() + float(sys.argv[1])
    ns, pause, steps = int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    while time.time() < end or steps > 0:
        steps -= 1
        for i in range(8):
            s.kernel(ns, name=f'layer{i}')
        s.synchronize()
        time.sleep(pause)
    print('well', file=sys.stderr)
    sys.exit(6)
    ''')


def job(where, seconds=2.0, ns=500_000, pause=0.002, steps=0, **env):
    """Works for so long, and so many steps at least: on a busy machine those take longer."""
    with open(os.path.join(where, 'job.py'), 'w') as f:
        f.write(JOB)
    return prof.run([gs.PYTHON, 'job.py', str(seconds), str(ns), str(pause), str(steps)], where,
                    WORKLOADS=gs.WORKLOADS, **env)


def untouched(what, done, lines):
    """Output and status are the job's; at most so many lines of ours."""
    gs.equal(done.returncode, 6, f'{what}: status')
    gs.equal(done.stdout, b'go\n', f'{what}: stdout')
    err = done.stderr.decode().splitlines()
    ours = [x for x in err if x.startswith('gpustarve: ')]
    gs.equal([x for x in err if x not in ours], ['well'], f'{what}: stderr')
    gs.equal(len(ours), lines, f'{what}: lines of ours: {ours}')
    for line in ours:
        gs.check(line.count(': ') >= 2 and ';' in line, f'{what}: what, why, what to do: {line}')


def full_disk():
    with gs.scratch() as where:
        small = os.path.join(where, 'runs')
        os.mkdir(small)
        mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=96k', 'none', small],
                                 stderr=subprocess.DEVNULL).returncode == 0
        if not mounted:
            gs.left_out('full disk: no right to mount')
            return
        try:
            done = job(where, 6.0, ns=100_000, pause=0.0005, steps=3000)
            untouched('full disk', done, 1)
            found = prof.traces(where, damaged=True)
            gs.equal(len(found), 1, 'full disk: what was written before can be read')
            gs.check(len(found[0].ops) > 100, 'full disk: operations from before')
        finally:
            subprocess.run(['umount', small])


def unwritable():
    with gs.scratch() as where:
        open(os.path.join(where, 'runs'), 'w').close()  # a file: root may write anywhere
        untouched('no directory', job(where), 1)
        gs.equal(os.path.getsize(os.path.join(where, 'runs')), 0, 'the file in its place')
    with gs.scratch() as where:
        untouched('parent missing', job(where, GPUSTARVE_OUT='/proc/none/here'), 1)


def comes_back():
    """The directory is there again in time: nothing is lost."""
    with gs.scratch() as where:
        blocked = os.path.join(where, 'runs')
        open(blocked, 'w').close()
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(JOB)
        p = subprocess.Popen([gs.WITH_GPUSIM, gs.PYTHON, 'job.py', '3', '500000', '0.002', '0'], cwd=where,
                             env=prof.environment(where, WORKLOADS=gs.WORKLOADS),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1.5)
        os.unlink(blocked)
        gs.equal(p.wait(timeout=60), 6, 'directory comes back: status')
        t = prof.trace(where)
        prof.expect_exact(where, t, 'directory comes back')
        gs.equal(t.lost(FRAMES), [], 'directory comes back: frames')


def trace_limit():
    with gs.scratch() as where:
        done = job(where, 5.0, ns=20_000, pause=0, steps=12_000, GPUSTARVE_MAX_TRACE='200K')
        untouched('trace limit', done, 0)
        size = sum(os.path.getsize(f) for f in prof.files(where))
        gs.check(100 << 10 < size <= 200 << 10, f'trace limit: {size} bytes')
        t = prof.trace(where, damaged=True)  # a block that did not fit leaves a hole in the numbers
        lack, extra = prof.missing(where, t)
        gs.equal(sum(extra.values()), 0, 'trace limit: operations that never were')
        gs.check(sum(lack.values()) > 0, 'trace limit: it was reached')
        spans = t.lost(DETACHED, FRAMES)
        bare = [k for k in lack if gs.subtract([[k[3], k[4]]], spans)]
        gs.equal(len(bare), 0, f'trace limit: missing operations outside {spans}')
        gs.equal(t.bye['last']['level'], 'off', 'trace limit: level')
        gs.check(any('limit' in n for n in t.bye['notes']), 'trace limit: a note')


def cost_limit(seconds=25):
    """Launches that the device waits for, and a limit that they break. Whoever gets little of a core
    breaks it late."""
    with gs.scratch() as where:
        done = job(where, seconds, ns=2_000, pause=0.001, GPUSTARVE_MAX_OVERHEAD='0.05')
        untouched('cost limit', done, 0)
        t = prof.trace(where)
        levels = [p['level'] for p in t.frames['pulse']]
        lack, extra = prof.missing(where, t)
        spans = t.lost(GOVERNOR)
        if (levels[-1] not in ('copies', 'least') or gs.measure(spans) <= 2 * SECOND) and seconds < 100:
            return cost_limit(100)
        gs.check(levels[0] == '1' and levels[-1] in ('copies', 'least'), f'cost limit: levels {levels}')
        gs.check('0' in levels, 'cost limit: API records go first')
        gs.check(gs.measure(spans) > 2 * SECOND, f'cost limit: {spans}')
        bare = [k for k in lack if gs.subtract([[k[3], k[4]]], spans)]
        gs.equal(len(bare), 0, f'cost limit: missing operations outside {spans}')
        gs.check(any('governor' in n for n in t.bye['notes']), 'cost limit: a note')
        gs.check(any('governor' in n for n in t.hello['notes']), 'cost limit: in Hello')


def stopped():
    with gs.scratch() as where:
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(JOB)
        p = subprocess.Popen([gs.WITH_GPUSIM, gs.PYTHON, 'job.py', '5', '500000', '0.002', '0'], cwd=where,
                             env=prof.environment(where, WORKLOADS=gs.WORKLOADS),
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        p.stdout.readline()  # it has begun
        time.sleep(1.3)
        asked = time.time_ns()
        p.send_signal(signal.SIGSTOP)
        begin = time.time_ns()
        time.sleep(3)
        end = time.time_ns()
        p.send_signal(signal.SIGCONT)
        goes_on = time.time_ns()
        gs.equal(p.wait(timeout=60), 6, 'stopped: status')
        t = prof.trace(where)
        spans = t.lost(SUSPENDED)
        gs.equal(len(spans), 1, f'stopped: spans {spans}')
        gs.equal(gs.subtract([[begin + SECOND // 20, end]], spans), [], 'stopped: its time')
        gs.check(gs.measure(spans) < goes_on - asked + SECOND, 'stopped: not much more')
        prof.expect_exact(where, t, 'stopped')


BURST = textwrap.dedent('''
    import ctypes, os, re, sys, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    def size(what):
        return int(re.search(what + r':\\s+(\\d+) kB', open('/proc/self/status').read())[1]) // 1024
    s = gpudev.Stream(gpudev.Device(0))
    s.kernel(1000)
    s.synchronize()
    before = size('VmSize')
    for i in range(10_000):
        s.kernel(1000)
    most = size('VmSize') - before
    s.synchronize()
    end = time.time() + 60
    while size('VmSize') - before > 1024 and time.time() < end:
        s.kernel(1000)
        time.sleep(0.1)
    left = size('VmSize') - before
    locked = 0
    if left <= 1024 and not ctypes.CDLL(None).mlockall(3):
        locked = size('VmLck')
    for i in range(200):
        s.kernel(1000)
        time.sleep(0.01)
    s.synchronize()
    print(most, left, locked)
    ''')


def after_burst():
    """What a burst of launches has taken of the address space is given back when it is idle, so that a
    program that locks its memory then does not pay for it."""
    with gs.scratch() as where:
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(BURST)
        done = prof.run([gs.PYTHON, 'job.py'], where, WORKLOADS=gs.WORKLOADS)
        gs.equal(done.returncode, 0, f'after a burst: status, {done.stderr.decode()[-300:]}')
        most, left, locked = map(int, done.stdout.split())
        gs.check(most > 20 * 64, f'a burst takes blocks: {most} MiB')
        gs.check(left <= 1024, f'they are given back: {left} of {most} MiB')
        if not locked:
            gs.left_out('a burst, then mlockall: no right to lock memory')
        gs.check(locked < 2048, f'after a burst: {locked} MiB are locked')
        prof.expect_exact(where, prof.trace(where), 'after a burst')


def no_cupti():
    with gs.scratch() as where:
        done = job(where, 2.0, GPUSTARVE_CUPTI='/nowhere/libcupti.so.13')
        untouched('no CUPTI', done, 0)
        t = prof.trace(where)
        gs.equal(len(t.ops), 0, 'no CUPTI: operations')
        gs.check(any('CUPTI' in n or 'libcupti' in n for n in t.hello['notes']),
                 f'no CUPTI: a note says why: {t.hello["notes"]}')
        gs.equal(len(t.hello['devices']), 1, 'no CUPTI: devices are known all the same')
        gs.check(t.bye and len(t.frames['pulse']) >= 1, 'no CUPTI: pulses and Bye')


def real_cupti():
    """NVIDIA's own library, on a driver that it does not accept."""
    places = ['/usr/local/cuda/extras/CUPTI/lib64', '/usr/local/cuda/lib64', '/usr/local/cuda/lib',
              '/usr/local/cuda-13.0/lib']
    found = [p for p in (f'{d}/libcupti.so.13' for d in places) if os.path.exists(p)]
    if not found:
        print('real CUPTI: not tried, none is installed')
        return
    with gs.scratch() as where:
        # Loaded by the program first, as torch does it: then it is the one to use.
        program = f'import ctypes; ctypes.CDLL({os.path.realpath(found[0])!r})\n' + JOB
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(program)
        done = prof.run([gs.PYTHON, 'job.py', '1.5', '500000', '0.002', '0'], where,
                        WORKLOADS=gs.WORKLOADS)
        untouched('real CUPTI', done, 0)
        t = prof.trace(where)
        gs.equal(len(t.ops), 0, 'real CUPTI: operations')
        gs.check(any('answers with error' in n for n in t.hello['notes']),
                 f'real CUPTI: a note says why: {t.hello["notes"]}')


gs.side_by_side([after_burst, cost_limit, full_disk, unwritable, comes_back, trace_limit, stopped,
                 no_cupti, real_cupti])
gs.finish()
