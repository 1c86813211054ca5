#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop with a real torch DataLoader over gpudev: fetch a batch, copy it to the device,
run kernels of a known length, wait for the loss. With --own-ledger the script writes, by its own
clock (CLOCK_REALTIME, the clock of the device records), one JSON line per step: when it waited for
the loader, when the step began and ended, and which kernels it enqueued. exposed_ns is the part of
the wait during which the device had nothing to do, as far as the script can know: since the last
synchronisation, or since the kernels it enqueued must have ended."""
import argparse
import io
import json
import os
import sys
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

SHAPE = (3, 64, 64)


class SleepDataset(Dataset):
    """Each sample costs a fixed time without the CPU, as a slow disk or network would."""

    def __init__(self, args):
        self.n, self.seconds = args.steps * args.batch, args.sample_ms / 1000

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        time.sleep(self.seconds)
        return torch.full(SHAPE, float(i % 7))


class JpegDataset(Dataset):
    """Each sample decodes a JPEG of --pixels x --pixels: CPU work."""

    def __init__(self, args):
        import numpy
        from PIL import Image
        self.n = args.steps * args.batch
        pixels = numpy.random.RandomState(args.seed).randint(0, 255, (args.pixels, args.pixels, 3))
        data = io.BytesIO()
        Image.fromarray(pixels.astype('uint8')).save(data, 'JPEG', quality=90)
        self.data = data.getvalue()

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        import numpy
        from PIL import Image
        image = Image.open(io.BytesIO(self.data)).convert('RGB').resize(SHAPE[1:])
        return torch.from_numpy(numpy.asarray(image).transpose(2, 0, 1).copy()).float()


class FileDataset(Dataset):
    """Each sample is read from a file, past the page cache's help as far as --sample-ms says."""

    def __init__(self, args):
        self.n, self.seconds = args.steps * args.batch, args.sample_ms / 1000
        self.path, self.bytes = args.file, 4 * SHAPE[0] * SHAPE[1] * SHAPE[2]
        if not os.path.exists(self.path):
            with open(self.path, 'wb') as f:
                f.write(os.urandom(self.bytes) * 64)
        self.samples = os.path.getsize(self.path) // self.bytes

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        with open(self.path, 'rb', buffering=0) as f:
            f.seek(i % self.samples * self.bytes)
            data = bytearray(f.read(self.bytes))
        time.sleep(self.seconds)
        return torch.frombuffer(data, dtype=torch.uint8).float()[:SHAPE[1] * SHAPE[2]]


class StoreDataset(Dataset):
    """Each sample is a photograph in a store that is asked over HTTP (photo_store.py)."""

    def __init__(self, args):
        self.n, self.url = args.steps * args.batch, args.store

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        import numpy
        from PIL import Image
        with urllib.request.urlopen(f'{self.url}/{i}.jpg') as answer:
            photo = answer.read()
        image = Image.open(io.BytesIO(photo)).convert('RGB').resize(SHAPE[1:])
        return torch.from_numpy(numpy.asarray(image).transpose(2, 0, 1).copy()).float()


DATASETS = {'sleep': SleepDataset, 'jpeg': JpegDataset, 'file': FileDataset, 'store': StoreDataset}


def run_delay():
    """How long this thread has been runnable without a core, by the kernel's account; 0 where that has none."""
    try:
        with open(f'/proc/self/task/{os.getpid()}/schedstat') as f:
            return int(f.read().split()[1])
    except OSError:
        return 0


class Ledger:
    """The script's own record of its steps; kept in memory so that writing costs no step."""

    def __init__(self, path):
        self.path, self.rows, self.endings = path, [], []
        self.idle_since = 0
        self.delay = self.delayed = run_delay()

    def step(self, i, wait, begin, end, gpu_ns, copy_ns, busy_until):
        idle = max(0, wait[1] - max(wait[0], self.idle_since))
        delayed = run_delay()
        self.rows.append(dict(step=i, wait_begin_ns=wait[0], wait_end_ns=wait[1], begin_ns=begin,
                              end_ns=end, gpu_ns=gpu_ns, copy_ns=copy_ns,
                              exposed_ns=idle, delay_ns=delayed - self.delayed))
        self.idle_since, self.delayed = busy_until, delayed

    def ending_wait(self, begin, end):
        """The wait that found the epoch at its end, workers' shutdown included."""
        self.endings.append(max(0, end - max(begin, self.idle_since)))

    def write(self, args, started):
        if not self.path:
            return
        total = dict(total=True, steps=len(self.rows), pid=os.getpid(), started_ns=started,
                     ended_ns=time.time_ns(), gpu_ns=sum(r['gpu_ns'] for r in self.rows),
                     wait_ns=sum(r['wait_end_ns'] - r['wait_begin_ns'] for r in self.rows),
                     ending_ns=sum(self.endings), delay_ns=run_delay() - self.delay,
                     exposed_ns=sum(r['exposed_ns'] for r in self.rows) + sum(self.endings),
                     copy_ns=sum(r['copy_ns'] for r in self.rows), args=vars(args))
        with open(self.path, 'w') as f:
            for row in self.rows + [total]:
                f.write(json.dumps(row) + '\n')


