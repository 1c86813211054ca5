#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop over gpudev that starves, because batches are made slowly and handed over in one known
way: what joins the trainer's wait to the maker must be seen. Makers, whoever stands between them and the
trainer, and decoys write who they are into a file; the last line of stdout is JSON."""
import argparse
import concurrent.futures
import functools
import json
import multiprocessing
import multiprocessing.pool
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

PAUSE = 0.02
SETTLED = 5  # seconds in which who is beside it is found, once
LOG = os.environ.get('HANDING_LOG')
told = threading.local()


def tell(what):
    """Once for each thread."""
    done = told.__dict__.setdefault(os.getpid(), set())
    if what not in done:
        done.add(what)
        with open(LOG, 'a') as f:
            f.write(f'{what} {os.getpid()} {threading.get_native_id()}\n')


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def planted_make(i=0):
    tell('maker')
    time.sleep(PAUSE)
    return b'x' * 100


def pause(_):
    """So that all of a crowd together make too little."""
    tell('maker')
    time.sleep(1)


# ---- in this process ----


def produce(q):
    while True:
        q.put(planted_make())


def thread_queue():
    q = queue.Queue(2)
    threading.Thread(target=produce, args=(q,), daemon=True).start()
    Decoys(q).start()
    return q.get


def simple_queue():
    q = queue.SimpleQueue()
    threading.Thread(target=produce, args=(q,), daemon=True).start()
    return q.get


class Decoys:
    """Threads that are busy just when the trainer waits, that look at the queue's length, and that take
    from it, too."""
    waiting = threading.Event()

    def __init__(self, q):
        self.q = q

    def busy(self):
        tell('decoy')
        while True:
            self.waiting.wait()
            spin(0.001)
            time.sleep(0.002)

    def looks(self):
        tell('decoy')
        while True:
            if self.q.qsize() < 1:
                spin(0.001)
            time.sleep(0.003)

    def takes(self):
        tell('decoy')
        out = queue.Queue()
        while True:
            out.put(self.q.get())
            for _ in range(20):
                spin(0.001)
                time.sleep(0.002)

    def start(self):
        for each in (self.busy, self.looks, self.takes):
            threading.Thread(target=each, daemon=True).start()


def two_stages():
    raw, ready = queue.Queue(2), queue.Queue(2)

    def decode():
        tell('between')
        while True:
            ready.put(raw.get())

    threading.Thread(target=produce, args=(raw,), daemon=True).start()
    threading.Thread(target=decode, daemon=True).start()
    return ready.get


class Ring:
    """Somebody's own buffer around a condition."""

    def __init__(self):
        self.ready, self.items = threading.Condition(), []

    def fill(self):
        while True:
            item = planted_make()
            with self.ready:
                self.items.append(item)
                self.ready.notify()

    def take(self):
        with self.ready:
            while not self.items:
                self.ready.wait()
            return self.items.pop()


def condition():
    ring = Ring()
    threading.Thread(target=ring.fill, daemon=True).start()
    return ring.take


def futures(executor, ahead=3):
    waiting = []

    def take():
        while len(waiting) < ahead:
            waiting.append(executor.submit(planted_make, 0))
        return waiting.pop(0).result()
    return take


def thread_pool():
    return futures(concurrent.futures.ThreadPoolExecutor(1))


def thread_crew():
    """Beside those who make there are three that pass things on, at each new result."""
    crew = multiprocessing.pool.ThreadPool(4)
    kept.append(crew)
    waiting = []

    def take():
        while len(waiting) < 4:
            waiting.append(crew.apply_async(planted_make, (0,)))
        return waiting.pop(0).get()
    return take


# ---- other processes ----

kept = []  # alive


def process_pool(start):
    context = multiprocessing.get_context(start)
    return futures(concurrent.futures.ProcessPoolExecutor(1, mp_context=context))


def decoy_process():
    tell('decoy')
    parent = os.getppid()
    while os.getppid() == parent:
        spin(0.001)
        time.sleep(0.003)


