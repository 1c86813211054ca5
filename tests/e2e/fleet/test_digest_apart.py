#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""A digest of somebody else's run (GPUSTARVE_LOCAL_FILES=0, as collectors have it) is made by a process that keeps to the
run: it says what one says that is not confined, goes to stores, budgets and commands all the same, and whoever ends
it or limits it sees that."""
import ctypes
import os
import resource
import shutil
import signal
import sqlite3
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

PROGRAM = os.path.join(gs.BUILD, 'bin', 'gpustarve')
DEMO = os.path.join(gs.SOURCE, 'docs', 'demo')
APART = {'GPUSTARVE_LOCAL_FILES': '0'}
with open(PROGRAM, 'rb') as program:
    SANITIZED = b'__asan_init' in program.read()


def digest(*argv, env=None, **kw):
    return gs.command([PROGRAM, 'digest', *argv], env=gs.environment(**(env or {})), **kw)


def rows(store):
    with sqlite3.connect(store) as db:
        return sorted(text for text, in db.execute('SELECT text FROM digest'))


def copies(where):
    for name in 'storage', 'healthy', 'decoding':
        shutil.copytree(os.path.join(DEMO, name + '.gst'), os.path.join(where, name + '.gst'))
    return [os.path.join(where, name + '.gst') for name in ('storage', 'healthy', 'decoding')]


def test_same():
    with gs.scratch() as where:
        runs = copies(where)
        for options in [], ['--team', 'x'], ['--price', '3'], ['--provisional']:
            revision = [] if '--provisional' in options else ['--revision', '7']
            plain, apart = (digest(*runs, *options, *revision, env=env) for env in (None, APART))
            gs.equal(apart.returncode, 0, apart.stderr)
            if revision:
                gs.equal(apart.stdout, plain.stdout, f'digest {options}')
            gs.equal(len(apart.stdout.splitlines()), 3, options)
        os.mkdir(os.path.join(where, 'none.gst'))
        plain, apart = (digest(os.path.join(where, 'none.gst'), *runs, '--revision', '7', env=env) for env in (None, APART))
        gs.equal((apart.returncode, apart.stdout, apart.stderr), (plain.returncode, plain.stdout, plain.stderr), 'one is none')


def test_stores():
    """The store lies elsewhere, and what is told of a budget starts a program."""
    with gs.scratch() as where:
        runs = copies(where)
        told = os.path.join(where, 'told')
        for name, env in ('plain', None), ('apart', APART):
            done = digest(*runs, '--store', f'sqlite:{where}/{name}.sqlite', '--revision', '7', '--price', '1000000', '--team',
                          'vision', '--budget', 'team:vision=1/month', '--exec', f'echo told >>{told}', env=env)
            gs.equal(done.returncode, 0, done.stderr)
        gs.equal(rows(f'{where}/apart.sqlite'), rows(f'{where}/plain.sqlite'), 'in the stores')
        gs.equal(len(rows(f'{where}/apart.sqlite')), 3, 'rows')


def test_resume_and_ends():
    """What it keeps of its work goes into the run; it dies of what it would have died of, and of several the others are
    done."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
    with gs.scratch() as where:
        runs = copies(where)
        done = digest(runs[0], '--resume', '--revision', '7', env=APART, preexec_fn=limit)
        gs.equal((done.returncode, done.stdout), (-signal.SIGXFSZ, b''), done.stderr)
        done = digest(runs[0], '--resume', '--revision', '7', env=APART)
        gs.equal(done.returncode, 0, done.stderr)
        gs.check(os.path.getsize(os.path.join(runs[0], '.digest-parts')) > 64, 'kept')
        gs.equal(digest(runs[0], '--resume', '--revision', '7', env=APART).stdout, done.stdout, 'taken from there')
        done = digest(*runs[1:], '--resume', '--revision', '7', env=APART, preexec_fn=limit)
        gs.check(done.returncode > 0 and done.stderr.count(b'ended by signal') == 2, (done.returncode, done.stderr))


def test_beyond_the_run():
    with gs.scratch() as where:
        run = copies(where)[0]
        stream = next(n for n in os.listdir(run) if n.endswith('.gst'))
        os.mkdir(os.path.join(where, 'mine'))
        os.rename(os.path.join(run, stream), os.path.join(where, 'mine', stream))
        os.symlink(os.path.join(where, 'mine', stream), os.path.join(run, stream))
        gs.equal(digest(run).returncode, 0, 'the file that lies elsewhere is found by hand')
        if ctypes.CDLL(None).syscall(444, None, 0, 1) < 1 or SANITIZED:
            gs.left_out('no Landlock here')
            return
        done = digest(run, env=APART)
        gs.check(done.returncode, ('it was opened', done.stdout[:200]))


if __name__ == '__main__':
    gs.run_tests(globals())
