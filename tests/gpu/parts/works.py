# SPDX-License-Identifier: Apache-2.0
"""Plain training under gpustarve: is every kernel that was launched in the trace? Counted against
torch.profiler in a run of its own and against the loop's own arithmetic. Counts do not depend on
time, so the programs run beside each other."""
import concurrent.futures
import os
import sys

import base
import counting
import judging
import programs
from traces import Profile, Run

SECONDS = 220
BESIDE = 6 if not base.SIMULATED else 2  # programs at once
LONGEST = 150 if not base.SIMULATED else 600
NEEDED = 30     # a program that has less time left is not begun
LOOPS = os.path.join(base.HERE, 'loops')
PYTHON = base.TORCH or sys.executable
JAX = dict(XLA_PYTHON_CLIENT_PREALLOCATE='false')
# Compilers try variants in bursts of launches, at which the governor would record less.
ALL = ['--max-overhead', '0']


def loop(name, *args):
    return [PYTHON, os.path.join(LOOPS, name), '{times}', *args]


def train(*args):
    return [PYTHON, base.TRAIN, *args, '--step-times', '{times}']


class Crew:
    """Runs programs beside each other, in the order in which they were asked for; a result is the
    program's, None where there was no time."""

    def __init__(self, out):
        self.out, self.pool = out, concurrent.futures.ThreadPoolExecutor(BESIDE)

    def begin(self, what, name, argv, after=None, **more):
        def play():
            if after:
                after.result()
            if base.left() < NEEDED and not base.SIMULATED:
                return None
            return what(name, argv, self.out, timeout=min(LONGEST, base.left()), **more)
        return self.pool.submit(play)

    def run(self, name, argv, **more):
        return self.begin(Run, name, argv, **more)

    def profile(self, name, argv, **more):
        return self.begin(Profile, name, argv, **more)

    def end(self):
        self.pool.shutdown(wait=True, cancel_futures=True)


reported = set()  # runs whose report has its row


def answer(r, question, judge, *tasks, **more):
    """One row, when all its runs are over; and one for the report of its run at level 1."""
    runs = [t.result() for t in tasks]
    if None in runs or base.SIMULATED and any(x.late for x in runs):
        r.skip('works', question, 'out of time')
        return
    words, right = judge(*runs, **more)
    r.put('works', question, '; '.join(words), right, goal='every operation, none more',
          **{f'{type(x).__name__.lower()} {i}': x.data() for i, x in enumerate(runs)})
    told = next((x for x in runs if isinstance(x, Run) and x.level == 1 and x.summary), None)
    if told and told.name not in reported:
        reported.add(told.name)
        r.put('works', question + ': the report', base.verdict_of(told.summary, told.err),
              run=told.dir, verdict=told.err[-4000:], findings=told.summary['findings'][:5])


def guarded(r, question, fn, *args, **more):
    try:
        fn(r, question, *args, **more)
    except Exception as error:  # one question that breaks leaves the others theirs
        r.put('works', question, f'broke: {error!r}', False)


def judge_driver(*runs):
    """The loop of which everything is known, at levels 0, 1 and 2."""
    words, right = [], True
    for run in runs:
        told = run.told()
        if not told:
            return [f'level {run.level}: rc {run.rc}: {run.err[-200:]}'], False
        each, steps, wrong = dict(told['each']), told['steps'], list(run.faults())
        if run.level == 2:
            each.pop('graph')
            each.update(told['nodes'])
        steady = run.steady(0)
        counted = counting.count(run.ops)
        wrong += counting.expected(counted, {k: n * steps for k, n in each.items()})
        if sum(counted.values()) != steps * sum(each.values()):
            wrong.append(f'{sum(counted.values())} operations for {steps * sum(each.values())}')
        if run.level and not steady.right:  # without calls only the device's own stamps tell the step
            wrong.append(steady.text())
        moved = {k: n * told['bytes_each'] for k, n in
                 {'copy-h2d': 2 * steps, 'copy-d2h': steps, 'copy-d2d': steps / 2}.items()}
        if counting.copied(run.ops) != moved:
            wrong.append(f'bytes copied {dict(counting.copied(run.ops))} for {moved}')
        calls = 0 if run.level == 0 else steps
        if run.calls.get('cuGraphLaunch', 0) != calls:
            wrong.append(f'{run.calls.get("cuGraphLaunch", 0)} calls of cuGraphLaunch for {calls}')
        words.append(f'level {run.level}: ' + ('; '.join(map(str, wrong[:4])) if wrong else
                                               counting.kinds_text(counted) + ', as the loop says'))
        right = right and not wrong
    return words, right


def judge_nodes(whole, apart):
    return judging.graph_step(whole, apart, warm=0)


def judge_exact(run, warm=1):
    told = run.told()
    words, right = judging.plain(run, warm=warm, exact=told.get('each', {}))
    if not base.SIMULATED and told.get('value') != told.get('expected'):
        return words + [f'computed {told.get("value")}, not {told.get("expected")}'], False
    return words, right


def judge_launcher(run, alone):
    """Under a launcher as without one."""
    found = counting.differences(counting.count(run.ops), counting.count(alone.ops))
    words, right = judging.plain(run)
    return words + ['without the launcher: ' + counting.differences_text(found)], right and not found


