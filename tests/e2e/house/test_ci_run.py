#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=120
"""What .ci/run does around scripts/test, which a script of our own stands in for here: the commit is
cloned below a folder with a space in its name, from a checkout of any kind; the last words and the exit
status are those of the tests; nothing is left."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

TEST = '''#!/bin/bash
pwd
git log --format=%s
ls ..
ls ../shared 2>/dev/null
echo "options: $*"
mkdir build && echo x >build/made
ln -s "$PWD" "@LINK@"
echo '100% tests passed, 0 tests failed out of 7'
exit 5
'''
LINK = f'/tmp/gpustarve-tests-{os.getuid()}/of-this-test-{os.getpid()}'


def git(*args, cwd=None):
    done = gs.command(['git', '-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'commit.gpgsign=false',
                       '-c', 'protocol.file.allow=always', *args], cwd=cwd)
    gs.equal(done.returncode, 0, f'git {args}: {done.stderr.decode()}')


def made(where):
    """A repository of two commits, the second one with what .ci/run calls."""
    repo = os.path.join(where, 'repo')
    os.makedirs(os.path.join(repo, 'scripts'))
    shutil.copytree(os.path.join(gs.SOURCE, '.ci'), os.path.join(repo, '.ci'))
    with open(os.path.join(repo, 'scripts', 'test'), 'w') as f:
        f.write(TEST.replace('@LINK@', LINK))
    os.chmod(os.path.join(repo, 'scripts', 'test'), 0o755)
    git('init', '-q', repo)
    git('commit', '-q', '--allow-empty', '-m', 'before', cwd=repo)
    git('add', '-A', cwd=repo)
    git('commit', '-q', '-m', 'this one', cwd=repo)
    return repo


def checkouts(where, repo):
    yield 'as it is', repo
    shallow = os.path.join(where, 'with a space', 'shallow')
    git('clone', '-q', '--depth', '1', 'file://' + repo, shallow)
    yield 'shallow', shallow
    git('checkout', '-q', '--detach', cwd=shallow)
    git('branch', '-q', '-D', *[b for b in ('main', 'master') if not subprocess.run(
        ['git', 'rev-parse', '-q', '--verify', b], cwd=shallow, stdout=subprocess.DEVNULL).returncode], cwd=shallow)
    yield 'shallow and detached', shallow
    other = os.path.join(where, 'worktree')
    git('worktree', 'add', '-q', '--detach', other, cwd=repo)
    yield 'a worktree', other


def run(what, checkout, temporary):
    with open(os.path.join(checkout, 'not-committed'), 'w'):
        pass
    done = gs.command([os.path.join(checkout, '.ci', 'run'), '--quick'], cwd='/', env=gs.environment(TMPDIR=temporary))
    lines = done.stdout.decode().splitlines()
    shared = os.path.isdir(os.path.join(checkout, '..', 'shared'))
    gs.equal(done.returncode, 5, f'{what}: status; {done.stderr.decode()}')
    if not gs.check(len(lines) > 4, f'{what}: {lines}'):
        return
    place, clone = os.path.split(lines[0])
    gs.equal(clone, 'gpustarve', f'{what}: its name')
    gs.check(' ' in os.path.basename(place) and place.startswith(temporary), f'{what}: its place: {lines[0]}')
    gs.equal(lines[1:], ['this one', 'gpustarve', *(['shared', 'traces'] if shared else []),
                         'options: --quick', '100% tests passed, 0 tests failed out of 7'], f'{what}: what it saw')
    gs.equal(os.listdir(temporary), [], f'{what}: left')
    gs.check(not os.path.lexists(LINK), f'{what}: a link is left')


if not shutil.which('git'):
    gs.skip('no git')
os.makedirs(os.path.dirname(LINK), exist_ok=True)
with tempfile.TemporaryDirectory(prefix='gstest-') as where:
    temporary = os.path.join(where, 'temporary')
    os.mkdir(temporary)
    repo = made(where)
    for what, checkout in checkouts(where, repo):
        run(what, checkout, temporary)
    os.makedirs(os.path.join(where, 'shared', 'traces'))
    run('with ../shared', repo, temporary)
gs.finish()
