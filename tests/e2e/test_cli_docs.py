#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The manual and the programs say the same: every option of --help stands in its man page and the
other way round, and every environment variable of the sources is listed by doctor and OPERATIONS.md."""
import os
import re

import gs

DOCS = os.path.join(gs.SOURCE, 'docs')
OPTION = re.compile(r'(?<![\w-])(--?[a-z][a-z-]*)')
NOT_OURS = {'--nproc-per-node'}
TESTS_ONLY = {'GPUSTARVE_BUILD', 'GPUSTARVE_SOURCE', 'GPUSTARVE_TEST_SEED', 'GPUSTARVE_VERSION',
              'GPUSTARVE_WERROR', 'GPUSTARVE_SANITIZE', 'GPUSTARVE_LIBDIR'}


def read(*parts):
    with open(os.path.join(*parts), errors='replace') as f:
        return f.read()


for name in 'run', 'report', 'verify', 'export', 'dump', 'prices', 'doctor':
    page = read(DOCS, f'gpustarve-{name}.md')
    shown = gs.gpustarve(name, '--help').stdout.decode()
    told = set(OPTION.findall(shown)) - NOT_OURS
    written = set(OPTION.findall(page)) - NOT_OURS
    gs.equal(sorted(told - written), [], f'{name}: options of --help without a word in the manual')
    # The manual may name options of other commands in running text, not as entries of its own.
    entries = set(OPTION.findall('\n'.join(l for l in page.splitlines() if l.startswith('**-'))))
    accepted = {o for o in entries if b'unknown option' not in gs.gpustarve(name, o).stderr}
    gs.equal(sorted(entries - accepted), [], f'{name}: options of the manual that are unknown')
    gs.check(f'gpustarve {name}' in shown.splitlines()[0], f'{name}: usage')

overview = gs.gpustarve('--help').stdout.decode()
for name in re.findall(r'^  ([a-z]+) ', overview, re.M):
    if name != 'gpustarve':
        gs.check(f'**{name}**' in read(DOCS, 'gpustarve.md'), f'{name} stands in gpustarve.md')

doctor = gs.gpustarve('doctor').stdout.decode()
operations = read(DOCS, 'OPERATIONS.md')
used = set()
for part in 'libprof', 'collector', 'viewer':
    for folder, _, files in os.walk(os.path.join(gs.SOURCE, part)):
        for file in files:
            if file.endswith('.c') and file != 'envtable.c':
                used |= set(re.findall(r'"(GPUSTARVE(?:_[A-Z0-9_]+)?)"', read(folder, file)))
for variable in sorted(used - TESTS_ONLY):
    gs.check(re.search(rf'^  {variable} ', doctor, re.M), f'{variable} is listed by doctor')
    gs.check(f'| `{variable}` |' in operations, f'{variable} stands in OPERATIONS.md')
for variable in re.findall(r'^  (GPUSTARVE\w*) ', doctor, re.M):
    gs.check(variable in used, f'{variable} of doctor is read somewhere')
gs.finish()
