#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""Includes point one way. Programs know the libraries that ARCHITECTURE's map gives them and never each other. In a program
a folder knows those that its CMakeLists.txt names before it, and no others; what lies in no folder is on top. No module
(NAME.c and NAME.h) includes itself by way of others. There is one include root: a header is named from its program's
folder, or, by what lies beside it, with its bare name. No two .c and no two .h of a program have one name.

LEFT counts what is still wrong; it may only get less."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

KNOWS = {'wire': {'wire'}, 'facts': {'facts'}, 'base': {'wire', 'base'}, 'live': {'wire', 'base', 'live'}, 'objects': {'wire', 'base', 'objects'},
         'segments': {'wire', 'base', 'objects', 'segments'},
         'libprof': {'wire', 'facts', 'libprof'},
         'collector': {'wire', 'base', 'live', 'objects', 'segments', 'collector'},
         'viewer': {'wire', 'facts', 'base', 'live', 'objects', 'segments', 'viewer'}}
FOLDERS = {'libprof': 'PROF_FOLDERS', 'collector': 'COLL_FOLDERS', 'viewer': 'VIEW_FOLDERS'}
STANDS_IN = {'viewer': 'stubs'}  # for files of any folder; nobody includes it
LEFT = {}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def order(root, program):
    """The program's folders, from the ground up; a folder within a folder has a place of its own."""
    if program not in FOLDERS:
        return []
    with open(os.path.join(root, program, 'CMakeLists.txt'), encoding='utf-8') as f:
        names = re.search(rf'set\({FOLDERS[program]}\s+([^)]*)\)', f.read())[1].split()
    return names + [n for n in [STANDS_IN.get(program)] if n]


class Program:
    """The C files of one program or library, and what each includes."""

    def __init__(self, root, name):
        self.root, self.name = root, name
        self.order = order(root, name)
        self.files = []
        for folder, _, names in os.walk(os.path.join(root, name)):
            self.files += [os.path.relpath(os.path.join(folder, n), root) for n in sorted(names) if n.endswith(('.c', '.h'))]
        self.files.sort()
        self.includes = {}
        for file in self.files:
            with open(os.path.join(root, file), encoding='utf-8') as f:
                self.includes[file] = INCLUDE.findall(f.read())

    def target(self, file, name):
        """The file that the include means; None: of a build, or of a library that is not ours."""
        for base in os.path.dirname(file), self.name, '.':
            path = os.path.normpath(os.path.join(base, name))
            if os.path.exists(os.path.join(self.root, path)):
                return path
        return None

    def folder(self, file):
        return os.path.dirname(file)[len(self.name) + 1:]

    def arrow(self, file, path):
        """What is wrong with this direction; None: nothing."""
        its = path.split('/')[0]
        if its not in KNOWS[self.name]:
            return f'{self.name} does not know {its}'
        mine, its = self.folder(file), self.folder(path)
        if not path.startswith(self.name + '/') or mine == its or not mine:
            return None
        unknown = [f for f in (mine, its) if f and f not in self.order]
        if unknown:
            return f'{self.name}/CMakeLists.txt does not name {unknown[0]}'
        if not its or self.order.index(its) > self.order.index(mine):
            return f'{mine} lies below {its or self.name + "/"}'
        return None

    def arrows(self):
        found = []
        for file in self.files:
            for name in self.includes[file]:
                path = self.target(file, name)
                why = path and self.arrow(file, path)
                if why:
                    found.append(f'{file} includes {name}: {why}')
        return found

    def roots(self):
        """Includes that name a header otherwise than by its one name."""
        found, there = [], {os.path.basename(f) for f in self.files}
        for file in self.files:
            for name in self.includes[file]:
                path = self.target(file, name)
                if not path:
                    if os.path.basename(name) in there:
                        found.append(f'{file} includes {name}: by an include root of its own')
                elif name not in (path, path[len(self.name) + 1:]) and \
                        (name != os.path.basename(path) or os.path.dirname(path) != os.path.dirname(file)):
                    found.append(f'{file} includes {name}: {path} has another name')
        return found

    def graph(self):
        """Module to modules that it needs. A header without a .c is part of whoever includes it."""
        whole, modules = {f[:-2] for f in self.files if f.endswith('.c')}, {}
        alone = {f for f in self.files if f[:-2] not in whole}

        def reach(file, seen):
            for name in self.includes[file]:
                path = self.target(file, name)
                if not path or path in seen or path not in self.includes:
                    continue
                seen.add(path)
                if path in alone:
                    yield from reach(path, seen)
                else:
                    yield path[:-2]

        for file in self.files:
            if file not in alone:
                modules.setdefault(file[:-2], set()).update(m for m in reach(file, set()) if m != file[:-2])
        return modules

    def cycles(self):
        """Groups of modules that need each other."""
        graph, found, left = self.graph(), [], {}
        for module in graph:
            todo, left[module] = list(graph[module]), set()
            while todo:
                m = todo.pop()
                if m not in left[module]:
                    left[module].add(m)
                    todo += graph.get(m, ())
        for module in sorted(graph):
            if module in left[module] and not any(module in group for group in found):
                found.append([m for m in sorted(graph) if m in left[module] and module in left[m]])
        return ['modules need each other: ' + ', '.join(group) for group in found]

    def twins(self):
        names = {}
        for file in self.files:
            if self.folder(file) != STANDS_IN.get(self.name):
                names.setdefault(os.path.basename(file), []).append(file)
        return [f'{" and ".join(files)}: two of one name' for files in names.values() if len(files) > 1]

    def seen(self):
        return sum(self.target(file, name) is not None for file in self.files for name in self.includes[file])


