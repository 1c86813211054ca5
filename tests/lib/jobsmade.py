# SPDX-License-Identifier: Apache-2.0
"""Made-up runs of a scheduler's job, and what the job was given."""
import json
import os
import subprocess

import gs

MAKE = os.path.join(gs.BUILD, 'tests', 'ranks_make')
S, T0 = 10**9, 1_700_000_000 * 10**9
USED = '01020000-0000-0000-0000-000000000000'  # of rank 0, as ranks_make has it
NAME = 'NVIDIA H100 80GB HBM3 (simulated)'  # of its GPUs


def stream(rank=0, start=10, end=40, first=None, last=None, pid=100, world=1, env=(), killed=False, host='n1'):
    """One process: a kernel each second from @first to @last, launched 10 us before it starts."""
    first, last = first or start + 5, last or end - 5
    lines = [f'env {k} {v}' for k, v in env]
    lines.append(f'stream {rank} {world} {pid} {T0 + start * S} {host}')
    for i, t in enumerate(range(first, last)):
        at = T0 + t * S
        lines += [f'op {at} {at + S // 2} {i + 1} 7 gemm', f'api {at - 20000} {at - 10000} {i + 1} 9 cudaLaunchKernel']
    return lines + [f'pulse {T0 + end * S}', 'cut' if killed else f'bye {T0 + end * S}']


def run(out, name, *streams, record=None):
    path = os.path.join(out, name + '.gst')
    os.makedirs(path, exist_ok=True)
    subprocess.run([MAKE, path], input='\n'.join(sum(streams, [])) + '\n', text=True, check=True)
    if record is not None:
        with open(os.path.join(path, 'run.json'), 'w', encoding='utf-8') as f:
            json.dump({'id': name, 'command': ['python', 'train.py'], 'labels': {}, **record}, f)
    return path


def uuid(i):
    return 'GPU-' + (USED if i == 0 else f'{i:08x}-1111-2222-3333-444444444444')


def alloc(out, job=9, node='n1', restart=0, start=0, end=100, gpus=4, cluster='c1', named=True, **more):
    folder = os.path.join(out, f'{cluster}-{job}.job')
    os.makedirs(folder, exist_ok=True)
    document = {'schema': 'gpustarve.allocation/1', 'cluster': cluster, 'job': job, 'restart': restart,
                'user': 'anna', 'account': 'ml', 'node': node, 'host': node,
                'gpus': gpus if isinstance(gpus, list) else
                [{'index': i, 'uuid': uuid(i) if named else None, 'name': NAME if named else None}
                 for i in range(gpus)],
                'start_unix_ns': T0 + start * S, 'end_unix_ns': None if end is None else T0 + end * S, **more}
    with open(os.path.join(folder, f'alloc-{node}-{restart}.json'), 'w', encoding='utf-8') as f:
        json.dump(document, f)
    return folder
