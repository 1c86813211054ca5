#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""docs/ARCHITECTURE.md is true: every file and folder that it names is there, and every function is defined in a
file that its line names. In a row of the map paths may begin at the row's folder."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

PATH = re.compile(r'`((?:[\w.-]+/)+(?:[\w-]+\.\w+)?)`')
ROW = re.compile(r'\| `([\w-]+/)` \|')
FUNCTION = re.compile(r'`(\w+)\(\)`')


def defined_in(text, name):
    """@text, of a C file, defines the function: kernel style begins a definition in the first column."""
    return re.search(rf'^(?!\s)[\w *()]*?\b{name}\([^;]*?\)\n\{{', text, re.M | re.S) is not None


def wrong_in(document, read):
    """Complaints, how many paths, how many functions. @read gives a path's text, None where it is not there."""
    found, paths, functions = [], 0, 0
    for line in document.split('\n'):
        row = ROW.match(line)
        texts = {path: read(path) for path in PATH.findall(line)}
        if row:
            texts = {path: text if text is not None else read(row[1] + path) for path, text in texts.items()}
        paths += len(texts)
        found += [f'{path} is not there' for path, text in texts.items() if text is None]
        for name in FUNCTION.findall(line):
            functions += 1
            if not any(text and defined_in(text, name) for text in texts.values()):
                found.append(f'{name}() is not defined in {", ".join(texts) or "any file of its line"}')
    return found, paths, functions


def read_source(path):
    path = os.path.join(gs.SOURCE, path)
    if os.path.isdir(path):
        return ''
    if not os.path.exists(path):
        return None
    with open(path, encoding='utf-8') as f:
        return f.read()


def check_can_fail():
    files = {'a/b.c': 'static int x;\n\nint good(int a,\n\t long b)\n{\n\tbad();\n}\n', 'a/': '', 'a/d/': ''}
    for line, bad in (('| `a/b.c` | `good()` |', 0), ('in `a/`', 0), ('| `a/c.c` | |', 1), ('| `a/b.c` | `bad()` |', 1),
                      ('| `a/b.c` | `good()`, `gone()` |', 1), ('`good()`', 1), ('| `a/b/` |', 1),
                      ('| `a/` | has `b.c` and `d/b.c` |', 1), ('| `a/` | has `d/` |', 0), ('| x | has `d/` |', 1)):
        gs.equal(len(wrong_in(line, files.get)[0]), bad, line)


def main():
    check_can_fail()
    found, paths, functions = wrong_in(read_source('docs/ARCHITECTURE.md'), read_source)
    gs.check(paths > 45 and functions > 50, f'{paths} paths, {functions} functions')
    for wrong in found:
        gs.check(False, f'docs/ARCHITECTURE.md: {wrong}')
    gs.finish()


main()
