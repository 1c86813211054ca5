#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""The stand-ins for CUDA's libraries have every symbol that torch's wheels want of them, under its version; what nobody wrote by
hand answers that it is not supported, and is in the truth file."""
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import torches

SIM = os.path.join(gs.BUILD, 'gpusim')
# Compilers need no device: these are NVIDIA's own.
REAL = {'libnvrtc.so.13'}
NODES = {'libnccl.so.2': '', 'libcusparseLt.so.0': '', 'libcufile.so.0': '', 'libcuda.so.1': '', 'libnvshmem_host.so.3': 'NVSHMEM'}
# In a process of its own, which the truth file tells of when it ends.
CALL = '''
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
for name in sys.argv[2:]:
    function = getattr(library, name)
    function.restype = ctypes.c_long
    print(name, function())
'''


def rows(path):
    with open(path) as file:
        return [line.split() for line in file if not line.startswith('#')]


def wanted():
    symbols = {}
    for version in torches.fixtures():
        for library, symbol in rows(torches.fixture(version)):
            symbols.setdefault(library, set()).add(symbol)
    return symbols


def path(library):
    folder = os.path.join(SIM, 'cupti-13') if library.startswith('libcupti') else SIM
    return os.path.join(folder, library)


def defined(library):
    """{symbol: (kind of nm's, version node)}."""
    done = subprocess.run(['nm', '-D', '--defined-only', '--with-symbol-versions', path(library)], check=True,
                          stdout=subprocess.PIPE)
    result = {}
    for line in done.stdout.decode().splitlines():
        _, kind, name = line.split()
        symbol, _, node = name.partition('@')
        result[symbol] = kind, node.lstrip('@')
    return result


WANTED = wanted()
RETURNS = {(library, symbol): kind for library, symbol, kind in rows(os.path.join(torches.SYMBOLS, 'returns.txt'))}
NOT_GENERATED = REAL | {'libcuda.so.1', 'libcupti.so.13'}


def test_symbols():
    gs.check(len(WANTED) > 10 and sum(map(len, WANTED.values())) > 700, 'the lists are there')
    for library in sorted(set(WANTED) - REAL):
        have = defined(library)
        node = NODES.get(library, library)
        gs.equal(sorted(WANTED[library] - set(have)), [], f'missing in {library}')
        gs.equal({have[symbol][1] for symbol in WANTED[library] & set(have)}, {node}, f'nodes of {library}')


def test_needed():
    for version in torches.fixtures():
        with open(torches.fixture(version)) as file:
            needed = [line.split()[-1] for line in file if line.startswith('# needed ')]
        gs.check(len(needed) >= 14, f'torch {version}: {needed}')
        for library in needed:
            gs.check(library in REAL or os.path.exists(path(library)), f'torch {version} needs {library}')


def test_absent():
    """Of what is weak, and so generated, no function with a status says success."""
    generated = 0
    for library in sorted(set(WANTED) - NOT_GENERATED):
        names = sorted(symbol for symbol, (kind, _) in defined(library).items() if kind == 'W')
        if not names:
            continue
        with gs.scratch() as folder:
            truth = os.path.join(folder, 'truth')
            done = gs.command([gs.WITH_GPUSIM, gs.PYTHON, '-c', CALL, path(library), *names],
                              env=gs.environment(GPUSIM_TRUTH=truth))
            if not gs.equal(done.returncode, 0, f'{library}: {done.stderr.decode()}'):
                continue
            with open(truth) as file:
                lines = [json.loads(line) for line in file]
        answers = {line.split()[0]: int(line.split()[1]) for line in done.stdout.decode().splitlines()}
        gs.equal(sorted(answers), names, f'{library}: called')
        for name, answer in answers.items():
            kind = RETURNS[library, name]
            gs.check(kind not in ('status', 'minus') or answer != 0, f'{library}: {name} answers {answer}')
            gs.check(kind not in ('zero', 'pointer') or answer == 0, f'{library}: {name} answers {answer}')
        counted = {line['missing']: line['calls'] for line in lines if 'missing' in line and 'calls' in line}
        gs.equal(counted, dict.fromkeys(names, 1), f'{library}: calls in the truth file')
        gs.equal({line['library'] for line in lines if 'missing' in line}, {library}, f'{library}: whose')
        generated += len(names)
    gs.check(generated > 300, f'only {generated} generated functions')


gs.run_tests(globals())
