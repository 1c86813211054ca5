#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=1200
"""Pods of podman (`podman play kube`, runc, catatonit) from the webhook to the bill: what the patch mounts and sets is there in
a real container, whatever its user and its root. The image has a loader, a C library and nothing else; the job is a program of
ours on the simulated GPU. Of a kubelet podman lacks the downward API and $(NAME): these are filled in before.

A campaign (GS_BIG=1), which needs root and what scripts/setup --campaigns installs."""
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid

sys.path.insert(0, sys.path[0] + '/../../lib')
import admitting
import central
import collector as c
import gs
from admitting import GPU, LIBRARY, container, pod, review

LIBC = ('libc.so.6', 'libdl.so.2', 'libpthread.so.0', 'libm.so.6', 'librt.so.1')
WHERE_LIBC = '/lib/x86_64-linux-gnu'
SIM = {'LD_LIBRARY_PATH': '/sim:/sim/cupti-13', 'GPUSIM_CUPTI': '13', 'GPUSIM_SHM': '/simshm/x', 'GPUSIM_NVML': 'outside',
       'GPUSIM_QUIET': '1'}
# runc, because crun refuses cgroups of both versions; limits that nobody needs a capability for.
CONF = '''[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
'''
try:
    import jsonpatch  # noqa: F401
except ImportError:
    gs.skip('python3-jsonpatch is not installed (scripts/setup)')
if not gs.BIG:
    gs.skip('a campaign (GS_BIG=1)')
if os.getuid() or not shutil.which('podman') or not shutil.which('catatonit'):
    gs.skip('not root, or podman or catatonit are not installed (scripts/setup --campaigns)')


class Kubelet:
    """Plays pods, in podman, on a node whose folders lie below @root."""

    def __init__(self, root):
        self.root, self.image, self.n = root, f'localhost/gs-pod-{uuid.uuid4().hex[:8]}:1', 0
        with open(f'{root}/containers.conf', 'w', encoding='utf-8') as f:
            f.write(CONF)
        os.makedirs(f'{root}/prefix/lib/gpustarve')
        shutil.copy(f'{gs.BUILD}/lib/libprof.so', f'{root}/prefix/lib/gpustarve/')
        made = f'{root}/image'
        for folder in ('lib64', WHERE_LIBC[1:], 'usr/bin', 'tmp', 'opt/gpustarve', 'run/gpustarve', 'job', 'sim', 'simshm'):
            os.makedirs(f'{made}/{folder}')
        shutil.copy('/lib64/ld-linux-x86-64.so.2', f'{made}/lib64/')
        for name in LIBC:
            shutil.copy(f'{WHERE_LIBC}/{name}', f'{made}{WHERE_LIBC}/')
        tar = subprocess.run(['tar', '-C', made, '-c', '.'], stdout=subprocess.PIPE, check=True).stdout
        done = self.podman('import', '-', self.image, input=tar)
        gs.equal(done.returncode, 0, f'import: {done.stderr.decode()}')

    def podman(self, *words, **more):
        return gs.command(['podman', *words], env=gs.environment(CONTAINERS_CONF=f'{self.root}/containers.conf'), **more)

    def local(self, of, name, namespace):
        """The pod with what a kubelet fills in, and the job's own folders."""
        of, shm = copy.deepcopy(of), f'{self.root}/shm-{self.n}'
        os.makedirs(shm)
        os.chmod(shm, 0o777)
        of['metadata'] = {'name': name}
        of['spec'].setdefault('volumes', [])
        for box in of['spec']['containers']:
            env = admitting.environment(box, {'namespace': namespace, 'name': name, 'uid': f'u-{name}'}) if 'env' in box else {}
            box['env'] = [{'name': k, 'value': v} for k, v in {**env, **SIM}.items()]
            box['volumeMounts'] = box.get('volumeMounts', []) + [{'name': n, 'mountPath': f'/{n}'} for n in ('job', 'sim', 'simshm')]
            box.pop('resources', None)
            box.update(image=self.image, imagePullPolicy='Never', command=['/job/mixloop', '--ops=300', '--devices=1'])
        of['spec']['volumes'] += [{'name': n, 'hostPath': {'path': at, 'type': 'Directory'}} for n, at in
                                  (('job', f'{gs.BUILD}/workloads'), ('sim', f'{gs.BUILD}/gpusim'), ('simshm', shm))]
        return {**of, 'spec': {**of['spec'], 'restartPolicy': 'Never'}}

    def play(self, of, namespace='ml'):
        """What the pod's container said, once it has ended well."""
        self.n += 1
        name = f'gs-{uuid.uuid4().hex[:8]}'
        path = f'{self.root}/{name}.json'
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(self.local(of, name, namespace), f)
        try:
            done = self.podman('play', 'kube', '--network', 'none', path)
            gs.equal(done.returncode, 0, f'play: {done.stderr.decode()[-800:]}')
            gs.equal(self.podman('wait', f'{name}-train', timeout=60).stdout.strip(), b'0', 'its end')
            logs = self.podman('logs', f'{name}-train')
            return (logs.stdout + logs.stderr).decode()
        finally:
            self.podman('play', 'kube', '--down', path)

    def close(self):
        self.podman('rmi', self.image)


