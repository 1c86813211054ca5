#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop with something planted in it that keeps the GPU waiting, over a real torch
DataLoader and gpudev. What is planted, and where, is chosen by a plan (JSON): no class, function or
file name tells it. Every activity is the method `work` of a class K<number>; its lines carry marks
(`#:` and a name) that the harness looks up in this source.

The plan: steps, epochs, batch, workers, prefetch, persistent, pin, start (fork, spawn), kernels,
gpu_us, sync (step, late), seed, and places: lists of [class, parameters] for
    sample   in __getitem__         collate  in the collate function
    parcel   while a batch is unpickled in the trainer        pin  in the pin-memory thread
    step     in the loop, between next() and the launches; `every`: only in each Nth step, `upto`:
             not from that one on
    worker   once, at the start of each loader worker          start  once, before the first step

--own-ledger DIR: what happened when, by this script's own clock (CLOCK_REALTIME, that of the device
records), in memory until the process ends: one file per process, one JSON line per row."""
import argparse
import fcntl
import ctypes
import gc
import io
import json
import mmap
import multiprocessing.util
import os
import queue
import random
import signal
import socket
import sys
import threading
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy  # noqa: E402
import torch  # noqa: E402
from PIL import Image  # noqa: E402
from torch.utils.data import DataLoader, Dataset, get_worker_info  # noqa: E402

import gpudev  # noqa: E402


class Ledger:
    """Rows of this process: place, key, begin, end, and of the thread in between: ns on a CPU, ns
    in which it could run and had none."""

    def __init__(self, folder):
        self.folder, self.rows, self.local, self.pid = folder, [], threading.local(), 0

    def here(self):
        """After a fork everything begins anew, and the file is written when the child ends."""
        if self.pid == os.getpid():
            return self
        self.rows, self.local, self.pid = [], threading.local(), os.getpid()
        multiprocessing.util.Finalize(None, self.write, exitpriority=0)
        return self

    def delay(self):
        """0 where the kernel does not count it."""
        if not hasattr(self.local, 'fd'):
            try:
                self.local.fd = os.open(f'/proc/self/task/{threading.get_native_id()}/schedstat',
                                        os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                self.local.fd = -1
        return int(os.pread(self.local.fd, 64, 0).split()[1]) if self.local.fd >= 0 else 0  #: b9

    def stamp(self):
        return time.time_ns(), time.thread_time_ns(), self.delay()

    def row(self, place, key, since):
        t, cpu, delay = self.stamp()
        self.rows.append((place, key, since[0], t, cpu - since[1], delay - since[2],
                          threading.get_native_id()))

    def write(self):
        with open(os.path.join(self.folder, f'{self.pid}.jsonl'), 'w') as f:
            for place, key, begin, end, cpu, delay, tid in self.rows:
                f.write(json.dumps(dict(place=place, key=key, begin=begin, end=end, cpu=cpu,
                                        delay=delay, tid=tid, pid=self.pid)) + '\n')


class Kind:
    """Base of what can be planted. prepare() runs once in the trainer, before workers exist."""

    def __init__(self, job, **given):
        self.job = job
        self.__dict__.update(given)
        self.prepare()

    def prepare(self):
        pass

    def ready(self, gpu):
        """In the trainer, before the device's first operation."""

    def finish(self):
        """In the trainer, after the loop."""


class K01(Kind):
    def work(self, i):
        end = time.thread_time_ns() + int(self.ms * 1e6)
        while time.thread_time_ns() < end: sum(range(400))  #: a1


class K02(Kind):
    def prepare(self):
        pixels = numpy.random.RandomState(self.job.seed).randint(0, 255, (self.edge, self.edge, 3))
        data = io.BytesIO()
        Image.fromarray(pixels.astype('uint8')).save(data, 'JPEG', quality=92)
        self.data = data.getvalue()

    def work(self, i):
        for _ in range(self.times):
            image = Image.open(io.BytesIO(self.data)).convert('RGB')  #: a2
            image = image.resize((64, 64), Image.BICUBIC)  #: a2
        return image


