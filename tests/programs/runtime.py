#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch asks of the CUDA runtime besides launches: pinned and pageable copies, streams and events, graphs, its allocators,
threads, a loader with workers, a second device. One line says how each part went; what is asserted holds on any GPU.
Names as arguments: only these."""
import os
import sys
import threading
import time
import warnings

import torch
from torch.utils.data import DataLoader, TensorDataset

MB = 1 << 20
PARTS = {}


def part(f):
    PARTS[f.__name__] = f
    return f


def check(cond, what):
    if not cond:
        raise AssertionError(what)


@part
def copies():
    """Whatever is written, in pieces and by all ways, comes back."""
    rng = torch.Generator().manual_seed(1)
    here = torch.randint(0, 256, (1 << 16,), dtype=torch.uint8, generator=rng)
    there = here.cuda()
    for i in range(100):
        at, n = (int(torch.randint(0, high, (1,), generator=rng)) for high in (60000, 5000))
        new = torch.randint(0, 256, (n,), dtype=torch.uint8, generator=rng)
        here[at:at + n] = new
        there[at:at + n].copy_((new, new.cuda(), new.pin_memory())[i % 3], non_blocking=i % 3 == 2)
    check(torch.equal(there.cpu(), here), 'bytes differ')
    check(torch.equal(there.clone()[1000:2000].cpu(), here[1000:2000]), 'bytes of a copy differ')
    rows = torch.arange(4096.).reshape(64, 64)
    check(torch.equal(rows.cuda().cpu(), rows), 'rows differ')


@part
def pinned():
    x = torch.arange(MB, dtype=torch.int32)
    p = x.pin_memory()
    check(p.is_pinned() and not x.is_pinned(), 'what is pinned')
    for _ in range(20):  # blocks come back when their copies are over
        d = x.pin_memory().to('cuda', non_blocking=True)
    back = torch.empty_like(p)
    check(not back.is_pinned(), 'an empty one like it is pinned')
    back = torch.empty(MB, dtype=torch.int32, pin_memory=True)
    back.copy_(d, non_blocking=True)
    torch.cuda.synchronize()
    check(torch.equal(back, x), 'bytes differ')


@part
def streams():
    low, high = torch.cuda.Stream.priority_range()
    check(high < low, 'priorities')
    a, b = torch.cuda.Stream(), torch.cuda.Stream(priority=high)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    x = torch.zeros(MB, device='cuda')
    a.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(a):
        start.record()
        for _ in range(50):
            x.add_(1)
        x.record_stream(a)
    b.wait_stream(a)
    with torch.cuda.stream(b):
        x.mul_(2)
        end.record()
    end.synchronize()
    check(end.query() and a.query() and b.query(), 'not over')
    check(start.elapsed_time(end) > 0, 'no time went by')


@part
def allocator():
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    blocks = [torch.empty(n, dtype=torch.uint8, device='cuda') for n in (1, 512, 513, 3 * MB)]
    check(torch.cuda.memory_allocated() - before >= sum(b.numel() for b in blocks), 'allocated')
    free, total = torch.cuda.mem_get_info()
    check(0 < free < total, 'free of total')
    del blocks
    check(torch.cuda.memory_allocated() == before, 'given back')
    try:
        torch.empty(total * 2, dtype=torch.uint8, device='cuda')
        check(False, 'more than there is')
    except torch.OutOfMemoryError:
        pass
    torch.empty(MB, device='cuda').fill_(1)  # and it goes on


@part
def graphs():
    side, x = torch.cuda.Stream(), torch.ones(1024, device='cuda')
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first):
        y = x * 2
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            z = y + 1
        torch.cuda.current_stream().wait_stream(side)
        w = z * y
    with torch.cuda.graph(second, pool=first.pool()):
        v = w.relu()
    for _ in range(3):
        first.replay()
        second.replay()
    torch.cuda.synchronize()
    check(v.numel() == 1024, 'numbers')
    first.reset()
    second.reset()


@part
def graphed():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).cuda()
    again = torch.cuda.make_graphed_callables(model, (torch.randn(4, 8).cuda().requires_grad_(),))
    for _ in range(3):
        again(torch.randn(4, 8).cuda().requires_grad_()).sum().backward()
    torch.cuda.synchronize()


@part
def loader():
    data = TensorDataset(torch.arange(64 * 8.).reshape(64, 8), torch.arange(64))
    seen = 0
    for x, i in DataLoader(data, 8, num_workers=2, pin_memory=True):
        check(x.is_pinned(), 'not pinned')
        x, i = x.to('cuda', non_blocking=True), i.to('cuda', non_blocking=True)
        check(torch.equal(x.cpu()[:, 0], i.cpu() * 8.), 'a batch differs')
        seen += len(i)
    check(seen == 64, f'{seen} of 64')


@part
def threads():
    failed = []

    def work(n):
        x = torch.full((1000,), n)
        stream = torch.cuda.Stream()
        for _ in range(30):
            with torch.cuda.stream(stream):
                if not torch.equal(x.cuda().cpu(), x):
                    failed.append(n)

    all_ = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()
    check(not failed, f'bytes of {failed} differ')


@part
def errors():
    """An error is told once and leaves the device usable."""
    try:
        torch.cuda.set_device(1000)
        check(False, 'a device that there is not')
    except (RuntimeError, ValueError):
        pass
    torch.ones(4).cuda()
    torch.cuda.synchronize()


@part
def forked():
    """A child of a process that has used the device is told so."""
    torch.ones(1).cuda()
    pid = os.fork()
    if not pid:
        try:
            torch.ones(1).cuda()
        except RuntimeError as e:
            os._exit(0 if 'fork' in str(e) else 2)
        os._exit(1)
    check(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, 'the child')


@part
def devices():
    name = torch.cuda.get_device_name()
    p = torch.cuda.get_device_properties(0)
    check(name == p.name and p.multi_processor_count > 0 and p.total_memory > 1 << 30, 'properties')
    check(torch.cuda.get_device_capability() == (p.major, p.minor), 'capability')
    if torch.cuda.device_count() < 2:
        return
    x = torch.arange(1000)
    a = x.cuda(0)
    b = a.to('cuda:1')
    check(torch.equal(b.cpu(), x), 'pushed bytes differ')
    with torch.cuda.device(1):
        check(torch.equal(a.to('cuda').cpu(), x), 'pulled bytes differ')
        (b + 1).sum()
        torch.cuda.synchronize()
    check(torch.cuda.current_device() == 0, 'current device')


@part
def compiled():
    """A kernel that PyTorch has NVRTC compile."""
    torch.special.bessel_j0(torch.rand(100).cuda())
    torch.cuda.synchronize()


@part
def sleeping():
    """How long the device works is told by events as by the clock."""
    x = torch.empty(64 * MB, device='cuda')
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begun = time.monotonic()
    start.record()
    for _ in range(100):
        x.fill_(1)
    end.record()
    end.synchronize()
    took = (time.monotonic() - begun) * 1e3
    check(0 < start.elapsed_time(end) <= took, f'{start.elapsed_time(end)} of {took} ms')


def main():
    for name in sys.argv[1:] or PARTS:
        try:
            PARTS[name]()
            how = 'done'
        except Exception as e:
            how = f'{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ""}'
        print(f'{name}: {how}', flush=True)


warnings.filterwarnings('ignore', 'Attempting to run cuBLAS, but there was no current CUDA context')
warnings.filterwarnings('ignore', "The AccumulateGrad node's stream does not match")
main()
