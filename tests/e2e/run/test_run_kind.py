#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What kind of run it is, and what tells: a program of each kind with a real loader and a real optimizer on the
simulated GPU; a notebook's, by its ancestors and not by what a batch system passed on, or by its own command; an
interpreter at which somebody types; servers with a thread for each request, and programs with one for each step beside a
server of metrics, which are none; one that trains by hand, whose kernels tell nothing of it,
and one that only looks so; and some of which nothing tells. tests/kinds plays many."""
import functools
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

KERNEL = '''import os, subprocess, sys
os.environ['JPY_PARENT_PID'] = str(os.getppid())
sys.exit(subprocess.call(sys.argv[1:]))
'''


ITSELF = '''import runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name='__main__')
'''
TYPED = '''import os, pty, sys, time
pid, fd = pty.fork()
if not pid:
    os.execv(sys.executable, [sys.executable, '-q'])
for line in [*sys.argv[1:], 'exit()']:
    seen = b''
    while b'>>> ' not in seen:  # now it waits for a line
        seen += os.read(fd, 1 << 16)
    time.sleep(1)
    os.write(fd, line.encode() + b'\\n')
try:
    while os.read(fd, 1 << 16):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
'''


def told(where, what, below=None, **env):
    folder = os.path.join(where, what + (below or '') + ''.join(env))
    os.mkdir(folder)
    argv = [gs.PYTHON, os.path.join(gs.WORKLOADS, 'kindloop.py'), what]
    if below:
        kernel = os.path.join(folder, below)
        with open(kernel, 'w') as f:
            f.write(KERNEL)
        argv = [gs.PYTHON, kernel] + argv
    return called(folder, what, argv, **env)


def of_loaders(what, s, text):
    """Samples are told exactly where it is known which loaders do what the run is there for."""
    gs.equal(schema.errors(schema.ours(), s), [], f'{what}: schema')
    samples = [o for o in s['cost'].get('outcomes', ()) if o['unit'] == 'samples']
    gs.equal([o.get('bound') for o in samples], ['at_most' if what == 'byhand' else None], f'{what}: {samples}')
    gs.equal('nothing tells which train' in ' '.join(text.split()), what == 'byhand', f'{what}: {text[:900]}')


def called(folder, what, argv, **env):
    done, run, _ = gs.traced(argv, folder, **env)
    gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-500:]}')
    s = gs.summary(run)
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    gs.check(f'>{s["run"]["kind"]}<' in page, f'{what}: the page tells it')
    text = gs.gpustarve('report', run).stdout.decode()
    kind = s['run']['kind']
    after = '; called training here' if kind == 'unknown' else ': '
    gs.check(f'\n  kind: {kind}{after}' in text, f'{what}: the text tells it: {text[-3000:]}')
    if what in ('byhand', 'eval', 'alike'):
        of_loaders(what, s, text)
    if s['run']['kind'] in ('evaluation', 'inference'):
        for said in done.stderr.decode(), text, page:
            gs.check('training' not in said.lower(), f'{what}: what it does is no training')
    return s['run']['kind'], s['run']['kind_signs']


def itself(where, what):
    """A kernel that nobody's JPY_PARENT_PID tells of: started by hand."""
    folder = os.path.join(where, 'itself' + what)
    os.mkdir(folder)
    with open(os.path.join(folder, 'ipykernel_launcher.py'), 'w') as f:
        f.write(ITSELF)
    return called(folder, what, [gs.PYTHON, '-m', 'ipykernel_launcher', os.path.join(gs.WORKLOADS, 'kindloop.py'), what])


def typed(where):
    folder = os.path.join(where, 'typed')
    os.mkdir(folder)
    with open(os.path.join(folder, 'person.py'), 'w') as f:
        f.write(TYPED)
    lines = ['import gpudev', 'stream = gpudev.Stream(gpudev.Device(0))'] + ["stream.kernel(50_000_000, 'gemm'); stream.synchronize()"] * 3
    return called(folder, 'typed', [gs.PYTHON, os.path.join(folder, 'person.py'), *lines], PYTHONPATH=gs.WORKLOADS)


AFTER = '''import sys, time, gpudev
stream = gpudev.Stream(gpudev.Device(0))
for i in range(40):
    stream.kernel(40_000_000, 'gemm')
    stream.synchronize()
end = time.time() + float(sys.argv[1])
while time.time() < end:
    pass
'''
# The interpreter's own end: a thread that it waits for, what is called when no code of Python runs any more.
LEAVES = {'thread': 'import threading, time; threading.Thread(target=time.sleep, args=(4,)).start()',
          'handler': 'import atexit, time; atexit.register(time.sleep, 4)'}


def leaves(where):
    """A slow end of the interpreter is teardown, and nothing that the program did."""
    for what, last in LEAVES.items():
        folder = os.path.join(where, what)
        os.mkdir(folder)
        done, run, _ = gs.traced([gs.PYTHON, '-c', AFTER + last, '0'], folder, PYTHONPATH=gs.WORKLOADS)
        gs.equal(done.returncode, 0, done.stderr.decode()[-500:])
        s = gs.summary(run)
        gs.check(s['ledger']['classes']['excluded.teardown']['ns'] > 3.5 * 10**9, f"{what}: {s['ledger']['classes']}")
        gs.check(s['run'].get('after_last_ns', 0) < 10**9, f"{what}: {s['run']}")