def pool(start, how, processes=1):
    context = multiprocessing.get_context(start)
    pool = context.Pool(processes)
    context.Process(target=decoy_process, daemon=True).start()
    kept.append(pool)
    if how == 'imap':
        return iter(pool.imap(pause if processes > 1 else planted_make, range(1 << 16))).__next__
    if how == 'apply':
        return lambda: pool.apply_async(planted_make, (0,)).get()
    return lambda: pool.map(planted_make, range(2))


def fill(q):
    while True:
        q.put(planted_make())


def mp_queue(start):
    context = multiprocessing.get_context(start)
    q = context.Queue(2)
    context.Process(target=fill, args=(q,), daemon=True).start()
    context.Process(target=decoy_process, daemon=True).start()
    return q.get


def fill_by_thread(q):
    inner = queue.Queue(2)
    threading.Thread(target=produce, args=(inner,), daemon=True).start()
    tell('between')
    while True:
        q.put(inner.get())


def nested_queue(start):
    context = multiprocessing.get_context(start)
    q = context.Queue(2)
    context.Process(target=fill_by_thread, args=(q,), daemon=True).start()
    return q.get


def send(end):
    while True:
        end.send(planted_make())


def mp_pipe(start):
    context = multiprocessing.get_context(start)
    here, there = context.Pipe()
    context.Process(target=send, args=(there,), daemon=True).start()
    there.close()
    context.Process(target=decoy_process, daemon=True).start()
    return here.recv


SCRIPT = '''
import os, socket, sys, threading, time
with open(os.environ["HANDING_LOG"], "a") as f:
    f.write(f"maker {os.getpid()} {os.getpid()}\\n")
def planted_make():
    time.sleep(%r)
    return b"x" * 100
''' % PAUSE

WRITES = SCRIPT + '''
while True:
    os.write(1, planted_make())
'''

SENDS = SCRIPT + '''
end = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
while True:
    end.sendall(planted_make())
'''


def bare():
    return {k: v for k, v in os.environ.items() if k != 'LD_PRELOAD'}


def command():
    child = subprocess.Popen([sys.executable, '-S', '-c', WRITES], stdout=subprocess.PIPE, env=bare(),
                             bufsize=0)
    kept.append(child)
    return lambda: child.stdout.read(100)


def shell():
    script = os.path.join(tempfile.mkdtemp(), 'maker.py')
    with open(script, 'w') as f:
        f.write(WRITES)
    child = subprocess.Popen(f'{sys.executable} -S {script} | cat', shell=True, stdout=subprocess.PIPE,
                             env=bare(), bufsize=0)
    kept.append(child)
    return lambda: child.stdout.read(100)


def fifo():
    path = os.path.join(tempfile.mkdtemp(), 'a fifo')
    os.mkfifo(path)
    child = subprocess.Popen(['/bin/sh', '-c', 'exec "$0" -S -c "$1" > "$2"', sys.executable, WRITES,
                              path], env=bare())
    kept.append(child)
    fd = os.open(path, os.O_RDONLY)
    return lambda: os.read(fd, 100)


def tcp():
    server = socket.create_server(('127.0.0.1', 0))
    child = subprocess.Popen([sys.executable, '-S', '-c', SENDS, str(server.getsockname()[1])], env=bare())
    link, _ = server.accept()
    kept.extend((child, server))
    return lambda: link.recv(100)


def forked():
    here, there = socket.socketpair()
    if not os.fork():
        here.close()
        while True:
            there.sendall(planted_make())
    if not os.fork():
        decoy_process()
        os._exit(0)
    there.close()
    return lambda: here.recv(100)


# ---- torch's loader, whose worker waits itself ----


def loaded(start):
    """start() makes, in the worker, what takes an item there."""
    import torch
    from torch.utils.data import DataLoader, IterableDataset

    class Taken(IterableDataset):
        def __iter__(self):
            take = start()
            tell('worker')
            while True:
                take()
                yield torch.zeros(4)

    return iter(DataLoader(Taken(), num_workers=1, prefetch_factor=1)).__next__


