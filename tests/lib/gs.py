# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: where the build is, running a program on the simulated GPU with
and without gpustarve around it, reading the simulator's truth, and small set arithmetic over
intervals in integer nanoseconds. Standard library only."""
import bisect
import concurrent.futures
import contextlib
import functools
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

SOURCE = os.environ.get('GPUSTARVE_SOURCE') or os.path.abspath(
    os.path.join(os.path.dirname(__file__), '..', '..'))
BUILD = os.environ.get('GPUSTARVE_BUILD') or os.path.join(SOURCE, 'build')
SHARED = os.path.join(SOURCE, '..', 'shared')
PYTHON = os.environ.get('GPUSTARVE_PYTHON') or '/usr/bin/python3'  # has torch
CLI = os.path.join(BUILD, 'bin', 'gpustarve')
WITH_GPUSIM = os.path.join(SOURCE, 'scripts', 'with-gpusim')
BIG = bool(os.environ.get('GS_BIG'))  # campaigns whole; what CI has no time for
PATIENCE = float(os.environ.get('GS_PATIENCE') or 1)  # so many times longer until it is held that nothing comes: an emulator
WORKLOADS = os.path.join(SOURCE, 'tests', 'workloads')
ISOLATED = ('GPUSTARVE_', 'GPUSIM_', 'LD_PRELOAD', 'CUDA_', 'NVTX_', 'SLURM', 'RANK', 'LOCAL_RANK',
            'WORLD_SIZE', 'TORCHELASTIC', 'PMI', 'OMPI', 'MV2_', 'PALS_', 'PYTHONUNBUFFERED')

for ignored in signal.SIGINT, signal.SIGHUP, signal.SIGQUIT:  # by nohup, or a shell that starts something with &: programs would inherit it
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL)

failures = []
playing = threading.local()  # .case: what this thread plays, where several play side by side


def plain(folder):
    """The folder by a name that LD_PRELOAD can hold, which is cut at spaces and colons: its own, or that
    of a link, which stays."""
    if not set(folder) & set(' :'):
        return folder
    links = f'/tmp/gpustarve-tests-{os.getuid()}'
    os.makedirs(links, mode=0o755, exist_ok=True)
    link = os.path.join(links, hashlib.sha256(os.fsencode(folder)).hexdigest()[:16])
    if not os.path.islink(link):
        part = f'{link}.{os.getpid()}'
        os.symlink(folder, part)
        os.rename(part, link)
    return link


LIBPROF = os.path.join(plain(BUILD), 'lib', 'libprof.so')  # as LD_PRELOAD names it


def without_ranks(gpu, what='GPU'):
    """The GPU as records of it alone tell: what it waited for a late rank is comm again. The causes
    of that must make it up."""
    classes = dict(gpu['classes'])
    skew = classes.pop('comm.skew', 0)
    equal(sum(gpu.get('skew_causes', {}).values()), skew, f'{what}: causes of comm.skew')
    if skew:
        classes['comm'] = classes.get('comm', 0) + skew
    return dict(gpu, classes=classes)


def check(ok, what):
    """Notes a failed expectation and goes on; finish() turns them into the exit status."""
    if not ok:
        case = getattr(playing, 'case', None)
        what = f'{case}: {what}' if case else what
        failures.append(what)
        print(f'FAILED: {what}', file=sys.stderr, flush=True)
    return ok


def equal(got, want, what):
    return check(got == want, f'{what}: got {got!r}, want {want!r}')


def at_once(most):
    """How many cases that mostly sleep may run at once: on an emulated machine none of them sleeps for most of the time."""
    return most if PATIENCE == 1 else min(most, os.cpu_count())


def side_by_side(cases, width=3):
    """Calls each case, several at a time: for cases that mostly sleep and share no folder. A case that
    raises ends the test."""
    with concurrent.futures.ThreadPoolExecutor(at_once(width)) as pool:
        for done in [pool.submit(case) for case in cases]:
            done.result()


def until(what, ready, seconds=120):
    """What ready() answers once that is true; False, and an expectation that failed, if it never is."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        answer = ready()
        if answer:
            return answer
        if time.monotonic() > end:
            return check(False, f'{what}: not within {seconds * PATIENCE:.0f} s')
        time.sleep(0.02)


def written(terminal):
    """All that was written to a terminal whose other end nobody has open any more."""
    said = b''
    with contextlib.suppress(OSError):  # EIO is its end
        while True:
            said += os.read(terminal, 65536)
    return said


