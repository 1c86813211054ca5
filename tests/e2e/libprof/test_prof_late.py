#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""The environment of a program into which the CUDA driver or NVTX loads libprof, when it has threads of its own: it
stays what it was, and what the run needs is kept in libprof. Where libprof is preloaded, what it sets is there before
main, in one piece. What children find is what OPERATIONS.md says."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

LATE = os.path.join(gs.BUILD, 'workloads', 'lateenv')
SAME = b'array the same, lines 0, calls none\n'
KERNELS = 20


def play(where, words, preload=False, **env):
    """(stdout, run ids of what was recorded: number of kernels)."""
    out = os.path.join(where, '-'.join(words) + ('-preload' if preload else '') + '-'.join(env))
    os.makedirs(out)
    env = dict(GPUSTARVE_MAX_OVERHEAD='0', GPUSTARVE_OUT=None, **env)
    if preload:
        env['LD_PRELOAD'] = gs.LIBPROF
    else:
        env = dict(CUDA_INJECTION64_PATH=gs.LIBPROF, NVTX_INJECTION64_PATH=gs.LIBPROF, **env)
    # The simulator's script is no program of ours: it is preloaded by env alone.
    given = [f'{k}={v}' for k, v in env.items() if v is not None]
    done = gs.command([gs.WITH_GPUSIM, 'env', *given, LATE, *words], env=gs.environment(), cwd=out, timeout=120)
    gs.equal((done.returncode, done.stderr), (0, b''), f'{words}: status')
    return done.stdout, {run: [len(t.ops) for t in traces(out, run) if t.ops] for run in folders(out)}


def folders(out):
    return sorted(os.path.basename(r)[:-4] for r in gs.runs(os.path.join(out, 'gpustarve-runs')))


def traces(out, run):
    """prof.traces() of one run: it looks below runs/*, and there may be several."""
    link = os.path.join(out, run + '.link', 'runs')
    os.makedirs(link)
    os.symlink(os.path.join(out, 'gpustarve-runs', run + '.gst'), os.path.join(link, run))
    return prof.traces(os.path.dirname(link))


def late(where):
    for words in (['threads', 'gpu', 'check'], ['gpu', 'check']):
        said, runs = play(where, words)
        gs.equal(said, SAME, f'{words}: the environment')
        gs.equal(list(runs.values()), [[KERNELS]], f'{words}: one run')
    said, runs = play(where, ['threads', 'load', 'check', 'gpu', 'check'])
    gs.equal((said, list(runs.values())), (2 * SAME, [[KERNELS]]), 'loaded by NVTX, before CUDA')


def children(where):
    """They are runs of their own, unless the environment names the run or they were forked with what libprof keeps."""
    said, runs = play(where, ['threads', 'gpu', 'exec', 'show', 'gpu'])
    gs.check(b'GPUSTARVE_' not in said.replace(b'GPUSTARVE_MAX_OVERHEAD', b''), f'a child finds {said}')
    gs.equal(list(runs.values()), [[KERNELS], [KERNELS]], 'a program that is started: a run of its own')
    said, runs = play(where, ['threads', 'gpu', 'exec', 'gpu'], GPUSTARVE_RUN_ID='named')
    gs.equal(runs, {'named': [KERNELS, KERNELS]}, 'a program that is started, the run is named')
    said, runs = play(where, ['load', 'away', 'fork', 'gpu', 'check'])
    gs.equal((said, list(runs.values())), (SAME, [[KERNELS]]), 'a forked child, elsewhere: what its parent loaded')
    gs.check(all(re.fullmatch(r'\d{8}T\d{6}Z-lateenv-[0-9a-f]{6}', run) for run in runs), f'run ids: {list(runs)}')


