# SPDX-License-Identifier: Apache-2.0
"""A training loop whose batches are made by native threads (nativefeed.py), or whose steps a native
thread launches, while decoys compute: threads that are busy exactly while the trainer waits and make
nothing that it waits for. Prints one line of JSON: the threads by name, and what share of a core the
sampler took.

    python3 nativeloop.py {decode|ranges|future|event|sleep|fifo|starved|chain|launch} [--steps N] [--crowd N]

--crowd: so many threads of another library stand by, up to 64 of each of some queues."""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpudev  # noqa: E402
import nativefeed  # noqa: E402
from nativefeed import Feed, Launcher, OTHER  # noqa: E402

MS = int(1_000_000 * float(os.environ.get('GS_PATIENCE') or 1))  # longer where a look takes longer: an emulator
WRITER = '''import sys, time
with open(sys.argv[1], 'wb', buffering=0) as f:
    try:
        while True:
            f.write(b'x' * 16384)
            time.sleep(0.005)
    except BrokenPipeError:
        pass
'''


def threads():
    """Thread ids by the names of threads."""
    found = {}
    for tid in os.listdir('/proc/self/task'):
        with open(f'/proc/self/task/{tid}/comm', encoding='utf-8') as f:
            found.setdefault(f.read().strip(), []).append(int(tid))
    return found


def looking_ns():
    """CPU time of the sampler, if there is one."""
    for tid in threads().get('gpustarve-look', []):
        with open(f'/proc/self/task/{tid}/schedstat', encoding='utf-8') as f:
            return int(f.read().split()[0])
    return 0


def crowd(count):
    return [Feed(producers=min(64, count - i), name='crowd', library=OTHER)
            for i in range(0, count, 64)]


class Decoys:
    """Each computes for some ms once the trainer is about to wait, which never waits for one of them."""

    def __init__(self):
        self.feeds = [Feed(name='decoy', depth=1, spin_ns=3 * MS),
                      Feed(name='foreign', depth=1, spin_ns=3 * MS, library=OTHER)]

    def go(self):
        for feed in self.feeds:
            feed.drop()


def train(feed, steps, decoys):
    dev = gpudev.Device(0)
    stream, buffer = gpudev.Stream(dev), dev.malloc(1 << 20)
    host = dev.host_alloc(1 << 20)
    for _ in range(steps):
        decoys.go()
        if next(feed) < 0:  # the line of the trainer
            break
        dev.h2d(buffer, host, 1 << 20, stream)
        stream.kernel(1 * MS, name='layer')
        stream.synchronize()


def joined(steps):
    """Waits each step for the end of a thread that the trainer takes nothing from."""
    stream, names = gpudev.Stream(gpudev.Device(0)), {}
    for _ in range(steps):
        saver = Feed(name='decoy', depth=1, spin_ns=12 * MS)
        for name, tids in threads().items():
            names.setdefault(name, []).extend(tids)
        saver.close()
        stream.kernel(1 * MS, name='layer')
        stream.synchronize()
    return names


def launch(steps, decoys):
    launcher = Launcher(depth=1)
    host = (ctypes.c_char * (1 << 20))()
    for _ in range(steps):
        decoys.go()
        time.sleep(12 * MS / 1e9)  # the line of the feeder
        launcher.submit(host, 1 << 20, 1 * MS)
    launcher.drain()
    names = threads()
    launcher.close()
    return names


def play(mode, steps, decoys, where):
    plans = {'decode': dict(producers=2, spin_ns=8 * MS),
             'ranges': dict(producers=2, spin_ns=8 * MS, ranges=True),
             'future': dict(producers=2, spin_ns=8 * MS, shared=True),
             'event': dict(producers=2, spin_ns=8 * MS, event=True),
             'sleep': dict(producers=1, sleep_ns=12 * MS),
             'fifo': dict(producers=1, bytes=32768, path=os.path.join(where, 'fifo')),
             'starved': dict(producers=4, spin_ns=6 * MS, cpu=sorted(os.sched_getaffinity(0))[0]),
             'chain': dict(readers=1, producers=2, sleep_ns=12 * MS, spin_ns=1 * MS)}
    writer = None
    if mode == 'launch':
        return launch(steps, decoys)
    if mode == 'joined':
        return joined(steps)
    if mode == 'fifo':
        os.mkfifo(plans[mode]['path'])
        writer = subprocess.Popen([sys.executable, '-c', WRITER, plans[mode]['path']])
    feed = Feed(**plans[mode])
    train(feed, steps, decoys)
    names = threads()
    if writer:
        writer.kill()
        writer.wait()
    feed.close()
    return names


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('mode')
    parser.add_argument('--steps', type=int, default=200)
    parser.add_argument('--crowd', type=int, default=0)
    args = parser.parse_args()
    decoys, others = Decoys(), crowd(args.crowd)
    began, cpu = time.perf_counter_ns(), looking_ns()
    with tempfile.TemporaryDirectory() as folder:
        said = play(args.mode, args.steps, decoys, folder)
    looked = (looking_ns() - cpu) / (time.perf_counter_ns() - began)
    for feed in others:  # not decoys, whom one would wait for
        feed.close()
    print(json.dumps({'pid': os.getpid(), 'threads': said, 'looked': looked}))
