#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Pods before the webhook of `gpustarve-collector --admission`, over TLS: 40 and some of every shape, each with the pod that
it has to become. The patch is applied by python3-jsonpatch, and what comes of it is held against Kubernetes' own models
where python3-kubernetes is installed. What is hostile, or no pod, is let in as it is."""
import copy
import json
import os
import socket
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import admitting
import collector as c
import gs
from admitting import GPU, LIBRARY, container, pod, review

try:
    import jsonpatch  # noqa: F401
except ImportError:
    gs.skip('python3-jsonpatch is not installed (scripts/setup)')

BIN = c.bin_dir()
FIELDS = [{'name': f'GPUSTARVE_POD_{n}', 'valueFrom': {'fieldRef': {'fieldPath': f'metadata.{n.lower()}'}}}
          for n in ('NAMESPACE', 'NAME', 'UID')]
BASE = 'namespace=$(GPUSTARVE_POD_NAMESPACE),pod=$(GPUSTARVE_POD_NAME)'
MOUNTS = [{'name': 'gpustarve', 'mountPath': '/opt/gpustarve', 'readOnly': True},
          {'name': 'gpustarve-socket', 'mountPath': '/run/gpustarve', 'readOnly': True}]
SOCKET = {'name': 'gpustarve-socket', 'hostPath': {'path': '/run/gpustarve', 'type': 'DirectoryOrCreate'}}
HOST = {'name': 'gpustarve', 'hostPath': {'path': '/opt/gpustarve', 'type': 'DirectoryOrCreate'}}
PRELOAD = [('LD_PRELOAD', LIBRARY)]
CUDA = [('CUDA_INJECTION64_PATH', LIBRARY), ('NVTX_INJECTION64_PATH', LIBRARY)]
SECRET = {'secretKeyRef': {'name': 's', 'key': 'k'}}
MAYBE = {'secretKeyRef': {'name': 's', 'key': 'k', 'optional': True}}
# At, above and below what is ours, as container runtimes read a path; /var/run is /run in most images.
TAKEN = ('/opt/gpustarve/', '/opt/gpustarve//', '/opt//gpustarve', '/opt/./gpustarve', '//opt/gpustarve/.', 'opt/gpustarve',
         '/opt/gpustarve/models', '/opt/gpustarve/lib/gpustarve/libprof.so', '/opt', '/opt/', '/.', '/', '', '/run', '/run//',
         '/run/gpustarve', '/run//gpustarve', '/run/gpustarve/x', '/var/run', '/var/run/gpustarve', '/var//./run/gpustarve/x',
         '/x/../opt/gpustarve', '/opt/..')
FREE = ('/opt/gpustarve2', '/opt/gpus', '/op', '/run/gpustarve.d', '/run/secrets', '/var', '/var/runs', '/var/run/secrets/x',
        '/data/opt/gpustarve', '/opt/.gpustarve', '/opt/...', '/gpustarve')


def env(*pairs):
    return [{'name': k, 'value': v} for k, v in pairs]


class Became:
    """What a pod has to become: built by hand from what the manual says, container by container."""

    def __init__(self, of, run='train-$(GPUSTARVE_POD_UID)', labels='', image=None):
        self.pod, self.run, self.labels = copy.deepcopy(of), run, BASE + labels
        meta, spec = self.pod['metadata'], self.pod['spec']
        meta.setdefault('annotations', {})['gpustarve.io/injected'] = '1'
        spec['volumes'] = (spec.get('volumes') or []) + [{'name': 'gpustarve', 'emptyDir': {}} if image else HOST, SOCKET]
        if image:
            spec['initContainers'] = [{
                'name': 'gpustarve-library', 'image': image, 'command': ['cp', '-R', '/opt/gpustarve/.', '/gpustarve'],
                'resources': {k: {'cpu': '100m', 'memory': '64Mi'} for k in ('limits', 'requests')},
                'securityContext': {'allowPrivilegeEscalation': False, 'readOnlyRootFilesystem': True,
                                    'capabilities': {'drop': ['ALL']}},
                'volumeMounts': [{'name': 'gpustarve', 'mountPath': '/gpustarve'}]}] + spec.get('initContainers', [])

    def container(self, i=0, preload=PRELOAD, theirs=None, more=None, without=(), of='containers'):
        """@theirs: its own variables as they are now; @preload: ours for the library; @without: ours that it has itself."""
        one = self.pod['spec'][of][i]
        ours = [('GPUSTARVE_SOCKET', '/run/gpustarve/sock'), ('GPUSTARVE_RUN_ID', self.run), ('GPUSTARVE_LABELS', self.labels),
                ('GPUSTARVE_OUT', '/dev/null'), ('GPUSTARVE_QUIET_ERRORS', '1')]
        one['env'] = [f for f in FIELDS if f['name'] not in without]
        one['env'] += (theirs if theirs is not None else []) + env(*preload) + (more or [])
        one['env'] += env(*(o for o in ours if o[0] not in without))
        one['volumeMounts'] = (one.get('volumeMounts') or []) + MOUNTS
        return self


def cases():
    """(what, the review, the pod that it becomes or None where it stays, what is said about it)"""
    def one(what, of, became=None, said='', **request):
        return what, review(of, **request), became.pod if became else None, said

    def plain(**more):
        return pod(container(resources=GPU), **more)
    p = plain()
    yield one('a pod of nobody', p, Became(p).container())
    yield one('v1beta1', p, Became(p).container(), version='v1beta1')
    yield one('a dry run', p, Became(p).container(), dryRun=True)
    p = pod(container())
    yield one('without a GPU', p, Became(p).container())
    p = pod(container(resources={'requests': {'nvidia.com/mig-1g.10gb': '1'}}), container('proxy'))
    yield one('a part of a GPU, and a sidecar', p, Became(p).container())
    p = pod(container('proxy'), container(resources={'claims': [{'name': 'gpu'}]}))
    yield one('a claimed GPU, and a sidecar', p, Became(p).container(1))
    p = pod(container('a', resources=GPU), container('b', resources=GPU), container('c', resources=GPU))
    yield one('several containers', p, Became(p).container(0).container(1).container(2))
    p = pod(container('a', resources=GPU), container('b'), annotations={'gpustarve.io/containers': 'b'})
    yield one('a container that is named', p, Became(p).container(1))
    p = pod(container('a'), annotations={'gpustarve.io/containers': 'x'})
    yield one('none that is named', p, None, 'names x, and no container')
    p = pod(container('a'), container('b'), annotations={'gpustarve.io/containers': 'b, c'})
    yield one('one that is named and there, one that is not', p, Became(p).container(1), 'names c, and no container')
    p = pod(container('a', resources=GPU), initContainers=[container('warm', resources=GPU), container('fetch')])
    yield one('an init container that asks for a GPU', p, Became(p).container().container(0, of='initContainers'))
    p = pod(container('a'), initContainers=[container('fetch'), container('srv', resources=GPU, restartPolicy='Always')])
    yield one('a sidecar that asks for a GPU, alone', p, Became(p).container(1, of='initContainers'))
    p = pod(container('a'), initContainers=[container('srv', restartPolicy='Always', env=env(('LD_PRELOAD', '/a.so')))],
            annotations={'gpustarve.io/containers': 'srv'})
    yield one('a sidecar that is named', p, Became(p).container(
        0, of='initContainers', preload=(), theirs=env(('LD_PRELOAD', f'/a.so:{LIBRARY}'))))
    p = plain(initContainers=[container('fetch', env=env(('A', 'b')))], hostNetwork=True, hostPID=True, hostIPC=True)
    yield one('init containers; the host\'s network', p, Became(p).container())
    p = pod(container(env=env(('A', 'b'), ('LD_PRELOAD', '/usr/lib/libjemalloc.so.2'))))
    yield one('LD_PRELOAD is set', p, Became(p).container(
        preload=(), theirs=env(('A', 'b'), ('LD_PRELOAD', f'/usr/lib/libjemalloc.so.2:{LIBRARY}'))))
    p = pod(container(env=[{'name': 'LD_PRELOAD'}]))
    yield one('LD_PRELOAD is set and empty', p, Became(p).container(preload=(), theirs=env(('LD_PRELOAD', LIBRARY))))
    p = pod(container(env=env(('LD_PRELOAD', f'{LIBRARY}'))))
    yield one('LD_PRELOAD names it', p, Became(p).container(preload=(), theirs=env(('LD_PRELOAD', LIBRARY))))
    p = pod(container(env=env(('LD_PRELOAD', '/a'), ('LD_PRELOAD', '/b'))))
    yield one('LD_PRELOAD twice: the last counts', p, Became(p).container(
        preload=(), theirs=env(('LD_PRELOAD', '/a'), ('LD_PRELOAD', f'/b:{LIBRARY}'))))
    p = pod(container(env=[{'name': 'LD_PRELOAD', 'valueFrom': SECRET}, *env(('A', '$(LD_PRELOAD)'))]))
    yield one('LD_PRELOAD of a secret', p, Became(p).container(
        preload=[('LD_PRELOAD', f'$(GPUSTARVE_LD_PRELOAD):{LIBRARY}')],
        theirs=[{'name': 'GPUSTARVE_LD_PRELOAD', 'valueFrom': SECRET}, *env(('A', '$(LD_PRELOAD)'))]))
    p = pod(container(env=[{'name': 'LD_PRELOAD', 'valueFrom': MAYBE}]))
    yield one('LD_PRELOAD of what may be missing', p, Became(p).container(
        preload=CUDA, theirs=[{'name': 'LD_PRELOAD', 'valueFrom': MAYBE}]), 'may be missing')
    p = pod(container(envFrom=[{'secretRef': {'name': 's'}}]))
    yield one('envFrom', p, Became(p).container(preload=CUDA), 'envFrom')
    p = pod(container(envFrom=[{'configMapRef': {'name': 's'}}]), annotations={'gpustarve.io/preload': 'true'})
    yield one('envFrom that sets no LD_PRELOAD', p, Became(p).container())
    p = pod(container(), annotations={'gpustarve.io/preload': 'false'})
    yield one('nothing is to be preloaded', p, Became(p).container(preload=CUDA))
    p = pod(container(env=[{'name': 'WANDB_API_KEY', 'valueFrom': SECRET}]))
    yield one('a secret among its variables', p, Became(p).container(
        theirs=[{'name': 'WANDB_API_KEY', 'valueFrom': SECRET}]))
    own = env(('GPUSTARVE_RUN_ID', 'mine'), ('GPUSTARVE_OUT', '/out'), ('GPUSTARVE_SOCKET', '/s'))
    p = pod(container(env=own))
    yield one('its own settings', p, Became(p).container(
        theirs=own, without=('GPUSTARVE_RUN_ID', 'GPUSTARVE_OUT', 'GPUSTARVE_SOCKET', 'GPUSTARVE_QUIET_ERRORS')))
    p = pod(container(env=env(('GPUSTARVE_LABELS', 'try=3'))))
    yield one('its own labels', p, Became(p).container(
        theirs=env(('GPUSTARVE_LABELS', f'{BASE},try=3')), without=('GPUSTARVE_LABELS',)))
    p = pod(container(env=env(('GPUSTARVE_LABELS', 'x=' + 'y' * 300))))
    yield one('its own labels, too long', p, Became(p).container(
        theirs=p['spec']['containers'][0]['env'], without=('GPUSTARVE_LABELS',)), 'too long')
    p = pod(container(env=[{'name': 'GPUSTARVE_LABELS', 'valueFrom': SECRET}]))
    yield one('labels of a secret', p, Became(p).container(
        theirs=[{'name': 'GPUSTARVE_LABELS', 'valueFrom': SECRET}], without=('GPUSTARVE_LABELS',)), 'come from elsewhere')
    p = pod(container('a', env=env(('GPUSTARVE', '0'))), container('b'))
    yield one('a container that opts out', p, Became(p).container(1))
    p = plain(labels={'gpustarve.io/record': 'false'})
    yield one('a pod that opts out', p)
    p = plain(volumes=[{'name': 'data', 'emptyDir': {}}])
    p['spec']['containers'][0]['volumeMounts'] = [{'name': 'data', 'mountPath': '/data'}]
    yield one('volumes', p, Became(p).container())
    for member in 'env', 'volumeMounts':
        p = pod(container(**{member: None}), volumes=None)
        yield one(f'{member}: null', p, Became(p).container())
    p = plain(volumes=[{'name': 'gpustarve', 'emptyDir': {}}])
    yield one('a volume of our name', p, None, 'of our name')
    p = pod(container(volumeMounts=[{'name': 'x', 'mountPath': '/opt/gpustarve'}]), volumes=[{'name': 'x', 'emptyDir': {}}])
    yield one('our path is taken', p, None, 'mounted')
    for taken in TAKEN:
        p = pod(container('a', volumeMounts=[{'name': 'x', 'mountPath': taken}]), container('b'),
                volumes=[{'name': 'x', 'emptyDir': {}}])
        yield one(f'something at {taken}', p, Became(p).container(1), 'container a has something mounted')
        p = pod(container(volumeDevices=[{'name': 'x', 'devicePath': taken}]), volumes=[{'name': 'x', 'emptyDir': {}}])
        yield one(f'a device at {taken}', p, None, 'mounted')
    for free in FREE:
        p = pod(container(volumeMounts=[{'name': 'x', 'mountPath': free}]), volumes=[{'name': 'x', 'emptyDir': {}}])
        yield one(f'something at {free}', p, Became(p).container())
    p = plain(name='llama-0', labels={'batch.kubernetes.io/job-name': 'llama', 'team': 'vision', 'project': 'p1',
                                      'kueue.x-k8s.io/queue-name': 'gpus'}, owner=('Job', 'llama', 'f00d-1'))
    yield one('a job, a queue of Kueue', p, Became(
        p, 'llama-f00d-1', ',job=llama,owner=Job/llama,queue=gpus,team=vision,project=p1').container())
    p = plain(labels={'jobset.sigs.k8s.io/jobset-name': 'js', 'jobset.sigs.k8s.io/jobset-uid': 'j5', 'job-name': 'js-w-0'},
              owner=('Job', 'js-w-0', 'f00d-2'))
    yield one('JobSet', p, Became(p, 'js-j5', ',job=js,owner=Job/js-w-0,jobset=js').container())
    p = plain(labels={'training.kubeflow.org/job-name': 'pt', 'training.kubeflow.org/replica-type': 'worker'},
              owner=('PyTorchJob', 'pt', 'f00d-3'))
    yield one('PyTorchJob', p, Became(p, 'pt-f00d-3', ',job=pt,owner=PyTorchJob/pt,kubeflow=pt').container())
    p = plain(labels={'ray.io/cluster': 'rc'}, owner=('RayCluster', 'rc', 'f00d-4'))
    yield one('Ray', p, Became(p, 'rc-f00d-4', ',job=rc,owner=RayCluster/rc,ray=rc').container())
    p = plain(labels={'volcano.sh/job-name': 'vj'}, annotations={'scheduling.volcano.sh/queue-name': 'a,b=$(X)'},
              owner=('Job', 'vj', 'f00d-5'))
    yield one('Volcano, and a queue that is none', p, Became(
        p, 'vj-f00d-5', ',job=vj,owner=Job/vj,queue=a_b___X_,volcano=vj').container())
    p = plain(name='web-7c9-x', owner=('ReplicaSet', 'web-7c9', 'f00d-6'))
    yield one('a pod of many that are alike', p, Became(
        p, 'web-7c9-x-$(GPUSTARVE_POD_UID)', ',job=web-7c9,owner=ReplicaSet/web-7c9').container())
    p = pod(*(container(f'c{i}', resources=GPU, env=env(*((f'V{n}', 'x' * 100) for n in range(200)))) for i in range(20)))
    huge = Became(p)
    for i in range(20):
        huge.container(i, theirs=p['spec']['containers'][i]['env'])
    yield one('a huge one', p, huge)
    yield one('no containers', pod())
    yield one('more containers than any has', pod(*(container(f'c{i}') for i in range(300))))
    p = plain()
    p['metadata'].setdefault('annotations', {})['kubernetes.io/config.mirror'] = 'x'
    yield one('a pod that a node made itself', p)
    yield one('Windows', plain(os={'name': 'windows'}))
    yield one('Windows, by its nodes', plain(nodeSelector={'kubernetes.io/os': 'windows'}))
    for what, operator, values, is_windows in (
            ('Windows, by affinity', 'In', ['windows'], True), ('Linux, by affinity', 'In', ['linux'], False),
            ('either, by affinity', 'In', ['linux', 'windows'], False), ('not Windows', 'NotIn', ['windows'], False),
            ('not Linux', 'NotIn', ['linux'], True)):
        p = plain(affinity={'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': {'nodeSelectorTerms': [
            {'matchExpressions': [{'key': 'x', 'operator': 'Exists'},
                                  {'key': 'kubernetes.io/os', 'operator': operator, 'values': values}]}]}}})
        yield one(what, p, None if is_windows else Became(p).container())
    yield one('Windows, a process of its host', plain(securityContext={'windowsOptions': {'hostProcess': True}}))
    p = plain()
    p['spec']['containers'][0]['securityContext'] = {'windowsOptions': {'runAsUserName': 'x'}}
    yield one('Windows, by a container', p)
    yield one('a change', plain(), operation='UPDATE')
    yield one('no pod', {'kind': 'Deployment'}, kind={'group': 'apps', 'version': 'v1', 'kind': 'Deployment'})
    yield one('an ephemeral container', plain(), subResource='ephemeralcontainers')
    for what, part, value in (('spec', 'spec', []), ('metadata', 'metadata', 'x'), ('containers', 'spec', {'containers': {}}),
                              ('a container', 'spec', {'containers': [7]}), ('env', 'spec', {'containers': [container(env='x')]}),
                              ('nothing', 'spec', None)):
        p = plain()
        p[part] = value
        yield one(f'{what} of another shape', p)


def test_pods():
    """Each becomes what it should, and stays so when it is asked about again."""
    count = 0
    with tempfile.TemporaryDirectory(prefix='gpustarve-admission-') as root, admitting.Webhook(BIN, root) as hook:
        k = hook.connect()
        for what, asked, became, said in cases():
            count += 1
            response = hook.ask(asked, k)
            of = asked['request']['object']
            gs.equal((response['uid'], response['allowed']), (asked['request']['uid'], True), f'{what}: the answer')
            gs.equal(response.get('patchType'), 'JSONPatch' if became else None, f'{what}: kind of patch')
            got = admitting.patched(of, response)
            gs.equal(got, became or of, f'{what}: the pod')
            warnings = ' '.join(response.get('warnings', []))
            gs.check(said in warnings and (said or not warnings), f'{what}: said {warnings!r}, not {said!r}')
            if not became:
                continue
            again = hook.ask(review(got), k)
            gs.check(again['allowed'] and 'patch' not in again, f'{what}: a second time: {again}')
            if 'claim' not in what and 'sidecar' not in what:  # which these models may not know yet
                gs.check(admitting.model(got) in (None, got), f'{what}: Kubernetes\' models make {admitting.model(got)}')
        k.close()
        gs.check(count >= 40, f'{count} cases')
        gs.equal(hook.stop(), 0, 'its end')
        counters = hook.counters()
        gs.check(counters['admission_reviews'] > count and counters['admission_injected'] > 25 and
                 counters['admission_bad'] >= 8, f'counters: {counters}')


def test_settings():
    """An image in place of the node's folder; other places, a cluster, more labels."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-admission-') as root:
        of = pod(container(resources=GPU), labels={'example.org/cost': 'c7'}, initContainers=[container('fetch')])
        with admitting.Webhook(BIN, root, ['image=registry.example/gpustarve:1', 'cluster=east', 'label=example.org/cost']) as hook:
            got = admitting.patched(of, hook.ask(review(of)))
            want = Became(of, labels=',cluster=east,example.org/cost=c7', image='registry.example/gpustarve:1').container()
            gs.equal(got, want.pod, 'with an image')
            gs.check(admitting.model(got) in (None, got), 'with an image: by Kubernetes\' models')
            for context, user in (({'runAsNonRoot': True}, 65532), ({'runAsNonRoot': True, 'runAsUser': 1000}, None),
                                  ({'runAsUser': 0}, None), ({'runAsNonRoot': False}, None)):
                nobody = pod(container(resources=GPU), securityContext=context)
                init = admitting.patched(nobody, hook.ask(review(nobody)))['spec']['initContainers'][0]
                gs.equal(init['securityContext'].get('runAsUser'), user, f'{context}: the init container\'s user')
            one = pod(container(), initContainers=[container('srv', resources=GPU)])
            want = Became(one, image='registry.example/gpustarve:1', labels=',cluster=east').container(1, of='initContainers')
            gs.equal(admitting.patched(one, hook.ask(review(one))), want.pod, 'an init container with an image')
        with admitting.Webhook(BIN, root, ['host=/var/lib/gs', 'socket=/var/run/gs/s1']) as hook:
            spec = admitting.patched(of, hook.ask(review(of)))['spec']
            gs.equal([v['hostPath']['path'] for v in spec['volumes']], ['/var/lib/gs', '/var/run/gs'], 'folders of the node')
            gs.check({'name': 'GPUSTARVE_SOCKET', 'value': '/run/gpustarve/s1'} in spec['containers'][0]['env'], 'the socket')


