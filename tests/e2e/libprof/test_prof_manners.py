#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=600
"""With libprof preloaded and without, programs write the same bytes to stdout, stderr and files and
end with the same status; and where such a program used the (simulated) GPU, its trace came out."""
import functools
import os
import shutil
import sys
import textwrap
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

PROGRAMS = {}  # name: (source, kind, expected status)
LEFT = '__pycache__/left'  # where one that ends by _exit writes down when; no such folder is compared
CAP = 0.2  # seconds that libprof takes at most then, as in test_prof_exits


def program(name, source, kind='python', status=0, gpu=0, bye=True, **env):
    """gpu: streams that the traced run must leave."""
    PROGRAMS[name] = dict(source=textwrap.dedent(source), kind=kind, status=status, gpu=gpu,
                          bye=bye, env=env)


# ---- programs that never touch a GPU; test_manners_programs has many more

program('subprocess', '''
    import os, subprocess, sys
    print(subprocess.run(['sh', '-c', 'echo out; echo err >&2; exit 3'], capture_output=True))
    p = subprocess.Popen([sys.executable, '-c', 'print(input()[::-1])'], stdin=-1, stdout=-1)
    print(p.communicate(b'reversed\\n'))
    print(subprocess.run(['true'], close_fds=False).returncode, os.system('exit 2') >> 8)
    ''')

for method in ['fork', 'spawn', 'forkserver']:
    program(f'multiprocessing {method}', f'''
        import multiprocessing as mp, os
        def square(x):
            return x * x
        if __name__ == '__main__':
            mp.set_start_method('{method}')
            with mp.Pool(3) as pool:
                print(pool.map(square, range(20)))
            q = mp.get_context('{method}').SimpleQueue()
            p = mp.Process(target=q.put, args=(list(range(1000)),))
            p.start(); print(sum(q.get())); p.join(); print(p.exitcode)
        ''')

program('what a process can see of itself', '''
    import os, threading
    print(sorted(os.listdir('/proc/self/fd')), len(os.listdir('/proc/self/task')))
    print(open('/proc/self/status').read().split('SigCgt:')[1].split()[0])
    pid = os.fork()
    if not pid:
        print(sorted(os.listdir('/proc/self/fd')), len(os.listdir('/proc/self/task')), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
    ''')

program('dies of a signal', 'kill -TERM $$', kind='bash', status=-15)
program('no GPU, no driver', '''
    import ctypes
    try:
        ctypes.CDLL('libcuda.so.1')
    except OSError as e:
        print(e)
    ''', simulator=False)

# ---- programs that use it

GPU = '''
    import os, sys, time, signal
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    def work(n=50, ns=200000, dev=None):
        dev = dev or gpudev.Device(0)
        s = gpudev.Stream(dev)
        for i in range(n):
            s.kernel(ns, name='step')
        s.synchronize()
        return dev
'''


def gpu(name, source, streams=1, **kw):
    program(name, textwrap.dedent(GPU) + textwrap.dedent(source), gpu=streams, **kw)


gpu('plain work', 'work(); print("done"); print("warn", file=sys.stderr); sys.exit(4)', status=4)
gpu('an exception', 'work(); raise SystemExit("bye")', status=1)
gpu('os._exit', f"""
    work(); time.sleep(1.2); work(10); time.sleep(0.2)
    print("x", flush=True); os.makedirs('__pycache__', exist_ok=True)
    open({LEFT!r}, 'w').write(str(time.monotonic())); os._exit(7)
    """, status=7)
gpu('abort', 'work(); time.sleep(3); print("x", flush=True); os.abort()', status=-6, bye=False)
gpu('its own signal', 'work(); time.sleep(3); os.kill(os.getpid(), signal.SIGTERM)', status=-15,
    bye=False)
gpu('handles signals', '''
    seen = []
    for s in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
              signal.SIGALRM, signal.SIGCHLD]:
        signal.signal(s, lambda n, f: seen.append(n))
    dev = work()
    for s in [signal.SIGUSR1, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2]:
        os.kill(os.getpid(), s)
    signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.7)
    work(20, dev=dev); print(sorted(seen))
    ''')
gpu('exec itself', '''
    work()
    time.sleep(3)  # as below: libprof has written, which takes it half a second, and a busy machine longer
    if len(sys.argv) < 3:
        os.execv(sys.executable, [sys.executable] + sys.argv + ['a', 'b'])
    print(sys.argv[1:])
    ''', streams=2, bye=False)
gpu('fork before cuInit, GPU in the child', '''
    pid = os.fork()
    if pid:
        print(os.waitpid(pid, 0)[1] >> 8)
    else:
        work()
        sys.exit(3)
    ''')
gpu('fork before cuInit, GPU in both', '''
    pid = os.fork()
    work()
    if pid:
        print(os.waitpid(pid, 0)[1] >> 8)
    ''', streams=2)
gpu('fork after cuInit', '''
    dev = work()
    for how in ['exit', '_exit', 'exec']:
        pid = os.fork()
        if not pid:
            if how == 'exec':
                os.execv('/bin/echo', ['echo', 'from exec'])
            if how == 'exit':
                sys.exit(5)
            os._exit(6)
        print(how, os.waitpid(pid, 0)[1] >> 8, flush=True)
    work(10, dev=dev)
    ''')