def free_ports(count):
    """So many ports of loopback that nobody listened on just now; none of those that the kernel gives to connections, one of
    which may have it when a killed server is to listen there again."""
    held = []
    while len(held) < count:
        s = socket.socket()
        try:
            s.bind(('127.0.0.1', random.SystemRandom().randrange(12000, 32000)))
            held.append(s)
        except OSError:
            s.close()
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def run_test(name, case, beside):
    """One that raises has failed. Where others play @beside it, what fails says of which."""
    playing.case = name if beside else None
    before = len(failures)
    try:
        case()
    except Exception as e:  # a test may fail in any way
        traceback.print_exc()
        check(False, f'{name}: {e!r}')
    failed = any(not beside or f.startswith(name + ': ') for f in failures[before:])
    print('FAIL' if failed else 'ok  ', name, flush=True)


def run_tests(names, width=1, alone=()):
    """Calls the functions test_* of a module's globals in order, and ends the process; the next are called when one has
    failed. With a @width so many at a time, once those that are to be @alone have ended: for cases that mostly sleep and
    share no folder."""
    cases = [(n, case) for n, case in names.items() if n.startswith('test_') and callable(case)]
    for name, case in cases:
        if width == 1 or case in alone:
            run_test(name, case, False)
    if width > 1:
        side_by_side([functools.partial(run_test, name, case, True) for name, case in cases if case not in alone], width)
    finish()


def finish():
    print(f'{len(failures)} failed expectations' if failures else 'ok')
    sys.exit(1 if failures else 0)


def left_out(what):
    """Says that a part of the test is not played here, and why; scripts/test counts these lines."""
    print(f'skipped: {what}', flush=True)


def skip(why):
    left_out(why)
    sys.exit(77)


def environment(**more):
    """This process's environment without anything that steers gpustarve or the simulator."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(ISOLATED)}
    env.update(GPUSTARVE_BUILD=BUILD, PYTHONDONTWRITEBYTECODE='1', TERM='xterm')
    env.update({k: str(v) for k, v in more.items() if v is not None})
    return env


@contextlib.contextmanager
def scratch(within=None):
    path = tempfile.mkdtemp(prefix='gstest-', dir=within)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def command(argv, env=None, cwd=None, timeout=480, **kw):
    return subprocess.run([str(a) for a in argv], env=env or environment(), cwd=cwd, timeout=timeout * PATIENCE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)


def gpustarve(*args, **kw):
    return command([CLI, *args], **kw)


def runs(out):
    """The run directories below an output folder."""
    return sorted(os.path.join(out, d) for d in os.listdir(out) if d.endswith('.gst')) \
        if os.path.isdir(out) else []


def traced(argv, where, options=(), simulator=True, timeout=480, umask=-1, **env):
    """`gpustarve run` around argv on the simulator. Returns (completed process, run directory or
    None, truth folder). Each process writes its own truth file there."""
    out, truth = os.path.join(where, 'runs'), os.path.join(where, 'truth')
    os.makedirs(truth, exist_ok=True)
    env.setdefault('GPUSIM_TRUTH', truth)
    full = [CLI, 'run', '-o', out, *options, '--', *argv]
    done = command(([WITH_GPUSIM] if simulator else []) + full, env=environment(**env), cwd=where,
                   timeout=timeout, umask=umask)
    found = runs(out)
    return done, found[-1] if found else None, truth


def summary(run, *options):
    done = gpustarve('report', run, '--format', 'json', *options)
    if done.returncode:
        check(False, f'report {run}: exit {done.returncode}: {done.stderr.decode()}')
        return None
    return json.loads(done.stdout)


def truth_lines(folder):
    """Every line of the truth files of a run, parsed; a cut last line is left out."""
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else [folder]:
        with open(os.path.join(folder, name)) as f:
            for line in f:
                if line.endswith('\n'):
                    yield json.loads(line)


def truth_ops(folder):
    return [r for r in truth_lines(folder) if 'kind' in r and 'start_ns' in r]


def union(intervals):
    out = []
    for s, e in sorted(intervals):
        if out and s <= out[-1][1]:
            out[-1][1] = max(out[-1][1], e)
        else:
            out.append([s, e])
    return out


def intersect(a, b):
    i = j = 0
    out = []
    while i < len(a) and j < len(b):
        s, e = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if s < e:
            out.append([s, e])
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return out


def subtract(a, b):
    """What of a is not in b; b is sorted and disjoint, as union() makes it."""
    out, ends = [], [y for _, y in b]
    for s, e in a:
        i = bisect.bisect_right(ends, s)
        while i < len(b) and b[i][0] < e and s < e:
            if b[i][0] > s:
                out.append([s, b[i][0]])
            s, i = max(s, b[i][1]), i + 1
        if s < e:
            out.append([s, e])
    return out


def measure(intervals):
    return sum(e - s for s, e in intervals)


def excused(off_ns, delay_ns):
    """A program reads its clock some instructions away from what it measures. Where it lost its core in between, its
    own clock is no truth: what it is off by more than 1 ms is excused for as long as its thread was runnable without
    a core, by the kernel's account."""
    return min(off_ns, delay_ns) if off_ns > 1_000_000 else 0