def preloaded(where):
    said, runs = play(where, ['show', 'check', 'gpu', 'check', 'exec', 'show', 'gpu'], preload=True)
    first, check, again, *second = said.decode().split('array')
    run = list(runs)[0]
    lines = set(first.split('\n'))
    gs.equal(lines - {''}, {f'GPUSTARVE_RUN_ID={run}', f'CUDA_INJECTION64_PATH={gs.LIBPROF}', f'LD_PRELOAD={gs.LIBPROF}',
                            f'NVTX_INJECTION64_PATH={gs.LIBPROF}', 'GPUSTARVE_MAX_OVERHEAD=0',
                            next(x for x in lines if x.startswith('GPUSTARVE_OUT=/'))}, 'preloaded: what main finds')
    gs.equal(check, ' the same, lines 0, calls none\n', 'preloaded: nothing is set by calls, or after main begins')
    gs.check(again.startswith(check) and not second, f'preloaded: nor by the arm: {again}')
    gs.equal(set(again.split('\n')[1:]), lines, 'preloaded: what a child finds')
    gs.equal(runs, {run: [KERNELS, KERNELS]}, 'preloaded: one run')


def threads_first(where):
    """A library that the program needs has started threads before libprof is asked: they read on."""
    source = os.path.join(where, 'early.c')
    with open(source, 'w', encoding='utf-8') as f:
        f.write('#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\nextern char **environ;\n'
                'static void *look(void *p) { size_t n = 0; for (;;) { for (char **e = environ; *e; e++) n += strlen(*e);'
                ' if (getenv("HOME")) n++; } return (void *)n; }\n'
                '__attribute__((constructor)) static void early(void) { pthread_t t; for (int i = 0; i < 4; i++)'
                ' pthread_create(&t, NULL, look, NULL); }\nint early_here(void) { return 1; }\n')
    main = os.path.join(where, 'main.c')
    with open(main, 'w', encoding='utf-8') as f:
        f.write('#include <stdio.h>\n#include <stdlib.h>\nint early_here(void);\nint main(void) { const char *id = '
                'getenv("GPUSTARVE_RUN_ID"); puts(id ? "set" : "unset"); return early_here() ? 3 : 4; }\n')
    for argv in (['-shared', '-fPIC', '-o', 'libearly.so', 'early.c'], ['-o', 'main', 'main.c', './libearly.so']):
        done = gs.command(['gcc', '-O1', '-w', *argv], cwd=where)
        gs.equal(done.returncode, 0, f'gcc {argv}: {done.stderr}')
    for _ in range(200 if gs.BIG else 40):
        done = gs.command([os.path.join(where, 'main')], cwd=where, env=gs.environment(LD_PRELOAD=gs.LIBPROF, **{
            f'FILLER_{i}': 'x' * 50 for i in range(60)}))
        if not gs.equal((done.stdout, done.stderr, done.returncode), (b'set\n', b'', 3), 'threads before libprof'):
            break


def python_late(where):
    code = ('import ctypes, os, threading, time\nt = threading.Thread(target=time.sleep, args=(1,)); t.start()\n'
            'before = open("/proc/self/environ").read()\nlib = ctypes.CDLL("libcuda.so.1"); assert lib.cuInit(0) == 0\n'
            'c = ctypes.CDLL(None); c.getenv.restype = ctypes.c_char_p\n'
            'print([c.getenv(n) for n in (b"PYTHONPATH", b"GPUSTARVE_SHARED", b"GPUSTARVE_RUN_ID", b"GPUSTARVE_OUT")])\nt.join()\n')
    done = gs.command([gs.WITH_GPUSIM, gs.PYTHON, '-c', code], cwd=where,
                      env=gs.environment(CUDA_INJECTION64_PATH=gs.LIBPROF))
    gs.equal((done.stdout, done.stderr, done.returncode), (b'[None, None, None, None]\n', b'', 0), 'Python, loaded late')


with gs.scratch() as where:
    for case in late, children, preloaded, threads_first, python_late:
        folder = os.path.join(where, case.__name__)
        os.makedirs(folder)
        case(folder)
gs.finish()
