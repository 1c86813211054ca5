#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=240
"""Programs that end by _exit and its like: what was recorded by then is in the trace, the status is
theirs, and it takes no longer than a fraction of a second whatever holds us up."""
import functools
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

EXITS = os.path.join(gs.BUILD, 'workloads', 'exits')
RANKS = '''
import multiprocessing as mp, os, sys, time
def work(rank):
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    s = gpudev.Stream(gpudev.Device(0))
    for i in range(50):
        s.kernel(1_000_000, name=f'rank{rank}')
    s.synchronize()
    open(str(rank), 'w').write(str(time.monotonic()))
    if rank == 2:
        os._exit(7)
    if rank == 1:
        sys.exit(3)
if __name__ == '__main__':
    mp.set_start_method(sys.argv[1])
    ranks = [mp.Process(target=work, args=(i,)) for i in range(3)]
    for r in ranks: r.start()
    took = 0
    for i, r in enumerate(ranks):
        r.join()
        took = max(took, time.monotonic() - float(open(str(i)).read()))
    print([r.exitcode for r in ranks], took)
'''


CAP = 0.2  # seconds that libprof takes at most; then a busy machine has kept it from its work


def judge(what, t, kernels, ns, took=0):
    """All kernels are there, or the time was up and the trace says so."""
    gs.equal({e['end'] - e['start'] for e in t.ops} - {ns}, set(), f'{what}: durations')
    if took > CAP * 0.6 and (len(t.ops) < kernels or t.lost()):
        gs.check(t.lost() or not t.bye, f'{what}: {len(t.ops)} operations and no loss is told')
        print(f'{what}: a busy machine, {took:.2f} s')
        return
    gs.equal(len(t.ops), kernels, f'{what}: operations')
    gs.equal(t.lost(), [], f'{what}: losses')


def end(what, way, status, kept=True, bye='_exit', most=None, collector=False, preload=True, **env):
    """@kept: all operations are in the trace. @most: seconds that the end may take."""
    with gs.scratch() as where:
        path = os.path.join(where, 'socket') if collector else None
        node = subprocess.Popen([os.path.join(gs.BUILD, 'bin', 'gpustarve-collector'), '--unix', path,
                                 '--dir', os.path.join(where, 'runs')], env=gs.environment(),
                                stderr=subprocess.DEVNULL) if collector else None
        while node and not os.path.exists(path):
            time.sleep(0.02)
        full = prof.environment(where, preload=preload, GPUSTARVE_SOCKET=path, **env)
        done = gs.command([gs.WITH_GPUSIM, EXITS, way, str(status)], env=full, cwd=where, timeout=60)
        took = time.monotonic() - int(done.stdout or 0) / 1e9
        if node:
            node.terminate()
            node.wait(timeout=30 * gs.PATIENCE)
        gs.equal((done.returncode, done.stderr), (status, b''), f'{what}: status, stderr')
        if most:
            gs.check(took < most, f'{what}: the end took {took:.2f} s')
        t = prof.trace(where, damaged=not kept)
        if kept and t:
            judge(what, t, 100, 500_000, took)
            gs.check(took > CAP * 0.6 or t.bye, f'{what}: last word')
            gs.check(not t.bye or t.bye['reason'] == bye, f'{what}: {t.bye}')
        print(f'{what}: {len(t.ops) if t else 0} operations, {took:.2f} s', flush=True)


def ranks(method):
    """Processes as torch.multiprocessing makes them: forked ones end by os._exit."""
    what = f'multiprocessing, {method}'
    with gs.scratch() as where:
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(RANKS)
        done = prof.run([gs.PYTHON, 'job.py', method], where, WORKLOADS=gs.WORKLOADS)
        codes, _, took = done.stdout.decode().rpartition(' ')
        gs.equal((done.returncode, codes), (0, '[0, 3, 7]'), f'{what}: {done.stderr}')
        found = prof.traces(where)
        gs.check(len(found) == 3 or float(took) > CAP * 0.6, f'{what}: {len(found)} streams')
        for t in found:
            judge(what, t, 50, 1_000_000, float(took or 0))
            gs.check(t.bye or float(took) > CAP * 0.6, f'{what}: last word')


cases = [functools.partial(end, f'_exit({n})', 'plain', n) for n in (0, 3, 255)]
cases += [functools.partial(end, '_Exit', 'capital', 4),
          functools.partial(end, 'quick_exit', 'quick', 6),
          functools.partial(end, 'in a signal handler', 'handler', 9, most=3),
          functools.partial(end, 'two threads at once', 'twice', 11),
          functools.partial(end, 'exit while _exit is under way', 'late', 12),
          functools.partial(end, '_exit while exit is under way', 'waiting', 13),
          functools.partial(end, 'to a collector', 'plain', 3, collector=True),
          functools.partial(end, 'after vforks', 'vforks', 2, bye='exit'),
          functools.partial(end, 'after posix_spawns', 'spawns', 2, bye='exit'),
          functools.partial(end, 'after children with a namespace', 'namespace', 2, bye='exit'),
          functools.partial(end, 'after a forked child', 'child', 2, bye='exit'),
          functools.partial(end, 'the system call', 'raw', 3, kept=False, most=3),
          functools.partial(end, 'CUDA_INJECTION64_PATH alone', 'plain', 3, kept=False, preload=False,
                            CUDA_INJECTION64_PATH=gs.LIBPROF),
          functools.partial(end, 'a flush that hangs', 'plain', 3, kept=False, most=3,
                            GPUSIM_FAULT='hang:from=0'),
          functools.partial(end, 'in a handler, and a flush that hangs', 'handler', 3, kept=False, most=3,
                            GPUSIM_FAULT='hang:from=0')]
cases += [functools.partial(ranks, method) for method in ('fork', 'spawn', 'forkserver')]
gs.side_by_side(cases, width=2)
gs.finish()