class K03(Kind):
    def prepare(self):
        self.data = numpy.random.RandomState(self.job.seed).rand(self.n)

    def work(self, i):
        for _ in range(self.times): numpy.sort(self.data)  #: a3


class K04(Kind):
    def prepare(self):
        self.data = random.Random(self.job.seed).randbytes(self.n) * 4

    def work(self, i):
        for _ in range(self.times): zlib.compress(self.data, 6)  #: a4


class K05(Kind):
    """A file read past the page cache."""

    def work(self, i):
        fd = os.open(self.path, os.O_RDONLY)  #: a5
        size = os.fstat(fd).st_size
        if not self.__dict__.get('cached'):
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        at = random.Random(i).randrange(max(1, size // self.n)) * self.n
        data = os.pread(fd, self.n, at)  #: a5
        os.close(fd)
        return data


class K06(Kind):
    """A pipe that somebody fills slowly, one byte per wait."""

    def work(self, i):
        if self.__dict__.get('pid') != os.getpid():
            self.pid, self.fd = os.getpid(), os.open(self.path, os.O_RDONLY)
        os.read(self.fd, 1)  #: a6


class K07(Kind):
    """A server that takes its time."""

    def work(self, i):
        if self.__dict__.get('pid') != os.getpid():
            self.pid, self.peer = os.getpid(), socket.socket(socket.AF_INET)
            self.peer.connect(('127.0.0.1', self.port))
        self.peer.sendall(b'%d\n' % int(self.ms * 1000))
        self.peer.recv(4)  #: a7


class K08(Kind):
    """A file mapped into memory and not in it."""

    def work(self, i):
        if self.__dict__.get('pid') != os.getpid():
            self.pid, self.fd = os.getpid(), os.open(self.path, os.O_RDONLY)
            self.map = mmap.mmap(self.fd, 0, prot=mmap.PROT_READ)
            self.map.madvise(mmap.MADV_RANDOM)
            self.array = numpy.frombuffer(self.map, dtype=numpy.uint8)
        pages = len(self.array) // mmap.PAGESIZE
        first = random.Random(i).randrange(pages - self.pages) * mmap.PAGESIZE
        self.map.madvise(mmap.MADV_DONTNEED)
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        return self.array[first:first + self.pages * mmap.PAGESIZE].sum()  #: a8


class K09(Kind):
    def work(self, i):
        time.sleep(self.ms / 1000)  #: a9


class K10(Kind):
    """A lock that all workers share, held while another activity runs."""

    def prepare(self):
        self.lock = torch.multiprocessing.get_context('fork').Lock()
        self.inner = self.job.kind(self.held)

    def work(self, i):
        since = self.job.ledger.stamp()
        self.lock.acquire()  #: b1
        self.job.ledger.row('lock', i, since)
        self.inner.work(i)
        self.lock.release()


class K11(Kind):
    """A lock of the process that another thread of it holds most of the time."""

    def work(self, i):
        if self.__dict__.get('pid') != os.getpid():
            self.pid, self.lock, self.turn = os.getpid(), threading.Lock(), queue.Queue()
            threading.Thread(target=self.other, daemon=True).start()
        self.turn.put(1)
        time.sleep(0.0005)
        with self.lock: pass  #: b2

    def other(self):
        while self.turn.get():
            with self.lock:
                time.sleep(self.ms / 1000)  #: b3


class K12(Kind):
    """Many small files."""

    def work(self, i):
        for n in range(self.files):
            with open(f'{self.path}/f{i * self.files + n}', 'rb') as f:  #: b4
                f.read()  #: b4


class K13(Kind):
    def prepare(self):
        self.state = {f'w{n}': torch.zeros(self.kib * 256) for n in range(self.tensors)}

    def work(self, i):
        with open(self.path, 'wb') as f:  #: b5
            torch.save(self.state, f)  #: b5
            f.flush()  #: b5
            os.fsync(f.fileno())  #: b5


class K14(Kind):
    def prepare(self):
        self.many = [[[n]] for n in range(self.objects)]

    def work(self, i):
        gc.collect()  #: b6


class K15(Kind):
    """A thread that never lets go of the interpreter, and calls that release it."""

    def work(self, i):
        if 'hog' not in self.__dict__:
            self.data = bytes(2_000_000)
            self.hog = threading.Thread(target=self.other, daemon=True)
            self.hog.start()
        for _ in range(self.calls): zlib.crc32(self.data)  #: b7

    def other(self):
        x = 1
        while not self.job.over: x = x * 31 % 65521  #: b8


class K16(Kind):
    """Another activity inside a named range."""

    def prepare(self):
        self.inner = self.job.kind(self.held)
        if self.by == 'nvtx':
            import nvtxmini
            self.nvtx = nvtxmini.Nvtx()

    def work(self, i):
        if self.by == 'nvtx':
            self.nvtx.push(self.text)
            self.inner.work(i)
            self.nvtx.pop()
        else:
            with torch.profiler.record_function(self.text):
                self.inner.work(i)


class K17(Kind):
    def work(self, i):
        p, size = gpudev.U64(), gpudev.SIZE(self.mib << 20)
        for _ in range(self.times):
            gpudev.driver().cuMemAlloc_v2.raw(gpudev.ctypes.byref(p), size)  #: c1
            gpudev.driver().cuMemFree_v2.raw(p)  #: c1


class K18(Kind):
    def work(self, i):
        for n in range(self.times):
            load(i * self.times + n)  #: c2


def load(number):
    """A module that nobody has loaded before."""
    image = (gpudev.PTX_HEAD + gpudev.PTX_KERNEL % f'k{number}').encode() + b'\0'
    module = gpudev.P()
    gpudev.driver().cuModuleLoadData.raw(gpudev.ctypes.byref(module), image)  #: c2


class K19(Kind):
    """One stream waits for another, which waits for the host."""

    def work(self, i):
        gpu = self.job.gpu
        if 'side' not in self.__dict__:
            self.side = gpudev.Stream(gpu.dev)
        self.side.kernel(20_000, 'forward')
        self.side.host(lambda: time.sleep(self.ms / 1000))
        gpu.stream.wait(self.side.record())


class K20(Kind):
    """A graph that has the host in its middle."""

    def work(self, i):
        gpu = self.job.gpu
        if 'graph' not in self.__dict__:
            self.graph = gpudev.Graph(gpu.stream, self.body)
        self.graph.launch(gpu.stream)

    def body(self, stream):
        stream.kernel(200_000, 'forward')
        stream.host(lambda: time.sleep(self.ms / 1000))
        stream.kernel(200_000, 'backward')


class K21(Kind):
    """Copies from ordinary memory, small enough to be staged by the caller."""

    def prepare(self):
        self.data = bytearray(1 << 20)

    def work(self, i):
        gpu = self.job.gpu
        at, fn = gpudev.address_of(self.data), gpudev.driver().cuMemcpyHtoDAsync_v2.raw
        for _ in range(self.times): fn(gpu.buffer, at, len(self.data), gpu.stream.handle)  #: c3


class K22(Kind):
    """Waits for the device after each of many kernels."""

    def work(self, i):
        stream = self.job.gpu.stream
        wait, handle = gpudev.driver().cuStreamSynchronize.raw, stream.handle
        for _ in range(self.times):
            stream.kernel(self.us * 1000, 'forward')  #: c4
            wait(handle)  #: c4


class K23(Kind):
    """A batch that another thread of the trainer makes."""

    def work(self, i):
        if 'made' not in self.__dict__:
            self.made, self.turn = queue.Queue(), queue.Queue()
            self.inner = self.job.kind(self.held)
            threading.Thread(target=self.other, daemon=True).start()
        self.turn.put(i)
        self.made.get()  #: c5

    def other(self):
        while True:
            i = self.turn.get()
            self.inner.work(i)
            self.made.put(i)


class K24(Kind):
    """Joins a control group, or takes to one core, or stands back."""

    def work(self, i):
        for path in self.__dict__.get('groups', ()):
            with open(os.path.join(path, 'cgroup.procs'), 'w') as f:
                f.write(str(os.getpid()))
        if 'cores' in self.__dict__:
            os.sched_setaffinity(0, self.cores)
        if 'nice' in self.__dict__:
            os.nice(self.nice)


class K25(Kind):
    """The slow one among fast ones."""

    def prepare(self):
        self.inner, self.slow = self.job.kind(self.held), self.job.kind(self.rare)

    def work(self, i):
        (self.slow if i % self.each == self.phase else self.inner).work(i)


class K26(Kind):
    """Many small objects: what they cost is paid when they are packed and unpacked."""

    def work(self, i):
        return None


class K27(Kind):
    """Small operations of the framework on the host."""

    def prepare(self):
        self.x = torch.rand(64, 64)

    def work(self, i):
        x = self.x
        for _ in range(self.times): x = torch.tanh(x @ x)  #: c6


class K28(Kind):
    """Ends on a signal: the whole job is stopped and goes on."""

    def work(self, i):
        with open(self.path, 'w') as f:
            f.write(str(os.getpid()))


class K29(Kind):
    """Many tiny kernels: a launch each, or one of a graph of them."""

    def work(self, i):
        stream = self.job.gpu.stream
        self.made.launch(stream) if self.graph else self.body(stream)

    def ready(self, gpu):
        if self.graph:
            self.made = gpudev.Graph(gpu.stream, self.body)

    def body(self, stream):
        stream.kernel(self.ns, 'forward')
        fn, again = stream.dev.function('forward'), gpudev.driver().cuLaunchKernel.raw
        for _ in range(self.times - 1):
            again(fn, 1, 1, 1, 32, 1, 1, 0, stream.handle, stream.args, None)
        gpudev.Stream.launched += self.times - 1


class K30(Kind):
    """Memory for each kernel, and no longer than it."""

    def work(self, i):
        stream, p, size = self.job.gpu.stream, gpudev.U64(), gpudev.SIZE(self.mib << 20)
        take, give = gpudev.driver().cuMemAlloc_v2.raw, gpudev.driver().cuMemFree_v2.raw
        for _ in range(self.times):
            take(gpudev.ctypes.byref(p), size)  #: c8
            stream.kernel(self.us * 1000, 'forward')
            give(p)  #: c8


class K31(Kind):
    """Modules at the beginning, all of them."""

    def work(self, i):
        gpudev.Device(0)
        for n in range(self.times): load(n)  #: c2


class K32(Kind):
    """Says that it begins, waits for an answer; at the end both are taken back."""

    def work(self, i):
        with open(self.path, 'w') as f:
            f.write(str(os.getpid()))
        self.until(True)

    def finish(self):
        os.unlink(self.path)
        self.until(False)

    def until(self, there):
        for _ in range(1500):
            if os.path.exists(self.path + '.ready') == there:
                break
            time.sleep(0.02)


class K33(Kind):
    """Calls code of a library that nobody called before: it comes from the disk."""

    def prepare(self):
        self.library = ctypes.CDLL(self.path)

    def work(self, i):
        self.library.seldom(i, 1)  #: c9


# ---- the batch on its way ----

class Parcel:
    """A batch that says when it is packed and unpacked, and can be pinned. The fields are written
    in order: a mark, the load, a mark."""

    def __init__(self, job, key, tensor, load):
        self.job, self.key, self.tensor, self.load = job, key, tensor, load

    def __reduce__(self):
        return parcel, (Mark(self.key, 0), self.load, Mark(self.key, 1), self.tensor)

    def pin_memory(self, device=None):
        self.job.run('pin', self.key)
        return self


class Mark:
    def __init__(self, key, which):
        self.key, self.which = key, which

    def __reduce__(self):
        JOB.passing('pack', self.key, self.which)
        return mark, (self.key, self.which)


def mark(key, which):
    JOB.passing('unpack', key, which)
    return key


def parcel(key, load, _, tensor):
    JOB.run('parcel', key)
    return Parcel(JOB, key, tensor, None)


# ---- the job ----

class Samples(Dataset):
    def __init__(self, job):
        self.job = job

    def __len__(self):
        return self.job.steps * self.job.batch

    def __getitem__(self, i):
        self.job.run('sample', i)
        if self.job.objects:
            return [{'a': n, 'b': [str(n), float(n)]} for n in range(self.job.objects)]
        return torch.full((16,), float(i % 7))


class Collate:
    def __init__(self, job):
        self.job = job

    def __call__(self, samples):
        ledger = self.job.ledger.here()
        since = ledger.stamp()
        batch = self.fold(samples)
        ledger.row('fold', 0, since)
        return batch

    def fold(self, samples):
        self.job.run('collate', 0)
        if not self.job.parcels:
            return torch.utils.data.default_collate(samples)
        tensor = None if self.job.objects else torch.stack(samples)
        self.job.count += 1
        return Parcel(self.job, self.job.count, tensor, samples if self.job.objects else None)


class Gpu:
    """The device's part of a step."""

    def __init__(self, job):
        self.job, self.dev = job, gpudev.Device(0)
        self.stream = gpudev.Stream(self.dev)
        self.buffer = self.dev.malloc(1 << 20)
        self.host = self.dev.host_alloc(4096)
        for name in ('forward', 'backward'):
            self.dev.function(name)
        for part in job.every_part():
            part.ready(self)
        since = job.ledger.stamp()
        self.stream.kernel(10_000, 'forward')
        job.ledger.row('begun', 0, since)
        self.stream.kernel(job.backlog_ms * 1_000_000, 'backward') if job.backlog_ms else None
        self.last = None

    def step(self):
        ns = job_ns(self.job)
        self.dev.h2d(self.buffer, self.host, 4096, self.stream)
        for i in range(self.job.kernels):
            self.stream.kernel(ns, 'forward' if i < self.job.kernels // 2 else 'backward')
        before, self.last = self.last, self.stream.record()
        if self.job.sync == 'step':
            self.last.synchronize()
        elif before:
            before.synchronize()

    def finish(self):
        self.stream.synchronize()
        self.stream.kernel(10_000, 'backward')
        self.stream.synchronize()
        self.job.ledger.row('ended', 0, self.job.ledger.stamp())


def job_ns(job):
    return job.gpu_us * 1000 // max(1, job.kernels)


DEFAULTS = dict(steps=40, epochs=1, batch=2, workers=0, prefetch=2, persistent=False, pin=False,
                start='fork', kernels=4, gpu_us=5000, sync='step', seed=1, every=1, objects=0,
                upto=1 << 30, parcels=False, backlog_ms=0, preload=False, places={})


class Job:
    def __init__(self, plan, folder):
        self.plan, self.folder, self.count, self.gpu, self.over = plan, folder, 0, None, False
        self.__dict__.update(DEFAULTS)
        self.__dict__.update(plan)
        self.ledger = Ledger(folder).here()
        self.parts = {place: [self.kind(k) for k in kinds] for place, kinds in self.places.items()}

    def __reduce__(self):
        return again, (self.plan, self.folder)

    def kind(self, named):
        return globals()[named[0]](self, **named[1])

    def every_part(self):
        return [part for parts in self.parts.values() for part in parts]

    def run(self, place, key):
        for n, part in enumerate(self.parts.get(place, ())):
            ledger = self.ledger.here()
            since = ledger.stamp()
            part.work(key)
            ledger.row(f'{place}/{n}', key, since)

    def passing(self, what, key, which):
        """Notes the two moments of packing or unpacking as one row."""
        ledger = self.ledger.here()
        if which == 0:
            ledger.local.since = ledger.stamp()
        else:
            ledger.row(what, key, ledger.local.since)


def again(plan, folder):
    """In a spawned worker."""
    global JOB
    if JOB is None:
        JOB = Job(plan, folder)
    return JOB


JOB = None


class Start:
    def __init__(self, job):
        self.job = job

    def __call__(self, worker):
        self.job.ledger.here()
        self.job.worker = worker
        self.job.run('worker', worker)


class Batches(torch.utils.data.Sampler):
    """In order; nothing but what a BatchSampler does."""

    def __init__(self, job):
        self.job = job

    def __iter__(self):
        for k in range(self.job.steps):
            yield list(range(k * self.job.batch, (k + 1) * self.job.batch))

    def __len__(self):
        return self.job.steps


class Fetched(Samples):
    """Notes which process makes which batch: the first and the last of its samples."""

    def __getitem__(self, i):
        ledger = self.job.ledger.here()
        since = ledger.stamp()
        sample = super().__getitem__(i)
        ledger.row('get', i, since)
        return sample


def make_loader(job):
    more = {}
    if job.workers:
        more = dict(prefetch_factor=job.prefetch, persistent_workers=job.persistent,
                    multiprocessing_context=job.start, worker_init_fn=Start(job))
    return DataLoader(Fetched(job), batch_sampler=Batches(job), num_workers=job.workers,
                      collate_fn=Collate(job), pin_memory=job.pin, **more)


def stand_in_for_cuda():
    """torch without CUDA has no pin-memory thread; its code is there, and runs with these."""
    torch.cuda.is_available = lambda: True
    torch.cuda.current_device = lambda: 0
    torch.cuda.set_device = lambda device: None


TURN_SECONDS = 45


def my_turn(path):
    """Several jobs are started side by side and use the device one after the other. The lock ends
    with this process, and its children do not have it. Who hangs dies, so that the others come to
    theirs."""
    if path:
        file = open(path, 'a')
        fcntl.lockf(file, fcntl.LOCK_EX)
        signal.alarm(TURN_SECONDS)
        return file


def train(job):
    ledger, batches = job.ledger, None
    job.run('start', 0)
    job.gpu = Gpu(job)
    loader = make_loader(job)
    since = ledger.stamp()
    kept = list(loader) if job.preload else None
    ledger.row('preload', 0, since)
    step = 0
    for epoch in range(job.epochs):
        since = ledger.stamp()
        batches = iter(kept if job.preload else loader)  #: n1
        ledger.row('iter', epoch, since)
        first = True
        while True:
            since = ledger.stamp()
            batch = next(batches, None)  #: n2
            ledger.row('first' if first else 'last' if batch is None else 'next', step, since)
            first = False
            if batch is None:
                break
            if step % job.every == 0 and step < job.upto:
                job.run('step', step)
            since = ledger.stamp()
            job.gpu.step()  #: n3
            ledger.row('gpu', step, since)
            step += 1
    job.over = True
    job.gpu.finish()
    ledger.row('launched', gpudev.Stream.launched, ledger.stamp())
    for part in job.every_part():
        part.finish()
    print(f'trained {step} steps')


def main():
    global JOB
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--plan', required=True, help='JSON, or @FILE')
    p.add_argument('--own-ledger', metavar='DIR', default='.')
    p.add_argument('--turn', metavar='FILE', help='use the device while nobody else has this file')
    args = p.parse_args()
    text = open(args.plan[1:]).read() if args.plan.startswith('@') else args.plan
    torch.set_num_threads(1)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    JOB = Job(json.loads(text), args.own_ledger)
    if JOB.pin and not torch.cuda.is_available():
        stand_in_for_cuda()
    turn = my_turn(args.turn)
    train(JOB)
    if turn:
        signal.alarm(0)
        turn.close()
    JOB.ledger.write()


if __name__ == '__main__':
    main()
