# SPDX-License-Identifier: Apache-2.0
"""What the gate's tests share: runs with given step times, made as Kineto traces and imported. Each
step is a wait for the loader, then one kernel; one rank, one GPU, no price unless given."""
import json
import math
import os
import random

import gs

DATASET_LINE = 17


def noisy(seed, steps, ms, spread=0.01, phi=0.5):
    """Step times in ns whose neighbours are alike: AR(1) in the logarithm; a slow first step."""
    rng, noise, out = random.Random(seed), 0.0, []
    for i in range(steps):
        noise = phi * noise + math.sqrt(1 - phi * phi) * spread * rng.gauss(0, 1)
        out.append(int(ms * 1e6 * math.exp(noise) * (8 if i == 0 else 1)) // 1000 * 1000)
    return out


def kineto(path, step_ns, wait_ns, gpu='NVIDIA H100 80GB HBM3'):
    """Writes a trace of steps of the given times (multiples of 1000), each waiting that long."""
    t, events = 1_700_000_000_000_000_000, []

    def put(cat, label, start, end, tid, **args):
        events.append({'ph': 'X', 'cat': cat, 'name': label, 'pid': 0 if cat == 'kernel' else 100,
                       'tid': tid, 'ts': start / 1000, 'dur': (end - start) / 1000, 'args': args})

    for i, (step, wait) in enumerate(zip(step_ns, wait_ns)):
        put('user_annotation', f'ProfilerStep#{i}', t, t + step, 100)
        put('user_annotation', 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__',
            t, t + wait, 100)
        put('cuda_runtime', 'cudaLaunchKernel', t + wait, t + wait + 5000, 100, correlation=i + 1)
        put('kernel', 'gemm', t + wait + 5000, t + step, 7, correlation=i + 1, device=0, stream=7)
        t += step
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'schemaVersion': 1, 'traceEvents': events,
                   'deviceProperties': [{'id': 0, 'name': gpu, 'totalGlobalMem': 85520809984}]}, f)


def run_of(where, name, step_ns, wait_ns, **more):
    """Imports such a trace; the run's path."""
    trace, run = os.path.join(where, name + '.json'), os.path.join(where, name + '.gst')
    kineto(trace, step_ns, wait_ns, **more)
    done = gs.gpustarve('import', trace, '-o', run)
    gs.check(done.returncode == 0, f'import {name}: {done.stderr.decode()}')
    os.unlink(trace)
    return run


def steady(where, name, seed, steps=400, ms=20, wait=0.1, **more):
    """A run whose steps are alike, of which the part `wait` waits for the loader."""
    times = noisy(seed, steps, ms, **more)
    return run_of(where, name, times, [int(t * wait) // 1000 * 1000 for t in times])


def template():
    """The shell lines of the GitLab template, cut out of its YAML."""
    with open(os.path.join(gs.SOURCE, 'scripts', 'ci', 'gitlab.yml'), encoding='utf-8') as f:
        body = f.read().split('  script:\n', 1)[1].split('  artifacts:\n', 1)[0]
    return '\n'.join(line.removeprefix('    - ') for line in body.splitlines())
