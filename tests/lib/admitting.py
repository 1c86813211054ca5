# SPDX-License-Identifier: Apache-2.0
"""A collector that is asked about pods (--admission), reviews of pods as Kubernetes sends them, and what becomes of them."""
import base64
import copy
import json
import os
import re
import urllib.parse

import central
from daemon import Daemon

LIBRARY = '/opt/gpustarve/lib/gpustarve/libprof.so'
GPU = {'limits': {'nvidia.com/gpu': '1'}}


class Webhook(Daemon):
    """Over TLS, on a port of the system's; a context manager."""

    def __init__(self, bin_dir, root, inject=(), more=()):
        super().__init__(root, 'webhook.log')
        if not os.path.exists(os.path.join(root, 'server.pem')):
            central.certificates(root)
        line = self.launch([os.path.join(bin_dir, 'gpustarve-collector'), '--dir', os.path.join(root, 'webhook'),
                            '--admission', 'https://127.0.0.1:0', '--cert', os.path.join(root, 'server.pem'),
                            '--key', os.path.join(root, 'server.key'), '--verbose',
                            *(w for i in inject for w in ('--inject', i)), *more])
        self.url = line.split()[-1]
        self.port, self.https = urllib.parse.urlsplit(self.url).port, True

    context, connect, counters = central.Centre.context, central.Centre.connect, central.Centre.counters

    def post(self, body, connection=None, path='/admission?timeout=2s'):
        """Status, and the answer as bytes."""
        k = connection or self.connect()
        try:
            k.request('POST', path, body, {'Content-Type': 'application/json'})
            a = k.getresponse()
            return a.status, a.read()
        finally:
            if not connection:
                k.close()

    def ask(self, review, connection=None):
        """The answer's response."""
        status, body = self.post(json.dumps(review), connection)
        assert status == 200, (status, body)
        answer = json.loads(body)
        assert answer['kind'] == 'AdmissionReview', answer
        return answer['response']


def pod(*containers, name=None, labels=None, annotations=None, owner=None, **spec):
    """A pod's JSON; @owner: kind, name and uid of who controls it."""
    meta = {'name': name} if name else {'generateName': 'train-'}
    meta['labels'] = {'gpustarve.io/record': 'true', **(labels or {})}
    if annotations:
        meta['annotations'] = annotations
    if owner:
        kind, of, uid = owner
        meta['ownerReferences'] = [{'apiVersion': 'x/v1', 'kind': kind, 'name': of, 'uid': uid, 'controller': True}]
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': meta, 'spec': {'containers': list(containers), **spec}}


def container(name='train', **more):
    return {'name': name, 'image': 'registry.example/train:1', **more}


def review(of, version='v1', uid='5c0e7a3e-0000-4000-8000-1d5c0e7a3e00', **request):
    """An AdmissionReview that asks whether the pod @of may be made."""
    return {'apiVersion': f'admission.k8s.io/{version}', 'kind': 'AdmissionReview',
            'request': {'uid': uid, 'kind': {'group': '', 'version': 'v1', 'kind': 'Pod'},
                        'resource': {'group': '', 'version': 'v1', 'resource': 'pods'}, 'operation': 'CREATE',
                        'namespace': 'ml', 'userInfo': {'username': 'ann'}, 'object': of, 'oldObject': None,
                        'dryRun': False, 'options': {'kind': 'CreateOptions', 'apiVersion': 'meta.k8s.io/v1'}, **request}}


def patch_of(response):
    """Its JSON Patch; None: it has none."""
    return json.loads(base64.b64decode(response['patch'], validate=True)) if 'patch' in response else None


def patched(of, response):
    """The pod as it comes in, by jsonpatch of somebody else's."""
    import jsonpatch
    patch = patch_of(response)
    return jsonpatch.apply_patch(copy.deepcopy(of), patch) if patch is not None else of


def expand(text, known):
    """As kubelets do: $(NAME) of what is defined before, else as it is; $$ is $."""
    def one(m):
        return '$' if m.group(0) == '$$' else known.get(m.group(1), m.group(0))
    return re.sub(r'\$\$|\$\(([A-Za-z_]\w*)\)', one, text)


def environment(box, meta):
    """Of a container, in the order of its variables."""
    known = {}
    for v in box['env']:
        path = v.get('valueFrom', {}).get('fieldRef', {}).get('fieldPath')
        known[v['name']] = meta[path.split('.')[1]] if path else expand(v.get('value', ''), known)
    return known


def model(of, kind='V1Pod'):
    """What kubernetes' own Python classes make of a JSON object, as JSON again; None: they are not here."""
    try:
        from kubernetes import client
    except ImportError:
        return None

    class Response:
        data = json.dumps(of)
    api = client.ApiClient()
    return api.sanitize_for_serialization(api.deserialize(Response, kind))
