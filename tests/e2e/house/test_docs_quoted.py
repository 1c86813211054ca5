#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What docs/pages and the README quote of a report stands in the report of the run that is kept for the page, word by word
(tests/lib/quoted.py). What is quoted of another run says so."""
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import pages
import quoted


def expect(name, n, text):
    said = quoted.today(name, text)
    gs.equal(text, said, f'{name}, {n}: not what the report says; tests/lib/quoted.py --update')


gs.equal(quoted.parts('  1. a\n     b\n  next: c\n'), ['  1. a\n     b\n', '  next: c\n'], 'parts of a report')
of = []
for name, n, text in quoted.quotations():
    if (name, n) in quoted.ELSEWHERE:
        gs.check(quoted.ELSEWHERE[name, n] in quoted.page(name), f'{name}: says of which run it quotes')
        continue
    of.append(name)
    expect(name, n, text)
gs.check(set(of) >= set(pages.names()) - {name for name, _ in quoted.ELSEWHERE} and of[-1] == quoted.README, f'quoted: {of}')
gs.finish()
