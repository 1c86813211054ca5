#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=900
"""Programs built with sanitizers, by gcc and by clang, under each of the three that preload libprof: `gpustarve run`,
the SPANK plugin and TaskProlog. They start, say and end as they do alone, also where a shell or a #! line starts
them, or the sanitizer's runtime is preloaded. What can be recorded is; what would bring reports about libprof is not."""
import ctypes
import os
import shlex
import shutil
import stat
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import hooks
import prof

HELLO = '''#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef OWN
const char *__asan_default_options(void) { return "detect_leaks=0"; }
#endif
static void *copy(void *p) { return strdup(p); }
int main(int argc, char **argv) {
    pthread_t t; void *text;
    pthread_create(&t, NULL, copy, "hello"); pthread_join(t, &text);
    puts(text); free(text); fprintf(stderr, "to stderr\\n"); return 3;
}
'''
FLAGS = ['address', 'thread', 'undefined', 'leak', 'memory']
# A program that is built with the runtime as a library is refused by nobody but it.
BUILDS = {f'{c}-{flag}': [c, f'-fsanitize={flag}'] for c in ('gcc', 'clang') for flag in FLAGS}
BUILDS['clang-address-shared'] = ['clang', '-fsanitize=address', '-shared-libsan']
# Tags of addresses need aarch64 or a newest x86; by aliases of pages any x86-64 does.
HWADDRESS = ['clang', '-fsanitize=hwaddress', '-fsanitize-hwaddress-experimental-aliasing', '-Wl,--no-relax']
BUILDS['clang-hwaddress'] = HWADDRESS
BUILDS['clang-hwaddress-shared'] = [*HWADDRESS, '-shared-libsan']
BUILDS['gcc-address-static'] = ['gcc', '-fsanitize=address', '-static-libasan']
BUILDS['gcc-address-own'] = ['gcc', '-fsanitize=address', '-DOWN']
WITHOUT = ('clang-hwaddress-shared',)  # refuses nothing, and is given nothing as those that do
REFUSING = ('gcc-address', 'gcc-address-own', 'clang-address-shared')
JUDGING = ('thread', 'memory')  # they report what code does that they have not built
ADDR_NO_RANDOMIZE = 0x0040000
ALONE, RUN, PLUGIN, PROLOG = 'alone', 'gpustarve run', 'the SPANK plugin', 'TaskProlog'


