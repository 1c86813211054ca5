#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions of torch.profiler within a training loop, and steps before, between and after them. Tells what each session
saw, and when it began and ended (unix ns)."""
import sys
import time

import torch

import told


def parse():
    p = told.options(__doc__, steps=20, batch=64)
    p.add_argument('--sessions', type=int, default=2)
    return p.parse_args()


class Loop:
    def __init__(self, args, note):
        layers = [layer for _ in range(4) for layer in (torch.nn.Linear(256, 256), torch.nn.ReLU())]
        self.model, self.note = torch.nn.Sequential(*layers).cuda(), note
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.x = torch.rand(args.batch, 256)
        note.count('copy-h2d', len(self.model.state_dict()))

    def steps(self, n):
        for _ in range(n):
            x = self.x.cuda()
            self.opt.zero_grad()
            loss = (self.model(x) - x).square().mean()
            loss.backward()
            self.opt.step()
            loss.item()
            self.note.count('copy-h2d')
            self.note.count('copy-d2h')
        torch.cuda.synchronize()


def session(loop, args):
    begin = time.time_ns()
    with torch.profiler.profile() as profile:
        loop.steps(args.steps)
    return dict(begin_ns=begin, end_ns=time.time_ns(), seen=told.seen(profile))


def main():
    args = parse()
    told.same_each_time(args)
    note, found = told.Told(args), []
    loop = Loop(args, note)
    loop.steps(args.steps)
    for _ in range(args.sessions):
        found.append(session(loop, args))
        loop.steps(args.steps)
    note.write(steps=args.steps * (2 * args.sessions + 1), sessions=found)
    print(f'{args.sessions} sessions')


if __name__ == '__main__':
    sys.exit(main())
