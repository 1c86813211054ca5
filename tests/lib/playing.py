# SPDX-License-Identifier: Apache-2.0
"""Plays a program of tests/programs with one of torches.py's PyTorches on the simulated GPU, with gpustarve around it or
without, and compares what it left: the simulator's truth, the trace, the report, what torch.profiler saw in a run of its
own, and what the program tells of itself (told.py)."""
import collections
import functools
import glob
import json
import os

import gs
import prof
from demangling import demangled

PROGRAMS = os.path.join(gs.SOURCE, 'tests', 'programs')
# As CUPTI's clients write what a copy goes from and to: torch.profiler's names of copies.
DIRECTION = {'h2d': 'HtoD', 'd2h': 'DtoH', 'd2d': 'DtoD', 'h2h': 'HtoH', 'p2p': 'PtoP'}
COPIES = {1: 'h2d', 2: 'd2h', 8: 'd2d', 9: 'h2h', 10: 'p2p'}
MEMORY = {1: 'Pageable', 2: 'Pinned', 3: 'Device', 4: 'Array', 5: 'Managed'}


class Play:
    """One run that ended: `done` the process, `where` its folder, `run` the run directory or None."""

    def __init__(self, what, where, done, run):
        self.what, self.where, self.done, self.run = what, where, done, run

    @property
    def truth(self):
        return os.path.join(self.where, 'truth')

    @functools.cached_property
    def traces(self):
        return prof.read(gs_files(self.run)) if self.run else []

    @functools.cached_property
    def summary(self):
        return gs.summary(self.run)

    def told(self, rank=None):
        return self.json('told', rank)

    def profile(self, rank=None):
        return self.json('profile', rank)

    def json(self, name, rank):
        with open(os.path.join(self.where, name if rank is None else f'{name}.{rank}')) as file:
            return json.load(file)


def gs_files(run):
    return sorted(glob.glob(os.path.join(run, '*.gst')) + glob.glob(os.path.join(run, '*.spool')))


def play(torch, where, program, *args, ours=True, profile=False, launcher=(), options=(), timeout=480, **env):
    """Runs it in the folder `where`, which is made. launcher: what follows python before the program's path, such as
    ('-m', 'torch.distributed.run', '--nproc-per-node', '2'). The program gets --told where/told, and --profile
    where/profile if asked for. gpustarve's own lines on stderr are left out by --quiet; Triton's and numba's caches lie in `where`."""
    os.makedirs(os.path.join(where, 'truth'))
    given = [] if program.startswith('-') else ['--told', os.path.join(where, 'told')]
    if profile:
        given += ['--profile', os.path.join(where, 'profile')]
    argv = [torch.python, *launcher, program if program.startswith('-') else os.path.join(PROGRAMS, program), *args, *given]
    if ours:
        argv = [gs.CLI, 'run', '-o', os.path.join(where, 'runs'), '--quiet', *options, '--', *argv]
    done = gs.command([gs.WITH_GPUSIM, *argv], cwd=where, timeout=timeout, env=environment(where, **env))
    found = gs.runs(os.path.join(where, 'runs'))
    return Play(f'{torch.name}: {program} {" ".join(map(str, args))}'.strip(), where, done, found[-1] if found else None)


def environment(where, **more):
    """Of a program that is played in `where`; two threads for arithmetic of the host, as the machine has few cores."""
    own = dict(GPUSIM_TRUTH=os.path.join(where, 'truth'), TRITON_CACHE_DIR=os.path.join(where, 'triton'), TRITON_HOME=where,
               NUMBA_CACHE_DIR=os.path.join(where, 'numba'), TORCHINDUCTOR_CACHE_DIR=os.path.join(where, 'inductor'),
               HF_HOME=os.path.join(where, 'hf'), OMP_NUM_THREADS=2)
    return gs.environment(**{**own, **more})


# ---- names and numbers of operations, as torch.profiler has them: {'kernel': {name: n}, 'copy-h2d': {name: n}, ...} ----


def copy_name(copy, src, dst):
    return f'Memcpy {DIRECTION[copy]} ({src} -> {dst})'


def counted(pairs):
    result = {}
    for kind, name in pairs:
        result.setdefault(kind, collections.Counter())[name] += 1
    return {kind: dict(names) for kind, names in result.items()}


def in_truth(play, pid=None, nodes=True):
    """What the simulator did; of graphs their nodes, or the launches."""
    for row in prof.truth(play.where, pid, nodes):
        if row['kind'] == 'memcpy':
            yield 'copy-' + row['copy'], copy_name(row['copy'], row['src'].capitalize(), row['dst'].capitalize())
        elif row['kind'] == 'memset':
            yield 'memset', f'Memset ({row["dst"].capitalize()})'
        else:
            yield row['kind'], demangled(row.get('name') or '')