class House:
    """A folder of programs, and the three ways of starting one."""

    def __init__(self, where):
        self.dir = where
        self.prefix = hooks.Prefix(os.path.join(where, 'slurm'))
        self.runtime = os.path.dirname(self.ask('clang', 'libclang_rt.asan-x86_64.so') or '')
        self.preload = {name: self.ask('gcc', f'lib{name}.so') for name in ('asan', 'tsan')}
        self.count = 0

    def is_libprof(self, place, path):
        return os.path.realpath(path) == (os.path.realpath(gs.LIBPROF) if place == RUN else self.prefix.lib)

    @staticmethod
    def ask(compiler, name):
        """Path of a compiler's library, "" if there is none."""
        if not shutil.which(compiler):
            return ''
        path = gs.command([compiler, f'-print-file-name={name}']).stdout.decode().strip()
        return os.path.realpath(path) if os.path.isabs(path) else ''

    def build(self, build, name, *sources):
        """The program's path; None: this compiler cannot build such a one."""
        compiler, *flags = BUILDS[build]
        path = os.path.join(self.dir, f'{name}-{build}')
        if not shutil.which(compiler):
            return None
        done = gs.command([compiler, '-g', '-O1', '-w', *flags, '-o', path, *sources, '-lpthread', '-ldl'], cwd=self.dir)
        return path if done.returncode == 0 else None

    def script(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        os.chmod(path, stat.S_IRWXU)
        return path

    def prolog(self, env):
        """The environment after TaskProlog."""
        done = self.prefix.call('taskprolog', env)
        said = hooks.said(done)
        gs.check('LD_PRELOAD' in said or 'CUDA_INJECTION64_PATH' in said, f'TaskProlog: {done.stdout} {done.stderr}')
        return dict(env, **said)

    def start(self, place, argv, simulator=False, **env):
        """(completed process, folder of what it recorded) of a command from that place."""
        self.count += 1
        out = os.path.join(self.dir, f'work-{self.count}')
        os.makedirs(out)
        env = gs.environment(GPUSTARVE_OUT=os.path.join(out, 'runs'), LD_LIBRARY_PATH=self.runtime, **env)
        sim = [gs.WITH_GPUSIM] if simulator else []
        if place == RUN:
            argv = [gs.CLI, 'run', '--quiet', '--no-report', '-o', os.path.join(out, 'runs'), '--', *argv]
        elif place == PLUGIN:
            env.update(hooks.JOB, SLURM_STEP_ID='0', SLURM_STEP_GPUS='0', SLURM_SUBMIT_DIR=out)
            argv = [os.path.join(gs.BUILD, 'tests', 'spank_task'), self.prefix.lib, *argv]
        elif place == PROLOG:
            env = self.prolog(dict(env, **hooks.JOB, SLURM_STEP_ID='0', SLURM_STEP_GPUS='0', SLURM_SUBMIT_DIR=out))
        preload = env.pop('LD_PRELOAD', None)
        # The simulator's script is not the program: the environment begins behind it.
        given = ['env', f'LD_PRELOAD={preload}'] if preload else []
        return gs.command([*sim, *given, *argv], env=env, cwd=out), out


def told(done):
    return done.stdout, done.stderr, done.returncode


def program_of(h, build):
    """Says hello, or None where that kind of program cannot live here."""
    path = h.build(build, 'hello', 'hello.c')
    done = path and h.start(ALONE, [path])[0]
    if not path or told(done) != (b'hello\n', b'to stderr\n', 3):
        print(f'{build}: not to be had here: {done.stderr[-200:] if done else "does not build"}', file=sys.stderr)
        return None
    return path


def check_starts(h, build, path, place):
    ways = {'itself': [path], 'from a shell': ['sh', '-c', f'{path}; exit $?']}
    if build in REFUSING:
        ways |= {'by #!': [h.script(f'script-{build}', f'#!{path}\n')],
                 'by #! and env': [h.script(f'script-env-{build}', f'#!/usr/bin/env {os.path.basename(path)}\n')],
                 'by env': ['env', '-i', f'LD_LIBRARY_PATH={h.runtime}', path]}
    want, search = (b'hello\n', b'to stderr\n', 3), h.dir + ':' + os.environ['PATH']
    for way, argv in ways.items():
        # Who asks ASan for other options asks the program, not us: OPERATIONS.md says what helps.
        helped = build.endswith('-own') and (place == PROLOG or way == 'from a shell')
        if helped:
            done, _ = h.start(place, argv, PATH=search)
            gs.check(way == 'by env' or b'does not come first' in done.stderr, f'{place}: {build}, {way}: refused no more?')
        done, _ = h.start(place, argv, PATH=search, GPUSTARVE_PRELOAD='0' if helped else None)
        gs.equal(told(done), want, f'{place}: {build}, {way}')


def check_note(h, build, path):
    """`gpustarve run` says what it leaves out, once, and nothing of a program that needs no such library."""
    done = gs.command([gs.CLI, 'run', '--no-report', '-o', os.path.join(h.dir, 'note'), '--', path], cwd=h.dir,
                      env=gs.environment(LD_LIBRARY_PATH=h.runtime))
    said = [line for line in done.stderr.decode().splitlines() if 'is not preloaded' in line]
    needed = build in (*REFUSING, *WITHOUT, 'gcc-thread')
    gs.equal(len(said), int(needed), f'{build}: a line tells: {said}')
    if said:
        gs.check(('through CUDA alone' in said[0]) == (build in REFUSING + WITHOUT), f'{build}: {said}')


def check_preloaded(h, place):
    """A runtime that is preloaded stays first: for a shell, for Python and for what they start."""
    python = [gs.PYTHON, '-c', 'import os, threading; print(os.environ["LD_PRELOAD"]); raise SystemExit(4)']
    below = ['sh', '-c', f'{shlex.join(python)}; exit 2']
    # Shells crash with ThreadSanitizer preloaded, with us or without, and TaskProlog is a shell's script.
    for name, commands in {'asan': [python, below], 'tsan': [python] if place != PROLOG else []}.items():
        lib = h.preload[name]
        env = dict(LD_PRELOAD=lib, ASAN_OPTIONS='detect_leaks=0')
        for argv in commands if lib else []:
            want, _ = h.start(ALONE, argv, **env)
            if want.returncode not in (2, 4):
                print(f'lib{name}: not to be preloaded here: {want.stderr[-200:]}', file=sys.stderr)
                continue
            got, _ = h.start(place, argv, **env)
            first, *more = got.stdout.decode().strip().split(':')
            gs.check(first == lib and len(more) == 1 and h.is_libprof(place, more[0]),
                     f'{place}: lib{name} preloaded, LD_PRELOAD: {got.stdout}')
            gs.equal((got.stderr, got.returncode), (want.stderr, want.returncode), f'{place}: lib{name} preloaded, {argv}')


def check_records(h, build, place, ways):
    """On the simulated GPU: nothing is reported that is not reported without us, and the operations are there."""
    source = (os.path.join(gs.WORKLOADS, name) for name in ('manners.c', 'cudrv.c'))
    path = h.build(build, 'manners', *source)
    alone = path and h.start(ALONE, [path, 'plain'], simulator=True)[0]
    if not path or alone.returncode:
        print(f'{build}: no GPU program here: {alone and alone.stderr[-300:]}', file=sys.stderr)
        return
    for way in ways:
        argv = [path, 'plain'] if way == 'itself' else ['sh', '-c', shlex.join([path, 'plain']) + '; exit $?']
        done, out = h.start(place, argv, simulator=True)
        gs.equal(told(done), told(alone), f'{place}: {build}, {way}, on the GPU')
        if any(kind in build for kind in JUDGING):
            gs.equal([t for t in prof.traces(out) if t.ops], [], f'{place}: {build}, {way}: nothing is recorded')
        else:
            kernels = [len(t.ops) for t in prof.traces(out) if t.ops]
            gs.equal(kernels, [20], f'{place}: {build}, {way}: its kernels')


def main():
    # On a kernel with many random bits of addresses, old ThreadSanitizers crash by themselves.
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
    with gs.scratch() as where:
        with open(os.path.join(where, 'hello.c'), 'w', encoding='utf-8') as f:
            f.write(HELLO)
        h = House(where)
        places = [RUN, PROLOG]
        if os.path.exists(os.path.join(gs.BUILD, 'tests', 'spank_task')):
            places.append(PLUGIN)
        here = {build: path for build in BUILDS if (path := program_of(h, build))}
        gs.check('gcc-address' in here or 'clang-address-shared' in here, f'one that refuses is among {list(here)}')
        for build, path in here.items():
            for place in places:
                check_starts(h, build, path, place)
            check_note(h, build, path)
        for place in places:
            check_preloaded(h, place)
        for build in here:
            check_records(h, build, RUN, ['itself', 'from a shell'] if build == 'gcc-address' else ['itself'])
    gs.finish()


main()
