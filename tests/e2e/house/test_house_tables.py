#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""The tables of facts/ (*.def) and what repeats them: the enums of docs/summary.schema.json are the rows, in
their order; docs/CAUSES.md tells of each class in the chapter of its group, and of each verdict; report.css has
each colour. Completions have the classes from the commands' options (test_completion). Waits are those of the format; each Python names what the others name, and OPERATIONS.md the
oldest and the newest. (What else rows lack, the compiler says: facts/class.c.)

    test_house_tables.py --update        writes these lists anew, after a row has come or gone"""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

CLASS = re.compile(r'^CLASS\((\w+), "([^"]+)", (\w+), ([\w |]+), (\w+),$', re.M)
GROUP = re.compile(r'^GROUP\((\w+), \w+, "([^"]+)"\)$', re.M)
COLOUR = re.compile(r'^COLOUR\((\w+), "([^"]+)", "[^"]+"\)$', re.M)
ENUMS = {  # whose enum in the schema: the file and the macro that it lists
    'class': ('classes.def', 'CLASS'), 'verdict': ('verdicts.def', 'VERDICT'),
    'severity': ('verdicts.def', 'SEVERITY'), 'confidence': ('verdicts.def', 'CONFIDENCE'),
    'propertyNames': ('copies.def', 'COPY'), 'did': ('picture.def', 'PICTURE'),
    'work_kind': ('kinds.def', 'KIND'), 'work_precision': ('kinds.def', 'PRECISION'),
}
SCHEMA = 'docs/summary.schema.json'


def read(path):
    with open(os.path.join(gs.SOURCE, path), encoding='utf-8') as f:
        return f.read()


def rows(pattern, text, macro):
    """What @pattern finds; a row that is written otherwise is no row to others either."""
    found, wrong = pattern.findall(text), []
    if len(found) != len(re.findall(rf'^{macro}\(', text, re.M)):
        wrong.append(f'rows of {macro} that are written otherwise than the others')
    return found, wrong


def check_classes(text):
    """The rows by themselves."""
    classes, wrong = rows(CLASS, text, 'CLASS')
    groups, more = rows(GROUP, text, 'GROUP')
    colours, others = rows(COLOUR, text, 'COLOUR')
    wrong += more + others
    for symbol, name, group, _, colour in classes:
        if symbol != name.upper().replace('.', '_'):
            wrong.append(f'{symbol} is called {name}')
        if colour not in [c for c, _ in colours]:
            wrong.append(f'{name} has no colour')
    order = [group for _, _, group, _, _ in classes]
    if sorted(order, key=[g for g, _ in groups].index) != order:
        wrong.append('classes of a group do not stand together, or not in the order of the groups')
    return wrong


def names_of(macro, text):
    return re.findall(rf'^{macro}\(\w+, (?:"([^"]+)"|NULL)', text, re.M)


def enum_of(owner, schema):
    """The one enum that @owner has: where its list stands, with what stands before each value."""
    found = list(re.finditer(rf'"{owner}": {{\n +"enum": \[\n( +)(.*?)\n +\]', schema, re.S))
    return found[0] if len(found) == 1 else None


def listed(names, indent):
    return f',\n{indent}'.join(f'"{n}"' if n else 'null' for n in names)


def check_schema(schema, tables):
    wrong = []
    for owner, (file, macro) in ENUMS.items():
        names, found = names_of(macro, tables[file]), enum_of(owner, schema)
        if not names or not found or found[2] != listed(names, found[1]):
            wrong.append(f'{SCHEMA}: the enum of {owner} is not facts/{file}: run test_house_tables.py --update')
    return wrong


def write(file, text):
    with open(os.path.join(gs.SOURCE, file), 'w', encoding='utf-8') as f:
        f.write(text)


def update():
    schema = read(SCHEMA)
    for owner, (file, macro) in ENUMS.items():
        found = enum_of(owner, schema)
        schema = schema[:found.start(2)] + listed(names_of(macro, read('facts/' + file)), found[1]) + schema[found.end(2):]
    write(SCHEMA, schema)


def chapters(text):
    """{heading: [what its tables' rows begin with]} of CAUSES.md."""
    parts = re.split(r'^## ', text, flags=re.M)
    return {p.split('\n', 1)[0]: re.findall(r'^\| `([^`]+)` \|', p, re.M) for p in parts}


def check_causes(text, tables):
    told, want = chapters(text), {}
    chapter_of = dict(GROUP.findall(tables['classes.def']))
    for _, name, group, _, _ in CLASS.findall(tables['classes.def']):
        want.setdefault(chapter_of[group], []).append(name)
    want['The diagnosis'] = names_of('VERDICT', tables['verdicts.def'])
    return [f'docs/CAUSES.md, "{c}": {sorted(set(names) ^ set(told.get(c, [])))}' for c, names in want.items()
            if sorted(names) != sorted(told.get(c, []))]


def check_colours(css, tables):
    return [f'report.css has no {what}' for _, name in COLOUR.findall(tables['classes.def'])
            for what in (f'--{name}:', f'.f-{name} {{') if what not in css]


def check_waits(rows_of, header):
    told = re.findall(r'^WAIT\((\w+), "', rows_of, re.M)
    enum = re.findall(r'\bWIRE_WAIT_(\w+)\s*=', header)
    return [] if told and told == enum else [f'waits.def: {sorted(set(told) ^ set(enum)) or "another order"}']


def check_pythons(rows_of, operations):
    """What each row names, sub-structures apart: all that are given by offsets the same, and all others."""
    found = re.findall(r'^FACTS_PYTHON_(TABLE|TELLS|OBJECTS)\((\d+),(.*?)\)$', rows_of, re.M | re.S)
    wrong, first = [], {}
    for kind, minor, text in found:
        names = {n for n in re.findall(r'\.(\w+) =', text)} - {'owner_shim', 'shim_ends'}  # 0 where it has none
        if names != first.setdefault(kind, names) or len(names) < 10:
            wrong.append(f'pythons.def, 3.{minor}: {sorted(names ^ first[kind])}')
    minors = [int(minor) for kind, minor, _ in found if kind != 'OBJECTS']
    objects = [int(minor) for kind, minor, _ in found if kind == 'OBJECTS']
    if minors != list(range(minors[0], minors[0] + len(minors))) or objects != minors:
        wrong.append(f'pythons.def: rows of {minors}, of objects {objects}')
    if f'a Python older than 3.{minors[0]}, newer than 3.{minors[-1]},' not in operations:
        wrong.append('docs/OPERATIONS.md: other Pythons than facts/pythons.def')
    return wrong


def check_others_can_fail(waits, header, pythons, operations):
    for broken in (waits.replace('WAIT(GIL,', '#(GIL,'), waits.replace('WAIT(READ,', 'WAIT(READS,')):
        gs.check(len(check_waits(broken, header)) == 1, 'waits without a row')
    for broken in (re.sub(r', \.ident = \d+', '', pythons, count=1), re.sub(r'_TELLS\(1', '_TELLS(2', pythons, count=1),
                   re.sub(r'_OBJECTS\(14', '_OBJECTS(15', pythons), re.sub(r', \.ring = 40', '', pythons, count=1)):
        gs.check(broken != pythons and check_pythons(broken, operations), 'a Python that lacks something')
    broken = re.sub(r'newer than 3\.\d+', 'newer than 3.0', operations)
    gs.check(len(check_pythons(pythons, broken)) == 1, 'other Pythons')


def check_others():
    texts = [read(f) for f in ('facts/waits.def', 'wire/evidence.h', 'facts/pythons.def', 'docs/OPERATIONS.md')]
    check_others_can_fail(*texts)
    for wrong in check_waits(*texts[:2]) + check_pythons(*texts[2:]):
        gs.check(False, wrong)


def check_can_fail(tables, schema, causes, css):
    """Each check sees what it is for."""
    text = tables['classes.def']
    for what, broken in (('another symbol', text.replace('CLASS(HOST_GC,', 'CLASS(HOST_GCS,')),
                         ('another colour', text.replace('"host.gc", HOST, FACTS_WASTE, HOST,', '"host.gc", HOST, FACTS_WASTE, GREEN,')),
                         ('another order', text.replace('"host.gc", HOST,', '"host.gc", INPUT,')),
                         ('another form', text.replace('CLASS(HOST_GC, ', 'CLASS(HOST_GC,  '))):
        gs.check(text != broken and len(check_classes(broken)) == 1, f'a row with {what}: {check_classes(broken)}')
    for gone, lists in ('host.gc', 1), ('busy', 2), ('notice', 1), ('low', 1), ('d2d', 1), ('runnable', 1), ('matmul', 1), ('tf32', 1):
        broken = re.sub(rf'\n +"{gone}",(?=\n)', '', schema)
        gs.equal(len(check_schema(broken, tables)), lists, f'a schema without {gone}')
    for gone in '| `host.gc` |', '| `busy` |':
        gs.check(len(check_causes(causes.replace(gone, '| |'), tables)) == 1, f'CAUSES.md without {gone}')
    for gone in '--host:', '.f-host {':
        gs.check(len(check_colours(css.replace(gone, ''), tables)) == 1, f'report.css without {gone}')


def main():
    tables = {f: read('facts/' + f) for f in ('classes.def', 'copies.def', 'kinds.def', 'picture.def', 'verdicts.def')}
    schema, causes, css = read(SCHEMA), read('docs/CAUSES.md'), read('viewer/report/assets/report.css')
    check_can_fail(tables, schema, causes, css)
    for wrong in (check_classes(tables['classes.def']) + check_schema(schema, tables) + check_causes(causes, tables) +
                  check_colours(css, tables)):
        gs.check(False, wrong)
    check_others()
    gs.finish()


if sys.argv[1:] == ['--update']:
    update()
else:
    main()
