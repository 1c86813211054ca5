#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop over gpudev whose loader, or whose main thread, waits in one known way: what the
host sampler must see. The function that waits is always called planted. Prints one line of JSON."""
import argparse
import ctypes
import errno
import faulthandler
import json
import mmap
import multiprocessing
import os
import queue
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gpudev  # noqa: E402
import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
PAUSE = 0.012


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Sleeper:
    def planted(self):
        time.sleep(PAUSE)


class Fifo:
    """Bytes come from a program through a FIFO, now and then."""

    def __init__(self):
        self.path = os.path.join(tempfile.mkdtemp(), 'a fifo')
        os.mkfifo(self.path)
        self.fd = os.open(self.path, os.O_RDWR)
        self.writer = subprocess.Popen(
            [sys.executable, '-S', '-c', 'import sys, time\nf = open(sys.argv[1], "wb", 0)\n'
             f'while True:\n f.write(b"x")\n time.sleep({PAUSE} / 2)', self.path],
            env={k: v for k, v in os.environ.items() if k != 'LD_PRELOAD'})

    def planted(self):
        os.read(self.fd, 65536)


class Pipe:
    """Bytes come from another process through a pipe."""

    def __init__(self):
        self.fd, end = os.pipe()
        self.writer = subprocess.Popen(
            [sys.executable, '-S', '-c',
             f'import os, time\nwhile True:\n os.write({end}, b"x")\n time.sleep({PAUSE} / 2)'],
            pass_fds=[end], env={k: v for k, v in os.environ.items() if k != 'LD_PRELOAD'})
        os.close(end)

    def planted(self):
        os.read(self.fd, 65536)


class Net:
    """Bytes come from a server."""

    def __init__(self):
        self.server = socket.create_server(('127.0.0.1', 0))
        self.address = self.server.getsockname()
        self.link = None
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            link, _ = self.server.accept()
            threading.Thread(target=self.feed, args=(link,), daemon=True).start()

    def feed(self, link):
        while True:
            time.sleep(PAUSE)
            try:
                link.send(b'x')
            except OSError:
                return

    def planted(self):
        if not self.link:
            self.link = socket.create_connection(self.address)
        self.link.recv(1)


class Lock:
    """Workers wait for each other."""

    def __init__(self):
        self.lock = multiprocessing.Lock()

    def planted(self):
        self.lock.acquire()
        time.sleep(PAUSE)
        self.lock.release()


class Work:
    def planted(self):
        spin(PAUSE)


class Disk:
    """Reads past the page cache, as far as the disk lets it."""

    def __init__(self, mapped=False):
        self.file = tempfile.NamedTemporaryFile(dir=os.environ.get('HOSTWAITS_DIR'))
        self.file.write(os.urandom(1 << 20) * 64)
        self.file.flush()
        os.fsync(self.file.fileno())
        self.at, self.map = 0, None
        if mapped:
            self.map = mmap.mmap(self.file.fileno(), 64 << 20, prot=mmap.PROT_READ)

    def planted(self):
        self.at = (self.at + (8 << 20)) % (64 << 20)
        os.posix_fadvise(self.file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if self.map:
            return sum(self.map[i] for i in range(self.at, self.at + (8 << 20), 4096))
        return len(os.pread(self.file.fileno(), 8 << 20, self.at))


class Forker:
    """Forks like mad."""

    worst = 0

    def planted(self):
        for _ in range(100):
            begin = time.perf_counter()
            pid = os.fork()
            if not pid:
                os._exit(0)
            Forker.worst = max(Forker.worst, time.perf_counter() - begin)
            os.waitpid(pid, 0)


class Polls:
    """Calls that every signal would interrupt."""

    interrupted = 0

    def planted(self):
        for _ in range(20):
            if LIBC.poll(None, 0, 2) and ctypes.get_errno() == errno.EINTR:
                Polls.interrupted += 1


WORKERS = dict(sleep=Sleeper, fifo=Fifo, pipe=Pipe, net=Net, lock=Lock, work=Work, disk=Disk,
               mapped=lambda: Disk(True), forks=Forker, polls=Polls)


class Data(Dataset):
    def __init__(self, mode, n):
        self.source, self.n = WORKERS[mode](), n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        self.source.planted()
        return torch.full((16,), float(i))


class Gpu:
    def __init__(self):
        self.device = gpudev.Device(0)
        self.stream = gpudev.Stream(self.device)

    def step(self):
        self.stream.kernel(1_000_000, 'step')
        self.stream.record().synchronize()


def planted_compute():
    spin(0.03)


def planted_hog(stop):
    while not stop.is_set():
        sum(range(1000))


def planted_wait(q):
    q.get()


def with_loader(args, gpu):
    loader = DataLoader(Data(args.mode, args.steps), batch_size=1, num_workers=args.workers)
    for _ in loader:
        gpu.step()


def in_main(args, gpu):
    """The main thread computes; what a loader has ready waits."""
    loader = DataLoader(Data('sleep', args.steps), batch_size=1, num_workers=args.workers)
    for _ in loader:
        planted_compute()
        gpu.step()


def with_hogs(args, gpu):
    stop = threading.Event()
    for _ in range(3):
        threading.Thread(target=planted_hog, args=(stop,), daemon=True).start()
    for _ in range(args.steps):
        for _ in range(3):
            time.sleep(0)  # gives Python's lock away
        spin(0.001)
        gpu.step()
    stop.set()


def with_thread(args, gpu):
    """A thread of the trainer makes the batches, the main thread waits for them."""
    q = queue.Queue()

    def planted_producer():
        for _ in range(args.steps):
            time.sleep(PAUSE)
            q.put(1)

    threading.Thread(target=planted_producer, daemon=True).start()
    for _ in range(args.steps):
        planted_wait(q)
        gpu.step()


def busy(args, gpu):
    """The device always has work queued: nothing starves."""
    before = None
    for _ in range(args.steps):
        gpu.stream.kernel(20_000_000, 'step')
        done = gpu.stream.record()
        if before:
            before.synchronize()
        before = done
    before.synchronize()


def looking_ns():
    """CPU time of the thread that looks at the others, if there is one."""
    for task in os.listdir('/proc/self/task'):
        try:
            if open(f'/proc/self/task/{task}/comm').read().strip() == 'gpustarve-look':
                return int(open(f'/proc/self/task/{task}/schedstat').read().split()[0])
        except OSError:
            pass
    return 0


def refuse_process_vm_readv():
    """A seccomp filter: process_vm_readv (310) answers EPERM. x86-64."""
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 310), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
    text = b''.join(struct.pack('HBBI', *c) for c in code)
    buf = ctypes.create_string_buffer(text)
    program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(code), ctypes.addressof(buf)))
    if LIBC.prctl(38, 1, 0, 0, 0) or LIBC.prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), 'seccomp')


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('mode', choices=sorted(WORKERS) + ['main', 'hogs', 'thread', 'busy'])
    p.add_argument('--workers', type=int, default=2)
    p.add_argument('--steps', type=int, default=60)
    p.add_argument('--seccomp', action='store_true', help='refuse process_vm_readv')
    p.add_argument('--undumpable', action='store_true', help='PR_SET_DUMPABLE 0')
    p.add_argument('--handlers', action='store_true', help='signal handlers and a timer of its own')
    args = p.parse_args()
    torch.set_num_threads(1)
    if args.undumpable:
        LIBC.prctl(4, 0, 0, 0, 0)
    if args.seccomp:
        refuse_process_vm_readv()
    seen = []
    if args.handlers:
        faulthandler.enable()
        signal.signal(signal.SIGPROF, lambda *_: seen.append(1))
        signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
    before = [open('/proc/self/status').read().split('SigCgt:')[1].split()[0]]
    gpu = Gpu()
    gpu.step()
    if args.mode == 'busy':
        busy(args, gpu)  # what is dear at first does not count
    begin, cpu = time.perf_counter_ns(), looking_ns()
    {'main': in_main, 'hogs': with_hogs, 'thread': with_thread,
     'busy': busy}.get(args.mode, with_loader)(args, gpu)
    looked = (looking_ns() - cpu) / (time.perf_counter_ns() - begin)
    if args.handlers:
        signal.setitimer(signal.ITIMER_PROF, 0)
    after = open('/proc/self/status').read().split('SigCgt:')[1].split()[0]
    print(json.dumps(dict(pid=os.getpid(), interrupted=Polls.interrupted, profs=len(seen),
                          worst_fork=Forker.worst, handlers=[before[0], after],
                          faulthandler=faulthandler.is_enabled(), looked=looked,
                          fds=sorted(int(f) for f in os.listdir('/proc/self/fd')))), flush=True)


if __name__ == '__main__':
    main()
