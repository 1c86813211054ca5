#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own list of its operators, with the arguments that its own tests give them: each forward and, where it has
one, backward, in single precision and in bfloat16. One line per operator says how it went; --without NAME leaves one out."""
import argparse
import sys
import types
import unittest

import torch

# What PyTorch's tests want beside PyTorch, and the list does not.
sys.modules.setdefault('expecttest', types.SimpleNamespace(TestCase=unittest.TestCase))
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

SAMPLES = 2


def parse():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--without', action='append', default=[])
    return p.parse_args()


def types_of(op):
    """Those of the two that it takes, else one that it does."""
    some = op.supported_dtypes('cuda')
    two = [t for t in (torch.float32, torch.bfloat16) if t in some]
    return two or sorted(some, key=str)[:1]


def back(result):
    some = result if isinstance(result, (tuple, list)) else [result]
    some = [t for t in some if isinstance(t, torch.Tensor) and t.requires_grad]
    if some:
        torch.autograd.backward([t.abs().sum() if t.is_complex() else t.sum() for t in some])


def play(op, dtype):
    grad = op.supports_autograd and dtype in op.supported_backward_dtypes('cuda')
    for n, sample in enumerate(op.sample_inputs('cuda', dtype, requires_grad=grad)):
        if n == SAMPLES:
            break
        back(op(sample.input, *sample.args, **sample.kwargs))
    torch.cuda.synchronize()


def said(op, dtype):
    try:
        play(op, dtype)
    except Exception as e:
        return f'{type(e).__name__}: ' + str(e).split('\n')[0]
    return 'done'


def main():
    args = parse()
    torch.manual_seed(1)
    for op in op_db:
        name = '.'.join(filter(None, (op.name, op.variant_test_name)))
        if op.name in args.without:
            continue
        for dtype in types_of(op):
            print(f'{name} {str(dtype)[6:]}: {said(op, dtype)}', flush=True)


if __name__ == '__main__':
    sys.exit(main())
