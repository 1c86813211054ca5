#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""Prefixes lead to folders: every function and variable that a file of the programs lets others see begins with a
prefix that CONTRIBUTING.md's table gives its folder, and every prefix there is used. Asked of the objects of the
libraries with nm."""
import os
import re
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

LIBRARIES = {  # of which the programs are made: target, and the folder of its CMakeLists.txt
    'wire': 'wire', 'base': 'base', 'facts': 'facts', 'live': 'live', 'live_hook': 'live', 'prof_core': 'libprof',
    'coll_core': 'collector', 'view_core': 'viewer',
}
ROW = re.compile(r'^\| `([\w/]+)/` \| ((?:`\w+_`(?:, )?)+) \|$', re.M)
SYMBOL = re.compile(r'^(.*):[0-9a-f]+ [A-Z] (\w+)$', re.M)


def table_of(text):
    return {folder: set(re.findall(r'`(\w+)`', prefixes)) for folder, prefixes in ROW.findall(text)}


def exports(text):
    return set(re.findall(r'^\t(\w+);$', text.split('local:')[0], re.M))


def objects():
    """(source, object) of what the libraries are made of; generated sources and those of other folders are none."""
    for target, folder in LIBRARIES.items():
        root = os.path.join(gs.BUILD, folder, 'CMakeFiles', target + '.dir')
        for where, _, names in os.walk(root):
            for name in sorted(names):
                source = os.path.join(folder, os.path.relpath(os.path.join(where, name[:-2]), root))
                if name.endswith('.c.o') and os.path.exists(os.path.join(gs.SOURCE, source)):
                    yield source, os.path.join(where, name)


def row_of(source, table):
    folder = os.path.dirname(source)
    while folder and folder not in table:
        folder = os.path.dirname(folder)
    return folder


def wrong_in(symbols, table, exported):
    """@symbols: (source, name). Complaints: names without a prefix of their folder, prefixes without a name."""
    found, used = [], set()
    for source, name in symbols:
        row = row_of(source, table)
        fits = [p for p in table.get(row, ()) if name.startswith(p)]
        used |= {(row, p) for p in fits}
        if not fits and not (source.startswith('libprof/') and name in exported):
            found.append(f'{source}: {name} has no prefix of {row or "any row"}/')
    unused = {(row, p) for row, prefixes in table.items() for p in prefixes} - used
    return found + [f'CONTRIBUTING.md: nothing in {row}/ begins with {p}' for row, p in sorted(unused)]


def check_can_fail():
    table = table_of('| `a/` | `a_` |\n| `a/b/` | `a_`, `b_` |\n')
    gs.equal(table, {'a': {'a_'}, 'a/b': {'a_', 'b_'}}, 'rows')
    good = [('a/x.c', 'a_x'), ('a/b/y.c', 'b_y'), ('a/b/c/z.c', 'a_z')]
    gs.equal(wrong_in(good, table, set()), [], 'what fits')
    for more in ('a/x.c', 'b_x'), ('a/x.c', 'x'), ('other/x.c', 'a_x'), ('a/x.c', 'exported'):
        gs.equal(len(wrong_in(good + [more], table, {'exported'})), 1, f'{more}')
    gs.equal(len(wrong_in(good[:2], table, set())), 1, 'a prefix that nobody uses')
    gs.equal(wrong_in([('libprof/x.c', 'exported')], {}, {'exported'}), [], 'an export')


def main():
    check_can_fail()
    with open(os.path.join(gs.SOURCE, 'CONTRIBUTING.md'), encoding='utf-8') as f:
        table = table_of(f.read())
    with open(os.path.join(gs.SOURCE, 'libprof', 'libprof.map'), encoding='utf-8') as f:
        exported = exports(f.read())
    source_of = {path: source for source, path in objects()}
    out = subprocess.run(['nm', '-A', '-g', '--defined-only', *source_of], check=True, capture_output=True, text=True).stdout
    symbols = [(source_of[path], name) for path, name in SYMBOL.findall(out)]
    gs.check(len(symbols) > 1000 and len(exported) > 5 and len(table) > 10,
             f'{len(symbols)} symbols, {len(exported)} exports, {len(table)} rows')
    for wrong in wrong_in(symbols, table, exported):
        gs.check(False, wrong)
    gs.finish()


main()