def after_last(where):
    """Work of the CPU behind the last kernel is told of by itself, but for the ten seconds in which programs end."""
    for seconds in 13, 4, 0:
        folder = os.path.join(where, f'after{seconds}')
        os.mkdir(folder)
        done, run, _ = gs.traced([gs.PYTHON, '-c', AFTER, str(seconds)], folder, PYTHONPATH=gs.WORKLOADS)
        gs.equal(done.returncode, 0, done.stderr.decode()[-500:])
        s = gs.summary(run)
        ns = s['run'].get('after_last_ns', 0)
        gs.check(2 * 10**9 < ns < 8 * 10**9 if seconds > 10 else ns == 0, f'{seconds} s: {ns}')
        # With its end it would be 70 and more; a busy machine is late with each kernel.
        gs.check(seconds > 10 or s['ledger']['starved_of_working_pct'] < 50, f"{seconds} s: a program's end is no verdict: {s['ledger']}")
        gs.equal(sum(s['run'].get('after_last_classes', {}).values()), ns, 'its classes')
        gs.equal(schema.errors(schema.ours(), s), [], 'schema')
        fit = json.loads(gs.gpustarve('fit', run, '--format', 'json').stdout)
        gs.equal((fit['training_ns'], fit['training_ns'] + fit['outside_ns']), (s['ledger']['working_ns'] - ns, s['ledger']['gpu_ns']),
                 f'{seconds} s: no other GPU does it in each step')
        text = ' '.join(gs.gpustarve('report', run).stdout.decode().split())
        page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
        # 40 steps of 40 ms: what comes once behind them is no gain of steps, and says nothing of a day
        gs.check(seconds <= 10 or ('steps per hour' not in s['causes'][0]['sentence'] and 'day and night' not in text and
                                 'per thousand steps:' not in text), text[:900])
        gs.equal(('came after the last kernel' in text, 'after the last kernel it went on' in page), (seconds > 10,) * 2, text[:700])
        gs.gpustarve('report', run, '--format', 'json', '-o', os.path.join(run, 'summary.json'))
        gs.equal(gs.gpustarve('verify', run).returncode, 0, f'{seconds} s: verify')


def asleep(where):
    """One that is done and sleeps holds the GPU for nothing; that is no server, and leads."""
    folder = os.path.join(where, 'asleep')
    os.mkdir(folder)
    done, run, _ = gs.traced([gs.PYTHON, '-c', AFTER.replace("while time.time() < end:\n    pass", 'time.sleep(22)'), '0'], folder,
                             PYTHONPATH=gs.WORKLOADS)
    gs.equal(done.returncode, 0, done.stderr.decode()[-500:])
    s = gs.summary(run)
    gs.equal(schema.errors(schema.ours(), s), [], 'schema')
    gs.check(10 * 10**9 < s['run'].get('no_work_after_last_ns', 0) < 20 * 10**9, f"asleep: {s['run']}")
    gs.equal((s['run']['kind'], s['run']['kind_signs']), ('unknown', []), 'asleep: no server')
    text = ' '.join(gs.gpustarve('report', run).stdout.decode().split())
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    gs.check('healthy' not in text and 'an end of the process once its last kernel is done' in text, f'asleep: {text[:900]}')
    gs.check('an end of the process once its last kernel is done' in page, 'asleep: the page')


def check(argv, want, why):
    gs.equal(told(*argv), want, why)


TOLD = [(['sgd'], ('training', ['optimizer_steps', 'backward_kernels']), 'an optimizer of torch'),
        (['hidden'], ('training', ['backward_kernels']), 'an optimizer of whatever'),
        (['generate'], ('inference', ['generation_kernels']), 'keys and values'),
        *(([what], ('inference', ['waits_for_requests']), f'{what}: a thread for each request') for what in ('threaded', 'background', 'raw')),
        (['scraped'], ('training', ['optimizer_steps', 'backward_kernels']), 'training that serves metrics'),
        *(([what], ('unknown', []), f'{what}: a thread for each step, and metrics') for what in ('fresh', 'fresh_other')),
        (['xla'], ('unknown', []), 'names that tell nothing'),
        (['moves'], ('unknown', []), 'a loader, and nothing that a model is made of'),
        (['brief'], ('unknown', []), 'an evaluation too short to have seen what there may have been'),
        (['xla', 'batch.py'], ('unknown', []), 'what a notebook sets, without one among the ancestors')]
LONG = [(['byhand'], ('training', ['backward_passes']), 'an optimizer of nobody, kernels that tell nothing'),
        (['eval'], ('evaluation', ['forward_alone']), 'no gradients'),
        (['alike'], ('evaluation', ['forward_alone']), 'named as backward passes, and none'),
        (['fresh_eval'], ('evaluation', ['forward_alone']), 'a thread for each batch, and metrics'),
        (['eval', 'ipykernel_launcher.py'], ('interactive', ['ipykernel', 'forward_alone']), 'a notebook')]


def by_itself(where):
    gs.equal(itself(where, 'sgd'), ('interactive', ['ipykernel', 'optimizer_steps', 'backward_kernels']), 'a notebook that trains')


def by_a_person(where):
    gs.equal(typed(where), ('interactive', ['waits_for_person']), 'an interpreter at a terminal')


with gs.scratch() as where:
    after_last(where)
    leaves(where)
    gs.side_by_side([functools.partial(check, [where, *argv], want, why) for argv, want, why in TOLD + LONG] +
                    [functools.partial(case, where) for case in (by_itself, by_a_person, asleep)])
gs.finish()
