#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=900
"""libprof's reader of the tables for unwinding against readelf's, at every address of real libraries:
where the frame is, and where each register of the caller's. GS_BIG=1: all libraries of the system."""
import glob
import os
import platform
import re
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

ROWS = os.path.join(gs.BUILD, 'tests', 'cfi_rows')
NAMES = 'rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra'.split()
FEW = ['/lib/x86_64-linux-gnu/libc.so.6', '/lib64/ld-linux-x86-64.so.2', gs.PYTHON, gs.LIBPROF]


def base(text):
    """rsp+8 to 7+8."""
    found = re.match(r'([a-z0-9]+)([+-]\d+)$', text)
    return f'{NAMES.index(found[1])}{found[2]}' if found else text


def theirs(path):
    """{address: (frame, {register: rule})}; of tables that the linker has sorted only."""
    done = gs.command(['readelf', '--debug-dump=frames-interp', '-W', path])
    rows, columns, shared, end = {}, [], False, 0
    for line in done.stdout.decode().splitlines():
        # A register is named twice where it holds another one: "r9 (r9)".
        words = re.sub(r'(\br\d+) \(\w+\)', r'\1', line).replace('vexp', 'exp').split()
        if ' CIE ' in line or ' FDE ' in line:
            shared = ' CIE ' in line
            found = re.search(r'pc=[0-9a-f]+\.\.([0-9a-f]+)', line)
            end = int(found[1], 16) if found else 0
        elif words[:1] == ['LOC']:
            columns = words[2:]
        elif not shared and words and re.fullmatch('[0-9a-f]{16}', words[0]) and int(words[0], 16) < end:
            rows[int(words[0], 16)] = base(words[1]), {
                NAMES.index(c): w for c, w in zip(columns, words[2:]) if c in NAMES and w not in 'su'}
    return rows


def ours(path):
    rows, bad = {}, []
    done = gs.command([ROWS, path])
    for line in done.stdout.decode().splitlines():
        words = line.split()
        if not re.fullmatch('[0-9a-f]+', words[0]):
            bad.append(line)
            continue
        rows[int(words[0], 16)] = words[1], {int(r): w for r, w in (x.split('=') for x in words[2:])}
    return done.returncode, rows, bad


def look_at(path):
    status, mine, bad = ours(path)
    if status:
        return 0
    gs.equal(bad, [], f'{path}: not found again')
    want = theirs(path)
    wrong = [(hex(at), mine.get(at), row) for at, row in want.items() if mine.get(at) != row]
    gs.equal(wrong[:3], [], f'{path}: {len(wrong)} of {len(want)} rows')
    return len(want)


if platform.machine() != 'x86_64' or not shutil.which('readelf'):
    gs.skip('no x86-64, or no readelf')
paths = glob.glob('/usr/lib/x86_64-linux-gnu/*.so.*') if gs.BIG else [p for p in FEW if os.path.exists(p)]
paths = sorted({os.path.realpath(p) for p in paths})
paths = [p for p in paths if os.path.getsize(p) < 10_000_000]  # readelf takes long for more
total = sum(look_at(p) for p in paths)
gs.check(total > 1000, f'only {total} rows')
print(f'{total} rows of {len(paths)} files')
gs.finish()
