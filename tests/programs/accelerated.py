#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A loop as Hugging Face's Accelerate has it: bf16, a prepared loader whose samples take --sample-ms each."""
import sys
import time

import accelerate
import torch

import told


class Slow(torch.utils.data.Dataset):
    def __init__(self, args):
        self.args = args

    def __len__(self):
        return self.args.steps * self.args.batch

    def __getitem__(self, i):
        time.sleep(self.args.sample_ms / 1000)  #: sample
        return torch.full((64,), float(i % 5)), i % 10


def train(args, note):
    helper = accelerate.Accelerator(mixed_precision='bf16')
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    loader = torch.utils.data.DataLoader(Slow(args), batch_size=args.batch, num_workers=args.workers, pin_memory=True)
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
    p = told.options(__doc__)
    p.add_argument('--sample-ms', type=float, default=2)
    args = p.parse_args()
    told.same_each_time(args)
    note = told.Told(args)
    with told.watched(args):
        train(args, note)
    note.write(steps=args.steps, line=told.marked(__name__, 'sample'))
    print(f'trained {args.steps} steps')


if __name__ == '__main__':
    sys.exit(main())
