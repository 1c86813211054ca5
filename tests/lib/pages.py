# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/pages: each page has them as a diff, whose lines with - and without a sign are the program before,
and those with + and without a sign the one after."""
import glob
import os
import re

import gs

FOLDER = os.path.join(gs.SOURCE, 'docs', 'pages')
BLOCK = re.compile(r'^```diff\n(.*?)^```$', re.M | re.S)


def names():
    return sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(FOLDER, '*.md')) if 'README' not in path)


def side(diff, sign):
    """One side of a diff, as text."""
    kept = [line[1:] for line in diff.split('\n') if not line or line[0] in (' ', sign)]
    return '\n'.join(kept).rstrip('\n') + '\n'


def programs(name):
    """The program before, and after: what is in the page's last diff."""
    with open(os.path.join(FOLDER, name + '.md'), encoding='utf-8') as f:
        diff = BLOCK.findall(f.read())[-1]
    return side(diff, '-'), side(diff, '+')


def lines(program, text):
    """Numbers of the program's lines in which the text is."""
    return [n for n, line in enumerate(program.split('\n'), 1) if text in line]
