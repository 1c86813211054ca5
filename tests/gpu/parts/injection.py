# SPDX-License-Identifier: Apache-2.0
"""How libprof gets into programs, and that they are what they are without it: exit status, stdout and
stderr of each program, with gpustarve and without, byte by byte. Programs run beside each other, for
nothing here is timed."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import sys

import base

SECONDS = 130
BESIDE = 6
PYTHON = sys.executable
WITH_TORCH = base.TORCH or '/usr/bin/python3'
MANNERS = os.path.join(base.BUILD, 'workloads', 'manners')
HABITS = os.path.join(base.WORK, 'habits.py')
PROFILED = os.path.join(base.HERE, 'loops', 'profiled.py')
NO_CUPTI = ('no libcupti was found', 'lacks cuptiGetVersion')


class Done:
    """A program that has ended, and the trace that it left, if any."""

    def __init__(self, result, folder=None):
        self.rc, self.out, self.err, self.seconds = result
        found = sorted(glob.glob(folder + '/*.gst')) if folder else []
        self.dir = found[-1] if found else None
        self.read = {}

    def report(self):
        """The summary as it is computed now; {} if there is none, and why."""
        if self.dir and not self.read:
            rc, o, e, _ = base.run([base.CLI, 'report', self.dir, '--format', 'json'], 30)
            try:
                self.read = json.loads(o) if rc == 0 else {'why': e.strip()[-300:]}
            except ValueError:
                self.read = {'why': 'no JSON: ' + o[:100]}
        return self.read or {'why': 'no trace'}

    def ops(self):
        return sum(g['ops'] for g in self.report().get('gpus', []))

    def data(self):
        return dict(rc=self.rc, out=self.out[-2000:], err=self.err[-2000:], seconds=round(self.seconds, 1),
                    run=self.dir)


def alone(argv, timeout=60, **env):
    return Done(base.run(argv, timeout, **env))


def wrapped(name, argv, out, timeout=60, quiet=True, **env):
    folder = os.path.join(out, 'runs', 'injection', name)
    options = ['--quiet'] if quiet else []
    return Done(base.run([base.CLI, 'run', *options, '-o', folder, '--', *argv], timeout, **env), folder)


def preloaded(name, argv, out, timeout=60, **env):
    folder = os.path.join(out, 'runs', 'injection', name)
    os.makedirs(folder, exist_ok=True)
    return Done(base.run(argv, timeout, LD_PRELOAD=base.LIBPROF, GPUSTARVE_OUT=folder, **env), folder)


def differences(a, b, same=lambda text: text):
    """What b shows that a does not, in words; [] for nothing."""
    found = [] if a.rc == b.rc else [f'exit status {a.rc} became {b.rc}']
    for what in ('out', 'err'):
        x, y = same(getattr(a, what)), same(getattr(b, what))
        if x != y:
            found.append(f'std{what} {x[-160:]!r} became {y[-160:]!r}')
    return found


def sums(summary):
    """GPUs whose classes do not sum to what they were held."""
    return [g['held_ns'] for g in summary.get('gpus', []) if sum(g['classes'].values()) != g['held_ns']]


def readable(done):
    """What is wrong with the trace that was left, in words."""
    s = done.report()
    if 'gpus' not in s:
        return [s['why']]
    return ['classes do not sum'] if sums(s) else []


def verified(done):
    """gpustarve verify, of a run whose files the wrapper made."""
    if not done.dir:
        return ['no trace']
    rc, o, e, _ = base.run([base.CLI, 'verify', done.dir], 30)
    return [] if rc == 0 else [f'verify: {rc}: {(o + e).strip()[-200:]}']


class Questions:
    """Each is asked on a thread, with what it needs of the time; its row is put here, in order."""

    def __init__(self, report):
        self.report, self.pool = report, concurrent.futures.ThreadPoolExecutor(BESIDE)
        self.asked = []

    def ask(self, question, fn, *args, need=15, **more):
        def play():
            if base.left() < need:
                return None
            return fn(*args, **more)
        self.asked.append((question, self.pool.submit(play)))

    def end(self):
        for question, task in self.asked:
            try:
                row = task.result()
            except Exception as error:  # one question that breaks leaves the others theirs
                self.report.put('injection', question, f'broke: {error!r}', False)
                continue
            if row is None:
                self.report.skip('injection', question, 'out of time')
            elif isinstance(row, str):
                self.report.skip('injection', question, row)
            else:
                answer, ok, data = row
                self.report.put('injection', question, answer, ok, **data)
        self.pool.shutdown()


def told(wrong, right, **data):
    return '; '.join(wrong) if wrong else right, not wrong, data


# ---- does the environment that the constructor sets reach the driver ----

def reaches(name, argv, out, want, **env):
    """By LD_PRELOAD alone: nobody but libprof's constructor sets CUDA's variable."""
    a, b = alone(argv, **env), preloaded(name, argv, out, **env)
    wrong = differences(a, b) + (readable(b) if b.rc == 0 else [])
    if not wrong and not want(b.ops()):
        wrong = [f'{b.ops()} operations in the trace']
    return told(wrong, f'yes, {b.ops()} operations; output as without us', alone=a.data(), ours=b.data())


def compile_loop(out, runtime):
    nvcc = shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'
    lib = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), 'lib64')
    exe = os.path.join(out, 'loop-' + runtime)
    rc, o, e, _ = base.run([nvcc, '-O2', '-arch=sm_90', '-cudart', runtime, '-Xlinker', '-rpath=' + lib,
                            '-o', exe, os.path.join(base.HERE, 'loop.cu')], 60)
    if rc == 0 and runtime == 'shared':
        _, o, _, _ = base.run(['readelf', '-d', exe], 10)
        if o and 'libcudart' not in o:
            raise RuntimeError('the shared runtime is not linked')
    if rc:
        raise RuntimeError(f'nvcc: {rc}: {(o + e)[-300:]}')
    return exe


def nvcc_program(loop, runtime, out):
    return reaches('nvcc-' + runtime, [loop.result(), 'count', '2000'], out, lambda n: n == 2020)


TORCH = ('import torch\nx=torch.ones(1000,device="cuda")\nfor i in range(100): x=x+1\n'
         'print(x[0].item())')


# ---- what is missing or somebody else's ----

def missing(name, out, note, **env):
    a = alone([MANNERS, 'plain'])
    b = wrapped(name, [MANNERS, 'plain'], out, **env)
    c = preloaded(name + '-preloaded', [MANNERS, 'plain'], out, **env)
    # An error is told also where --quiet was asked for; that is our own line.
    ours = [line for line in b.err.splitlines() if line.startswith('gpustarve: ')]
    b.err = ''.join(line + '\n' for line in b.err.splitlines() if line not in ours)
    wrong = differences(a, b) + differences(a, c)
    if not any(note in line for line in ours):
        wrong.append(f'said {ours}')
    return told(wrong, 'job as without us; said: ' + ' / '.join(ours)[-200:], ours=b.data(), said=ours)


def others_path(out):
    theirs = os.path.join(out, 'theirs.so')
    a = alone([MANNERS, 'plain'])
    b = wrapped('theirs', [MANNERS, 'plain'], out, quiet=False, CUDA_INJECTION64_PATH=theirs)
    c = preloaded('theirs-preloaded', [MANNERS, 'plain'], out, CUDA_INJECTION64_PATH=theirs)
    said = [line for line in b.err.splitlines() if 'CUDA_INJECTION64_PATH' in line]
    b.err = ''.join(line + '\n' for line in b.err.splitlines() if not line.startswith('gpustarve: '))
    wrong = differences(a, b) + differences(a, c)
    if not said or c.dir:
        wrong.append(f'said {said}, a trace in {c.dir}')
    return told(wrong, 'left alone, job as without us; said: ' + said[0][-200:] if said else '',
                ours=b.data())


def file_gone(out):
    copy = shutil.copy(base.LIBPROF, os.path.join(base.plain(out), 'libprof-that-goes.so'))
    a = alone([PYTHON, HABITS, 'gone'])
    folder = os.path.join(out, 'runs', 'injection', 'gone')
    os.makedirs(folder, exist_ok=True)
    b = Done(base.run([PYTHON, HABITS, 'gone'], 60, LD_PRELOAD=copy, HABITS_REMOVE=copy,
                      GPUSTARVE_OUT=folder), folder)
    return told(differences(a, b), f'job as without us; {b.ops()} operations recorded', ours=b.data())


# ---- torch.profiler inside ----

def sessions_of(done):
    """What torch saw on the device in each session."""
    return [sum(json.loads(line.split(None, 2)[2]).values()) for line in done.out.splitlines()
            if line.startswith('session')]


def blind(done, spans):
    """(seconds that the summary has as unobserved, seconds that the sessions took)"""
    s = done.report()
    lost = s.get('ledger', {}).get('classes', {}).get('excluded.unobserved', {'ns': 0})['ns']
    try:
        with open(spans) as f:
            took = sum(e - b for b, e in json.load(f))
    except (OSError, ValueError):
        took = 0
    return lost / 1e9, took / 1e9


def profiler_inside(teardown, out):
    env = {'TEARDOWN_CUPTI': teardown}
    device = [] if base.TORCH else ['--device', 'cpu']
    name, spans = f'profiler-{teardown}', os.path.join(out, f'spans-{teardown}')
    argv = [base.TORCH or PYTHON, PROFILED, *device, *([] if base.TORCH else ['--steps', '3'])]
    with concurrent.futures.ThreadPoolExecutor(3) as three:
        a = three.submit(alone, argv, 90, **env)
        b = three.submit(wrapped, name, [*argv, '--spans', spans], out, 90, **env)
        c = three.submit(wrapped, name + '-without', [*argv, '--sessions', '0'], out, 90, **env)
        a, b, c = a.result(), b.result(), c.result()
    if not base.TORCH:
        wrong = differences(a, b)
        return told(wrong, 'the script runs, on a CPU alone; its sessions are played by '
                    'tests/e2e/libprof/test_prof_lend.py', ours=b.data())
    return judge_profiler(a, b, c, blind(b, spans), readable(b) + verified(b), teardown)


def judge_profiler(a, b, c, times, unreadable, teardown):
    """a: torch.profiler alone; b: inside our run; c: our run of the same loop without it."""
    lost, took = times
    theirs, inside, whole = sessions_of(a), sessions_of(b), c.ops()
    # What torch says on stderr has times and process ids in it.
    wrong = [w for w in differences(a, b) if not w.startswith('stderr')] + unreadable
    wrong += [w for w in differences(a, b, steady) if w.startswith('stderr')]
    if not theirs or not min(theirs):
        wrong.append(f'alone torch.profiler saw {theirs}')
    if teardown == '0' and b.ops() + sum(inside) != whole:
        wrong.append(f'{b.ops()} recorded and {sum(inside)} seen by torch of {whole}')
    # A session that detaches CUPTI is over for us two seconds after it ended, and some on a busy machine.
    late = 3.0 if not base.SIMULATED else 6.0
    most = took + (0.5 if teardown == '0' else 2 * late)
    if not 0 < lost <= most:
        wrong.append(f'unobserved {lost:.3f} s')
    notes = b.report().get('quality', {}).get('notes', [])
    answer = (f'torch saw {inside} (alone {theirs}); we recorded {b.ops()} of {whole} operations; '
              f'unobserved {lost:.3f} s, sessions {took:.3f} s')
    return '; '.join([answer, *wrong]), not wrong, dict(alone=a.data(), ours=b.data(), without=c.data(),
                                                       notes=notes, lost_s=lost, sessions_s=took)


# ---- other tools ----

def steady(text):
    """A tool's output without what differs from one start to the next: numbers, times, paths."""
    text = re.sub(r'/\S+', '/PATH', text)
    return re.sub(r'0x[0-9a-f]+|[0-9][0-9.,:]*', 'N', text)


