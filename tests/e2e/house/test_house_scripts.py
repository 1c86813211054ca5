#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""scripts/setup and scripts/test do for each option what their heads say. They run in a tree of stand-ins, each of which writes
down how it was called; what these do themselves is for others to test, and some of it takes hours."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

NOTE = '#!/bin/sh\necho "$(basename "$0") $*${GS_BIG:+ GS_BIG}" >>"$NOTES"\n'
CTEST = NOTE + '''while [ "$1" != --test-dir ]; do shift; done
mkdir -p "$2/Testing/Temporary"
printf '1/1 Testing: test_x\\nskipped: a reason\\n' >"$2/Testing/Temporary/LastTest.log"
if [ "$FAILS" = "$2" ]; then echo '0% tests passed, 1 tests failed out of 1'; exit 8; fi
echo '100% tests passed, 0 tests failed out of 1'
'''
VENVS = ['cupti-wheels', 'torch-venvs', 'loader-venv', 'launcher-venv', 'clickhouse-venv']
SETUPS = {'': ['clickhouse-venv '], '--build': [], '--demo': [], '--arm64': [],
          '--campaigns': ['clickhouse-venv ', 'cupti-wheels ', 'torch-venvs ', 'loader-venv ', 'launcher-venv ', 'python -c import jax, triton.profiler']}


def program(where, name, text=NOTE):
    path = os.path.join(where, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    os.chmod(path, 0o755)


def play(where, script, *options, **more):
    """Its exit status, what it said, and the stand-ins' notes."""
    notes = os.path.join(where, 'notes')
    open(notes, 'w', encoding='utf-8').close()
    env = gs.environment(NOTES=notes, PATH=os.path.join(where, 'bin') + ':/usr/bin:/bin', GS_BIG=None, **more)
    env.pop('GS_BIG', None)
    done = subprocess.run(['bash', os.path.join(where, 'scripts', script), *options], env=env, capture_output=True, text=True, timeout=60,
                          check=False)
    with open(notes, encoding='utf-8') as f:
        return done.returncode, done.stdout + done.stderr, f.read().splitlines()


def tree(where):
    os.makedirs(os.path.join(where, 'scripts'))
    for name in 'setup', 'test':
        shutil.copy(os.path.join(gs.SOURCE, 'scripts', name), os.path.join(where, 'scripts'))
    for name in *('scripts/' + venv for venv in VENVS), 'build/campaigns/bin/python', 'bin/promtool', 'bin/apt-get', 'bin/chromium', \
            'bin/npm', 'bin/kubectl':
        program(where, name)
    program(where, 'bin/dpkg-query', '#!/bin/sh\necho "$4" >>"$NOTES.asked"\necho "install ok installed"\n')


def test_setup():
    """Where all packages are there it asks dpkg and fetches what is no package."""
    with gs.scratch() as where:
        tree(where)
        asked = {}
        for option, expected in SETUPS.items():
            status, said, notes = play(where, 'setup', *option.split())
            gs.equal((status, said, notes), (0, '', expected), f'setup {option}')
            with open(where + '/notes.asked', encoding='utf-8') as f:
                asked[option] = set(f.read().split())
            os.unlink(where + '/notes.asked')
        gs.check(asked['--build'] < asked['--demo'] < asked[''] < asked['--campaigns'], f'each has the one before: {asked}')
        gs.check('gcc-aarch64-linux-gnu' in asked['--arm64'] - asked['--campaigns'] and 'gcc-multilib' in
                 asked['--campaigns'] - asked['--arm64'], 'the compilers that take each other\'s place')
        for option in '--campaign', '-h':
            status, said, notes = play(where, 'setup', option)
            gs.check(status == 2 and option in said and not notes and not os.path.exists(where + '/notes.asked'), f'{option}: {said}')


def kinds(notes):
    """The notes without what differs each time, ctest's by the build."""
    return [re.sub(r' --output-on-failure --no-tests=error', '', line) for line in notes]


def test_test():
    with gs.scratch() as where:
        tree(where)
        for name in 'setup', 'build', 'demo', 'arm64':
            program(where, 'scripts/' + name)
        program(where, 'bin/ctest', CTEST)
        os.makedirs(where + '/tests/e2e/package')
        with open(where + '/tests/e2e/package/test_package_arm64.py', 'w', encoding='utf-8') as f:
            f.write('import os\nwith open(os.environ["NOTES"], "a") as f:\n    print("packages", os.environ.get("GS_BIG"), file=f)\n')
        quick = ['setup ', 'build build', 'ctest --test-dir build -j 4 -LE bench|long|timing',
                 'ctest --test-dir build -L timing -LE bench|long', 'demo ', 'demo --fixed']
        status, said, notes = play(where, 'test', '--quick')
        gs.equal((status, kinds(notes)), (0, quick), f'--quick: {said}')
        gs.check('test_x (tests): a reason' in said and 'timing:\n' in said, f'what was skipped, and results: {said}')

        status, said, brief = play(where, 'test')
        gs.equal(status, 0, said)
        gs.check(any('build-asan -DCMAKE_C_COMPILER=clang' in line for line in brief), f'the sanitizers: {brief}')
        gs.check(not any('build-tsan' in line or 'GS_BIG' in line for line in brief), f'no campaigns: {brief}')
        gs.check(any('-L bench -LE long -V' in line for line in brief), f'short benchmarks: {brief}')

        status, said, whole = play(where, 'test', '--all')
        gs.equal(status, 0, said)
        gs.check(all(line.endswith(' GS_BIG') for line in whole) and whole[0] == 'setup --campaigns GS_BIG', f'campaigns: {whole}')
        gs.check(any('build-tsan' in line for line in whole) and any('-L bench -V' in line for line in whole), f'all of them: {whole}')

        status, said, notes = play(where, 'test', '--arm64')
        gs.equal((status, notes), (0, ['setup ', 'arm64 --user', 'arm64 ', 'packages 1']), f'--arm64: {said}')
        status, said, notes = play(where, 'test', '-L', 'unit')
        gs.equal((status, kinds(notes)), (0, ['setup ', 'build build', 'ctest --test-dir build -L unit']), f'-L: {said}')
        status, said, notes = play(where, 'test', '--al')
        gs.check(status == 2 and '--al' in said and not notes, f'an unknown option: {said}')

        status, said, notes = play(where, 'test', FAILS='build')
        gs.check(status == 8 and 'demo ' not in notes and '1 tests failed' in said, f'tests that fail end it: {said}')
        status, said, notes = play(where, 'test', FAILS='build-asan')
        gs.check(status == 8 and '-L bench' not in ' '.join(notes), f'and so do the sanitizers\': {said}')


if __name__ == '__main__':
    gs.run_tests(globals())
