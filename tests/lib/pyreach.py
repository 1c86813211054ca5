# SPDX-License-Identifier: Apache-2.0
"""Run by test_prof_reach.py under every Python that is here: what blocked threads wait for and which
threads hold it, as libprof reads it (libprof/python/reach.h), against what this program knows, since it
made it so. Prints failures and figures as one line of JSON. No import of gs: it runs anywhere.

    python3 pyreach.py PROBE MODE"""
import asyncio
import collections
import concurrent.futures
import ctypes
import functools
import json
import multiprocessing.pool
import queue
import sys
import threading
import time
import traceback

WANTED = 16
PROBE = ctypes.CDLL(sys.argv[1])
PROBE.probe_note.restype = ctypes.c_char_p
failures = []
figures = {}


def check(ok, what):
    if not ok:
        failures.append(what)
    return ok


def equal(got, want, what):
    return check(got == want, '%s: got %r, want %r' % (what, got, want))


# ---- the probe ----

def awaited(tid):
    """Addresses, innermost first; a number below 0 is the error."""
    out = (ctypes.c_ulong * WANTED)()
    n = PROBE.probe_awaited(tid, out, WANTED)
    return list(out[:n]) if n >= 0 else n


def holds(tid, *objects):
    """'!' it gives, '~' it holds, '-' neither, for each object or address; a number below 0: the error."""
    wanted = (ctypes.c_ulong * len(objects))(*[o if isinstance(o, int) else id(o) for o in objects])
    held, gives = (ctypes.c_ubyte * len(objects))(), (ctypes.c_ubyte * len(objects))()
    n = PROBE.probe_holds(tid, wanted, len(objects), held, gives)
    if n < 0:
        return n
    return ''.join('!' if g else '~' if h else '-' for h, g in zip(held, gives))


def blocked(thread, some=('acquire', 'wait', 'get', 'select', 'poll', 'sleep')):
    """Waits until the thread is blocked."""
    for _ in range(2000):
        with open('/proc/self/task/%d/stat' % thread.native_id) as f:
            if f.read().rsplit(')', 1)[1].split()[0] == 'S':
                time.sleep(0.002)
                return
        time.sleep(0.002)
    check(False, 'a thread does not block')