def without_ours(done):
    done.err = ''.join(line + '\n' for line in done.err.splitlines()
                       if not line.startswith(('gpustarve:', '  ')))
    return done


def last_words(done):
    lines = [line for line in (done.out + done.err).splitlines() if line.strip()]
    return ' / '.join(lines[-2:])[-200:]


def tool(name, before, loop, out, timeout=50):
    """The tool around a program: alone, with libprof preloaded into both, with gpustarve around both,
    and with gpustarve inside."""
    program = [loop.result(), 'count', '50']
    ways = [('preloaded', lambda: preloaded(name, [*before, *program], out, timeout)),
            ('gpustarve outside', lambda: wrapped(name + '-outside', [*before, *program], out, timeout)),
            ('gpustarve inside', lambda: alone([*before, base.CLI, 'run', '-o', os.path.join(
                out, 'runs', 'injection', name + '-inside'), '--', *program], timeout))]
    a = alone([*before, *program], timeout)
    if a.rc != 0:
        return f'it does not work here without us either: {a.rc}, {last_words(a)}'
    words, right, data = [], True, dict(alone=a.data())
    for what, run in ways:
        if base.left() < 12:
            words.append(what + ': out of time')
            continue
        b = run()
        data[what] = b.data()
        same = a.rc == b.rc and (what == 'gpustarve inside' or
                                 sorted(steady(a.out + a.err).split()) == sorted(steady(b.out + b.err).split()))
        right = right and a.rc == b.rc
        words.append(f'{what}: {b.ops()} operations' + ('' if same else f', rc {b.rc}, not as alone: {last_words(b)}'))
    return '; '.join(words), right, data


