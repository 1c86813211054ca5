#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions of torch.profiler around plain work, between which the program goes on, each written as torch.profiler
exports it. Tells of each session when it began and ended (unix ns) and where its file is."""
import os
import time

import torch

import told


def parse():
    p = told.options(__doc__, steps=20)
    p.add_argument('--sessions', type=int, default=2)
    p.add_argument('--between', type=float, default=0.5, help='seconds of work after each session')
    p.add_argument('--traces', default='.', help='folder for the sessions')
    return p.parse_args()


class Work:
    """Of each step: three kernels, of three operators, and a copy to the device; at the end a copy back."""

    def __init__(self):
        self.here = torch.ones(1000).pin_memory()
        self.there = torch.ones(1000, 1000, device='cuda')

    def steps(self, n):
        with torch.profiler.record_function('phase'):
            for _ in range(n):
                row = self.here.to('cuda', non_blocking=True)
                out = torch.relu(self.there.add(row).mul(2))
            out.cpu()
        torch.cuda.synchronize()


def main():
    args = parse()
    told.same_each_time(args)
    note, work, sessions = told.Told(args), Work(), []
    work.steps(args.steps)
    what = torch.profiler.ProfilerActivity
    for i in range(args.sessions):
        file, begin = os.path.join(args.traces, f'session{i}.json'), time.time_ns()
        with torch.profiler.profile(activities=[what.CPU, what.CUDA]) as profile:
            work.steps(args.steps)
        sessions.append(dict(begin_ns=begin, end_ns=time.time_ns(), file=file))
        profile.export_chrome_trace(file)
        until = time.monotonic() + args.between
        while time.monotonic() < until:
            work.steps(1)
            time.sleep(0.01)
    note.write(sessions=sessions)
    print(args.sessions, 'sessions')
    told.rest()


if __name__ == '__main__':
    main()
