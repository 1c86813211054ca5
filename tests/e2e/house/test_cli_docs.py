#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The manual and the programs say the same: an option stands in the program, in --help and in its
man page or in none of them, with the same argument and the same default; so do operands, commands
and formats. Every environment variable of the sources is listed by doctor and OPERATIONS.md, with
the same default."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import manual

TESTS_ONLY = {'GPUSTARVE_BUILD', 'GPUSTARVE_SOURCE', 'GPUSTARVE_TEST_SEED', 'GPUSTARVE_VERSION',
              'GPUSTARVE_WERROR', 'GPUSTARVE_SANITIZE', 'GPUSTARVE_LIBDIR'}
# What the webhook has Kubernetes expand; no program reads them.
EXPANDED = {'GPUSTARVE_LD_PRELOAD', 'GPUSTARVE_POD_NAME', 'GPUSTARVE_POD_NAMESPACE', 'GPUSTARVE_POD_UID'}
COMMON = {'-h', '--help'}  # of every command; gpustarve(1) has them


def check_command(name):
    real, told, written = manual.of_source(name), manual.of_help(name), manual.of_page(name)
    reserved = {o for o, said in written.items() if said.text.startswith('Reserved')}
    gs.check(len(real) >= 1, f'{name}: its table of options is found')
    gs.equal(sorted(set(real) - COMMON - reserved), sorted(set(told) - COMMON),
             f'{name}: options of the program and of --help')
    gs.equal(sorted(set(real) - COMMON), sorted(set(written) - COMMON),
             f'{name}: options of the program and of the manual')
    for option, takes in real.items():
        for said, where in (told.get(option), '--help'), (written.get(option), 'the manual'):
            if said:
                gs.equal(said.argument is not None, takes, f'{name}: argument of {option} in {where}')
        if option in told and option in written:
            gs.equal(written[option].argument, told[option].argument, f'{name}: argument of {option}')
            gs.equal(sorted(manual.defaults(written[option].text)),
                     sorted(manual.defaults(told[option].text)), f'{name}: default of {option}')
    usage = manual.help_text(name).split('\n\n')[0]
    synopsis = manual.read(manual.page_path(name)).split('# SYNOPSIS')[1].split('# DESCRIPTION')[0]
    gs.equal(manual.operands(synopsis.replace('*', '')), manual.operands(usage), f'{name}: operands')
    program = 'gpustarve-collector' if name == 'collector' else f'gpustarve {name}'
    gs.check(f'usage: {program}' in usage and f'**{program}**' in synopsis, f'{name}: usage')
    return len(real)


def check_overview():
    names, overview = manual.commands(), manual.read(manual.page_path(None))
    gs.check(len(names) >= 8, f'commands: {names}')
    listed = overview.split('# COMMANDS')[1].split('\n# ')[0]
    gs.equal(re.findall(r'^\*\*([a-z]+)\*\*$', listed, re.M), names, 'the commands of gpustarve.md')
    see = overview.split('# SEE ALSO')[1]
    pages = sorted(f[:-3] for f in os.listdir(manual.DOCS) if re.match(r'gpustarve-.*\.md$', f))
    gs.equal(pages, sorted(f'gpustarve-{n}' for n in names + ['collector']), 'a page per command')
    for page in pages:
        gs.check(f'**{page}**(1)' in see, f'gpustarve.md sends to {page}')
    export = manual.read(manual.page_path('export')).split('# FORMATS')[1].split('# OPTIONS')[0]
    gs.equal(re.findall(r'^\*\*([a-z]+)\*\*$', export, re.M), manual.formats(), 'formats of export')
    return names


def check_environment():
    doctor = gs.gpustarve('doctor', env=gs.environment(PATH='/usr/bin:/bin')).stdout.decode()
    rows = dict(re.findall(r'^\| `([A-Z_]+)` \| (.*?) \|', manual.read(manual.DOCS, 'OPERATIONS.md'), re.M))
    table = dict(re.findall(r'\{ "([A-Z_]+)", "([^"]*)",',
                            manual.read(gs.SOURCE, 'viewer', 'core', 'envtable.c')))
    used = set()
    for part in 'libprof', 'collector', 'viewer':
        for folder, _, files in os.walk(os.path.join(gs.SOURCE, part)):
            for file in files:
                if file.endswith('.c') and file != 'envtable.c':
                    used |= set(re.findall(r'"(GPUSTARVE(?:_[A-Z0-9_]+)?|NO_COLOR)"',
                                           manual.read(folder, file)))
    gs.equal(sorted(table), sorted(used - TESTS_ONLY - EXPANDED), 'the table and the variables that are read')
    gs.equal(rows, table, 'OPERATIONS.md and the table: variables with their defaults')
    for variable in table:
        gs.check(re.search(rf'^  {variable} ', doctor, re.M), f'{variable} is listed by doctor')


# The parsers themselves: what they would overlook, this test could not refuse.
gs.equal(manual.defaults('`text` (default), `json` or `html`'), {'text'}, 'a default among choices')
gs.equal(manual.defaults('Default: `A_B`, else `./x`.'), {'./x'}, 'a default after a variable')
gs.equal(manual.defaults('how much (1)'), manual.defaults('How much. Default: 1. 0: no limit.'), 'numbers')
gs.equal(manual.operands('prices show GPU [--price-model M] [-o FILE]'), {'GPU'}, 'operands')

options = sum(check_command(name) for name in check_overview() + ['collector'])
check_environment()
print(f'{options} options')
gs.finish()
