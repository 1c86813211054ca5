#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=slurm waits
"""docs/SLURM.md names no option, setting, part, file or variable that is not there, and leaves out
no part and no hook. The commands themselves are run by the other tests of this folder."""
import os
import re

import gs

FOLDER = os.path.join(gs.SOURCE, 'scripts', 'slurm')
PARTS = ('taskprolog', 'prolog', 'epilog', 'epilogslurmctld', 'mailprog', 'spank')
HOOKS = ('TaskProlog', 'Prolog', 'Epilog', 'EpilogSlurmctld', 'MailProg', 'SPANK plugin')


def read(*parts):
    with open(os.path.join(*parts), encoding='utf-8') as f:
        return f.read()


def commands(text):
    """Command lines: of indented blocks, and in backticks."""
    blocks = re.findall(r'^ {4,}(\S.*)$', text, re.M)
    return [re.sub(r'\s+&&.*', '', c) for c in blocks + re.findall(r'`([^`]+)`', text)]


def check_install(text):
    done = gs.command([os.path.join(FOLDER, 'install'), '--help'])
    gs.equal(done.returncode, 0, 'install --help')
    told = done.stdout.decode()
    example = read(FOLDER, 'site.conf.example')
    seen = 0
    for c in commands(text):
        if not re.match(r'(\S*/)?install( |$)', c) and not re.match(r'--(launchers|chain|default|set|parts|partitions)', c):
            continue
        for option in re.findall(r'(--[a-z-]+)', c):
            gs.check(re.search(rf'(^|\s){option}\b', told), f'install {option}, of {c!r}')
            seen += 1
        for setting in re.findall(r'--set (\w+)=', c):
            gs.check(re.search(rf'^#?{setting}=', example, re.M), f'the setting {setting}')
    gs.check(seen >= 10, f'{seen} options of install')
    for part in PARTS:
        gs.check(re.search(rf'\b{part}\b', told), f'install knows the part {part}')


def check_ours(text):
    seen = 0
    for c in commands(text):
        m = re.match(r'(?:srun )?gpustarve ([a-z]+)(.*)', c)
        if m:
            done = gs.gpustarve(m.group(1), '--help')
            gs.equal(done.returncode, 0, f'{c}: --help')
            for option in re.findall(r'(--[a-z-]+)', m.group(2).split(' -- ')[0]):
                gs.check(option in done.stdout.decode(), f'{c}: {option}')
            seen += 1
    gs.check(seen >= 5, f'{seen} commands of ours')


def check_names(text):
    rows = re.findall(r'^\| ([A-Za-z ]+?) \| (?:the user|root|SlurmUser)', text, re.M)
    gs.equal(sorted(rows), sorted(HOOKS), 'a row for each hook')
    variables = read(gs.SOURCE, 'docs', 'OPERATIONS.md')
    for name in set(re.findall(r'\bGPUSTARVE(?:_[A-Z]+)*\b', text)):
        gs.check(f'`{name}`' in variables, f'the variable {name}')
    for name in re.findall(r'\]\(([\w.]+)\)', text):
        gs.check(os.path.exists(os.path.join(gs.SOURCE, 'docs', name)), f'the page {name}')
    for page in set(re.findall(r'(gpustarve-\w+)\(1\)', text)):
        gs.check(os.path.exists(os.path.join(gs.SOURCE, 'docs', page + '.md')), f'the page {page}')
    plugin = read(FOLDER, 'spank', 'plugin.c')
    gs.check('--gpustarve=off' in text and 'is_off' in plugin, 'the option of the plugin')


def check_installed():
    with gs.scratch() as where:
        done = gs.command(['cmake', '--install', gs.BUILD, '--prefix', where])
        gs.equal(done.returncode, 0, f'install: {done.stderr.decode()}')
        folder = os.path.join(where, 'libexec', 'gpustarve', 'slurm')
        for name in ('install', 'site.conf.example') + tuple(p for p in PARTS if p != 'spank'):
            gs.check(os.path.exists(os.path.join(folder, name)), f'{name} is installed')


page = read(gs.SOURCE, 'docs', 'SLURM.md')
check_install(page)
check_ours(page)
check_names(page)
check_installed()
gs.finish()
