#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""Comments that name a rule or a section name one that readers have: `LEDGER rule 7` and `LEDGER 5` are
headings of docs/LEDGER.md, and a rule or section without a document's name stands nowhere."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

FOLDERS = ('base', 'facts', 'wire', 'live', 'libprof', 'collector', 'viewer', 'scripts', 'tests', 'docs')
ENDS = ('.c', '.h', '.def', '.py', '.proto', '.json', '.js', '.mjs', '.md')
SKIP = os.path.basename(__file__), 'LEDGER.md'
# "LEDGER 5, loss", "LEDGER.md 2", "LEDGER rules 7 to 11"; a number with a unit is a constant of the ledger
NAMED = re.compile(r"LEDGER(?:\.md)?(?:'s)?,? (rules? )?(\d+)\b(?: to (\d+))?(?! us)")
BARE = re.compile(r'(?<!LEDGER )(?<!\w)[Rr]ules? (\d+)\b|(?<!\w)[Ss]ection (\d+)\b')
# documents that have sections of their own
OTHERS = re.compile(r'FORMAT\.md,? section|DWARF 5, section')


def headings(text):
    rules = {int(n) for n in re.findall(r'^### Rule (\d+):', text, re.M)}
    return rules, {int(n) for n in re.findall(r'^## (\d+)\.', text, re.M)}


def wrong_in(text, rules, sections, bare):
    """What is wrong in @text, and how many names there are. @bare: rules and sections need a document's name."""
    found, seen = [], 0
    for m in NAMED.finditer(text):
        known = rules if m[1] else sections
        for n in range(int(m[2]), int(m[3] or m[2]) + 1):
            seen += 1
            if n not in known:
                found.append(f'{m[0]!r}: no such heading in docs/LEDGER.md')
    if bare:
        rest = OTHERS.sub('', NAMED.sub('', text))
        found += [f'{m[0]!r}: of which document?' for m in BARE.finditer(rest)]
    return found, seen


def files():
    for top in FOLDERS:
        for folder, folders, names in os.walk(os.path.join(gs.SOURCE, top)):
            folders[:] = [f for f in folders if f not in ('node_modules', 'data', '__pycache__')]
            yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(ENDS) and n not in SKIP)


def check_can_fail(rules, sections):
    for text, bad in (('/* LEDGER rule 7 */', 0), ('/* LEDGER 5, loss */', 0), ('# LEDGER.md 2; equals', 0), ('LEDGER 10 us', 0),
                      ('/* LEDGER rules 7 to 11. */', 0), ('/* LEDGER rule 13 */', 1), ('/* LEDGER 14 */', 1), ('/* Rule 10, within */', 1),
                      ('(LEDGER rules 10 to 13)', 1), (' * ledger, section 5, lead', 1), (' * (docs/FORMAT.md, section 11).', 0),
                      (' * DWARF 5, section 6.4', 0)):
        got = wrong_in(text, rules, sections, True)[0]
        gs.check(len(got) == bad, f'{text}: {got}')


def main():
    with open(os.path.join(gs.SOURCE, 'docs', 'LEDGER.md'), encoding='utf-8') as f:
        rules, sections = headings(f.read())
    gs.equal((sorted(rules), sorted(sections)), (list(range(13)), list(range(1, 14))), 'headings of docs/LEDGER.md')
    check_can_fail(rules, sections)
    seen = 0
    for path in files():
        with open(path, encoding='utf-8', errors='replace') as f:
            found, n = wrong_in(f.read(), rules, sections, path.endswith(('.c', '.h', '.def')))
        seen += n
        for wrong in found:
            gs.check(False, f'{os.path.relpath(path, gs.SOURCE)}: {wrong}')
    gs.check(seen > 15, f'{seen} names of rules and sections')
    gs.finish()


main()
