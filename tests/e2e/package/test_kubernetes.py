#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""scripts/kubernetes: base and overlays as `kubectl kustomize` expands them, loaded into Kubernetes' own models
(python3-kubernetes); what they name is there; and the collectors start with the arguments that stand in them, take a
process's frames at the node's socket, and forward them to the centre.

Needs kubectl and python3-kubernetes (scripts/setup --campaigns); GS_KUBECTL names another kubectl."""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import admitting
import central
import collector as c
import gs
from daemon import Daemon

KUBECTL = os.environ.get('GS_KUBECTL') or shutil.which('kubectl')
FOLDER = os.path.join(gs.SOURCE, 'scripts', 'kubernetes')
PLAIN = {'Namespace': 1, 'ServiceAccount': 1, 'DaemonSet': 1, 'Deployment': 2, 'Service': 2, 'PersistentVolumeClaim': 1,
         'ConfigMap': 1, 'MutatingWebhookConfiguration': 1}
KINDS = {'base': PLAIN, 'overlays/image': PLAIN, 'overlays/cert-manager': {**PLAIN, 'Issuer': 2, 'Certificate': 2}}
SECRETS = {'gpustarve-tls', 'gpustarve-tokens'}  # that docs/KUBERNETES.md makes
MODEL = {k: f'V1{k}' for k in PLAIN}
TOKEN = 'the-token-of-nodes-of-a-test'

try:
    import kubernetes  # noqa: F401
    import yaml
except ImportError:
    gs.skip('python3-kubernetes is not installed (scripts/setup --campaigns)')
if not KUBECTL:
    gs.skip('kubectl is not installed (scripts/setup --campaigns)')


def expanded(folder):
    done = gs.command([KUBECTL, 'kustomize', os.path.join(FOLDER, folder)])
    gs.equal(done.returncode, 0, f'{folder}: {done.stderr.decode()}')
    return [o for o in yaml.safe_load_all(done.stdout.decode()) if o]


def only(objects, kind, name):
    found = [o for o in objects if (o['kind'], o['metadata']['name']) == (kind, name)]
    assert len(found) == 1, (kind, name, len(found))
    return found[0]


def pods_of(objects):
    for o in objects:
        if o['kind'] in ('DaemonSet', 'Deployment'):
            yield o['metadata']['name'], o['spec']['template']['spec'], o


def volume(spec, name):
    return next(v for v in spec['volumes'] if v['name'] == name)


def check_pod(where, spec, owner, maps):
    names = [v['name'] for v in spec['volumes']]
    gs.equal(len(set(names)), len(names), f'{where}: volumes have names of their own')
    for box in spec['containers'] + spec.get('initContainers', []):
        gs.check(not {m['name'] for m in box['volumeMounts']} - set(names), f'{where}: {box["name"]}: volumes that are mounted')
        gs.check(box['image'].startswith('registry.example/gpustarve:'), f'{where}: image {box["image"]}')
        gs.check(not box['securityContext']['allowPrivilegeEscalation'] and
                 box['securityContext']['capabilities'] == {'drop': ['ALL']}, f'{where}: {box["name"]}: rights')
        gs.check('limits' in box['resources'], f'{where}: {box["name"]}: limits')
    used = {m['name'] for box in spec['containers'] + spec.get('initContainers', []) for m in box['volumeMounts']}
    gs.equal(used, set(names), f'{where}: volumes that are used')
    for v in spec['volumes']:
        gs.check(v.get('secret', {}).get('secretName', 'gpustarve-tls') in SECRETS, f'{where}: secret of {v}')
        gs.check(v.get('configMap', {}).get('name', None) in (None, *maps), f'{where}: config map of {v}')
    labels = owner['spec']['template']['metadata']['labels']
    gs.equal(owner['spec']['selector']['matchLabels'], labels, f'{where}: its pods')


def test_objects():
    for folder, kinds in KINDS.items():
        objects = expanded(folder)
        gs.equal({k: sum(o['kind'] == k for o in objects) for k in {o['kind'] for o in objects}}, kinds, f'{folder}: kinds')
        maps = {o['metadata']['name'] for o in objects if o['kind'] == 'ConfigMap'}
        for o in objects:
            where = f'{folder}: {o["kind"]} {o["metadata"]["name"]}'
            if o['kind'] in MODEL:
                gs.equal(admitting.model(o, MODEL[o['kind']]), o, f'{where}: by Kubernetes\' models')
            if o['kind'] not in ('Namespace', 'MutatingWebhookConfiguration'):
                gs.equal(o['metadata'].get('namespace'), 'gpustarve', f'{where}: namespace')
        for name, spec, owner in pods_of(objects):
            check_pod(f'{folder}: {name}', spec, owner, maps)
        for o in objects:
            if o['kind'] == 'Service':
                meant = [n for n, _, owner in pods_of(objects) if o['spec']['selector'] ==
                         owner['spec']['template']['metadata']['labels']]
                gs.equal(len(meant), 1, f'{folder}: Service {o["metadata"]["name"]}: whom it leads to')
        check_webhook(folder, objects)
        check_places(folder, objects)


def check_webhook(folder, objects):
    of = only(objects, 'MutatingWebhookConfiguration', 'gpustarve')
    for w in of['webhooks']:
        gs.equal((w['failurePolicy'], w['timeoutSeconds'], w['sideEffects'], w['clientConfig']['service']['path']),
                 ('Ignore', 2, 'None', '/admission'), f'{folder}: {w["name"]}')
        service = only(objects, 'Service', w['clientConfig']['service']['name'])
        gs.equal((service['metadata']['namespace'], service['spec']['ports'][0]['port']),
                 (w['clientConfig']['service']['namespace'], w['clientConfig']['service']['port']), f'{folder}: {w["name"]}: service')
        gs.equal(w['rules'], [{'apiGroups': [''], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['pods'],
                               'scope': 'Namespaced'}], f'{folder}: {w["name"]}: what it is asked about')
        keys = {e['key'] for e in w['namespaceSelector']['matchExpressions']}
        gs.equal(keys, {'kubernetes.io/metadata.name', 'pod-security.kubernetes.io/enforce'}, f'{folder}: {w["name"]}: where')


def check_places(folder, objects):
    """What pods are given is what the node has."""
    node = only(objects, 'DaemonSet', 'gpustarve-node')['spec']['template']['spec']
    hook = only(objects, 'Deployment', 'gpustarve-webhook')['spec']['template']['spec']
    inject = dict(a.split('=', 2)[1:] for a in hook['containers'][0]['args'] if a.startswith('--inject='))
    unix = next(a for a in node['containers'][0]['args'] if a.startswith('--unix=')).split('=')[1]
    mounts = {m['name']: m['mountPath'] for m in node['containers'][0]['volumeMounts']}
    run = volume(node, 'run')['hostPath']['path']
    gs.equal(inject['socket'], unix.replace(mounts['run'], run), f'{folder}: the socket on the node')
    if 'image' in inject:
        gs.equal(inject['image'], node['containers'][0]['image'], f'{folder}: the image of init containers')
        gs.check('initContainers' not in node or not node['initContainers'], f'{folder}: nothing is installed')
    else:
        gs.equal(inject['host'], volume(node, 'prefix')['hostPath']['path'], f'{folder}: the library on the node')


class Started(Daemon):
    """A collector with the arguments of a manifest, whose folders lie below @root."""

    def __init__(self, root, name, args, **places):
        super().__init__(root, name + '.log')
        argv = [os.path.join(c.bin_dir(), 'gpustarve-collector')]
        for a in args:
            option, value = a.split('=', 1) if '=' in a else (a, None)
            argv.append(option)
            if value is not None:
                value = places.get(option, value)
                for folder in '/etc/gpustarve', '/var/lib/gpustarve', '/run/gpustarve', '/tmp/nothing':
                    if value.startswith(('sqlite:' + folder, folder)):
                        value = value.replace(folder, f'{root}/{name}{folder}')
                argv.append(value)
        self.line = self.launch([*argv, '--verbose'])


def fill(root, name, objects):
    """What volumes bring."""
    at = f'{root}/{name}/etc/gpustarve'
    for part in 'tls', 'token', 'tokens', 'limits':
        os.makedirs(f'{at}/{part}')
    for here, there in ('server.pem', 'tls.crt'), ('server.key', 'tls.key'), ('ca.pem', 'ca.crt'):
        shutil.copy(f'{root}/{here}', f'{at}/tls/{there}')
    central.write(f'{at}/token/node', TOKEN)
    central.write(f'{at}/tokens/tokens', f'{TOKEN} cluster read,write\n')
    for n, text in next(o for o in objects if o['kind'] == 'ConfigMap')['data'].items():
        central.write(f'{at}/limits/{n}', text)
    os.makedirs(f'{root}/{name}/var/lib/gpustarve')


def args_of(objects, kind, name):
    return only(objects, kind, name)['spec']['template']['spec']['containers'][0]['args']


def test_started():
    objects = expanded('base')
    with tempfile.TemporaryDirectory(prefix='gs-k8s-') as root:
        central.certificates(root)
        for name in 'centre', 'node', 'webhook':
            fill(root, name, objects)
        with Started(root, 'centre', args_of(objects, 'Deployment', 'gpustarve-centre'),
                     **{'--listen': 'https://127.0.0.1:0'}) as centre, \
                Started(root, 'node', args_of(objects, 'DaemonSet', 'gpustarve-node'),
                        **{'--upstream': centre.line.split()[1]}) as node, \
                Started(root, 'webhook', args_of(objects, 'Deployment', 'gpustarve-webhook'),
                        **{'--admission': 'https://127.0.0.1:0'}) as hook:
            s = c.seeded().randbytes(16)
            client = c.Client(f'{root}/node/run/gpustarve/sock')
            client.send(c.hello(s, 'train-1'), c.frame(s, 2, c.BYE))
            client.wait_ack(s, 2)
            stored = f'{root}/centre/var/lib/gpustarve/runs/cluster/train-1.gst/{s.hex()}.gst'
            gs.until('the centre has it', lambda: os.path.exists(stored) and [f.seq for f in c.read_stream(stored)] == [1, 2])
            for d in hook, node, centre:
                gs.equal(d.stop(), 0, 'its end')


if __name__ == '__main__':
    gs.run_tests(globals())
