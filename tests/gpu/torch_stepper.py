#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training loops of plain PyTorch that are played by turns, like those of tests/workloads/stepper.c.
Knows nothing of gpustarve. Lines on standard input, a line of JSON each:

    block MS LOOP        steps until MS milliseconds are over, eight at least
    profile MS LOOP      some steps under torch.profiler, then a block after it has stopped
    quit

LOOP: cnn (the GPU is the bottleneck), large (a transformer in bfloat16, the GPU too), small (a
transformer, eager: launches are), graph (the same as one CUDA graph). --device cpu plays them in
small, without a GPU, to try this file."""
import argparse
import json
import os
import sys
import time

import torch
import torch.nn as nn

LEAST = 8
PROFILED = 12  # steps under torch.profiler, which keeps all it sees


def parse():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--device', choices=('cuda', 'cpu'), default='cuda')
    p.add_argument('--loops', default='cnn,large,small,graph')
    return p.parse_args()


args = parse()
CPU = args.device == 'cpu'


def synchronize():
    if not CPU:
        torch.cuda.synchronize()


def cnn():
    width, batch, pixels = (4, 2, 8) if CPU else (128, 96, 64)
    layers = []
    for i in range(6):
        layers += [nn.Conv2d(3 if i == 0 else width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))
    return net, torch.randn(batch, 3, pixels, pixels)


def transformer(width, layers, heads, batch, length, dtype):
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True)
    net = nn.Sequential(nn.TransformerEncoder(layer, layers), nn.Linear(width, width))
    return net.to(dtype), torch.randn(batch, length, width, dtype=dtype)


def large():
    return transformer(*((16, 1, 2, 2, 4, torch.float32) if CPU else
                         (1024, 8, 16, 16, 512, torch.bfloat16)))


def small():
    return transformer(*((16, 1, 2, 2, 4) if CPU else (128, 4, 4, 8, 32)), torch.float32)


class Eager:
    """Each step sends its batch, trains, and waits for nothing."""

    def __init__(self, make):
        torch.manual_seed(0)
        net, x = make()
        self.net, self.x = net.to(args.device), x
        if not CPU:
            self.x = x.pin_memory()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=1e-4)

    def body(self, x):
        self.opt.zero_grad(set_to_none=True)
        loss = self.net(x).float().square().mean()
        loss.backward()
        self.opt.step()

    def __call__(self):
        self.body(self.x.to(args.device, non_blocking=True))


class Graph(Eager):
    """The same step, captured once."""

    def __init__(self, make):
        super().__init__(make)
        self.graph = None
        if CPU:
            return
        self.there = self.x.cuda()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.body(self.there)
        torch.cuda.current_stream().wait_stream(side)
        self.opt.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.body(self.there)

    def __call__(self):
        if not self.graph:
            return super().__call__()
        self.there.copy_(self.x, non_blocking=True)
        self.graph.replay()


MAKERS = dict(cnn=lambda: Eager(cnn), large=lambda: Eager(large), small=lambda: Eager(small),
              graph=lambda: Graph(small))


def play(step, seconds, most=5000):
    total, enqueue = [], []
    cpu, process = time.thread_time_ns(), time.process_time_ns()
    end = time.perf_counter() + seconds
    while len(total) < most:
        begin = time.perf_counter_ns()
        step()
        sent = time.perf_counter_ns()
        synchronize()
        total.append(time.perf_counter_ns() - begin)
        enqueue.append(sent - begin)
        if len(total) >= min(LEAST, most) and time.perf_counter() > end:
            break
    return dict(total=total, enqueue=enqueue, thread_cpu=time.thread_time_ns() - cpu,
                process_cpu=time.process_time_ns() - process)


def device_events(profile):
    """Operations on the device that torch.profiler saw; waits stand among them and are none."""
    n = 0
    for e in profile.profiler.kineto_results.events():
        name = e.name()
        if 'CUDA' in str(e.device_type()) and 'Sync' not in name and 'Wait' not in name \
                and not name.startswith('gpu_user'):
            n += 1
    return n


def profiled(step, seconds):
    from torch.profiler import ProfilerActivity, profile
    activities = [ProfilerActivity.CPU] + ([] if CPU else [ProfilerActivity.CUDA])
    p = profile(activities=activities)
    p.start()
    active = play(step, seconds, PROFILED)
    begin = time.perf_counter_ns()
    p.stop()
    stop = time.perf_counter_ns() - begin
    try:
        events = device_events(p)
    except Exception:  # another torch keeps its results elsewhere; times are what counts here
        events = None
    return dict(active=active, after=play(step, seconds), stop_ns=stop, events=events,
                steps=len(active['total']))


def obey(words, steps):
    what, seconds, loop = words[0], int(words[1]) / 1000, words[2]
    return (profiled if what == 'profile' else play)(steps[loop], seconds)


def main():
    steps = {}
    for name in args.loops.split(','):
        steps[name] = MAKERS[name]()
        play(steps[name], 0.1, 5)
    device = 'cpu' if CPU else torch.cuda.get_device_name(0)
    print(json.dumps(dict(pid=os.getpid(), device=device, torch=torch.__version__,
                          memory=0 if CPU else torch.cuda.memory_reserved())), flush=True)
    for line in sys.stdin:
        words = line.split()
        if words == ['quit']:
            break
        try:
            answer = obey(words, steps)
        except Exception as error:  # told to whoever asked; the next command may go well
            answer = dict(error=repr(error)[:300])
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