def start(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    time.sleep(0.01)
    blocked(thread)
    return thread


# ---- holders: each runs in a thread of its own, and makes something for q until it may go ----

def make():
    """A batch; no code here names anything that gives."""
    time.sleep(0.05)
    return over.is_set()


over = threading.Event()


def by_parameter(q):
    while not make():
        if over.is_set():
            q.put(1)


class Loader:
    def __init__(self, q):
        self.out = q

    def run(self):
        while not make():
            if over.is_set():
                self.out.put(1)


class Slotted:
    __slots__ = ('name', 'out')

    def __init__(self, q):
        self.name, self.out = 'x', q

    run = Loader.run


class Stage:
    def __init__(self, q):
        self.loader, self.size = Loader(q), 3

    def run(self):
        while not make():
            if over.is_set():
                self.loader.out.put(1)


class Changed(Loader):
    """Its attributes are in a dictionary."""
    def __init__(self, q):
        self.__dict__ = {'a%d' % i: i for i in range(20)}
        self.out = q


class OwnThread(threading.Thread):
    def __init__(self, q):
        super().__init__(daemon=True)
        self.out = q

    run = Loader.run


def by_closure(q):
    def run():
        while not make():
            if over.is_set():
                q.put(1)
    run()


def by_default(q):
    def run(out=q):
        while not make():
            if over.is_set():
                out.put(1)
    run()


def by_generator(q):
    def batches(out):
        while not make():
            if over.is_set():
                out.put(1)
            yield 1
    for _ in batches(q):
        pass


the_queue = [None]
module_queue = None


def by_global(q):
    global module_queue
    module_queue = q
    while not make():
        if over.is_set():
            module_queue.put(1)


def by_list(q):
    several = [1, 'x', q]
    while not make():
        if over.is_set():
            several[2].put(1)


def by_dict(q):
    by_name = {'train': q, 'size': 3}
    while not make():
        if over.is_set():
            by_name['train'].put(1)


def by_large_dict(q):
    by_number = {i: None for i in range(1000)}
    by_number['last'] = q
    while not make():
        if over.is_set():
            by_number['last'].put(1)


def by_tuple(q):
    pair = (1, (2, q))
    while not make():
        if over.is_set():
            pair[1][1].put(1)


def by_set(q):
    some = {1, q}
    while not make():
        if over.is_set():
            max(some, key=id).put(1)


def by_deque(q):
    some = collections.deque([1, 2, q])
    some.rotate(70)
    while not make():
        if over.is_set():
            some[0].put(1)


def emit(q, x):
    q.put(x)


def by_partial(q):
    give = functools.partial(emit, q)
    run_partial(give, q.put)


def run_partial(give, _):
    while not make():
        if over.is_set():
            give(1)


def by_callback(give):
    """Names nothing that gives: but the bound method is called so."""
    while not make():
        if over.is_set():
            give(1)


def by_stack(q):
    """Held by nothing but the call that is on its way."""
    list(map(functools.partial(lambda out, x: out.put(make() or wait_over()), q), [1]))


def wait_over():
    over.wait()
    return 1


HOLDERS = {
    'parameter': (by_parameter, '!'),
    'attribute of self': (lambda q: Loader(q).run(), '!'),
    'slot of self': (lambda q: Slotted(q).run(), '!'),
    'attribute of an attribute': (lambda q: Stage(q).run(), '!'),
    'attribute in a dictionary': (lambda q: Changed(q).run(), '!'),
    'closure': (by_closure, '!'),
    'default': (by_default, '!'),
    'generator': (by_generator, '!'),
    'global': (by_global, '!'),
    'list': (by_list, '!'),
    'dict': (by_dict, '!'),
    'large dict': (by_large_dict, '!'),
    'tuple': (by_tuple, '!'),
    'set': (by_set, '!'),
    'deque': (by_deque, '!'),
    'partial': (by_partial, '!'),
    'stack': (by_stack, '!'),
}


# ---- threads that hold it and give nothing, or hold another ----

def only_looks(q):
    while not make():
        if over.is_set():
            print(q.qsize(), q.maxsize)


def counts(q):
    sizes = []
    while not make():
        sizes.append(q.qsize())


def another(q):
    mine = type(q)()
    del q
    while not make():
        if over.is_set():
            mine.put(1)


def forgets(q):
    """It had it once."""
    touch(q)
    del q
    by_parameter(queue.Queue())


def touch(q):
    return q.qsize()


def start_for(function, q):
    """Its thread's own object holds its arguments: those of decoys must not."""
    box = [q]
    thread = threading.Thread(target=lambda: function(box.pop()), daemon=True)
    thread.start()
    return thread


DECOYS = {'only looks': (only_looks, '~'), 'counts': (counts, '~'), 'another': (another, '-'), 'forgets': (forgets, '-')}


def consume(q):
    q.get()


def test_queues():
    """Every holder and every decoy, of a queue of each kind, while a thread waits for it."""
    for kind in (queue.Queue, queue.SimpleQueue, queue.LifoQueue):
        for name, (function, want) in list(HOLDERS.items()) + list(DECOYS.items()):
            over.clear()
            q, other = kind(), kind()
            waiting = start(consume, q)
            others = start(consume, other)
            holder = start_for(function, q)
            time.sleep(0.01)
            blocked(holder)
            got = awaited(waiting.native_id)
            what = '%s by %s' % (kind.__name__, name)
            if check(not isinstance(got, int) and id(q) in got, '%s: awaited: %r, not %x' % (what, got, id(q))):
                check(id(other) not in got, '%s: another queue is awaited' % what)
            equal(holds(holder.native_id, q, other), want + '-', what)
            check(holds(others.native_id, q, other)[:1] == '-', '%s: a consumer of another' % what)
            over.set()
            q.put(1), other.put(1)
            for t in (waiting, others, holder):
                t.join(10)
    over.clear()


MODES = {'queues': [test_queues]}


def main():
    equal(PROBE.probe_open(0), 0, 'open: %s' % PROBE.probe_note())
    for test in MODES[sys.argv[2]]:
        try:
            test()
        except Exception:
            check(False, traceback.format_exc())
    print(json.dumps({'failures': failures, 'figures': figures}))


if __name__ == '__main__':
    main()
