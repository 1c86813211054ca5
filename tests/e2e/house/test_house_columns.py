#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""Lines of C end within 100 columns, but those that hold a string, which is not cut, and rows of tables: in a
comment or an initialiser, with tabs or several spaces between what they hold."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

FOLDERS = ('base', 'facts', 'wire', 'live', 'libprof', 'collector', 'viewer', 'scripts', 'completion', 'tests')
MOST = 100
TABLE = re.compile(r'\S(?:\t|  )\s*\S')


def too_long(line):
    return len(line.expandtabs(8)) > MOST and '"' not in line and not TABLE.search(line)


def long_lines(path):
    with open(path, encoding='utf-8') as f:
        return [f'{os.path.relpath(path, gs.SOURCE)}:{n}: {line.strip()}'
                for n, line in enumerate(f.read().splitlines(), 1) if too_long(line)]


def sources():
    for folder in FOLDERS:
        for at, _, names in os.walk(os.path.join(gs.SOURCE, folder)):
            yield from (os.path.join(at, n) for n in names if n.endswith(('.c', '.h')))


gs.check(too_long('\t' * 12 + 'code;') and too_long('/* ' + 'x ' * 50 + '*/'), 'a long line is one')
gs.check(not too_long('\t' * 12 + 'code'), 'a hundred columns are not too many')
gs.check(not too_long('\tsay("' + 'x' * 100 + '");'), 'nor is a string')
files = list(sources())
gs.check(len(files) > 800, f'{len(files)} files were read')
for path in files:
    for line in long_lines(path):
        gs.check(False, line)
gs.finish()