def find(name):
    return shutil.which(name) or next(iter(glob.glob('/usr/local/cuda*/bin/' + name) +
                                           glob.glob('/opt/nvidia/*/' + name)), None)


def sanitized_torch(out):
    code = 'import torch\nx=torch.ones(10,device="cuda")+1\nprint(x.sum().item())'
    argv = [find('compute-sanitizer'), '--error-exitcode', '9', PYTHON, '-c', code]
    b = preloaded('sanitized-torch', argv, out, 75)
    right = b.rc == 0 and '20.0' in b.out
    return f'rc {b.rc}; {last_words(b)}', right if b.rc != 'timeout' else None, dict(ours=b.data())


def stand_in(out, name):
    """A script that starts a program of its own name, as in CUDA's folders; that one refuses to start
    where our variables are set, and injects itself into the program that follows."""
    folder = os.path.join(out, 'stand-in-' + name)
    os.makedirs(os.path.join(folder, 'target'), exist_ok=True)
    shutil.copy('/usr/bin/env', os.path.join(folder, 'target', name))
    script = os.path.join(folder, name)
    with open(script, 'w') as f:
        f.write('#!/bin/bash\nwhile :; do break; done\n'
                f'"{folder}/target/{name}" | grep -q INJECTION64_PATH && echo refused && exit 3\n'
                f'exec "{folder}/target/{name}" CUDA_INJECTION64_PATH=/theirs.so "$@"\n')
    os.chmod(script, 0o755)
    return script


