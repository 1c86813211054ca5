#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch asks of cuDNN, forward and backward: convolutions of one to three dimensions, transposed, in groups, of
several types and layouts, batch norm, attention where PyTorch takes cuDNN's, recurrent networks, and a picture sampled
on a grid. --told says how many it asked for."""
import itertools
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import told

CONVOLUTIONS = ((nn.Conv1d, nn.ConvTranspose1d), (nn.Conv2d, nn.ConvTranspose2d), (nn.Conv3d, nn.ConvTranspose3d))
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
LAST = (None, torch.channels_last, torch.channels_last_3d)


def parse():
    p = told.options(__doc__, steps=2, batch=4)
    p.add_argument('--types', default='float32,float16,bfloat16', help='of convolutions')
    p.add_argument('--tf32', choices=('yes', 'no'), default='yes', help='may float be rounded for the tensor cores?')
    return p.parse_args()


class Asked:
    """The calls of this program, each once, and how often each was made."""

    def __init__(self, args):
        self.args, self.n = args, {}
        self.types = [getattr(torch, name) for name in args.types.split(',')]

    def count(self, *kinds):
        for kind in kinds:
            self.n[kind] = self.n.get(kind, 0) + 1

    def input(self, dims, type, last):
        x = torch.randn(self.args.batch, 16, *[12] * dims).to('cuda', type)
        return (x.contiguous(memory_format=LAST[dims - 1]) if last else x).requires_grad_()

    def convolution(self, dims, transposed, type, last, groups):
        make = CONVOLUTIONS[dims - 1][transposed]
        layer = make(16, 32, 3, stride=2, padding=1, groups=groups).to('cuda', type)
        layer(self.input(dims, type, last)).sum().backward()
        self.count('fprop', 'dgrad', 'wgrad')

    def norm(self, dims, type, last):
        layer = NORMS[dims - 1](16).cuda()
        layer(self.input(dims, type, last)).sum().backward()
        self.count('bn_fw_tr', 'bn_bw')
        with torch.no_grad():
            layer.eval()(self.input(dims, type, last))
        self.count('bn_fw_inf')

    def attention(self, type, causal):
        q, k, v = (torch.randn(2, 4, 64, 64).to('cuda', type).requires_grad_() for _ in 'qkv')
        F.scaled_dot_product_attention(q, k, v, is_causal=causal).sum().backward()
        self.count('flash_fprop', 'flash_bprop')

    def recurrent(self, make, packed, **options):
        layers = make(16, 32, 2, **options).cuda()
        x = torch.randn(10, self.args.batch, 16).cuda().requires_grad_()
        if packed:
            y = layers(nn.utils.rnn.pack_padded_sequence(x, torch.arange(self.args.batch, 0, -1)))[0].data
        else:
            y = layers(x)[0]
        y.sum().backward()
        self.count('rnn_fp', 'rnn_bp', 'rnn_wgrad')

    def sampled(self):
        x, grid = torch.randn(2, 3, 9, 9).cuda().requires_grad_(), torch.rand(2, 5, 5, 2).cuda()
        F.grid_sample(x, grid, align_corners=True).sum().backward()
        self.count('sampler_fw', 'sampler_bw')

    def step(self):
        for dims, last in ((1, False), (2, False), (2, True), (3, False), (3, True)):
            for transposed, type, groups in itertools.product((False, True), self.types, (1, 4)):
                self.convolution(dims, transposed, type, last, groups)
            for type in torch.float32, torch.float16:  # bfloat16 is not cuDNN's
                self.norm(dims, type, last)
        for type, causal in itertools.product((torch.float16, torch.bfloat16), (False, True)):
            self.attention(type, causal)
        for make, packed in itertools.product((nn.LSTM, nn.GRU, nn.RNN), (False, True)):
            for options in dict(), dict(bidirectional=True), dict(bias=False):
                self.recurrent(make, packed, **options)
        self.recurrent(nn.LSTM, False, proj_size=8)
        self.sampled()


def main():
    args = parse()
    told.same_each_time(args)
    torch.backends.cudnn.allow_tf32 = args.tf32 == 'yes'
    note, asked = told.Told(args), Asked(args)
    with told.watched(args):
        for _ in range(args.steps):
            asked.step()
        torch.cuda.synchronize()
    note.write(steps=args.steps, asked=asked.n)
    print(f'{args.steps} steps')


if __name__ == '__main__':
    sys.exit(main())