def in_trace(traces):
    for op in (op for trace in traces for op in trace.ops):
        if op['op'] == prof.COPY:
            copy = COPIES.get(op['copy'], str(op['copy']))
            yield 'copy-' + copy, copy_name(copy, MEMORY.get(op['src']), MEMORY.get(op['dst']))
        elif op['op'] == prof.MEMSET:
            yield 'memset', f'Memset ({MEMORY.get(op["dst"])})'
        else:
            yield ('graph' if op['op'] == prof.GRAPH else 'kernel'), demangled(op['name'])


def differences(got, want):
    """Lines: kind, name, how many here and there."""
    lines = []
    for kind in sorted(set(got) | set(want)):
        one, two = got.get(kind, {}), want.get(kind, {})
        lines += [f'{kind} {name[:120]}: {one.get(name, 0)}, not {two.get(name, 0)}'
                  for name in sorted(set(one) | set(two)) if one.get(name, 0) != two.get(name, 0)]
    return lines


def expect_same(got, want, what):
    return gs.equal(differences(got, want)[:5], [], what)


def totals(counts):
    return {kind: sum(names.values()) for kind, names in counts.items()}


# ---- what every play has to show ----


def with_gpu(play):
    """Of the traces those of processes that used the GPU."""
    return [t for t in play.traces if t.ops]


def expect_ended(play, stdout=None):
    ok = gs.equal(play.done.returncode, 0, f'{play.what}: {play.done.stderr.decode(errors="replace")[-2000:]}')
    return ok and (stdout is None or gs.equal(play.done.stdout, stdout.encode(), f'{play.what}: what it printed'))


def expect_exact(play, processes=1):
    """Each operation of the truth is in the trace with its times, and no other; nothing is lost. How many."""
    some = with_gpu(play)
    gs.equal(len(some), processes, f'{play.what}: processes with operations')
    for t in some:
        prof.expect_exact(play.where, t, play.what, t.hello['pid'])
        gs.equal(t.losses, [], f'{play.what}: losses')
    pids = {t.hello['pid'] for t in some}
    gs.equal({row['pid'] for row in prof.truth(play.where)} - pids, set(), f'{play.what}: processes without a trace')
    return sum(len(t.ops) for t in some)


def expect_classes(play):
    """Each GPU's classes make up the time that it was held, and the ledger's all of it."""
    s = play.summary
    if not s:
        return
    gs.check(s['gpus'], f'{play.what}: GPUs in the report')
    for gpu in s['gpus']:
        gs.equal(sum(gpu['classes'].values()), gpu['held_ns'], f'{play.what}: classes')
    gs.equal(sum(c['ns'] for c in s['ledger']['classes'].values()), s['ledger']['gpu_ns'], f'{play.what}: ledger')


def expect_nothing_missing(play, known=()):
    """No function without a body was called, but for those of (library, function) that are known."""
    rows = {(row['library'], row['missing']) for row in gs.truth_lines(play.truth) if 'missing' in row}
    gs.equal(sorted(rows - set(known)), [], f'{play.what}: functions without a body')


def expect_arithmetic(play, rank=None):
    """What the program counted itself is in the truth: of each kind at least as much, for frameworks copy, too."""
    have = {**totals(counted(in_truth(play, nodes=False))), **totals(counted(in_truth(play)))}
    for kind, n in play.told(rank)['each'].items():
        gs.check(have.get(kind, 0) >= n, f'{play.what}: {kind}: {have.get(kind, 0)} in the truth, {n} asked for')


def expect_trace(play):
    """Kinds and names of the trace are the truth's; of a graph what the trace has, its nodes or its launches."""
    nodes = all(t.hello['graphs'] == 'node' for t in with_gpu(play))
    expect_same(counted(in_trace(play.traces)), counted(in_truth(play, nodes=nodes)), f'{play.what}: trace')


def expect_profile(play, profiled, rank=None):
    """torch.profiler saw in a run of its own what the truth of `play` has."""
    expect_same(profiled.profile(rank), counted(in_truth(play)), f'{play.what}: torch.profiler')


def expect_alike(bare, play, masks=()):
    """With and without gpustarve the program printed and ended the same; masks are (pattern, replacement) of what varies."""
    gs.equal(said(play, masks), said(bare, masks), f'{play.what}: with and without gpustarve')


def said(play, masks):
    result = [play.done.returncode]
    for text in (play.done.stdout, play.done.stderr):
        for pattern, replacement in masks:
            text = pattern.sub(replacement, text)
        result.append(text)
    return result