def test_pods():
    with tempfile.TemporaryDirectory(prefix='gs-pods-') as root:
        os.chmod(root, 0o755)
        kubelet, store = Kubelet(root), f'sqlite:{root}/fleet.sqlite'
        try:
            play_pods(root, kubelet, store)
        finally:
            kubelet.close()


def play_pods(root, kubelet, store):
    with central.Centre(c.bin_dir(), root, options=['--store', store, '--limit', 'digest-after=1s']) as centre:
        token = central.write(f'{root}/token', central.TOKENS['alpha'])
        with c.Collector(c.bin_dir(), options=['--any-user', '--upstream', centre.url, '--upstream-token-file', token,
                                               '--upstream-ca', f'{root}/ca.pem']) as node, \
                admitting.Webhook(c.bin_dir(), root, [f'host={root}/prefix', f'socket={node.socket}']) as hook:
            def given(of):
                return admitting.patched(of, hook.ask(review(of)))
            plain = pod(container(resources=GPU), owner=('Job', 'plain', 'f00d-1'))
            bare = kubelet.play(plain)
            gs.check('300 operations' in bare and not node.log().count('.gst'), f'as it is, where nobody was asked: {bare}')
            cases = {
                'plain': (plain, 'ml'),
                'nobody': (pod(container(resources=GPU, securityContext={
                    'runAsUser': 4711, 'runAsGroup': 4711, 'readOnlyRootFilesystem': True, 'allowPrivilegeEscalation': False,
                    'capabilities': {'drop': ['ALL']}}), owner=('Job', 'nobody', 'f00d-2')), 'nlp'),
                'preloads': (pod(container(resources=GPU, env=[{'name': 'LD_PRELOAD', 'value': f'{WHERE_LIBC}/libm.so.6'}]),
                                 owner=('Job', 'preloads', 'f00d-3')), 'nlp')}
            for name, (of, namespace) in cases.items():
                patched = given(of)
                gs.check(LIBRARY in json.dumps(patched), f'{name}: it is given the library')
                gs.equal(kubelet.play(patched, namespace).split(':')[0], bare.split(':')[0], f'{name}: what it says')
                run = f'{node.base}/{name}-{of["metadata"]["ownerReferences"][0]["uid"]}.gst'
                gs.check(os.path.isdir(run), f'{name}: {run}')
                s = gs.summary(run)
                gs.check(s['gpus'] and s['gpus'][0]['ops'] > 100, f'{name}: what its GPU did')
                gs.equal((s['run']['labels']['namespace'], s['run']['labels']['job']), (namespace, name), f'{name}: whose it is')

            def bill():
                done = gs.gpustarve('fleet', '--store', store, '--by', 'namespace', '--format', 'json')
                rows = json.loads(done.stdout)['by']['label'] if not done.returncode else []
                return {r['name']: r['runs'] for r in rows} == {'ml': 1, 'nlp': 2}
            gs.until('the bill', bill)
            node.stop()
            away = kubelet.play(given(plain))
            gs.equal(away.split(':')[0], bare.split(':')[0], 'without a collector on the node')
            gs.check('gpustarve' not in away, f'and nothing is said: {away}')


if __name__ == '__main__':
    gs.run_tests(globals())