gpu('subprocess and multiprocessing after cuInit', '''
    import multiprocessing as mp, subprocess
    def child(x):
        return x + 1
    if __name__ == '__main__':
        dev = work()
        print(subprocess.run(['sh', '-c', 'echo hi; exit 2'], capture_output=True))
        with mp.get_context('fork').Pool(2) as pool:
            print(pool.map(child, range(5)))
        with mp.get_context('spawn').Pool(1) as pool:
            print(pool.map(child, range(5)))
        work(10, dev=dev)
    ''')
gpu('closes all descriptors, then writes its checkpoint', '''
    dev = work()
    time.sleep(0.6)
    out = os.dup2(1, 200)
    for i in range(3):
        os.closerange(3, 200); os.closerange(201, 4096)
        files = [os.open(f'checkpoint.{i}.{k}', os.O_RDWR | os.O_CREAT, 0o600) for k in range(40)]
        for round in range(3):
            work(10, dev=dev)
            for f in files:
                os.write(f, b'weights' * 100)
            time.sleep(0.4)
    os.close(0); os.close(1); os.close(2)
    f = os.open('last', os.O_WRONLY | os.O_CREAT, 0o600)
    work(10, dev=dev); time.sleep(1.1)
    os.write(f, b'end'); os.write(200, b'closed all\\n')
    ''')
gpu('threads that use the GPU', '''
    import threading
    dev = gpudev.Device(0)
    def run():
        dev.use(); work(100, 20000, dev)
    threads = [threading.Thread(target=run) for i in range(6)]
    [t.start() for t in threads]; [t.join() for t in threads]
    print(len(threads))
    ''')
gpu('only cuInit', 'gpudev.driver(); print(gpudev.device_count())', streams=0)
gpu('changes its directory', '''
    os.mkdir('elsewhere'); os.chdir('elsewhere')
    work(); open('here', 'w').write('x')
    ''', relative_out=True)
gpu('no room for files', '''
    import resource
    dev = work(); time.sleep(3)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    work(10, dev=dev); time.sleep(1.1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); print('still there')
    ''', bye=False, may_complain=True)


def snapshot(folder):
    """Every file below, with its bytes; without what the trace and the simulator write."""
    found = {}
    for base, dirs, files in os.walk(folder):
        dirs[:] = [d for d in dirs if d not in ('runs', 'truth', '__pycache__')]
        for name in files:
            path = os.path.join(base, name)
            with open(path, 'rb') as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


def start(p, where, preload):
    script = os.path.join(where, 'script')
    with open(script, 'w') as f:
        f.write(p['source'])
    env = dict(p['env'])
    simulator = env.pop('simulator', True)
    env.pop('may_complain', None)
    if env.pop('relative_out', False):
        env['GPUSTARVE_OUT'] = 'runs'
    argv = ['/bin/bash', 'script'] if p['kind'] == 'bash' else [gs.PYTHON, 'script']
    return prof.run(argv, where, simulator, preload, timeout=120, WORKLOADS=gs.WORKLOADS, **env)


def compare(name, p):
    results = []
    for preload in [False, True]:
        with gs.scratch() as base:
            where = os.path.join(base, 'w')
            os.mkdir(where)
            done = start(p, where, preload)
            ended = time.monotonic()
            out = [x.replace(base.encode(), b'BASE') for x in (done.stdout, done.stderr)]
            if p['env'].get('may_complain'):
                lines = out[1].splitlines(keepends=True)
                ours = [x for x in lines if x.startswith(b'gpustarve: ')]
                gs.check(len(ours) <= 1, f'{name}: more than one line: {ours}')
                out[1] = b''.join(x for x in lines if x not in ours)
            results.append((done.returncode, *out, snapshot(where)))
            if preload:
                check_trace(name, p, where, ended)
    plain, traced = results
    gs.equal(plain[0], p['status'], f'{name}: status without libprof: {plain[2][-300:]}')
    for i, what in enumerate(['status', 'stdout', 'stderr', 'files']):
        gs.equal(traced[i], plain[i], f'{name}: {what}')


def held_up(where, ended):
    """Did an end by _exit take so long that a busy machine may have kept libprof from its work?"""
    path = os.path.join(where, LEFT)
    if not os.path.exists(path):
        return False
    with open(path) as f:
        return ended - float(f.read()) > CAP * 0.6


def check_trace(name, p, where, ended):
    late = held_up(where, ended)
    found = prof.traces(where, damaged=bool(p['env'].get('may_complain')))
    gs.equal(len(found), p['gpu'], f'{name}: streams')
    for t in found:
        gs.check(len(t.ops) > 0, f'{name}: no operation in the trace')
        pid = t.hello['pid']
        if t.bye and p['bye'] and not (late and t.lost()):
            if p['gpu'] == 1 or name.startswith('fork'):
                prof.expect_exact(where, t, name, pid)
        gs.check(not p['bye'] or t.bye or late, f'{name}: no Bye')
        if late:
            print(f'{name}: a busy machine')
    if p['gpu']:
        gs.equal(len(gs.runs(os.path.join(where, 'runs'))), 1, f'{name}: runs')


gs.side_by_side([functools.partial(compare, name, p) for name, p in PROGRAMS.items()])
gs.finish()