def worker_thread():
    q = queue.Queue(2)
    threading.Thread(target=produce, args=(q,), daemon=True).start()
    return q.get


# ---- many of them ----


def crowd():
    """Batches come from a pool of many processes, beside many threads that wait for work of their own."""
    take = pool('fork', 'imap', 64)
    for _ in range(200):
        threading.Thread(target=queue.Queue().get, daemon=True).start()
    return take


WAYS = {'crowd': crowd, 'worker_thread': functools.partial(loaded, worker_thread),
        'worker_command': functools.partial(loaded, lambda: command()), 'thread_queue': thread_queue, 'simple_queue': simple_queue, 'two_stages': two_stages,
        'condition': condition, 'thread_pool': thread_pool, 'thread_crew': thread_crew, 'command': command, 'shell': shell,
        'fifo': fifo, 'tcp': tcp, 'forked': forked}
for start in ('fork', 'spawn', 'forkserver'):
    WAYS[f'process_pool_{start}'] = functools.partial(process_pool, start)
    WAYS[f'queue_{start}'] = functools.partial(mp_queue, start)
    WAYS[f'nested_{start}'] = functools.partial(nested_queue, start)
    WAYS[f'pipe_{start}'] = functools.partial(mp_pipe, start)
    for how in ('map', 'imap', 'apply'):
        WAYS[f'pool_{how}_{start}'] = functools.partial(pool, start, how)


def looking():
    """CPU seconds of the thread that looks at the others, if there is one."""
    for task in os.listdir('/proc/self/task'):
        with open(f'/proc/self/task/{task}/comm') as f:
            if f.read().strip() != 'gpustarve-look':
                continue
        with open(f'/proc/self/task/{task}/schedstat') as f:
            return int(f.read().split()[0]) / 1e9
    return 0


def main():
    import gpudev
    parser = argparse.ArgumentParser()
    parser.add_argument('way', choices=WAYS)
    parser.add_argument('--seconds', type=float, default=4)
    parser.add_argument('--steps', type=int, default=0, help='at least, if a minute more is enough for them')
    parser.add_argument('--busy', action='store_true', help='the device always has work')
    args = parser.parse_args()
    early = args.way.startswith('worker') and gpudev.Device(0)  # so that workers look at themselves
    take = WAYS[args.way]()
    dev = early or gpudev.Device(0)
    stream = gpudev.Stream(dev)
    buf, host = dev.malloc(4096), bytearray(4096)
    stream.kernel(1_000_000, 'first')
    stream.synchronize()
    time.sleep(0.5)  # what is dear at first does not count
    begin, cpu, end, steps = time.monotonic(), looking(), time.monotonic() + args.seconds, 0
    settled, spent = begin, cpu
    while args.busy and time.monotonic() < end:
        stream.kernel(20_000_000, 'step')
        queued = stream.record()
        if steps:
            before.synchronize()
        before, steps = queued, steps + 1
        if settled == begin and time.monotonic() > begin + SETTLED:
            settled, spent = time.monotonic(), looking()
    # On a busy machine steps are few in that time, and it is they that are looked at.
    while time.monotonic() < end or steps < args.steps and time.monotonic() < end + 60:
        Decoys.waiting.set()
        take()
        Decoys.waiting.clear()
        dev.h2d(buf, host, 4096, stream)
        stream.kernel(1_000_000, 'step')
        stream.synchronize()
        steps += 1
    now = time.monotonic()
    looked, later = (looking() - cpu) / (now - begin), (looking() - spent) / (now - settled)
    with open(LOG) as f:
        told = [line.split() for line in f]
    print(json.dumps({'pid': os.getpid(), 'steps': steps, 'looked': looked, 'looked_later': later,
                      'told': [[what, int(pid), int(tid)] for what, pid, tid in told]}), flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # torch's handler raises for a worker that was killed
    for child in multiprocessing.active_children():
        child.kill()
    for child in kept:
        if isinstance(child, subprocess.Popen):
            child.kill()
    os._exit(0)


if __name__ == '__main__':
    main()
