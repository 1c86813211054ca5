# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: their settings (JSON, the first argument), a model on a GPU, and a
diary: what happened when, by this program's own clock (CLOCK_REALTIME, that of the device records). Rows go
into a file mapped into memory, one per process, so that writing costs no system call and a killed process
loses none; read_diary() reads a folder of them.

    with note('wait') as n:
        n.key, batch = q.get()
    card.step(batch)

Of a process that is no Python, note(..., of=pid) tells its time on the CPU instead of this thread's."""
import ctypes
import itertools
import json
import mmap
import os
import struct
import sys
import threading
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

import numpy  # noqa: E402

ROW = struct.Struct('<16sqqqqqii')
ROOM = 32768  # rows per process

# root: folder with f0, f1, ...; port: of a server; nap: seconds before each item; rounds: how often the work on an
# item is done; core: where it is done (-1: anywhere); batch, count, path, how: as the program says; weights: they
# go to the device before the first step; pageable: batches go there from where they are.
DEFAULTS = dict(steps=120, gpu_us=4000, own='.', root='', files=64, port=0, nap=0.0, rounds=1, core=-1, workers=2,
                batch=1, count=0, spin_us=0, path='', start='fork', how='imap', nbytes=1 << 18, kernels=3, pageable=False,
                weights=False)


def settings():
    given = json.loads(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].startswith('{') else {}
    return types.SimpleNamespace(**dict(DEFAULTS, **given))


cfg = settings()


# Keeps the interpreter's lock: where os.pread gives it up, threads of a program that has none take turns.
PREAD = ctypes.PyDLL(None).pread
PREAD.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_long]


class Diary:
    def __init__(self):
        self.pid = 0

    def here(self):
        """After a fork everything begins anew."""
        if self.pid != os.getpid():
            self.local, self.count = threading.local(), itertools.count()
            fd = os.open(os.path.join(cfg.own, f'{os.getpid()}.rows'), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
            os.ftruncate(fd, ROOM * ROW.size)
            self.map = mmap.mmap(fd, ROOM * ROW.size)
            os.close(fd)
            self.pid = os.getpid()
        return self

    def stamp(self, of=None):
        """Now; ns on a CPU; ns in which the thread could run and had none. 0 where nobody counts it."""
        if of:
            return time.time_ns(), *of_process(of)
        local = self.local
        if not hasattr(local, 'fd'):
            local.fd = os.open(f'/proc/self/task/{threading.get_native_id()}/schedstat', os.O_RDONLY | os.O_CLOEXEC)
            local.text = ctypes.create_string_buffer(64)
        PREAD(local.fd, local.text, 63, 0)
        return time.time_ns(), time.thread_time_ns(), int(local.text.value.split()[1])

    def row(self, place, key, a, b):
        n = next(self.count)
        if n < ROOM:
            ROW.pack_into(self.map, n * ROW.size, place.encode(), key, a[0], b[0], b[1] - a[1], b[2] - a[2],
                          threading.get_native_id(), self.pid)


def of_process(pid, last={}):
    """What it was last told to have, where it is gone."""
    try:  # a thread of this process is found by its number, too
        with open(f'/proc/{pid}/schedstat') as f:
            last[pid] = [int(n) for n in f.read().split()[:2]]
    except OSError:
        pass
    return last[pid]


diary = Diary()


class note:
    """One row, from here to the end of the block."""

    def __init__(self, place, key=-1, of=None):
        self.place, self.key, self.of = place, key, of

    def __enter__(self):
        self.since = diary.here().stamp(self.of)
        return self

    def __exit__(self, *_):
        diary.row(self.place, self.key, self.since, diary.stamp(self.of))


def read_diary(folder):
    out = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.rows'):
            continue
        with open(os.path.join(folder, name), 'rb') as f:
            data = f.read()
        for place, key, begin, end, cpu, delay, tid, pid in ROW.iter_unpack(data):
            if not pid:
                break
            out.append(dict(place=place.rstrip(b'\0').decode(), key=key, begin=begin, end=end, cpu=cpu, delay=delay,
                            tid=tid, pid=pid))
    return out


def settle(core=None):
    """Where this thread, and what it starts from now on, may run."""
    core = cfg.core if core is None else core
    if core >= 0:
        os.sched_setaffinity(0, {core})


class Card:
    """A model on the first GPU. A step: the batch to the device, some kernels, and the loss is waited for."""

    def __init__(self):
        import gpudev  # not in those processes that only make batches
        self.dev = gpudev.Device(0)
        self.stream = gpudev.Stream(self.dev)
        self.buffer, self.pinned = self.dev.malloc(cfg.nbytes), self.dev.host_alloc(cfg.nbytes)
        self.names = ['embed', 'forward', 'backward', 'update'][:cfg.kernels]
        self.steps = 0
        for name in self.names:
            self.dev.function(name)
        if cfg.weights:
            self.dev.h2d(self.buffer, self.pinned, cfg.nbytes, self.stream)
            self.stream.synchronize()

    def send(self, batch, stream=None):
        data = batch if isinstance(batch, numpy.ndarray) else numpy.frombuffer(batch, numpy.uint8)
        data = numpy.ascontiguousarray(data)
        n = min(data.nbytes, cfg.nbytes)
        if cfg.pageable:
            self.dev.h2d(self.buffer, data, n, stream or self.stream)
            return
        ctypes.memmove(self.pinned, data.ctypes.data, n)
        self.dev.h2d(self.buffer, self.pinned, n, stream or self.stream)

    def run(self):
        for name in self.names:
            self.stream.kernel(cfg.gpu_us * 1000 // len(self.names), name)

    def step(self, batch):
        with note('gpu', self.steps):
            self.send(batch)
            self.run()
            self.stream.synchronize()
        self.steps += 1