CHECKS = ('arrows', 'roots', 'cycles', 'twins')


def check(root):
    """All that is wrong below @root by (program, check), and the number of includes that were looked at."""
    found, seen = {}, 0
    for name in KNOWS:
        program = Program(root, name)
        seen += program.seen()
        for what in CHECKS:
            found[name, what] = getattr(program, what)()
    return found, seen


def put(root, file, text=''):
    os.makedirs(os.path.dirname(os.path.join(root, file)), exist_ok=True)
    with open(os.path.join(root, file), 'w', encoding='utf-8') as f:
        f.write(text)


def include(*names):
    return ''.join(f' # include "{name}"\n' for name in names)


def check_can_fail():
    with gs.scratch() as root:
        for program, variable in FOLDERS.items():
            put(root, f'{program}/CMakeLists.txt', f'set({variable} low mid\n    mid/deep high)\n')
        for file in ('wire/a.h', 'facts/a.h', 'base/b.h', 'live/a.h', 'libprof/low/a.h', 'libprof/mid/b.h', 'libprof/top.h',
                     'collector/low/a.h', 'viewer/low/a.h', 'viewer/mid/b.h', 'viewer/mid/c.h', 'viewer/mid/deep/d.h',
                     'viewer/new/e.h'):
            put(root, file)
        put(root, 'viewer/mid/deep/good.c', include('d.h', 'low/a.h', 'mid/b.h', 'wire/a.h', 'facts/a.h', 'made.pb-c.h') +
            '#include <stdio.h>\n')
        put(root, 'viewer/mid/c_priv.h', include('c.h'))
        put(root, 'viewer/mid/c.c', include('c.h', 'c_priv.h'))
        put(root, 'libprof/main.c', include('top.h', 'mid/b.h'))
        found, seen = check(root)
        gs.equal(({k: v for k, v in found.items() if v}, seen), ({}, 10), 'what may be')

        for what, program, files in (
                ('arrows', 'viewer', {'low/up.c': ['mid/b.h']}),
                ('arrows', 'viewer', {'mid/up.c': ['mid/deep/d.h']}),
                ('arrows', 'viewer', {'high/new.c': ['new/e.h']}),
                ('arrows', 'viewer', {'new/low.c': ['low/a.h']}),
                ('arrows', 'viewer', {'high/x.c': ['collector/low/a.h']}),
                ('arrows', 'libprof', {'low/up.c': ['mid/b.h']}),
                ('arrows', 'libprof', {'mid/up.c': ['top.h']}),
                ('arrows', 'libprof', {'mid/live.c': ['live/a.h']}),
                ('arrows', 'collector', {'low/x.c': ['viewer/low/a.h']}),
                ('arrows', 'wire', {'up.c': ['live/a.h']}),
                ('arrows', 'facts', {'up.c': ['wire/a.h']}),
                ('roots', 'libprof', {'mid/up.c': ['../low/a.h']}),
                ('roots', 'viewer', {'high/down.c': ['d.h']}),
                ('roots', 'viewer', {'mid/down.c': ['deep/x.h'], 'mid/deep/x.h': []}),
                ('cycles', 'wire', {'x.h': [], 'x.c': ['y.h'], 'y.h': ['x.h'], 'y.c': []}),
                ('cycles', 'libprof', {'mid/x.h': [], 'mid/x.c': ['x_priv.h'], 'mid/x_priv.h': ['mid/y.h'], 'mid/y.h': [],
                                       'mid/y.c': ['x.h']}),
                ('twins', 'collector', {'mid/x.c': [], 'high/x.c': []}),
                ('twins', 'viewer', {'mid/deep/a.h': []})):
            for file, names in files.items():
                put(root, f'{program}/{file}', include(*names))
            found, _ = check(root)
            found = {k: v for k, v in found.items() if v}
            gs.check((program, what) in found and len(found[program, what]) == 1, f'{files} in {program}: {found}')
            for file in files:
                os.unlink(os.path.join(root, program, file))
        gs.check(not any(check(root)[0].values()), 'nothing is left of what was wrong')


def check_map():
    """ARCHITECTURE's map speaks of every folder of each program, and CMakeLists.txt of every folder that is there."""
    with open(os.path.join(gs.SOURCE, 'docs', 'ARCHITECTURE.md'), encoding='utf-8') as f:
        rows = {line.split('`')[1]: line for line in f if re.match(r'\| `\w+/` \|', line)}
    for program in FOLDERS:
        named = [n for n in order(gs.SOURCE, program) if '/' not in n]
        gs.equal([n for n in named if f'`{n}/`' not in rows[program + '/']], [], f"folders that the map of {program} leaves out")
        there = sorted(e.name for e in os.scandir(os.path.join(gs.SOURCE, program)) if e.is_dir())
        gs.equal(sorted(named), there, f'folders of {program}/ and of its CMakeLists.txt')


check_can_fail()
check_map()
complaints, looked_at = check(gs.SOURCE)
gs.check(looked_at > 1500, f'{looked_at} includes')
for key, found in complaints.items():
    if len(found) > LEFT.get(key, 0):
        for c in found:
            gs.check(False, c)
    elif len(found) < LEFT.get(key, 0):
        print(f'{key}: {len(found)} are left, LEFT says {LEFT[key]}')
gs.finish()
