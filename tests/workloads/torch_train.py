#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plain PyTorch training on a real GPU: a small ResNet on real JPEGs through a DataLoader, a small
transformer (eager, compiled, or as one CUDA graph), or a loop of tiny kernels. Knows nothing of
gpustarve. Writes, by its own clock, one line per step; with --profile it also writes what
torch.profiler saw on the device, so that two runs of one seed can be compared. With --device cpu
all of it runs without a GPU: graphs are then replayed by hand, and what this torch has not is left
out with a word."""
import argparse
import atexit
import io
import json
import os
import shutil
import sys
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

# What torch.profiler calls work of the device, and what it must be to count as such.
WORK = {'kernel': 'kernel', 'gpu_memcpy': 'copy', 'gpu_memset': 'memset'}
DIRECTIONS = {'HtoD': 'copy-h2d', 'DtoH': 'copy-d2h', 'DtoD': 'copy-d2d', 'HtoH': 'copy-h2h',
              'PtoP': 'copy-p2p'}


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


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(inner, outer, 3, stride, 1, bias=False),
                                  nn.BatchNorm2d(outer), nn.ReLU(),
                                  nn.Conv2d(outer, outer, 3, 1, 1, bias=False),
                                  nn.BatchNorm2d(outer))
        self.around = nn.Identity() if inner == outer and stride == 1 else nn.Sequential(
            nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        return F.relu(self.body(x) + self.around(x))


class Cnn(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False),
                                  nn.BatchNorm2d(width), nn.ReLU())
        self.body = nn.Sequential(Block(width, width, 1), Block(width, width, 1),
                                  Block(width, 2 * width, 2))
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


class Transformer(nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, dropout=0.0)
        self.embed, self.body = nn.Linear(192, width), nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(self.embed(x.reshape(x.shape[0], 64, 192))).mean(1))


def parse(argv=None):
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--device', choices=('cuda', 'cpu'), default='cuda')
    p.add_argument('--model', choices=('cnn', 'transformer', 'tiny'), default='cnn')
    p.add_argument('--width', type=int, default=128)
    p.add_argument('--batch', type=int, default=64)
    p.add_argument('--steps', type=int, default=50)
    p.add_argument('--seconds', type=float, default=0, help='stop after so long, if earlier')
    p.add_argument('--data', choices=('jpeg', 'synthetic'), default='synthetic')
    p.add_argument('--workers', type=int, default=4)
    p.add_argument('--pixels', type=int, default=128)
    p.add_argument('--sample-ms', type=float, default=0)
    p.add_argument('--pin', action='store_true')
    p.add_argument('--look-every', type=int, default=1, metavar='N',
                   help='wait for the loss in each Nth step only')
    p.add_argument('--compile', action='store_true', help='torch.compile, CUDA graphs')
    p.add_argument('--graph', action='store_true', help='the whole step as one CUDA graph')
    p.add_argument('--ddp', action='store_true', help='one rank of DistributedDataParallel (nccl)')
    p.add_argument('--launches', type=int, default=500, help='tiny: kernels per step')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--step-times', metavar='FILE')
    p.add_argument('--profile', metavar='FILE', help='profile the whole run, write what was seen')
    p.add_argument('--profile-inside', type=int, default=0, metavar='N',
                   help='profile N steps in the middle')
    return p.parse_args(argv)


def same_each_time(args):
    """Two runs of a seed choose the same kernels: nothing is picked by how long it took."""
    torch.manual_seed(args.seed)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True


def import_late_parts():
    """Making the first optimizer imports torch's compiler, for seconds: before a GPU is held."""
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.01)


def make_data(args):
    if args.data == 'synthetic':
        return Synthetic(args)
    return torch.utils.data.DataLoader(Jpegs(args), batch_size=args.batch, num_workers=args.workers,
                                       pin_memory=args.pin and args.device == 'cuda')


def join_group(args):
    """Under a launcher as it says; else alone, by a file, so that no two runs want one port."""
    backend = 'nccl' if args.device == 'cuda' else 'gloo'
    if 'RANK' in os.environ:
        torch.distributed.init_process_group(backend)
        return
    folder = tempfile.mkdtemp(prefix='torch_train-')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    torch.distributed.init_process_group(backend, init_method=f'file://{folder}/group', rank=0,
                                         world_size=1)


def make_model(args):
    model = (Transformer if args.model == 'transformer' else Cnn)(args.width).to(args.device)
    if args.ddp:
        join_group(args)
        devices = [0] if args.device == 'cuda' else None
        model = nn.parallel.DistributedDataParallel(model, device_ids=devices)
    if args.compile and hasattr(torch, 'compile'):
        return torch.compile(model, mode='reduce-overhead')
    if args.compile:
        print('this torch compiles nothing: eager', file=sys.stderr)
    return model


