#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""From a pod to a bill by namespace: the webhook's patch, the environment as a kubelet expands it, a job on the simulated GPU
with nothing else of ours around it, the node's collector, the centre, the digest, `gpustarve fleet --by namespace`. A kubelet
is not played: its paths are the build's here."""
import contextlib
import json
import os
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import admitting
import central
import collector as c
import gs
from admitting import GPU, LIBRARY, container, pod, review

try:
    import jsonpatch  # noqa: F401
except ImportError:
    gs.skip('python3-jsonpatch is not installed (scripts/setup)')

BIN = c.bin_dir()
JOB = [os.path.join(gs.BUILD, 'workloads', 'mixloop'), '--ops=300', '--devices=1']
WITH_GPUSIM = os.path.join(gs.SOURCE, 'scripts', 'with-gpusim')
PATHS = {LIBRARY: gs.LIBPROF}


def admit(hook, of, namespace, name, uid):
    """What the pod's first container finds in its environment."""
    of = admitting.patched(of, hook.ask(review(of, namespace=namespace)))
    return admitting.environment(of['spec']['containers'][0], {'namespace': namespace, 'name': name, 'uid': uid})


def play(env, where, socket):
    """The job, as that container; @socket lies where the pod has it mounted."""
    gs.equal(env['GPUSTARVE_SOCKET'], '/run/gpustarve/sock', 'the socket in the pod')
    env = {**env, 'GPUSTARVE_SOCKET': socket}
    preload = env.pop('LD_PRELOAD')
    for path, here in PATHS.items():
        gs.check(path in preload, f'{path} in {preload}')
        preload = preload.replace(path, here)
    os.makedirs(where)
    argv = [WITH_GPUSIM, 'env', f'LD_PRELOAD={preload}', *JOB]
    done = gs.command(argv, env=gs.environment(GPUSIM_QUIET='1', **env), cwd=where)
    gs.equal((done.returncode, done.stderr), (0, b''), 'the job\'s end, and what it says')
    gs.equal(os.listdir(where), [], 'nothing is written into the container')


@contextlib.contextmanager
def cluster():
    """Webhook, node and centre."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-pods-') as root:
        store = f'sqlite:{root}/fleet.sqlite'
        with central.Centre(BIN, root, options=['--store', store, '--limit', 'digest-after=1s']) as centre, \
                admitting.Webhook(BIN, root, ['label=cost-center']) as hook:
            token = central.write(os.path.join(root, 'token'), central.TOKENS['alpha'])
            with c.Collector(BIN, options=['--any-user', '--upstream', centre.url, '--upstream-token-file', token,
                                           '--upstream-ca', os.path.join(root, 'ca.pem'), '--forwarded', 'remove',
                                           '--linger', '100']) as node:
                yield root, store, hook, node
                gs.equal([d.stop() for d in (node, hook, centre)], [0, 0, 0], 'their ends')


def told(store, *words):
    """As JSON, or text; None: there is no store yet, or it is being made."""
    done = gs.gpustarve('fleet', '--store', store, *words)
    if done.returncode:
        return None
    return json.loads(done.stdout) if '--format' in words else done.stdout.decode()


def test_bill():
    with cluster() as (root, store, hook, node):
        job = pod(container(resources=GPU, env=[{'name': 'LD_PRELOAD', 'value': ''}]), owner=('Job', 'llama', 'f00d-1'),
                  labels={'job-name': 'llama', 'team': 'red', 'cost-center': 'c7', 'kueue.x-k8s.io/queue-name': 'gpus'})
        for i in range(2):  # two pods of one job
            play(admit(hook, job, 'ml', f'llama-{i}', f'u-{i}'), f'{root}/ml-{i}', node.socket)
        play(admit(hook, pod(container(resources=GPU), name='nb'), 'nlp', 'nb', 'u-7'), f'{root}/nlp', node.socket)

        def rows():
            bill = told(store, '--by', 'namespace', '--format', 'json')
            return {r['name']: r for r in bill['by']['label']} if bill else {}
        gs.until('two runs in the bill', lambda: {n: r['runs'] for n, r in rows().items()} == {'ml': 1, 'nlp': 1})
        whole = told(store, '--by', 'namespace', '--format', 'json')
        gs.equal(sorted(rows()), ['ml', 'nlp'], 'namespaces')
        gs.check(all(r['usd'] > 0 for r in rows().values()), f'each has a price: {rows()}')
        gs.check('ml' in told(store, '--by', 'namespace') and 'nlp' in told(store, '--by', 'namespace'), 'as text')
        for key, want in (('job', {'llama', None}), ('pod', {'llama-0', 'nb'}), ('owner', {'Job/llama', None}),
                          ('queue', {'gpus', None}), ('cost-center', {'c7', None})):
            got = {r['name'] for r in told(store, '--by', f'label:{key}', '--format', 'json')['by']['label']}
            gs.equal(got, want, f'label {key}')
        gs.equal(sum(r['held_ns'] for r in whole['by']['label']), whole['total']['held_ns'], 'it closes')


def test_node_is_away():
    """A pod runs where no collector is, and nothing stays of it."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-pods-') as root, admitting.Webhook(BIN, root) as hook:
        play(admit(hook, pod(container(resources=GPU)), 'ml', 'p', 'u'), f'{root}/p', f'{root}/none')


if __name__ == '__main__':
    gs.run_tests(globals())
