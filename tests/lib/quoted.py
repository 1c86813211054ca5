#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/pages and the README quote of reports, and the runs that it is from: the program of each page as it is before
its change, on the simulated GPU, a model. Their summaries are kept, and `gpustarve report` tells them again: a quotation is
what the program says today (test_docs_quoted). After a change of what it says they are copied anew with

    tests/lib/quoted.py --update        and read in `git diff` before they are committed

and a page is played anew, its summary kept, with

    GS_KEEP=1 GS_ONLY=slow-storage tests/e2e/programs/test_programs_pages.py"""
import os
import re
import socket
import sys

import gs
import pages

FOLDER = os.path.join(gs.SOURCE, 'tests', 'data', 'quoted')
BLOCK = re.compile(r'^```(\w*)\n(.*?)^```$', re.M | re.S)
INDENTED = re.compile(r'(?:^      .*\n)+', re.M)
README = 'slow-storage'  # the page whose box it quotes
NOT_KEPT = 'From a play of 2026-11-28 whose record is not kept.'
ELSEWHERE = {  # quoted of other runs, and the words with which the page says so
    ('late-rank', 0): NOT_KEPT,
    ('many-launches', 0): 'From a play of 2026-11-28 on a machine that had much else to do',
    ('slow-samples', 0): NOT_KEPT,
    ('waiting-for-numbers', 0): NOT_KEPT,
    ('pageable-copies', 0): 'That is a real A100',
    ('many-tensors', 1): 'That was the program below with lists that lie ready',
}


def kept(name):
    return os.path.join(FOLDER, name + '.json')


def keep(name, run, where, python):
    """The run's summary, without the folders and the name of the machine that played it."""
    text = gs.gpustarve('report', run, '--format', 'json').stdout.decode()
    for here, there in ((where, '/srv/job'), (os.path.dirname(os.path.dirname(python)), '/srv/venv'), (gs.BUILD, '/srv/build'),
                        (gs.SOURCE, '/srv/gpustarve'), (f'"{socket.gethostname()}"', '"node1"')):
        text = text.replace(here, there)
    text = re.sub('^ +', '', text, flags=re.M)  # a third of the bytes
    os.makedirs(FOLDER, exist_ok=True)
    with open(kept(name), 'w', encoding='utf-8') as f:
        f.write(text)


def told(name):
    """The report of a kept run."""
    done = gs.gpustarve('report', kept(name))
    gs.equal(done.returncode, 0, f'{name}: {done.stderr.decode()}')
    return done.stdout.decode()


def parts(text):
    """What a quotation or a report is made of, each a paragraph that begins with two blanks."""
    return re.findall(r'^  \S.*\n(?:^   +.*\n)*', text, re.M)


def head(part):
    """By what a part is found again: "1.", "next:"."""
    return part.split()[0]


def today(name, text):
    """The quotation as the program says it today."""
    report = {}
    for part in parts(told(name)):
        report.setdefault(head(part), part)
    return ''.join(report[head(part)] for part in parts(text))


def path(name):
    return os.path.join(pages.FOLDER, name + '.md')


def page(name):
    with open(path(name), encoding='utf-8') as f:
        return f.read()


def quotations():
    """Of each: the page whose run it is of, its number there or the README's name, the text."""
    for name in pages.names():
        for n, text in enumerate(text for language, text in BLOCK.findall(page(name)) if not language):
            yield name, n, text
    with open(os.path.join(gs.SOURCE, 'README.md'), encoding='utf-8') as f:
        for block in INDENTED.findall(f.read()):
            if '[input.' in block:
                yield README, 'README.md', re.sub('^    ', '', block, flags=re.M)


def put(file, old, new):
    with open(file, encoding='utf-8') as f:
        text = f.read()
    with open(file, 'w', encoding='utf-8') as f:
        f.write(text.replace(old, new))


def main():
    if sys.argv[1:] != ['--update']:
        raise SystemExit('usage: tests/lib/quoted.py --update')
    for name, n, text in list(quotations()):
        new = text if (name, n) in ELSEWHERE else today(name, text)
        if new == text:
            continue
        print(f'{name}, {n}: changed')
        if n == 'README.md':
            put(os.path.join(gs.SOURCE, n), *(re.sub('^', '    ', t.rstrip('\n'), flags=re.M) for t in (text, new)))
        else:
            put(path(name), text, new)


if __name__ == '__main__':
    main()
