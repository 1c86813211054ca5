# SPDX-License-Identifier: Apache-2.0
"""The schema of summary.json: ours (docs/summary.schema.json), the agreed one that it extends, and
ours closed, in which a member that no schema speaks of is an error."""
import copy
import json
import os

import gs

OURS = os.path.join(gs.SOURCE, 'docs', 'summary.schema.json')
AGREED = os.path.join(gs.SHARED, 'schema', 'summary.schema.json')


def load(path):
    """The $id is a name and no address; the library would look references up there."""
    with open(path, encoding='utf-8') as f:
        return {k: v for k, v in json.load(f).items() if k != '$id'}


def ours():
    return load(OURS)


def agreed():
    """None where the agreed one is not beside the tree."""
    return load(AGREED) if os.path.exists(AGREED) else None


def widened(agreed_, ours_):
    """The agreed one with our words where it lists some: a class may come after it was agreed upon (weaker()
    sees to it that none goes)."""
    out = copy.deepcopy(agreed_)
    for name, node in out['$defs'].items():
        if 'enum' in node:
            node['enum'] = ours_['$defs'][name]['enum']
    return out


def close(node):
    """A copy in which an object that names its properties may have no others."""
    if isinstance(node, list):
        return [close(n) for n in node]
    if not isinstance(node, dict):
        return node
    out = {k: close(v) for k, v in node.items()}
    if isinstance(node.get('properties'), dict) and 'additionalProperties' not in node:
        out['additionalProperties'] = False
    return out


def weaker(ours_, agreed_, path='$'):
    """Where ours would accept what the agreed one refuses, or says something else. Descriptions may
    be longer, properties, required members and enumerated words more; nothing may be less."""
    out = []
    for key, want in agreed_.items():
        got, at = ours_.get(key), f'{path}.{key}'
        if key in ('description', 'title', '$schema'):
            continue
        if key in ('properties', '$defs'):
            for name, node in want.items():
                if name not in (got or {}):
                    out.append(f'{at}.{name} is missing')
                else:
                    out += weaker(got[name], node, f'{at}.{name}')
        elif key == 'required':
            out += [f'{at}: {name} is not required' for name in want if name not in (got or [])]
        elif key == 'enum':
            out += [f'{at}: {word!r} is missing' for word in want if word not in (got or [])]
        elif isinstance(want, dict) and isinstance(got, dict):
            out += weaker(got, want, at)
        elif got != want:
            out.append(f'{at}: {got!r}, agreed {want!r}')
    return out


def errors(schema, document):
    import jsonschema
    found = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f'{"/".join(map(str, e.path))}: {e.message[:200]}' for e in found]
