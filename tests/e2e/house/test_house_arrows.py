#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""Includes point one way. Programs know the libraries that README's map gives them and never each other;
in viewer/ a folder, within another or not, knows those that viewer/CMakeLists.txt names before it,
and no others."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

KNOWS = {'wire': {'wire'}, 'facts': {'facts'}, 'base': {'wire', 'base'}, 'live': {'wire', 'base', 'live'},
         'libprof': {'wire', 'facts', 'libprof'},
         'collector': {'wire', 'base', 'live', 'collector'},
         'viewer': {'wire', 'facts', 'base', 'live', 'viewer'}}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def order(root):
    """The viewer's folders, from the ground up. stubs/ stands in for files of any of them, and nobody includes it."""
    with open(os.path.join(root, 'viewer', 'CMakeLists.txt'), encoding='utf-8') as f:
        names = re.search(r'set\(VIEW_FOLDERS\s+([^)]*)\)', f.read())[1].split()
    return names + ['stubs']


def sources(root, top):
    for folder, _, names in os.walk(os.path.join(root, top)):
        for name in sorted(names):
            if name.endswith(('.c', '.h')):
                yield os.path.relpath(os.path.join(folder, name), root)


def target(root, file, name):
    """The file that @file's include of @name means, as the compiler looks for it; None: of a build or elsewhere."""
    program = file.split('/')[0]
    for base in os.path.dirname(file), program, '.':
        path = os.path.normpath(os.path.join(base, name))
        if os.path.exists(os.path.join(root, path)):
            return path
    return None


def folder(path, rank):
    """The folder of the viewer that a file belongs to: the innermost one that is named, else the outermost."""
    parts = path.split('/')[1:-1]
    named = ['/'.join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((f for f in named if f in rank), parts[0])


def wrong(root, file, name, rank):
    """What is wrong with the include; None: nothing."""
    path = target(root, file, name)
    if not path:
        return None
    mine, its = file.split('/'), path.split('/')
    if its[0] not in KNOWS[mine[0]]:
        return f'{mine[0]} does not know {its[0]}'
    if mine[0] != 'viewer' or its[0] != 'viewer' or len(mine) < 3 or len(its) < 3:
        return None
    here, there = folder(file, rank), folder(path, rank)
    unknown = [f for f in (here, there) if f not in rank]
    if unknown:
        return f'viewer/CMakeLists.txt does not name {unknown[0]}'
    if rank[there] > rank[here]:
        return f'{here} lies below {there}'
    return None


def check(root):
    """All that is wrong below @root, and the number of includes that were looked at."""
    rank, found, seen = {name: i for i, name in enumerate(order(root))}, [], 0
    for top in KNOWS:
        for file in sources(root, top):
            with open(os.path.join(root, file), encoding='utf-8') as f:
                for name in INCLUDE.findall(f.read()):
                    seen += target(root, file, name) is not None
                    why = wrong(root, file, name, rank)
                    if why:
                        found.append(f'{file} includes {name}: {why}')
    return found, seen


def put(root, file, text=''):
    os.makedirs(os.path.dirname(os.path.join(root, file)), exist_ok=True)
    with open(os.path.join(root, file), 'w', encoding='utf-8') as f:
        f.write(text)


def check_can_fail():
    with gs.scratch() as root:
        put(root, 'viewer/CMakeLists.txt', 'set(VIEW_FOLDERS base trace trace/deep cmd)\n')
        for file in ('wire/a.h', 'facts/a.h', 'live/a.h', 'libprof/a.h', 'collector/a.h', 'viewer/base/a.h', 'viewer/trace/a.h',
                     'viewer/trace/deep/b.h', 'viewer/new/a.h'):
            put(root, file)
        put(root, 'viewer/trace/deep/good.c', '#include "b.h"\n#include "base/a.h"\n#include "trace/a.h"\n#include "wire/a.h"\n#include "facts/a.h"\n'
            '#include <stdio.h>\n#include "made.pb-c.h"\n')
        gs.equal(check(root), ([], 5), 'what may be')
        for file, text in (('viewer/base/up.c', 'trace/a.h'), ('viewer/base/back.c', '../trace/deep/b.h'), ('viewer/trace/down.c', 'deep/b.h'),
                           ('viewer/cmd/new.c', 'new/a.h'), ('wire/up.c', 'live/a.h'), ('facts/up.c', 'wire/a.h'), ('libprof/live.c', 'live/a.h'),
                           ('collector/x.c', '../viewer/base/a.h'), ('viewer/cmd/x.c', 'collector/a.h')):
            put(root, file, f' # include "{text}"\n')
            gs.equal([f.split()[0] for f in check(root)[0]], [file], f'{file} includes {text}')
            os.unlink(os.path.join(root, file))


def check_map():
    """README's map speaks of every folder of the viewer."""
    with open(os.path.join(gs.SOURCE, 'README.md'), encoding='utf-8') as f:
        row = next(line for line in f if line.startswith('| `viewer/`'))
    names = [n for n in order(gs.SOURCE) if '/' not in n]
    gs.equal([n for n in names if f'`{n}/`' not in row], [], 'folders that README\'s map leaves out')
    there = sorted(e.name for e in os.scandir(os.path.join(gs.SOURCE, 'viewer')) if e.is_dir())
    gs.equal(sorted(names), there, 'folders of viewer/ and of its CMakeLists.txt')


check_can_fail()
check_map()
complaints, looked_at = check(gs.SOURCE)
gs.check(looked_at > 1500, f'{looked_at} includes')
for c in complaints:
    gs.check(False, c)
gs.finish()
