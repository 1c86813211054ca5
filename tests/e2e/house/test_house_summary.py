#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""The tables of viewer/summary/fields.c beside docs/summary.schema.json: every row is a member of its object
there, of the type that its kind writes; and no key stands in two tables of an object."""
import json
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

KINDS = {
    'TEXT': ['string', 'null'], 'NAME': 'string', 'BOOL': 'boolean', 'COUNT': 'integer', 'SMALL': 'integer',
    'NUMBER': 'integer', 'STAMP': 'integer', 'SPAN': 'integer', 'TOTAL': 'integer', 'COUNT_KNOWN': ['integer', 'null'],
    'SPAN_KNOWN': ['integer', 'null'], 'TOTAL_KNOWN': ['integer', 'null'], 'PPM_KNOWN': ['number', 'null'],
}
WHERE = {  # the object of the schema that a table's members are of; [] its items, * its other members
    'gpu_head': 'gpus/[]', 'gpu_memory': 'gpus/[]', 'gpu_rest': 'gpus/[]', 'copies': 'copies/*',
    'quality_head': 'quality', 'quality_rest': 'quality', 'evidence': 'quality/evidence',
    'metered': 'quality/metered',
    'recording': 'quality/recording',
    'unrecorded': 'quality/unrecorded',
    'units': 'ledger/units', 'saves': 'saves',
    'estimated': 'ledger/estimated', 'estimated_part': '$defs/estimated_part',
    'vacancy': 'ledger/no_process',
    'gap': 'longest_gaps/[]', 'gap_rest': 'longest_gaps/[]', 'settings': 'loader/settings/[]',
    'need_workers': '$defs/need', 'need_times': '$defs/need', 'need_cores': '$defs/need', 'bytes': 'loader',
    'rank_counts': 'ranks/rows/[]', 'clock': 'ranks/clocks/[]', 'group': 'ranks/groups/[]', 'ranks': 'ranks',
}


def read(path):
    with open(os.path.join(gs.SOURCE, path), encoding='utf-8') as f:
        return f.read()


def tables(text):
    """{table: {key: kind}}; rows that are written otherwise are none."""
    out = {}
    for name, body in re.findall(r'^const struct summary_field summary_(\w+)\[\] = \{\n(.*?)\n\};', text, re.M | re.S):
        rows = re.findall(r'^\t(?:F\((\w+), (\w+)\)|AS\((\w+), [\w.[\]]+, "(\w+)"\)),$', body, re.M)
        gs.equal(len(rows) + 1, len(body.split('\n')), f'rows of {name} that read as such, and the end')
        out[name] = {b or d: a or c for a, b, c, d in rows}
    return out


def resolved(schema, node):
    while '$ref' in node:
        name = node['$ref'].split('/')
        node = schema[name[1]][name[2]]
    return node


def members(schema, path):
    node = schema
    if path.startswith('$defs/'):
        return schema['$defs'][path[6:]]['properties']
    for step in path.split('/'):
        node = resolved(schema, node)
        node = node['items'] if step == '[]' else node['additionalProperties'] if step == '*' else node['properties'][step]
    return resolved(schema, node)['properties']


def check(found, schema):
    wrong, seen = [], set()
    for table, rows in found.items():
        there = members(schema, WHERE[table])
        for key, kind in rows.items():
            if (WHERE[table], key) in seen:
                wrong.append(f'{table}: {key} stands in another table of its object')
            seen.add((WHERE[table], key))
            told = resolved(schema, there.get(key, {})).get('type')
            if told != KINDS[kind]:
                wrong.append(f'{table}: {key} is {kind}, {KINDS[kind]}, and the schema says {told}')
    return wrong


def check_can_fail(found, schema):
    for table, key, kind in ('gpu_head', 'unheard', 'TEXT'), ('gpu_head', 'uuid', 'NAME'), ('gpu_rest', 'uuid', 'TEXT'), \
            ('need_times', 'step_ns', 'TOTAL_KNOWN'), ('copies', 'ns', 'TEXT'):
        broken = {t: dict(rows, **{key: kind}) if t == table else rows for t, rows in found.items()}
        gs.equal(len(check(broken, schema)), 1, f'{table}: {key} as {kind} is seen')


found = tables(read('viewer/summary/fields.c'))
schema = json.loads(read('docs/summary.schema.json'))
gs.equal(sorted(found), sorted(WHERE), 'tables of fields.c')
check_can_fail(found, schema)
for wrong in check(found, schema):
    gs.check(False, wrong)
gs.finish()
