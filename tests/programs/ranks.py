#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop over several GPUs, for torchrun: DistributedDataParallel, or --fsdp: fully_shard. --late RANK has that
rank think before each step, as one does whose data is longer."""
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn

import told


def parse():
    p = told.options(__doc__, steps=20, batch=16)
    p.add_argument('--width', type=int, default=256)
    p.add_argument('--fsdp', action='store_true')
    p.add_argument('--late', type=int, metavar='RANK')
    p.add_argument('--late-ms', type=float, default=20)
    args = p.parse_args()
    for name in ('told', 'profile'):  # a file per rank
        if getattr(args, name):
            setattr(args, name, f'{getattr(args, name)}.{os.environ["RANK"]}')
    return args


def make_model(args):
    layers = [layer for _ in range(4) for layer in (nn.Linear(args.width, args.width), nn.ReLU())]
    model = nn.Sequential(*layers).cuda()
    if not args.fsdp:
        return nn.parallel.DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])
    from torch.distributed.fsdp import fully_shard
    for layer in model:
        if list(layer.parameters()):
            fully_shard(layer)
    return fully_shard(model)


def think(args):
    end = time.monotonic() + args.late_ms / 1000
    while time.monotonic() < end:
        sum(range(1000))  #: late


def train(args, note):
    model = make_model(args)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.rand(args.batch, args.width)
    for _ in range(args.steps):
        if dist.get_rank() == args.late:
            with note.planted():
                think(args)
        there = x.cuda()
        note.count('copy-h2d')
        opt.zero_grad()
        (model(there) - there).square().mean().backward()
        opt.step()
    torch.cuda.synchronize()


def main():
    args = parse()
    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))
    told.same_each_time(args)
    note = told.Told(args)
    with told.watched(args):
        dist.init_process_group('nccl', device_id=torch.device('cuda', torch.cuda.current_device()))
        names = [None] * dist.get_world_size()
        dist.all_gather_object(names, f'rank {dist.get_rank()}')
        train(args, note)
        dist.destroy_process_group()
    note.write(steps=args.steps, line=told.marked(__name__, 'late'), ranks=names)
    sys.stdout.write(f'trained {args.steps} steps with {len(names)} ranks\n')  # in one piece: all ranks share it


if __name__ == '__main__':
    sys.exit(main())
