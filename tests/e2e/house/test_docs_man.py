#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The man pages: made of the manual's markdown at build, installed into share/man/man1, found by
name there, without a complaint of mandoc, and with every word of the markdown in them."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import manual

MADE = os.path.join(gs.BUILD, 'man', 'man1')
pages = sorted(glob.glob(os.path.join(MADE, '*.1')))
if not pages:
    gs.skip('no lowdown that fits: no man pages were built')

# A man page with no date is reproducible; lowdown sets paragraphs that mandoc would leave out.
HARMLESS = ('missing date', 'skipping paragraph macro')


def words(text):
    """Words as a reader sees them; where a line broke does not matter."""
    return set(re.findall(r'[\w$./{}=:<>"|*+@%-]*\w', text))


def rendered(page):
    env = gs.environment(MANWIDTH='1000', LC_ALL='C.UTF-8')
    if shutil.which('mandoc'):
        done = gs.command(['mandoc', '-Tutf8', '-Owidth=1000', page], env=env)
    elif shutil.which('man'):
        done = gs.command(['man', '-l', page], env=env)
    else:
        gs.skip('neither mandoc nor man is here to show the pages')
    gs.equal(done.returncode, 0, f'{page}: {done.stderr.decode()}')
    return re.sub('.\b', '', done.stdout.decode())


def markdown(page):
    text = manual.read(manual.DOCS, os.path.basename(page)[:-2] + '.md').split('\n', 1)[1]
    text = re.sub(r'(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)', '', text)  # emphasis; stars of code stay
    return re.sub(r'\*\*|`', '', text)


def check_page(page):
    name = os.path.basename(page)
    with open(page, encoding='utf-8') as f:
        head = f.read(400)
    gs.check(f'.TH "{name[:-2].upper()}" "1"' in head, f'{name}: its title: {head[:120]!r}')
    shown = re.sub(r'[*\s]+', ' ', rendered(page))
    lost = [w for w in words(markdown(page)) if w.strip('*') not in shown]
    gs.equal(sorted(lost)[:9], [], f'{name}: words of the markdown that the page has lost')


def check_lint():
    if not shutil.which('mandoc'):
        gs.left_out('no mandoc: what it says of the pages')
        return
    done = gs.command(['mandoc', '-Tlint', '-W', 'warning', *pages])
    said = [l for l in done.stdout.decode().splitlines() if not any(h in l for h in HARMLESS)]
    gs.equal(said[:5], [], 'mandoc -Tlint')
    bad = subprocess.run(['mandoc', '-Tlint', '-W', 'warning'], input=b'.TH A 1 x\n.SH NAME\n\\fQx\n.XY\n',
                         stdout=subprocess.PIPE)
    gs.check(b'WARNING' in bad.stdout or b'ERROR' in bad.stdout, 'mandoc complains where it should')


def check_installed():
    with gs.scratch() as where:
        done = gs.command(['cmake', '--install', gs.BUILD, '--prefix', where])
        gs.equal(done.returncode, 0, f'cmake --install: {done.stderr.decode()}')
        man = os.path.join(where, 'share', 'man')
        gs.equal(sorted(os.listdir(os.path.join(man, 'man1'))),
                 sorted(os.path.basename(p) for p in pages),
                 'pages in share/man/man1')
        if shutil.which('man') and gs.command(['man', '--version']).stdout.startswith(b'man '):
            for name in 'gpustarve', 'gpustarve-run':
                found = gs.command(['man', '-M', man, '-w', name])
                gs.check(found.stdout.decode().strip().endswith(f'/man1/{name}.1'), f'man -w {name}: {found}')


gs.equal(sorted(os.path.basename(p)[:-2] for p in pages),
         sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(manual.DOCS, 'gpustarve*.md'))),
         'a man page for each page of the manual')
for page in pages:
    check_page(page)
check_lint()
check_installed()
gs.finish()
