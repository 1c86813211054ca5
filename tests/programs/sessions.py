#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions of torch.profiler within a training loop, and steps before, between and after them; --schedule: one profiler
whose schedule comes round so many times. Tells what each session saw, how many steps it was there for and how many of
these it kept, and when it began and ended (unix ns)."""
import sys
import time

import torch

import told


def parse():
    p = told.options(__doc__, steps=20, batch=64)
    p.add_argument('--sessions', type=int, default=2)
    p.add_argument('--schedule', action='store_true')
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
            with torch.profiler.record_function('one step'):
                self.step()
        torch.cuda.synchronize()

    def step(self):
        x = self.x.cuda()
        self.opt.zero_grad()
        loss = (self.model(x) - x).square().mean()
        loss.backward()
        self.opt.step()
        loss.item()
        self.note.count('copy-h2d')
        self.note.count('copy-d2h')


def by_hand(loop, args):
    """Sessions, and as many steps before and after each."""
    found = []
    loop.steps(args.steps)
    for _ in range(args.sessions):
        begin = time.time_ns()
        with torch.profiler.profile() as profile:
            loop.steps(args.steps)
        found.append(dict(begin_ns=begin, end_ns=time.time_ns(), steps=args.steps, kept=args.steps, seen=told.seen(profile)))
        loop.steps(args.steps)
    return args.steps * (2 * args.sessions + 1), found


def by_schedule(loop, args):
    """Of each round a step to wait, one to warm up, and the rest."""
    found, steps, begin = [], (args.steps + 2) * args.sessions + args.steps, 0

    def ready(profile):
        found.append(dict(begin_ns=begin, end_ns=time.time_ns(), steps=args.steps + 1, kept=args.steps,
                          seen=told.seen(profile)))

    turns = torch.profiler.schedule(wait=1, warmup=1, active=args.steps, repeat=args.sessions)
    with torch.profiler.profile(schedule=turns, on_trace_ready=ready) as profile:
        for i in range(steps):
            loop.steps(1)
            if i % (args.steps + 2) == 0:
                begin = time.time_ns()  # the next step warms up
            profile.step()
    return steps, found


def main():
    args = parse()
    told.same_each_time(args)
    note = told.Told(args)
    loop = Loop(args, note)
    steps, found = (by_schedule if args.schedule else by_hand)(loop, args)
    note.write(steps=steps, sessions=found)
    print(f'{len(found)} sessions')
    told.rest()


if __name__ == '__main__':
    sys.exit(main())
