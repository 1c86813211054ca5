#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""scripts/kubernetes: base and overlays as `kubectl kustomize` expands them, loaded into Kubernetes' own models
(python3-kubernetes); what they name is there; and the collectors start with the arguments that stand in them, take a
process's frames at the node's socket, and forward them to the centre, or to a gateway and so into an object store.

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
import objectstore
from daemon import Daemon
from pulsing import Trainer

KUBECTL = os.environ.get('GS_KUBECTL') or shutil.which('kubectl')
FOLDER = os.path.join(gs.SOURCE, 'scripts', 'kubernetes')
PLAIN = {'Namespace': 1, 'ServiceAccount': 1, 'DaemonSet': 1, 'Deployment': 2, 'Service': 2, 'PersistentVolumeClaim': 1,
         'ConfigMap': 2, 'MutatingWebhookConfiguration': 1}
GATEWAYS = {k: n for k, n in PLAIN.items() if k != 'PersistentVolumeClaim'}
KINDS = {'base': PLAIN, 'overlays/image': PLAIN, 'overlays/cert-manager': {**PLAIN, 'Issuer': 2, 'Certificate': 2},
         'overlays/gateways': {**GATEWAYS, 'Deployment': 3, 'PodDisruptionBudget': 1}, 'overlays/unwrapped': {**PLAIN, 'DaemonSet': 2}}
SECRETS = {'gpustarve-tls', 'gpustarve-tokens', 'gpustarve-store'}  # that docs/KUBERNETES.md makes
MODEL = {k: f'V1{k}' for k in (*PLAIN, 'PodDisruptionBudget')}
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


def rights_of(box):
    """Who looks at the node's processes has what the unit of systemd leaves it, all others nothing."""
    if box != 'unwrapped':
        return {'drop': ['ALL']}
    with open(os.path.join(gs.SOURCE, 'scripts', 'systemd', 'gpustarve-node.service.in'), encoding='utf-8') as f:
        unit = next(line.split('=')[1].split() for line in f if line.startswith('CapabilityBoundingSet='))
    return {'drop': ['ALL'], 'add': [cap.replace('CAP_', '', 1) for cap in unit]}


def check_names(where, box, objects):
    """What its environment is taken from is there, or told by the docs."""
    for e in box.get('env', []):
        at = e.get('valueFrom', {})
        if 'configMapKeyRef' in at:
            of = only(objects, 'ConfigMap', at['configMapKeyRef']['name'])
            gs.check(of['data'].get(at['configMapKeyRef']['key']), f'{where}: {e}')
        elif 'secretKeyRef' in at:
            with open(os.path.join(gs.SOURCE, 'docs', 'KUBERNETES.md'), encoding='utf-8') as f:
                gs.check(f'--from-literal={at["secretKeyRef"]["key"]}=' in f.read(), f'{where}: {e}')
            gs.check(at['secretKeyRef']['name'] in SECRETS, f'{where}: {e}')
    told = {e['name'] for e in box.get('env', [])}
    for a in box.get('args', []):
        gs.check('$(' not in a or a.split('$(')[1].split(')')[0] in told, f'{where}: {a}')


def check_budget(folder, objects):
    """Drained nodes leave some of those whom a service leads to."""
    for o in objects:
        if o['kind'] != 'PodDisruptionBudget':
            continue
        of = only(objects, 'Deployment', o['metadata']['name'])
        gs.equal(o['spec']['selector'], of['spec']['selector'], f'{folder}: whom the budget is of')
        gs.check(0 < o['spec']['maxUnavailable'] < of['spec']['replicas'], f'{folder}: a budget that lets some go')


def check_pod(where, spec, owner, maps):
    names = [v['name'] for v in spec['volumes']]
    gs.equal(len(set(names)), len(names), f'{where}: volumes have names of their own')
    for box in spec['containers'] + spec.get('initContainers', []):
        gs.check(not {m['name'] for m in box['volumeMounts']} - set(names), f'{where}: {box["name"]}: volumes that are mounted')
        gs.check(box['image'].startswith('registry.example/gpustarve:'), f'{where}: image {box["image"]}')
        gs.check(not box['securityContext']['allowPrivilegeEscalation'] and
                 box['securityContext']['capabilities'] == rights_of(box['name']), f'{where}: {box["name"]}: rights')
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
            for box in spec['containers']:
                check_names(f'{folder}: {name}', box, objects)
        check_budget(folder, objects)
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

    def __init__(self, root, name, args, env=None, **places):
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
        self.line = self.launch(['/usr/bin/env', *(f'{k}={v}' for k, v in (env or {}).items()), *argv, '--verbose'])


