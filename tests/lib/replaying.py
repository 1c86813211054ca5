# SPDX-License-Identifier: Apache-2.0
"""What the tests of `check --replay` share: a case is a loader and a GPU; it is recorded on the
simulator with a real DataLoader, and replayed without a GPU on the same machine."""
import json
import os
import random

import gs


def options(case, gpu):
    """As train_loader.py and loader_loop.py take them."""
    out = []
    for key in ('workers', 'dataset', 'steps', 'batch', 'sample-ms', 'pixels', 'seed') + gpu:
        if key in case:
            out += [f'--{key}', str(case[key])]
    return out


def draw(seed, steps):
    """A loader that keeps up, barely or not at all: sleeping or decoding samples, 1 to 3 workers."""
    rng = random.Random(seed)
    case = {'workers': rng.randint(1, 3), 'batch': rng.randint(2, 4), 'steps': steps, 'seed': seed}
    fetch_ms = rng.uniform(15, 40)  # per batch and worker
    if rng.random() < 0.7:
        case.update(dataset='sleep', **{'sample-ms': round(fetch_ms / case['batch'], 2)})
    else:
        case.update({'dataset': 'jpeg', 'pixels': 320, 'workers': 1})
        fetch_ms = 4.0 * case['batch']
    case['gpu-ms'] = round(fetch_ms / case['workers'] * rng.uniform(0.4, 1.6), 2)
    return case


def record(case, where, ranks=1):
    """The run on the simulator; several ranks share the machine's cores, each with its own GPU."""
    loop = os.path.join(gs.WORKLOADS, 'train_loader.py')
    argv = [gs.PYTHON, loop, *options(case, ('gpu-ms',))]
    if ranks > 1:
        each = '\n'.join('LOCAL_RANK=%d RANK=%d WORLD_SIZE=%d "$@" &' % (i, i, ranks)
                         for i in range(ranks))
        argv = ['bash', '-c', each + '\nwait', 'ranks', *argv]
    os.makedirs(where, exist_ok=True)
    done, run, _ = gs.traced(argv, where, options=('--quiet', '--no-report'), GPUSIM_DEVICES=ranks)
    gs.check(done.returncode == 0 and run, f'{case}: {done.stderr.decode()}')
    return run


def utilization(run):
    """Of the time from a GPU's first to its last operation, the share in which something ran."""
    gpu = gs.summary(run, '--window', 'device')['gpus'][0]
    return 100 * gpu['busy_ns'] / gpu['span_ns']


def starved(run):
    ledger = gs.summary(run, '--window', 'device')['ledger']
    return 100 * ledger['starved_ns'] / ledger['gpu_ns']


def replay(recorded, case, where, *more):
    """(exit status, what the JSON says or the error) of a replay of the case's loader."""
    loop = os.path.join(gs.WORKLOADS, 'loader_loop.py')
    out = os.path.join(where, 'replay.json')
    done = gs.gpustarve('check', '--replay', recorded, '--format', 'json', '-o', out, *more, '--',
                        gs.PYTHON, loop, *options(case, ()), cwd=where)
    if done.returncode == 1:
        return 1, done.stderr.decode()
    with open(out, encoding='utf-8') as f:
        return done.returncode, json.load(f)
