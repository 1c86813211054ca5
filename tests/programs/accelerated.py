#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A loop as Hugging Face's Accelerate has it: bf16, a prepared loader whose samples take --sample-ms each."""
import sys

import accelerate
import torch

import slow
import told


def train(args, note):
    helper = accelerate.Accelerator(mixed_precision='bf16')
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    loader = torch.utils.data.DataLoader(slow.Slow(args), batch_size=args.batch, num_workers=args.workers, pin_memory=True)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    note.count('copy-h2d', len(model.state_dict()))
    model, opt, loader = helper.prepare(model, opt, loader)
    for x, y in note.batches(loader):
        note.count('copy-h2d', 2)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        helper.backward(loss)
        opt.step()
    torch.cuda.synchronize()


def main():
    args = slow.options(told.options(__doc__)).parse_args()
    told.same_each_time(args)
    note = told.Told(args)
    with told.watched(args):
        train(args, note)
    note.write(steps=args.steps, line=told.marked('slow', 'sample'))
    print(f'trained {args.steps} steps')


if __name__ == '__main__':
    sys.exit(main())
