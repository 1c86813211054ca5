# SPDX-License-Identifier: Apache-2.0
"""The list of what is inside, as SPDX 2.3 in JSON, and the licences of it as one text."""
import hashlib
import json
import re
import time

def spdx_id(name):
    return 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', name)


def package(name, version, licence, origin):
    return {'SPDXID': spdx_id(name), 'name': name, 'versionInfo': version, 'downloadLocation': origin,
            'filesAnalyzed': False, 'licenseConcluded': licence, 'licenseDeclared': licence,
            'copyrightText': 'NOASSERTION'}


def bill(facts, parts):
    ours = package('gpustarve', facts.version, 'Apache-2.0', 'NOASSERTION')
    ours['sourceInfo'] = f'commit {facts.commit}' if facts.commit else 'commit not known'
    rows = [ours, *(package(p.name, p.version, p.licence, p.origin) for p in parts)]
    seal = hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:32]
    document = {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT',
        'name': f'gpustarve-{facts.version}', 'documentNamespace': f'urn:gpustarve:{facts.version}:{seal}',
        'creationInfo': {'created': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(facts.epoch)),
                         'creators': ['Tool: gpustarve-scripts-package']},
        'packages': rows,
        'relationships': [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES',
                           'relatedSpdxElement': spdx_id('gpustarve')},
                          *({'spdxElementId': spdx_id('gpustarve'), 'relationshipType': 'STATIC_LINK',
                             'relatedSpdxElement': spdx_id(p.name)} for p in parts)],
    }
    return json.dumps(document, indent=1, sort_keys=True) + '\n'


def licences(own, parts):
    """Ours first, then each part's with its name, version and where its source is."""
    said = ['gpustarve: Apache-2.0\n\n' + own,
            'What follows is linked into gpustarve and gpustarve-collector, libprof.so (zstd and protobuf-c alone) or the\n'
            'script of a report. scripts/package of the source builds them from these versions, so that whoever changes\n'
            'one of them can link anew.\n']
    for p in parts:
        said.append(f'{p.name} {p.version}: {p.licence}\n{p.origin}\n\n{p.text or "(no text came with it)"}')
    return ('\n' + '=' * 100 + '\n\n').join(said)