def stand_in_tool(name, out):
    program = [stand_in(out, name), MANNERS, 'plain']
    a, b = alone(program), preloaded('stand-in', program, out)
    c = without_ours(wrapped('stand-in-outside', program, out))
    return told(differences(a, b) + differences(a, c), 'a stand-in starts and works as without us',
                alone=a.data(), ours=b.data())


# ---- processes that are started, and ways to end ----

def taken(path):
    """What a program wrote there; it is gone then, so that the next one writes its own."""
    try:
        with open(path, 'rb') as f:
            return f.read()
    except FileNotFoundError:
        return None
    finally:
        if os.path.exists(path):
            os.unlink(path)


def habit(program, how, out, ended=False):
    wrote = os.path.join(out, f'{program}-{how}.wrote')
    python = WITH_TORCH if how.startswith('loader') else PYTHON
    argv = [MANNERS, how, wrote] if program == 'manners' else [python, HABITS, how]
    a = alone(argv)
    before = taken(wrote)
    b = wrapped(f'{program}-{how}', argv, out)
    wrong = differences(a, b) + readable(b) + verified(b)
    if taken(wrote) != before:
        wrong.append('the file that it writes is another one')
    # Who closes the driver's own descriptors may be told so by the driver, with us or without.
    works = not a.err.startswith('workload: ')
    if not wrong and works and not b.ops():
        wrong = ['no operation in the trace']
    end = f'exit status {a.rc}' if ended else 'output'
    more = '' if works else f'; it fails here without us, too: {a.err.strip()[-60:]}'
    return told(wrong, f'{end} as without us, {b.ops()} operations readable{more}', alone=a.data(), ours=b.data())


