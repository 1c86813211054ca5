#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""libprof and what it shares with others compile for aarch64 without a warning, and a handful of unit tests run there, by
qemu-user, as static programs: what hangs on the machine's instructions and needs no library but C's. All of the product is
built and tested by scripts/arm64, which takes long."""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

CC, RUN = 'aarch64-linux-gnu-gcc', 'qemu-aarch64'
PARTS = re.compile(r'^(libprof/CMakeFiles/prof|(wire|facts|base|live)/CMakeFiles/\2)\.dir/')
# Headers of libraries are the same on every machine, and lie behind the compiler's own.
FLAGS = ['-idirafter', '/usr/include', '-fno-lto']
TESTS = {
    'libprof/test_prof_callsite': ['libprof/sample/callsite_arm64.c', 'libprof/sample/callsite_x86.c'],
    'wire/test_wire_buf': ['wire/buf.c'],
    'wire/test_wire_crc32c': ['wire/crc32c.c'],
    'wire/test_wire_utf8': [],
}


def commands():
    """Folder and words of each compilation of PARTS, with another compiler and nothing written."""
    with open(gs.BUILD + '/compile_commands.json', encoding='utf-8') as f:
        for row in json.load(f):
            words = shlex.split(row['command'])
            at = words.index('-o')
            if PARTS.match(words[at + 1]):
                first = next(i for i, word in enumerate(words) if word.startswith('-'))  # behind a launcher and the compiler
                yield row['directory'], [CC, *FLAGS, '-fsyntax-only', *words[first:at], *words[at + 2:], '-fno-lto']


def compiles(job):
    folder, words = job
    done = gs.command(words, cwd=folder)
    return words[-2], done.returncode, done.stderr.decode()[-2000:]


def test_compiles():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        told = list(pool.map(compiles, commands()))
    gs.check(len(told) > 150, f'{len(told)} files')
    for name, status, said in told:
        gs.equal((status, said), (0, ''), name)


def runs(where, name, sources):
    program = os.path.join(where, os.path.basename(name))
    done = gs.command([CC, '-O1', '-g', '-static', '-pthread', '-std=gnu17', '-D_GNU_SOURCE', '-w', *FLAGS,
                       *(f'-I{gs.SOURCE}/{folder}' for folder in ('libprof', '.', 'wire', 'tests', 'tests/lib')), f'-I{gs.BUILD}/include',
                       f'-DTESTS_DIR="{gs.SOURCE}/tests"', f'-DTESTS_BIN="{where}"', '-o', program,
                       f'{gs.SOURCE}/tests/unit/{name}.c', *(os.path.join(gs.SOURCE, s) for s in sources)])
    if done.returncode:
        return name, done.returncode, done.stderr.decode()[-2000:]
    done = gs.command([RUN, program], timeout=120)
    return name, done.returncode, (done.stdout + done.stderr).decode()[-2000:]


def test_runs():
    with gs.scratch() as where, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, status, said in pool.map(lambda row: runs(where, *row), TESTS.items()):
            gs.check(status == 0, f'{name}: status {status}: {said}')
            gs.check('\nok ' in f'\n{said}', f'{name} has run something: {said}')


for needed in CC, RUN:
    if not shutil.which(needed):
        gs.skip(f'no {needed} (scripts/setup --arm64)')
gs.run_tests(globals())