def fill(root, name, objects):
    """What volumes bring."""
    at = f'{root}/{name}/etc/gpustarve'
    for part in 'tls', 'token', 'tokens', 'limits':
        os.makedirs(f'{at}/{part}')
    for here, there in ('server.pem', 'tls.crt'), ('server.key', 'tls.key'), ('ca.pem', 'ca.crt'):
        shutil.copy(f'{root}/{here}', f'{at}/tls/{there}')
    central.write(f'{at}/token/node', TOKEN)
    central.write(f'{at}/tokens/tokens', f'{TOKEN} cluster read,write\n')
    for o in objects:
        if o['kind'] == 'ConfigMap':
            for n, text in o['data'].items():
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


def test_gateways():
    """Two gateways and a worker with the arguments of their manifests: a run comes by way of a node's collector, and is told live."""
    objects = expanded('overlays/gateways')
    settings = next(o for o in objects if o['metadata']['name'].startswith('gpustarve-store'))['data']

    def args(name):  # the kubelet's part
        return [a.replace('$(GPUSTARVE_BUCKET)', settings['bucket']).replace('$(GPUSTARVE_STORE)', settings['store'])
                for a in args_of(objects, 'Deployment', name)]

    with tempfile.TemporaryDirectory(prefix='gs-k8s-') as root, objectstore.Checked() as store:
        central.certificates(root)
        places = {'--listen': 'https://127.0.0.1:0', '--store': f'sqlite:{root}/live.sqlite', '--gateway': 's3://traces/site'}
        for name in 'one', 'two', 'node':
            fill(root, name, objects)
        with Started(root, 'one', args('gpustarve-gateway'), env=store.environment(), **places) as one, \
                Started(root, 'two', args('gpustarve-gateway'), env=store.environment(), **places) as two, \
                Started(root, 'node', args_of(objects, 'DaemonSet', 'gpustarve-node'),
                        **{'--upstream': one.line.split()[1]}) as node:
            t = Trainer('train-1')
            client = c.Client(f'{root}/node/run/gpustarve/sock')
            client.send(t.hello(), *[t.pulse(s, s / 2) for s in range(1, 5)], t.bye(5, 3))
            client.wait_ack(t.id, t.seq)
            gs.until('the bucket has it', lambda: any('/cluster/train-1/' in f'/{k}' for _, k in list(store.objects)))
            gs.until('and the store of runs that go on', lambda: gs.gpustarve(
                'top', '--once', '--store', f'sqlite:{root}/live.sqlite', '--run', 'cluster/train-1').returncode == 0)
            for d in node, one, two:
                gs.equal(d.stop(), 0, f'its end: {d.log()}')
        done = gs.command([os.path.join(c.bin_dir(), 'gpustarve-collector'), *args('gpustarve-worker'), '--dir', root,
                           '--store', f'sqlite:{root}/d.sqlite', '--once', '--dry-run'], env=gs.environment(**store.environment()))
        gs.equal(done.returncode, 0, done.stderr.decode())


def test_unwrapped():
    """Its command takes the arguments, on a machine that has no GPU."""
    box = only(expanded('overlays/unwrapped'), 'DaemonSet', 'gpustarve-unwrapped')['spec']['template']['spec']['containers'][0]
    with tempfile.TemporaryDirectory(prefix='gs-k8s-') as root:
        args = [a.replace('/var/lib/gpustarve', root) for a in box['args']]
        done = gs.gpustarve(*box['command'][1:], *args, '--for', '1')
        gs.check('see --help' not in done.stderr.decode() and 'usage' not in done.stderr.decode(), done.stderr.decode())


if __name__ == '__main__':
    gs.run_tests(globals())
