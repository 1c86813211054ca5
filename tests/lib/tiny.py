# SPDX-License-Identifier: Apache-2.0
"""A small trace to look at: one GPU, a few steps, a loader that is too slow; as Kineto JSON, and
imported. For tests of what shows a run, which need no simulator."""
import json
import os

import gs

NAME = 'NVIDIA H100 80GB HBM3'


def kineto(steps=4, gpu=NAME, wait_us=4000, gpus=1):
    rows = []
    for device in range(gpus):
        pid, corr = 1000 + device, 1
        for i in range(steps):
            t = 1_000_000 + i * 10_000
            rows += [
                dict(ph='X', cat='user_annotation', name=f'ProfilerStep#{i}', ts=t, dur=9_900,
                     pid=pid, tid=pid, args={}),
                dict(ph='X', cat='user_annotation',
                     name='enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', ts=t + 10,
                     dur=wait_us, pid=pid, tid=pid, args={}),
                dict(ph='X', cat='cuda_runtime', name='cudaMemcpyAsync', ts=t + wait_us + 20, dur=8,
                     pid=pid, tid=pid, args=dict(correlation=corr)),
                dict(ph='X', cat='gpu_memcpy', name='Memcpy HtoD (Pinned -> Device)',
                     ts=t + wait_us + 30, dur=100, pid=device, tid=7,
                     args=dict(correlation=corr, device=device, stream=7, bytes=1 << 20,
                               process=pid)),
                dict(ph='X', cat='cuda_runtime', name='cudaLaunchKernel', ts=t + wait_us + 40, dur=6,
                     pid=pid, tid=pid, args=dict(correlation=corr + 1)),
                dict(ph='X', cat='kernel', name='gemm', ts=t + wait_us + 140, dur=5_000, pid=device,
                     tid=7, args=dict(correlation=corr + 1, device=device, stream=7, process=pid)),
            ]
            corr += 2
    return dict(schemaVersion=1, traceEvents=rows,
                deviceProperties=[dict(id=d, name=gpu) for d in range(gpus)])


def imported(where, name='tiny', **kw):
    """A run directory made of it."""
    source = os.path.join(where, name + '.json')
    with open(source, 'w') as f:
        json.dump(kineto(**kw), f)
    done = gs.gpustarve('import', source, '-o', os.path.join(where, name), '--quiet')
    gs.equal(done.returncode, 0, f'import: {done.stderr.decode()}')
    return os.path.join(where, name + '.gst')