def test_hostile():
    """What is no review is answered all the same, or refused, and the next one is served."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-admission-') as root, admitting.Webhook(BIN, root) as hook:
        good = json.dumps(review(pod(container())))
        deep = '{"a":' * 5000 + '1' + '}' * 5000
        for body in ('', '[', '{}', 'null', '7', '"x"', '\0', '\xff' * 1000, deep, '[' * 100000, good[:-1], good + 'x',
                     good.replace('"uid": "5c', '"uid": "' + 'x' * 1000), good.replace('CREATE', '\\u0000'),
                     '{"request":' + good + '}', '[' + '{},' * 600000 + '{}]'):
            status, answer = hook.post(body.encode('latin-1'))
            gs.equal(status, 200, f'{body[:30]!r}: status')
            response = json.loads(answer)['response']
            gs.check(response['allowed'] and 'patch' not in response, f'{body[:30]!r}: {response}')
        try:
            gs.equal(hook.post(b'x' * 2200000)[0], 413, 'too long')
        except OSError:
            pass  # it hangs up
        for path in '/', '/metrics', '/v1/runs', '/runs', '/v1/frames':
            gs.equal(hook.post(b'', path=path)[0], 404, f'{path}: there is nothing else')
        k = hook.connect()
        k.request('GET', '/healthz')
        gs.equal(k.getresponse().read(), b'ok\n', 'healthz')
        k.close()
        held = []
        for _ in range(12):  # 16 MiB at most of what is not whole
            s = hook.context().wrap_socket(socket.create_connection(('127.0.0.1', hook.port)), server_hostname='localhost')
            s.settimeout(30)
            s.sendall(b'POST /admission HTTP/1.1\r\nHost: x\r\nContent-Length: 2097152\r\n\r\n')
            try:
                s.sendall(b' ' * 2000000)
            except OSError:
                pass
            held.append(s)
        refused = set()

        def look():
            for s in set(held) - refused:
                s.settimeout(.2)
                try:
                    if s.recv(100)[:13] in (b'', b'HTTP/1.1 503 '):
                        refused.add(s)
                except TimeoutError:
                    pass  # it waits for the rest
                except OSError:
                    refused.add(s)
            return len(refused) >= 2
        gs.until('some are refused', look)  # it may not have read all of it yet
        look()
        refused = len(refused)
        # room for a body grows by doubling, so that one of 2 MB may take 4: 4 to 8 of them are held, and some more came late
        gs.check(2 <= refused <= 8, f'{refused} of 12 were refused')
        for s in held:
            s.close()
        gs.until('they are gone', lambda: hook.post(good)[0] == 200)
        gs.check('patch' in hook.ask(review(pod(container()))), 'the next one')
        gs.equal(hook.stop(), 0, 'its end')


def test_options():
    """What does not go together is said."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-admission-') as root:
        for words, said in ((['--admission', 'https://127.0.0.1:0'], '--cert'),
                            (['--admission', 'x'], 'give --admission https'),
                            (['--unix', root + '/s', '--inject', 'host=/a'], '--admission'),
                            (['--admission', 'http://127.0.0.1:0', '--inject', 'host=a'], 'not an absolute path'),
                            (['--admission', 'http://0.0.0.0:0'], '--insecure-http')):
            done = gs.command([os.path.join(BIN, 'gpustarve-collector'), '--dir', root + '/d', *words])
            gs.equal(done.returncode, 1, f'{words}: exit status')
            gs.check(said in done.stderr.decode(), f'{words}: {done.stderr.decode()}')


if __name__ == '__main__':
    gs.run_tests(globals())