def ask_habits(ask, out):
    quick = base.QUICK
    for program, how, ended in (
            ('habits', 'fork', 0), ('habits', 'spawn', 0), ('habits', 'loader_fork', 0),
            ('habits', 'loader_spawn', 0), ('habits', 'sigkill', 1), ('habits', 'sigterm', 1),
            ('habits', 'abort', 1), ('habits', 'os_exit', 1), ('habits', 'execs', 0),
            ('habits', 'raises', 1), ('manners', 'fork-first', 0), ('manners', 'fork-after', 0),
            ('manners', 'exec-self', 0), ('manners', 'hard-exit', 1), ('manners', 'abort', 1),
            ('manners', 'threads', 0), ('manners', 'close-all', 0)):
        if not quick or (program, how) in (('habits', 'fork'), ('habits', 'sigkill'), ('manners', 'fork-after')):
            ask(f'{"Python" if program == "habits" else "C"}: {how}', habit, program, how, out, ended,
                need=12)


def part(r, out):
    q = Questions(r)
    for teardown in ('0', '1'):
        question = f'torch.profiler inside our run, two sessions, TEARDOWN_CUPTI={teardown}'
        if base.SIMULATED and base.QUICK:
            r.skip('injection', question, 'needs a GPU; tests/e2e/libprof/test_prof_lend.py plays sessions')
        else:
            q.ask(question, profiler_inside, teardown, out, need=40)
    loops = {}
    if not base.SIMULATED:
        loops = {kind: q.pool.submit(compile_loop, out, kind) for kind in ('static', 'shared')}
    reach = 'the environment set in the constructor reaches the driver: '
    q.ask(reach + 'C, driver API', reaches, 'driver', [MANNERS, 'plain'], out, lambda n: n == 20)
    q.ask(reach + 'Python, driver API', reaches, 'gpudev', [PYTHON, HABITS, 'plain'], out, lambda n: n == 50)
    for kind in ('static', 'shared'):
        if base.SIMULATED:
            r.skip('injection', f'{reach}nvcc, {kind} cudart', 'needs a GPU')
        else:
            q.ask(f'{reach}nvcc, {kind} cudart, 2000 kernels and 20 copies', nvcc_program, loops[kind], kind, out)
    if not base.TORCH:
        r.skip('injection', reach + 'torch', 'needs a GPU')
    else:
        q.ask(reach + 'torch', reaches, 'torch', [base.TORCH, '-c', TORCH], out, lambda n: n >= 102)
    ask_tools(q, r, loops, out)
    q.ask('no libcupti to be found', missing, 'no-cupti', out, NO_CUPTI[0],
          GPUSTARVE_CUPTI='/nonexistent/libcupti.so')
    q.ask('a libcupti that is none', missing, 'bad-cupti', out, NO_CUPTI[1], GPUSTARVE_CUPTI='libm.so.6')
    q.ask('CUDA_INJECTION64_PATH set by the user', others_path, out)
    q.ask('the library is removed before cuInit', file_gone, out)
    ask_habits(q.ask, out)
    if not base.SIMULATED and find('compute-sanitizer'):
        q.ask('compute-sanitizer around torch', sanitized_torch, out, need=80)
    q.end()


def ask_tools(q, r, loops, out):
    """Where they do not exist, a stand-in shows what their environment does."""
    for name, before in (('ncu', ['--clock-control', 'none', '-c', '1']),
                         ('compute-sanitizer', ['--error-exitcode', '9']),
                         ('cuda-gdb', ['-batch', '-nx', '-ex', 'run', '--args']),
                         ('nsys', ['profile', '-o', os.path.join(out, 'nsys'), '--force-overwrite', 'true'])):
        path = find(name)
        if base.SIMULATED and base.QUICK and name != 'ncu':
            r.skip('injection', name + ' around the job', 'the stand-in is played once, for ncu')
        elif base.SIMULATED:
            q.ask(name + ' around the job', stand_in_tool, name, out)
        elif path:
            q.ask(name + ' around the job', tool, name, [path, *before], loops['static'], out, need=30)
        else:
            r.skip('injection', name + ' around the job', 'it is not here')
