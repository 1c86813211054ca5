#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plain PyTorch training on a real GPU: a small CNN on real JPEGs through a DataLoader, a small
transformer (eager, compiled, or as one CUDA graph), or a loop of tiny kernels. Knows nothing of
gpustarve. Writes, by its own clock, one line per step; with --profile it also counts what
torch.profiler saw, so that two runs of one seed can be compared."""
import argparse
import io
import json
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Jpegs(torch.utils.data.Dataset):
    """Decodes one of a few JPEGs made from the seed; sleeps --sample-ms on top (a slow disk)."""

    def __init__(self, args):
        import numpy
        from PIL import Image
        rng = numpy.random.RandomState(args.seed)
        self.args, self.blobs = args, []
        for _ in range(16):
            data = io.BytesIO()
            pixels = rng.randint(0, 255, (args.pixels, args.pixels, 3)).astype('uint8')
            Image.fromarray(pixels).save(data, 'JPEG', quality=90)
            self.blobs.append(data.getvalue())

    def __len__(self):
        return self.args.steps * self.args.batch

    def __getitem__(self, i):
        import numpy
        from PIL import Image
        image = Image.open(io.BytesIO(self.blobs[i % 16])).convert('RGB').resize((64, 64))
        if self.args.sample_ms:
            time.sleep(self.args.sample_ms / 1000)
        return torch.from_numpy(numpy.asarray(image).copy()).permute(2, 0, 1).float() / 255, i % 10


class Synthetic:
    """Batches that are ready: no loader wait worth the name."""

    def __init__(self, args):
        self.args = args

    def __iter__(self):
        x, y = torch.rand(self.args.batch, 3, 64, 64), torch.arange(self.args.batch) % 10
        for _ in range(self.args.steps):
            yield x, y


class Cnn(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(*[m for i in range(6) for m in (
            nn.Conv2d(3 if i == 0 else width, width, 3, padding=1), nn.BatchNorm2d(width),
            nn.ReLU())])
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Transformer(nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, dropout=0.0)
        self.embed, self.body = nn.Linear(192, width), nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(self.embed(x.reshape(x.shape[0], 64, 192))).mean(1))


def parse():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--model', choices=('cnn', 'transformer', 'tiny'), default='cnn')
    p.add_argument('--width', type=int, default=128)
    p.add_argument('--batch', type=int, default=64)
    p.add_argument('--steps', type=int, default=50)
    p.add_argument('--data', choices=('jpeg', 'synthetic'), default='synthetic')
    p.add_argument('--workers', type=int, default=4)
    p.add_argument('--pixels', type=int, default=128)
    p.add_argument('--sample-ms', type=float, default=0)
    p.add_argument('--pin', action='store_true')
    p.add_argument('--compile', action='store_true', help='torch.compile, CUDA graphs')
    p.add_argument('--graph', action='store_true', help='the whole step as one CUDA graph')
    p.add_argument('--ddp', action='store_true', help='one rank of DistributedDataParallel (nccl)')
    p.add_argument('--launches', type=int, default=500, help='tiny: kernels per step')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--step-times', metavar='FILE')
    p.add_argument('--profile', metavar='FILE', help='profile the whole run, write counts')
    p.add_argument('--profile-inside', type=int, default=0, metavar='N',
                   help='profile N steps in the middle')
    return p.parse_args()


def make_data(args):
    if args.data == 'synthetic':
        return Synthetic(args)
    return torch.utils.data.DataLoader(Jpegs(args), batch_size=args.batch,
                                       num_workers=args.workers, pin_memory=args.pin)


def make_model(args):
    model = (Transformer if args.model == 'transformer' else Cnn)(args.width).cuda()
    if args.ddp:
        os.environ.setdefault('MASTER_ADDR', '127.0.0.1')
        os.environ.setdefault('MASTER_PORT', '29511')
        torch.distributed.init_process_group('nccl', rank=0, world_size=1)
        model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
    return torch.compile(model, mode='reduce-overhead') if args.compile else model


class Step:
    """One training step; with --graph recorded once and replayed."""

    def __init__(self, args):
        self.args, self.model = args, make_model(args)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.graph = None
        if args.graph:
            self.record()

    def body(self, x, y):
        self.opt.zero_grad(set_to_none=not self.args.graph)
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.opt.step()
        return loss

    def record(self):
        self.x = torch.rand(self.args.batch, 3, 64, 64, device='cuda')
        self.y = torch.zeros(self.args.batch, dtype=torch.long, device='cuda')
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                self.body(self.x, self.y)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.body(self.x, self.y)

    def __call__(self, x, y):
        if self.graph:
            self.x.copy_(x, non_blocking=True)
            self.y.copy_(y, non_blocking=True)
            self.graph.replay()
            return self.loss
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        return self.body(x, y)


class Tiny:
    """Nothing but launches."""

    def __init__(self, args):
        self.n, self.x = args.launches, torch.zeros(16, device='cuda')

    def __call__(self, x, y):
        for _ in range(self.n):
            self.x.add_(1)
        return self.x[0]


def train(args):
    torch.manual_seed(args.seed)
    step, rows, inside = (Tiny if args.model == 'tiny' else Step)(args), [], None
    begin = time.time_ns()
    for i, (x, y) in enumerate(make_data(args)):
        got = time.time_ns()
        if args.profile_inside and i == args.steps // 3:
            inside = torch.profiler.profile()
            inside.start()
        loss = step(x, y)
        loss.item()
        if inside and i == args.steps // 3 + args.profile_inside - 1:
            inside.stop()
            print('inside', json.dumps(counts(inside)), flush=True)
        end = time.time_ns()
        rows.append((begin, got, end))
        begin = end
    return rows


def counts(profile):
    """Device operations by kind, as torch.profiler saw them."""
    n = {'kernel': 0, 'copy': 0, 'memset': 0}
    for e in profile.profiler.kineto_results.events():
        if 'CUDA' in str(e.device_type()):
            name = e.name()
            kind = 'copy' if name.startswith('Memcpy') else \
                'memset' if name.startswith('Memset') else 'kernel'
            # Synchronisation records stand among the device's events and are no work.
            if 'Sync' not in name and 'Wait' not in name and not name.startswith('gpu_user'):
                n[kind] += 1
    return n


def main():
    args = parse()
    if args.profile:
        with torch.profiler.profile() as profile:
            rows = train(args)
            torch.cuda.synchronize()
        with open(args.profile, 'w') as f:
            json.dump(counts(profile), f)
    else:
        rows = train(args)
        torch.cuda.synchronize()
    if args.step_times:
        with open(args.step_times, 'w') as f:
            for begin, got, end in rows:
                f.write(f'{begin} {got} {end}\n')
    if args.ddp:
        torch.distributed.destroy_process_group()
    print(f'trained {len(rows)} steps')
    return 0


if __name__ == '__main__':
    sys.exit(main())
