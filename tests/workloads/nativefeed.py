# SPDX-License-Identifier: Apache-2.0
"""Loaders and launchers without Python: libnativefeed.so (nativefeed.c), through ctypes. While a
thread waits in it, it holds no lock of Python's.

    feed = Feed(producers=2, depth=2, items=100, spin_ns=8_000_000)   # computes 8 ms an item
    feed = Feed(sleep_ns=8_000_000, items=100)           # waits for a device (nanosleep)
    feed = Feed(path=fifo, bytes=65536, items=100)       # reads 64 KiB an item; blocks in read
    feed = Feed(readers=1, sleep_ns=8_000_000, producers=2, spin_ns=1_000_000, items=100)
                                        # readers fetch and hand on to producers, who decode
    feed = Feed(ranges=True, spin_ns=4_000_000, items=100)       # marks what it computes with NVTX ranges
    feed = Feed(shared=True, ...)                        # its conditions wait as std::future does
    feed = Feed(event=True, ...)                         # the taker polls an eventfd
    feed = Feed(producers=4, cpu=0, spin_ns=4_000_000, items=100)     # four threads on one CPU
    for number in feed: ...             # items in the order in which they got ready, ends
    feed.drop()                         # takes an item away, if one is there, without any wait
    feed.ledger()                       # what the threads did, by their own clocks, ns
    feed.close()                        # ends its threads, also before all items were taken; a
                                        # FIFO's writers have to have closed it

Every argument has a default; what is done for an item is the sum of what is asked for. Threads are
called NAME/0, NAME/1, ... (`name`), else reader/0 and maker/0. They run in feed_thread, decode_item,
read_item, wait_device; the taker waits in feed_take, queue_take.

    other = Feed(library=OTHER, ...)    # the same code in another library, libnativeother.so

    launcher = Launcher(depth=1)        # a thread `launcher`, the only one that submits to the GPU
    launcher.submit(buffer, 1 << 20, 2_000_000)  # copies 1 MiB to the device, a kernel of 2 ms; waits
                                        # while `depth` steps are queued; the launcher waits for each
    launcher.drain(); launcher.close()"""
import ctypes
import os

BUILD = os.environ.get('GPUSTARVE_BUILD') or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', '..', 'build')
OWN, OTHER = 'libnativefeed.so', 'libnativeother.so'
LONG = ctypes.c_long


class Plan(ctypes.Structure):
    _fields_ = [(name, LONG) for name in ('producers', 'readers', 'depth', 'items', 'spin_ns',
                                          'sleep_ns', 'bytes', 'cpu', 'ranges', 'shared',
                                          'event')] + [
        ('path', ctypes.c_char_p), ('name', ctypes.c_char_p)]


class Ledger(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ('decode_ns', 'fetch_ns', 'taken', 'waited_ns')]


_loaded = {}


def load(name=OWN):
    if name not in _loaded:
        lib = ctypes.CDLL(os.path.join(BUILD, 'workloads', name))
        lib.feed_open.restype = lib.launcher_open.restype = ctypes.c_void_p
        lib.feed_take.restype = lib.launcher_submit.restype = LONG
        lib.feed_drop.restype = None
        lib.feed_take.argtypes = lib.feed_drop.argtypes = lib.feed_close.argtypes = [ctypes.c_void_p]
        lib.feed_told.argtypes = [ctypes.c_void_p, ctypes.POINTER(Ledger)]
        lib.launcher_open.argtypes = [LONG]
        lib.launcher_submit.argtypes = [ctypes.c_void_p, ctypes.c_void_p, LONG, LONG]
        lib.launcher_drain.argtypes = lib.launcher_close.argtypes = [ctypes.c_void_p]
        _loaded[name] = lib
    return _loaded[name]


class Feed:
    def __init__(self, library=OWN, producers=1, readers=0, depth=2, items=1 << 40, spin_ns=0,
                 sleep_ns=0, bytes=0, cpu=-1, path=None, name=None, ranges=False,
                 shared=False, event=False):
        self.lib = load(library)
        plan = Plan(producers, readers, depth, items, spin_ns, sleep_ns, bytes, cpu, int(ranges), int(shared), int(event),
                    os.fsencode(path) if path else None, name.encode() if name else None)
        self.feed = self.lib.feed_open(ctypes.byref(plan))

    def __iter__(self):
        return self

    def __next__(self):
        number = self.lib.feed_take(self.feed)  #: wait pipe
        if number < 0:
            raise StopIteration
        return number

    def drop(self):
        self.lib.feed_drop(self.feed)

    def ledger(self):
        told = Ledger()
        self.lib.feed_told(self.feed, ctypes.byref(told))
        return {name: getattr(told, name) for name, _ in Ledger._fields_}

    def close(self):
        if self.feed:
            self.lib.feed_close(self.feed)
        self.feed = None


class Launcher:
    def __init__(self, depth=1):
        self.lib = load()
        self.launcher = self.lib.launcher_open(depth)

    def submit(self, host, size, ns):
        """host: memory of that many bytes (ctypes array, address); it has to stay until drained."""
        return self.lib.launcher_submit(self.launcher, host, size, int(ns))

    def drain(self):
        self.lib.launcher_drain(self.launcher)

    def close(self):
        self.lib.launcher_close(self.launcher)