class Step:
    """One training step; with --graph recorded once and replayed."""

    def __init__(self, args):
        self.args, self.model = args, make_model(args)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.replay = None
        if args.graph:
            self.x = torch.rand(args.batch, 3, 64, 64, device=args.device)
            self.y = torch.zeros(args.batch, dtype=torch.long, device=args.device)
            self.replay = self.record() if args.device == 'cuda' else self.by_hand

    def body(self, x, y):
        self.opt.zero_grad(set_to_none=not self.args.graph)
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.opt.step()
        return loss

    def by_hand(self):
        self.loss = self.body(self.x, self.y)

    def record(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.body(self.x, self.y)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.body(self.x, self.y)
        return self.graph.replay

    def __call__(self, x, y):
        if self.replay:
            self.x.copy_(x, non_blocking=True)
            self.y.copy_(y, non_blocking=True)
            self.replay()
            return self.loss
        device = self.args.device
        return self.body(x.to(device, non_blocking=True), y.to(device, non_blocking=True))


class Tiny:
    """Nothing but launches."""

    def __init__(self, args):
        self.n, self.x = args.launches, torch.zeros(16, device=args.device)

    def __call__(self, x, y):
        for _ in range(self.n):
            self.x.add_(1)
        return self.x[0]


def synchronize(args):
    if args.device == 'cuda':
        torch.cuda.synchronize()


def train(args):
    same_each_time(args)
    import_late_parts()
    step, rows, inside = (Tiny if args.model == 'tiny' else Step)(args), [], None
    batches, first, i, begin = iter(make_data(args)), time.time(), -1, time.time_ns()
    while not args.seconds or time.time() - first < args.seconds:
        batch, i, got = next(batches, None), i + 1, time.time_ns()
        if batch is None:  # in which a loader ends its workers
            print(f'waited {got - begin} ns for the end of the data')
            break
        x, y = batch
        if args.profile_inside and i == args.steps // 3:
            inside = torch.profiler.profile()
            inside.start()
        loss = step(x, y)
        if (i + 1) % args.look_every == 0:
            loss.item()
        if inside and i == args.steps // 3 + args.profile_inside - 1:
            inside.stop()
            print('inside', json.dumps(counts(inside)), flush=True)
        end = time.time_ns()
        rows.append((begin, got, end))
        begin = end
    synchronize(args)
    return rows


def exported(profile):
    """The profile as Chrome's JSON, in which each event has a category."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'trace.json')
        profile.export_chrome_trace(path)
        with open(path) as f:
            trace = json.load(f)
        return trace if isinstance(trace, dict) else dict(traceEvents=trace)  # without Kineto


def work_of(trace):
    """What the device did, [kind, name, ns of its launch, bytes] each; and how many events of other
    categories stand among the device's (synchronisation records, annotations), which are no work."""
    base = int(trace.get('baseTimeNanoseconds') or 0)
    events = [e for e in trace['traceEvents'] if e.get('ph') == 'X']

    def at(event):
        return base + round(float(event['ts']) * 1000)

    calls = {e.get('args', {}).get('correlation'): at(e) for e in events
             if e.get('cat') in ('cuda_runtime', 'cuda_driver')}
    ops, others = [], {}
    for e in events:
        kind = WORK.get(e.get('cat'))
        if kind == 'copy':
            kind = next((v for k, v in DIRECTIONS.items() if k in e['name']), kind)
        if kind:
            about = e.get('args', {})
            ops.append([kind, e['name'], calls.get(about.get('correlation', -1), at(e)),
                        int(about.get('bytes') or 0)])
        elif str(e.get('cat')).startswith(('gpu_', 'cuda_sync', 'cuda_event')):
            others[e['cat']] = others.get(e['cat'], 0) + 1
    return ops, others


def counts(profile):
    """Device operations by kind, as torch.profiler saw them."""
    n = {'kernel': 0, 'copy': 0, 'memset': 0}
    for kind, *_ in work_of(exported(profile))[0]:
        n[kind.split('-')[0]] += 1
    return n


def profiled(args):
    """Trains inside a profiler that begins before CUDA does and ends after its last operation."""
    what = torch.profiler.ProfilerActivity
    both = [what.CPU] if args.device == 'cpu' else [what.CPU, what.CUDA]
    with torch.profiler.profile(activities=both) as profile:
        rows = train(args)
    ops, others = work_of(exported(profile))
    with open(args.profile, 'w') as f:
        json.dump(dict(ops=ops, others=others), f)
    return rows


def main(argv=None):
    args = parse(argv)
    rows = profiled(args) if args.profile else train(args)
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
