# SPDX-License-Identifier: Apache-2.0
"""Two sessions of torch.profiler within a training loop, and steps before, between and after them.
Prints what each session saw on the device. Knows nothing of gpustarve.

usage: profiled.py [--device cpu] [--sessions N] [--steps N] [--spans FILE]"""
import argparse
import json
import time

import torch


class Loop:
    def __init__(self, device):
        torch.manual_seed(1)
        self.device = device
        self.model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (
            torch.nn.Linear(256, 256), torch.nn.ReLU())]).to(device)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.x = torch.rand(64, 256)

    def steps(self, n):
        for _ in range(n):
            x = self.x.to(self.device)
            self.opt.zero_grad(set_to_none=True)
            loss = (self.model(x) - x).square().mean()
            loss.backward()
            self.opt.step()
            loss.item()


def marked(event):
    """A range that somebody named, as torch's optimizers do, which is drawn over the device's work."""
    return getattr(event, 'is_user_annotation', lambda: False)()


def seen(profiler):
    """Kernels, copies and memsets; no synchronisation, which some versions count."""
    n = {'kernels': 0, 'copies': 0, 'memsets': 0}
    for e in profiler.profiler.kineto_results.events():
        if 'CUDA' not in str(e.device_type()):
            continue
        name = e.name()
        if 'Sync' in name or 'Wait' in name or name.startswith('gpu_user') or marked(e):
            continue
        n['copies' if name.startswith('Memcpy') else 'memsets' if name.startswith('Memset') else
          'kernels'] += 1
    return n


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--device', default='cuda')
    p.add_argument('--sessions', type=int, default=2)
    p.add_argument('--steps', type=int, default=20)
    p.add_argument('--spans', metavar='FILE', help='when sessions began and ended, unix ns')
    args = p.parse_args()
    loop, spans = Loop(args.device), []
    loop.steps(20)
    for i in range(2):
        if i < args.sessions:
            begin = time.time_ns()
            with torch.profiler.profile() as profiler:
                loop.steps(args.steps)
            spans.append((begin, time.time_ns()))
            print('session', i, json.dumps(seen(profiler)), flush=True)
        else:
            loop.steps(args.steps)
        loop.steps(20)
        time.sleep(1)
    if args.spans:
        with open(args.spans, 'w') as f:
            json.dump(spans, f)
    print('trained')


if __name__ == '__main__':
    main()
