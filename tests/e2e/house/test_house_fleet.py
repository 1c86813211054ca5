#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""facts/fleet_names.def and what repeats it: the digest's and the fleet's schema have each name, in the order of
the rows; the help and the man pages tell them; what is shown by name is closed.

    test_house_fleet.py --update        writes schemas and man pages anew, after a name has come or gone"""
import json
import os
import re
import sys
import textwrap

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleets
import gs

DIGEST, FLEET = 'docs/digest.schema.json', 'docs/fleet.schema.json'
BEHIND = 'job'      # the member of the digest that stands behind the names
FIRST = 'gpu'       # what else a table may be by, behind the names
TOLD = {  # where they are listed, what stands before and behind the list there
    'docs/gpustarve-digest.md': ('--label team=vision`):', f'`{BEHIND}`'),
    'docs/gpustarve-fleet.md': ('One table instead of the overview:', f'`{FIRST}`'),
    'viewer/cmd/fleet.c': ('one table:', f'{FIRST}, model'),
}
MANUALS = [p for p in TOLD if p.endswith('.md')]


def read(path):
    with open(os.path.join(gs.SOURCE, path), encoding='utf-8') as f:
        return f.read()


def renamed(members, names, behind, kind):
    """@members with exactly @names before @behind; what kind those that are new are."""
    first = next(n for n in members if n in names)
    before = list(members)[:list(members).index(first)]
    after = list(members)[list(members).index(behind):]
    return {n: members.get(n, kind) for n in [*before, *names, *after]}


def digest_schema(text, names):
    schema = json.loads(text)
    schema['properties'] = renamed(schema['properties'], names, BEHIND, schema['properties']['team'])
    return json.dumps(schema, indent=1, ensure_ascii=False) + '\n'


def fleet_schema(text, names):
    schema = json.loads(text)
    by = schema['properties']['by']
    by['properties'] = renamed(by['properties'], names, FIRST, by['properties']['team'])
    by['required'] = [*names, *by['required'][by['required'].index(FIRST):]]
    return json.dumps(schema, indent=1, ensure_ascii=False) + '\n'


SCHEMAS = {DIGEST: digest_schema, FLEET: fleet_schema}


def told(path, text):
    """The names that @text lists."""
    before, behind = TOLD[path]
    start = text.find(before) + len(before)
    end = text.find(behind, start)
    words = re.findall(r'[a-z]\w*', text[start:end].replace('\\n', ' '))
    return words if start >= len(before) and end > 0 else []


def check(texts, names):
    wrong = [f'{p}: not the names of facts/fleet_names.def: run test_house_fleet.py --update'
             for p, make in SCHEMAS.items() if make(texts[p], names) != texts[p]]
    return wrong + [f'{p}: lists {told(p, texts[p])}, facts/fleet_names.def {names}' for p in TOLD
                    if told(p, texts[p]) != names]


def check_can_fail(texts, names):
    for what in [*names, 'unheard'], names[:-1], [*names[1:], names[0]]:
        gs.check(len(check(texts, what)) == len(texts), f'{what} is not what is told')


def manual(path, text, names):
    """@text with the list of @names, its paragraph filled anew."""
    before, behind = TOLD[path]
    start = text.index(before) + len(before)
    text = text[:start] + ' ' + ', '.join(f'`{n}`' for n in names) + ', ' + text[text.index(behind, start):]
    first, last = text.rindex('\n\n', 0, start) + 2, text.index('\n\n', start)
    lead = '    ' if '\n:   ' in text[first:last] else ''
    head, _, body = text[first:last].rpartition('\n:   ') if lead else ('', '', text[first:last])
    filled = textwrap.fill(' '.join(body.split()), 104, initial_indent=':   ' if lead else '', subsequent_indent=lead,
                           break_long_words=False, break_on_hyphens=False)
    return text[:first] + (head + '\n' if lead else '') + filled + text[last:]


names = fleets.names()
if sys.argv[1:] == ['--update']:
    for path in MANUALS:
        if told(path, read(path)) != names:
            text = manual(path, read(path), names)
            with open(os.path.join(gs.SOURCE, path), 'w', encoding='utf-8') as f:
                f.write(text)
    for path, make in SCHEMAS.items():
        with open(os.path.join(gs.SOURCE, path), encoding='utf-8') as f:
            text = make(f.read(), names)
        with open(os.path.join(gs.SOURCE, path), 'w', encoding='utf-8') as f:
            f.write(text)
    sys.exit()
texts = {p: read(p) for p in (*SCHEMAS, *TOLD)}
gs.check(len(names) > 6, f'rows of NAME: {names}')
check_can_fail(texts, names)
for wrong in check(texts, names):
    gs.check(False, wrong)
gs.finish()