class Marks:
    """NVTX ranges around steps and waits; does nothing unless asked for."""

    def __init__(self, on):
        self.nvtx = None
        if on:
            import nvtxmini
            self.nvtx = nvtxmini.Nvtx()

    def push(self, text):
        if self.nvtx:
            self.nvtx.push(text)

    def pop(self):
        if self.nvtx:
            self.nvtx.pop()


def parse():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--workers', type=int, default=0)
    p.add_argument('--start-method', choices=('fork', 'spawn', 'forkserver'), default='fork')
    p.add_argument('--dataset', choices=sorted(DATASETS), default='sleep')
    p.add_argument('--steps', type=int, default=50)
    p.add_argument('--epochs', type=int, default=1)
    p.add_argument('--batch', type=int, default=4)
    p.add_argument('--sample-ms', type=float, default=2.0, help='time per sample (sleep, file)')
    p.add_argument('--pixels', type=int, default=256, help='edge of the JPEG')
    p.add_argument('--file', default='train_loader.bin', help='file that is read')
    p.add_argument('--store', metavar='URL', help='of photo_store.py')
    p.add_argument('--gpu-ms', type=float, default=4.0, help='kernel time per step')
    p.add_argument('--kernels', type=int, default=4, help='kernels per step')
    p.add_argument('--sync', choices=('step', 'end', 'late'), default='step',
                   help='wait for the device in each step, one step late, or only at the end')
    p.add_argument('--device', type=int, default=int(os.environ.get('LOCAL_RANK', 0)))
    p.add_argument('--pin', action='store_true', help='copy through pinned memory')
    p.add_argument('--host-ms', type=float, default=0, help='Python time per step, not the loader')
    p.add_argument('--runtime', action='store_true', help='through the runtime (simulator only)')
    p.add_argument('--allreduce', action='store_true', help='end each step in a collective')
    p.add_argument('--optimizer', action='store_true', help='step a small torch optimizer too')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--own-ledger', metavar='FILE')
    p.add_argument('--nvtx', action='store_true')
    p.add_argument('--print-every', type=int, default=0)
    return p.parse_args()


def make_loader(args):
    context = args.start_method if args.workers else None
    return DataLoader(DATASETS[args.dataset](args), batch_size=args.batch,
                      num_workers=args.workers, multiprocessing_context=context)


class Gpu:
    """The device part of a step."""

    def __init__(self, args):
        import gpudev
        self.args, self.dev = args, gpudev.Device(args.device)
        if args.runtime:
            gpudev.use_runtime()
        self.stream = gpudev.Stream(self.dev)
        self.room = 64 << 20
        self.buffer = self.dev.malloc(self.room)
        self.pinned = self.dev.host_alloc(self.room) if args.pin else None
        self.ns = int(args.gpu_ms * 1e6) // max(1, args.kernels)
        self.last, self.busy_until, self.copy_ns = None, 0, 0

    def step(self, batch):
        """Enqueues a step; returns (kernel ns enqueued, when the device will have done it)."""
        n = min(self.room, batch.numel() * batch.element_size())
        begin = time.time_ns()
        self.dev.h2d(self.buffer, self.pinned or batch, n, self.stream)
        self.copy_ns = time.time_ns() - begin  # staging the batch: the device waits for it
        for i in range(self.args.kernels):
            self.stream.kernel(self.ns, 'forward' if i < self.args.kernels // 2 else 'backward')
        if self.args.allreduce:
            self.stream.kernel(200_000, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL')
        done = self.stream.record()
        before, self.last = self.last, done
        total = self.ns * self.args.kernels
        self.busy_until = max(self.busy_until, time.time_ns()) + total
        if self.args.sync == 'step':
            done.synchronize()
            self.busy_until = time.time_ns()
        elif self.args.sync == 'late' and before:
            before.synchronize()
        return total, self.busy_until

    def finish(self):
        self.stream.synchronize()


def make_optimizer(args):
    if not args.optimizer:
        return None
    weight = torch.nn.Parameter(torch.zeros(16))
    weight.grad = torch.ones(16)
    return torch.optim.SGD([weight], lr=0.1)


def spin(ms):
    end = time.perf_counter() + ms / 1000
    while time.perf_counter() < end:
        pass


def train(args):
    started = time.time_ns()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    loader, gpu, ledger, marks = make_loader(args), Gpu(args), Ledger(args.own_ledger), Marks(args.nvtx)
    optimizer, i = make_optimizer(args), 0
    for _ in range(args.epochs):
        batches = iter(loader)
        while True:
            marks.push(f'step {i}')
            w0 = time.time_ns()
            batch = next(batches, None)
            w1 = time.time_ns()
            if batch is None:
                ledger.ending_wait(w0, w1)
                marks.pop()
                break
            gpu_ns, busy_until = gpu.step(batch)
            if optimizer:
                optimizer.step()
            spin(args.host_ms)
            end = time.time_ns()
            marks.pop()
            ledger.step(i, (w0, w1), w0, end, gpu_ns, gpu.copy_ns, busy_until)
            i += 1
            if args.print_every and i % args.print_every == 0:
                print(f'step {i}', flush=True)
    gpu.finish()
    ledger.write(args, started)
    print(f'trained {i} steps')


if __name__ == '__main__':
    train(parse())
