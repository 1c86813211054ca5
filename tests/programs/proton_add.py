#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A session of Triton's profiler, Proton, around kernels written in Triton, and work before and after it. Tells what
Proton counted in the scope, by kernel: {name: {"count": n, "time (ns)": n}}."""
import json
import os
import sys

import torch
import triton.profiler as proton

import told
from triton_add import triton_add


def parse():
    p = told.options(__doc__, steps=20)
    p.add_argument('--session', default='proton', help='where Proton writes, without its ending')
    return p.parse_args()


def counted(file):
    """By kernel, what stands below the scope."""
    with open(file) as f:
        root = json.load(f)[0]
    scope, = [child for child in root['children'] if child['frame']['name'] == 'phase']
    return {child['frame']['name']: {k: child['metrics'][k] for k in ('count', 'time (ns)')}
            for child in scope['children']}


def main():
    args = parse()
    note, x = told.Told(args), torch.zeros(4096, device='cuda')

    def work():
        for _ in range(args.steps):
            triton_add[(4,)](x, x, x, x.numel(), block=1024)
        torch.cuda.synchronize()

    work()
    proton.start(args.session)
    with proton.scope('phase'):
        work()
    proton.finalize()
    work()
    note.write(counted=counted(args.session + '.hatchet'))
    print(3 * args.steps, 'kernels')
    os.remove(args.session + '.hatchet')


if __name__ == '__main__':
    sys.exit(main())
