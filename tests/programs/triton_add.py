#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels written in Triton and compiled by it for the GPU at hand: two per step, on tensors of PyTorch's."""
import sys

import torch
import triton
import triton.language as tl

import told


@triton.jit
def triton_add(x, y, out, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def triton_rows(x, out, n, block: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, block)
    tl.store(out + row, tl.sum(tl.load(x + row * n + at, mask=at < n, other=0.0), axis=0))


def main():
    args = told.options(__doc__).parse_args()
    note = told.Told(args)
    rows, n = 64, 1000
    x, y = (torch.empty(rows, n, device='cuda') for _ in range(2))
    out, sums = torch.empty_like(x), torch.empty(rows, device='cuda')
    for _ in range(args.steps):
        triton_add[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), block=256)
        triton_rows[(rows,)](out, sums, n, block=1024)
        note.count('kernel', 2)
    torch.cuda.synchronize()
    note.write(steps=args.steps)
    print(f'{args.steps} steps')


if __name__ == '__main__':
    sys.exit(main())