def jax_run(name, argv, out, level=1, timeout=100, flags='', **env):
    """XLA without picking kernels by time, where its flag for that is known."""
    last = None
    for n, extra in enumerate(('--xla_gpu_autotune_level=0', '')):
        text = ' '.join(f for f in (flags, extra) if f)
        last = Run(f'{name}-{n}' if n else name, argv, out, level, timeout, options=ALL,
                   XLA_FLAGS=text, **env)
        if last.rc == 0 or 'nknown flag' not in last.err:
            break
    return last


def ask_torch(r, crew):
    """Begins all torch programs; gives the answers to be waited for, what matters most first."""
    cache = os.path.join(crew.out, 'compiled')
    kept = dict(TORCHINDUCTOR_CACHE_DIR=cache, TRITON_CACHE_DIR=cache + '-triton',
                TORCHINDUCTOR_COMPILE_THREADS=4)
    compiled = train('--model', 'transformer', '--compile', '--steps', '40')
    cold = None if base.QUICK else crew.run('compiled', compiled, options=ALL, **kept)
    cnn = train('--model', 'cnn', '--data', 'jpeg', '--steps', '40')
    eager = train('--model', 'transformer', '--steps', '40')
    graph = train('--model', 'transformer', '--graph', '--steps', '40')
    ddp = train('--model', 'cnn', '--ddp', '--steps', '20')
    asked = [('ResNet on JPEGs, 4 workers', judging.plain, crew.run('cnn', cnn),
              crew.profile('cnn', cnn)),
             ('transformer, eager', judging.plain, crew.run('transformer', eager),
              crew.profile('transformer', eager)),
             ('transformer, a step as one CUDA graph', judging.graph_step, crew.run('graph', graph),
              crew.run('graph-level-2', graph, level=2), crew.profile('graph', graph))]
    alone = crew.run('ddp', ddp)
    asked.append(('DistributedDataParallel, one rank', judging.plain, alone,
                  crew.profile('ddp', ddp)))
    question = 'transformer, torch.compile with CUDA graphs'
    if cold:
        apart = crew.run('compiled-level-2', compiled, level=2, after=cold, options=ALL, **kept)
        asked.append((question, judging.graphs_within, cold, apart,
                      crew.profile('compiled', compiled, after=cold, **kept)))
    else:
        r.skip('works', question, 'compiling takes a minute')
    # The host's own name need not resolve without a network.
    launched = [PYTHON, '-m', 'torch.distributed.run', '--standalone', '--local-addr', '127.0.0.1',
                '--nproc-per-node', '1', *ddp[1:]]
    later = [('the same under torch.distributed.run', judge_launcher, crew.run('torchrun', launched),
              alone)]
    return asked, later


def ask_others(r, crew):
    """Loops of other frameworks, with counts that are known."""
    triton = ('Triton', judge_exact, crew.run('triton', loop('triton_loop.py')))
    if base.SIMULATED:
        r.skip('works', 'CuPy', 'it has the CUDA runtime linked in, which the simulated driver does not feed')
        r.skip('works', 'JAX', 'it is not played on the simulated GPU')
        return [triton]
    jaxed = loop('jax_loop.py')
    none = '--xla_gpu_enable_command_buffer='
    one = crew.begin(jax_run, 'jax', jaxed, **JAX)
    return [triton,
            ('CuPy', judge_exact, crew.run('cupy', loop('cupy_loop.py'))),
            ('JAX', judge_jax, one, crew.begin(jax_run, 'jax-level-2', jaxed, level=2, **JAX),
             crew.begin(jax_run, 'jax-plain', jaxed, flags=none, **JAX))]


def ask_programs(r, crew):
    """Programs of tests/programs, behind everything else."""
    asked = []
    for what, module, program in programs.PROGRAMS:
        question = 'tests/programs: ' + what
        if not programs.importable(base.TORCH, module):
            r.skip('works', question, f'no {module} here')
            continue
        name = os.path.splitext(program[0])[0]
        asked.append((question, programs.judge, *(crew.begin(how, f'{name}-{n}', base.TORCH, program=program)
                                                  for n, how in enumerate((told_run, seen_run)))))
    return asked


def told_run(name, python, out, timeout, program):
    return programs.Told(name, python, program, out, timeout)


def seen_run(name, python, out, timeout, program):
    return programs.Seen(name, python, program, out, timeout)


def judge_jax(whole, apart, without):
    """As XLA launches by itself, at levels 1 and 2, and without its command buffers."""
    if not counting.kinds(whole.steady(6).each)['graph'] and without.rc == 0:
        words, right = judging.plain(whole, warm=6)
        more, same = judging.plain(without, warm=6)
        return ['no command buffers here'] + words + ['without them: ' + '; '.join(more)], right and same
    return judging.graphs_within(whole, apart, without, what='without command buffers')


def part(r, out):
    crew = Crew(out)
    try:
        levels = [crew.run(f'driver-level-{n}', loop('driver.py', '50'), level=n) for n in (0, 1, 2)]
        guarded(r, 'a loop over the driver, levels 0, 1 and 2', answer, judge_driver, *levels)
        guarded(r, 'its graph, as one operation and node by node', answer, judge_nodes, *levels[1:])
        if not base.TORCH:
            r.skip('works', 'PyTorch, CuPy, JAX, Triton, tests/programs', 'they need CUDA')
            return
        asked, later = ask_torch(r, crew)
        for question, judge, *tasks in asked + ask_others(r, crew) + later + ask_programs(r, crew):
            guarded(r, question, answer, judge, *tasks)
    finally:
        crew.end()
