# SPDX-License-Identifier: Apache-2.0
"""Run by test_prof_awaited.py under every Python that is here: what blocked threads wait for and which
threads hold it, as libprof reads it (libprof/python/reach.h), against what this program knows, since it
made it so. Prints failures and figures as one line of JSON. No import of gs: it runs anywhere.

    python3 pyreach.py PROBE MODE"""
import asyncio
import collections
import concurrent.futures
import ctypes
import functools
import json
import mmap
import multiprocessing.pool
import os
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


def asked(tid):
    """The same of what is asked for again and again."""
    out = (ctypes.c_ulong * WANTED)()
    n = PROBE.probe_asked(tid, out, WANTED)
    return list(out[:n]) if n >= 0 else n


def holds(tid, *objects):
    """'!' it gives, '~' it holds, '-' neither, for each object or address; a number below 0: the error."""
    wanted = (ctypes.c_ulong * len(objects))(*[o if isinstance(o, int) else id(o) for o in objects])
    held, gives = (ctypes.c_ubyte * len(objects))(), (ctypes.c_ubyte * len(objects))()
    n = PROBE.probe_holds(tid, wanted, len(objects), held, gives)
    if n < 0:
        return n
    return ''.join('!' if g else '~' if h else '-' for h, g in zip(held, gives))


def at(thread):
    """Where it is and how long it has run until now, or nothing where it is not asleep."""
    task = '/proc/self/task/%d/' % thread.native_id
    with open(task + 'stat') as f, open(task + 'schedstat') as g:
        asleep = f.read().rsplit(')', 1)[1].split()[0] == 'S'
        ran = g.read()
    frame = sys._current_frames().get(thread.ident)
    return (frame.f_code, frame.f_lasti, ran) if asleep and frame else None


def blocked(thread):
    """Waits until the thread is blocked: asleep at one place, and never woken meanwhile. One that waits
    for the interpreter's lock sleeps, too, but wakes up as often as that is free, or after 5 ms."""
    since, before = time.monotonic(), None
    until = since + 60
    while time.monotonic() < until:
        now = at(thread)
        if not now or now != before:
            since, before = time.monotonic(), now
        elif time.monotonic() - since > 0.007:
            return
        time.sleep(0.001)
    check(False, 'a thread does not block')


def start(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    blocked(thread)
    return thread


# ---- holders: each runs in a thread of its own, and makes something for q until it may go ----

def make():
    """A batch; no code here names anything that gives."""
    time.sleep(0.01)
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
    del q
    while not make():
        if over.is_set():
            module_queue.put(1)


def by_list(q):
    several = [1, 'x', q]
    del q
    while not make():
        if over.is_set():
            several[2].put(1)


def by_dict(q):
    by_name = {'train': q, 'size': 3}
    del q
    while not make():
        if over.is_set():
            by_name['train'].put(1)


def by_large_dict(q):
    by_number = {i: None for i in range(1000)}
    by_number['last'] = q
    del q
    while not make():
        if over.is_set():
            by_number['last'].put(1)


def by_tuple(q):
    pair = (1, (2, q))
    del q
    while not make():
        if over.is_set():
            pair[1][1].put(1)


edges = []


def at_edge(pair):
    """The tuple's like, of whose memory nothing lies behind: as the last object of an arena is placed."""
    size, head = 24 + 8 * len(pair), 16
    edge = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    end = ctypes.addressof(ctypes.c_char.from_buffer(edge)) + mmap.PAGESIZE
    ctypes.memset(end - size - head, 0, head)  # the garbage collector knows nothing of it
    ctypes.memmove(end - size, id(pair), size)
    ctypes.c_ssize_t.from_address(end - size).value = 1 << 20  # nobody frees it
    ctypes.CDLL(None).mprotect(ctypes.c_void_p(end), ctypes.c_size_t(mmap.PAGESIZE), 0)
    edges.append((edge, pair))
    return ctypes.cast(end - size, ctypes.py_object).value


def by_edge(q):
    some = at_edge((2, q))
    del q
    while not make():
        if over.is_set():
            some[1].put(1)


def by_set(q):
    some = {1, q}
    del q
    while not make():
        if over.is_set():
            max(some, key=id).put(1)


def by_deque(q):
    some = collections.deque([1, 2, q])
    some.rotate(70)
    del q
    while not make():
        if over.is_set():
            some[0].put(1)


def emit(q, x):
    q.put(x)


def by_partial(q):
    give = functools.partial(emit, q)
    put = q.put
    del q
    run_partial(give, put)


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
    'tuple at the end of memory': (by_edge, '!'),
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
    """Every holder and every decoy of a queue while a thread waits for it; of another kind, of C, some."""
    some = {name: HOLDERS[name] for name in ('parameter', 'slot of self', 'closure')}
    for kind, holders in ((queue.Queue, HOLDERS), (queue.SimpleQueue, some)):
        for name, (function, want) in list(holders.items()) + list(DECOYS.items()):
            over.clear()
            q, other = kind(), kind()
            waiting = start(consume, q)
            others = start(consume, other)
            holder = start_for(function, q)
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


# ---- other things that are waited for ----

class Waits:
    """A thread that waits by this function, and what it is to wait for."""
    def __init__(self, function, *arguments):
        self.thread = start(function, *arguments)
        self.what = getattr(function, '__name__', str(function))

    def check(self, *objects):
        got = awaited(self.thread.native_id)
        for o in objects:
            check(not isinstance(got, int) and id(o) in got, '%s: awaited: %r, not %s at %x' %
                  (self.what, got, type(o).__name__, id(o)))
        return got


def end(*threads):
    over.set()
    for t in threads:
        getattr(t, 'thread', t).join(10)
    over.clear()


def test_executor():
    """One future is being made, one stands in line; whoever works gives both."""
    for by in ('result', 'wait', 'as_completed'):
        with concurrent.futures.ThreadPoolExecutor(1, 'maker') as pool:
            now, later = pool.submit(over.wait), pool.submit(int)
            unrelated = concurrent.futures.Future()
            worker = next(t for t in threading.enumerate() if t.name.startswith('maker'))
            blocked(worker)
            if by == 'result':
                waits = [Waits(now.result), Waits(later.result)]
                waits[0].check(now)
                waits[1].check(later)
                equal(holds(worker.native_id, now, later, unrelated), '!!-', 'executor')
            else:
                waits = [Waits(lambda: list(getattr(concurrent.futures, by)([now, later])))]
                got = waits[0].check()
                equal(holds(worker.native_id, *got[:2])[1:], '!', 'executor, by %s' % by)
                check(id(now) in got and id(later) in got and id(unrelated) not in got,
                      'executor, by %s: awaited: %r, not both futures' % (by, got))
            end(*waits)
        # idle: it waits for the queue of work itself
        pool = concurrent.futures.ThreadPoolExecutor(1, 'idler')
        pool.submit(int).result()
        worker = next(t for t in threading.enumerate() if t.name.startswith('idler'))
        blocked(worker)
        got = awaited(worker.native_id)
        equal(got, [id(pool._work_queue)], 'executor: idle')
        pool.shutdown()


def test_thread_pool():
    """The result is handed over by a thread that waits for a queue, in which the worker puts."""
    pool = multiprocessing.pool.ThreadPool(1)
    result, unrelated = pool.apply_async(over.wait), queue.SimpleQueue()
    waits = Waits(result.get)
    waits.check(result)
    handler, worker = pool._result_handler, pool._pool[0]
    blocked(handler), blocked(worker)
    handler = handler.native_id
    equal(holds(handler, result), '!', 'thread pool: handler')
    got = awaited(handler)
    check(id(pool._outqueue) in got, 'thread pool: the handler awaits %r' % got)
    equal(holds(worker.native_id, pool._outqueue, unrelated), '!-', 'thread pool: worker')
    items = pool.imap(lambda _: over.wait(), [1])
    again = Waits(next, items)
    again.check(items)
    equal(holds(handler, items), '!', 'thread pool: imap')
    end(waits, again)
    pool.terminate()


class Buffer:
    """People's own queue."""
    def __init__(self):
        self.items, self.changed = [], threading.Condition()

    def push(self, item):
        with self.changed:
            self.items.append(item)
            self.changed.notify()

    def pop(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            return self.items.pop()


def fill(buffer):
    while not make():
        pass
    buffer.push(1)


class Filler:
    @classmethod
    def fill(cls, buffer):
        filler = cls(buffer)
        del buffer
        filler.run()

    def __init__(self, buffer):
        self.buffer = buffer

    def run(self):
        self.put(wait_over())

    def put(self, item):
        self.buffer.push(item)


def put_all(buffer):
    while not make():
        pass
    buffer.items.append(1)
    with buffer.changed:
        buffer.changed.notify_all()


def drains(buffer):
    while not make():
        pass
    buffer.pop()


class Shared:
    """Threads that have one object in common, of which each uses a part."""
    def __init__(self):
        self.raw, self.out, self.metrics = queue.Queue(), queue.Queue(), queue.Queue()

    def read(self):
        while not make():
            pass
        self.raw.put(1)

    def emit(self, item):
        self.out.put(item)

    def decode(self):
        while not make():
            pass
        self.emit(1)

    def count(self):
        while not make():
            pass
        self.metrics.put(1)

    def watch(self):
        while not make():
            pass
        print(self.out.qsize())


class Derived(Shared):
    def decode(self):
        super().decode()

    def other(self):
        while not make():
            pass
        self.emit(2)


def test_shared():
    for kind in (Shared, Derived):
        one = kind()
        waits = Waits(one.out.get)
        waits.check(one.out)
        for what, want in (('read', '!~~'), ('decode', '~!!'), ('count', '~~~'), ('watch', '~~~')) + (
                (('other', '~!!'),) if kind is Derived else ()):
            worker = start(getattr(one, what))
            equal(holds(worker.native_id, one.raw, one.out, one.out.not_empty), want, '%s.%s' % (kind.__name__, what))
            over.set()
            worker.join(10)
            over.clear()
        one.out.put(1)
        waits.thread.join(10)


def test_processes():
    """The future is given by a thread that waits for the processes."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context('fork')) as pool:
        until, done = os.pipe()  # a forked process inherits both
        future = pool.submit(os.read, until, 1)
        waits = Waits(future.result)
        waits.check(future)
        manager = [t for t in threading.enumerate() if 'Manager' in type(t).__name__ or 'Management' in t.name]
        manager = manager or [t for t in threading.enumerate() if t.name.startswith('QueueManager')]
        while not future.running():  # it takes the call to the process
            time.sleep(0.001)
        blocked(manager[0])
        equal(holds(manager[0].native_id, future, over), '!-', 'a pool of processes')
        os.write(done, b'x')
        end(waits)


def test_conditions():
    buffer, other = Buffer(), Buffer()
    waits = Waits(buffer.pop)
    waits.check(buffer.changed)
    for function, want in ((fill, '!-'), (Filler.fill, '!-'), (put_all, '!-'), (drains, '~-')):
        holder = start_for(function, buffer)
        blocked(holder)
        equal(holds(holder.native_id, buffer.changed, other.changed), want, 'condition: %s' % function)
        over.set()
        holder.join(10)
        over.clear()
    end(waits)


def sets(event):
    over.wait()
    event.set()


def releases(semaphore):
    over.wait()
    semaphore.release()


def test_events():
    for made, wait, give in ((threading.Event(), 'wait', sets), (threading.Semaphore(0), 'acquire', releases)):
        other = type(made)() if wait == 'wait' else threading.Semaphore(0)
        waits, holder = Waits(getattr(made, wait)), start_for(give, made)
        waits.check(made)
        blocked(holder)
        equal(holds(holder.native_id, made, other), '!-', wait)
        equal(holds(start(over.wait).native_id, made, other), '--', wait + ': a bystander')
        end(waits, holder)


def inside(lock):
    with lock:
        over.wait()


def enters(lock):
    with lock:
        pass


def enters_second(outer, lock):
    with outer:
        with lock:
            pass


def acquires(lock):
    lock.acquire()
    lock.release()


def beside(lock):
    over.wait()
    with lock:
        pass


def test_locks():
    for kind in (threading.Lock, threading.RLock):
        lock, other = kind(), kind()
        holder, near = start_for(inside, lock), start_for(beside, lock)
        blocked(holder), blocked(near)
        waits = [Waits(enters, lock), Waits(acquires, lock)]
        for w in waits:
            equal(w.check(lock), [id(lock)], 'lock: what is awaited by %s' % w.what)
        nested = Waits(enters_second, other, lock)
        equal(nested.check(lock), [id(lock)], 'lock: within another')
        equal(holds(nested.thread.native_id, other), '!', 'lock: within another, which it has')
        equal(holds(holder.native_id, lock, other), '!-', 'lock: %r' % lock)
        equal(holds(near.native_id, lock, other), '~-', 'lock: who does not have it')
        end(*waits, nested, holder, near)


def test_takes():
    """What something is taken from by C, and what merely locks."""
    blocker = start(threading.Event().wait)
    context = multiprocessing.get_context('fork')
    taken = [queue.SimpleQueue(), context.Semaphore(0)._semlock, context.BoundedSemaphore(3)._semlock]
    locks = [context.Lock()._semlock, context.RLock()._semlock, threading.Lock(), threading.RLock(), queue.Queue(),
             context.Queue(), [], {}]
    for things, want in (taken, 1), (locks, 0):
        for one in things:
            equal(PROBE.probe_is_queue(blocker.native_id, ctypes.c_ulong(id(one))), want, 'taken from: %r' % one)


def by_iterator(q):
    for _ in iter(q.get, None):
        pass


def by_alias(q):
    get = q.get
    get()


def by_attribute(loader):
    return loader.out.get()


def by_argument(q, other):
    return max(other, 3, q.get() or 1)


def test_calls():
    """Within C: what is on the evaluation stack."""
    for function in (by_iterator, by_alias, lambda q: by_attribute(Loader(q)), lambda q: by_argument(q, 1)):
        q = queue.SimpleQueue()
        waits = Waits(function, q)
        equal(waits.check(q), [id(q)], 'nothing else is awaited')
        q.put(None)
        waits.thread.join(10)
    asleep = Waits(time.sleep, 1)
    equal(asleep.check(), [], 'a thread that sleeps')


def test_loop():
    """The loop is waited for where its thread idles; a future of it where it works."""
    loop = asyncio.new_event_loop()
    thread = start(loop.run_forever)
    got = awaited(thread.native_id)
    check(id(loop) in got, 'loop: awaited: %r, not %x' % (got, id(loop)))

    def calls():
        over.wait()
        loop.call_soon_threadsafe(int)
    caller = start(calls)
    equal(holds(caller.native_id, loop, asyncio), '!-', 'loop: who calls it')
    equal(holds(start(over.wait).native_id, loop), '-', 'loop: who does not')

    begun = threading.Event()

    async def work():
        begun.set()
        over.wait()
    future = asyncio.run_coroutine_threadsafe(work(), loop)
    waits = Waits(future.result)
    waits.check(future)
    begun.wait()
    equal(holds(thread.native_id, future), '!', 'loop: while it works')
    end(waits, caller)
    rest = asyncio.run_coroutine_threadsafe(asyncio.sleep(60), loop)
    waits = Waits(rest.exception)
    got = waits.check(loop._selector)
    check(id(loop) not in got, 'loop: who waits for a result of it awaits it itself: %r' % got)
    blocked(thread)
    equal(holds(thread.native_id, loop._selector), '!', 'loop: who runs it, idle')
    equal(holds(start(over.wait).native_id, loop._selector), '-', 'loop: who does not run it')
    loop.call_soon_threadsafe(rest.set_result, None)
    end(waits)
    check_events(loop, thread)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


def ask(loop, way):
    """As libraries do that have coroutines of their own run for who has none."""
    event = threading.Event()

    async def work():
        await asyncio.sleep(0 if over.is_set() else 2)
        event.set()

    def wait():
        event.wait()
    asyncio.run_coroutine_threadsafe(work(), loop)
    event.wait() if way == 'itself' else wait()


def ask_no_loop(loop, event):
    """Nor does a queue's item come from a loop that is there, too."""
    event.wait()


def check_events(loop, thread):
    """Who waits for an event that a coroutine sets waits for the loop that runs it."""
    for way in 'itself', 'within':
        waits = Waits(ask, loop, way)
        waits.check(loop._selector)
        waits.thread.join(10)
    event = threading.Event()
    waits = Waits(ask_no_loop, loop, event)
    got = waits.check(event)
    check(id(loop._selector) not in got, 'event: a loop that nobody asked: %r' % got)
    event.set()
    waits.thread.join(10)


class Kept(concurrent.futures.ThreadPoolExecutor):
    def submit(self, *args):
        self.made = super().submit(*args)
        return self.made


def test_coroutine():
    """A coroutine that awaits a pool's result waits, in its loop, for who works on that."""
    with Kept(1, 'coworker') as pool:
        unrelated = pool.submit(int)

        async def inner():
            return await asyncio.get_event_loop().run_in_executor(pool, over.wait)

        async def outer():
            return await inner()
        waits = Waits(asyncio.run, outer())
        got = waits.check(pool.made)
        check(id(unrelated) not in got, 'coroutine: awaited: %r, with what is done' % got)
        worker = next(t for t in threading.enumerate() if t.name.startswith('coworker'))
        blocked(worker)
        equal(holds(worker.native_id, pool.made), '!', 'coroutine: who works')
        end(waits)


def test_loop_of_a_thread():
    """Who waits for futures of a loop waits for who runs that, and it for whoever works on what its coroutines await."""
    loop = asyncio.new_event_loop()
    thread = start(loop.run_forever)
    with concurrent.futures.ThreadPoolExecutor(1, 'loopworker') as pool:
        async def work():
            await loop.run_in_executor(pool, over.wait)
        future = asyncio.run_coroutine_threadsafe(work(), loop)
        for by in (concurrent.futures.wait, lambda some: list(concurrent.futures.as_completed(some))):
            waits = Waits(by, [future])
            waits.check(future, loop._selector)
        blocked(thread)
        check(id(loop) in awaited(thread.native_id), 'loop of a thread: it is not awaited')
        worker = next(t for t in threading.enumerate() if t.name.startswith('loopworker'))
        equal(holds(worker.native_id, loop), '!', 'loop of a thread: who works for it')
        end(waits)
        blocked(worker)
        equal(holds(worker.native_id, loop), '-', 'loop of a thread: who worked for it')
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


# ---- a program that changes everything while it is read ----

handed_on = queue.Queue()


async def hands_on(rest):
    await rest.wait()
    handed_on.put(1)


async def has_argument(rest, q):
    await rest.wait()
    q.put(1)


async def has_nothing(rest):
    await rest.wait()


async def serves(rest, *others):
    await asyncio.gather(has_nothing(rest), *others)


def test_suspended():
    """A loop sleeps; its tasks are on no stack, and have what they will give."""
    q, another = queue.Queue(), queue.Queue()
    for others, want in ((lambda rest: (hands_on(rest),), '!--'), (lambda rest: (has_argument(rest, q),), '-!-'),
                         (lambda rest: (), '---'),
                         (lambda rest: (has_nothing(rest), hands_on(rest), has_argument(rest, q)), '!!-')):
        loop, rests = asyncio.new_event_loop(), []

        async def run():
            rests.append(asyncio.Event())
            await serves(rests[0], *others(rests[0]))
        thread = start(loop.run_until_complete, run())
        blocked(thread)
        equal(holds(thread.native_id, handed_on, q, another), want, 'tasks of a loop that sleeps')
        loop.call_soon_threadsafe(rests[0].set)
        thread.join()
        loop.close()


class Node:
    def __init__(self, *children):
        self.children = list(children)
        for i in range(len(children) % 7):
            setattr(self, 'extra%d' % i, i)


def change(held):
    mine = {'q': held, 'list': [], 'set': set(), 'deque': collections.deque()}
    n = 0
    while not over.is_set():
        n += 1
        mine['list'] += [Node(mine['list'][-1] if mine['list'] else None, n) for _ in range(n % 5)]
        mine[n % 97] = Node(*range(n % 11))
        mine['set'].add(n % 300)
        mine['deque'].extend(range(n % 70))
        recurse(n % 9, mine)
        if n % 7 == 0:
            mine['list'] = mine['list'][n % 50:]
            mine['deque'].clear()
            mine = dict(mine) if n % 14 else {k: mine[k] for k in ('list', 'q', 'deque', 'set')}


def recurse(n, mine):
    here = {n: mine.get(n)}
    return recurse(n - 1, here) if n else sorted(map(repr, here))


class Job:
    def __init__(self, future):
        self.future, self.started = future, True


class Parallel:
    """A library's loader that sleeps and looks whether the next item is there."""
    def __init__(self, *futures):
        self.options, self.jobs, self.out = dict(a=1), collections.deque(Job(f) for f in futures), []

    def retrieve(self):
        while not self.out:
            time.sleep(10)
        yield self.out.pop()

    def outputs(self):
        yield from self.retrieve()

    def look(self):
        while not self.out:
            time.sleep(10)
        return self.out.pop()

    def __iter__(self):
        return self

    def __next__(self):
        return Looks(self).look()


class Looks:
    def __init__(self, of):
        self.of = of

    def look(self):
        return self.of.look()


def poll(items):
    for _ in items:
        pass


def test_naps():
    """Who sleeps on the way to an iterator's item asks the objects of the functions on that way, and their futures."""
    futures = [concurrent.futures.Future() for _ in range(2)]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(make)
        for make_items, first in ((Parallel.outputs, 'generator'), (iter, '__next__')):
            parallel = Parallel(running, *futures)
            waits = start(poll, make_items(parallel))
            got = asked(waits.native_id)
            check(isinstance(got, list) and got[:1] == [id(parallel)], '%s: asks %r' % (first, got))
            check(isinstance(got, list) and {id(f) for f in futures} <= set(got), '%s: futures of %r' % (first, got))
    parallel = Parallel()
    waits = start(parallel.look)
    equal(asked(waits.native_id), [], 'asleep, and in no iterator')
    waits = start(queue.Queue().get)
    equal(asked(waits.native_id), [], 'waits, and in no iterator')


def test_changing():
    q, other = queue.Queue(), queue.Queue()
    changing = [threading.Thread(target=change, args=(q,), daemon=True) for _ in range(2)]
    for t in changing:
        t.start()
    counts, total = (ctypes.c_int * 4)(), {}
    for what, o in (('held', q), ('another', other)):
        total[what] = [0] * 4
        for t in changing:
            PROBE.probe_hold_many(t.native_id, ctypes.c_ulong(id(o)), 100, counts)
            total[what] = [n + m for n, m in zip(total[what], counts)]
            awaited(t.native_id)
    figures.update(total)
    none, held, gives, torn = total['held']
    check(held > (none + gives + torn), 'changing: nothing, held, gives, torn: %r' % total)
    equal(total['another'][1:3], [0, 0], 'changing: what is not held')
    end(*changing)


# ---- children ----

def child_gives(q, another_q, ready):
    ready.send(os.getpid())
    while not make():
        pass
    q.put(1), another_q.put(1)


def child_looks(q, another_q, ready):
    ready.send(os.getpid())
    while not make():
        pass
    print(q.empty(), another_q.empty())


def look_at_child(pid, *objects):
    """Once it is in make(); then the probe is back at this process."""
    equal(PROBE.probe_open(pid), 0, 'child: open, %s' % PROBE.probe_note())
    text = ctypes.create_string_buffer(1 << 16)
    for _ in range(200):
        if PROBE.probe_walk(pid, text, ctypes.c_long(1 << 16)) > 0 and text.value.startswith(b'make'):
            break
        time.sleep(0.02)
    result = holds(pid, *objects)
    PROBE.probe_open(0)
    return result


def test_children():
    """Of a forked one what multiprocessing shares; not a queue of threads. Of a spawned one nothing."""
    for method, function, want in (('fork', child_gives, '!--'), ('fork', child_looks, '~--'),
                                   ('spawn', child_gives, '---')):
        context = multiprocessing.get_context(method)
        q, other = context.SimpleQueue(), context.SimpleQueue()
        of_threads = queue.Queue() if method == 'fork' else other
        mine, theirs = context.Pipe()
        waits = Waits(q.get)
        child = context.Process(target=function, args=(q, of_threads, theirs))
        child.start()
        pid = mine.recv()
        waits.check(q)
        what = 'child by %s, %s' % (method, function.__name__)
        equal(look_at_child(pid, q, of_threads, other), want, what)
        equal(PROBE.probe_shares(pid, ctypes.c_ulong(id(q))), int(method == 'fork'), what + ': shared')
        equal(PROBE.probe_shares(pid, ctypes.c_ulong(id(waits.thread))), 0, what + ': not shared')
        child.terminate()
        child.join(10)
        q.put(1)
        end(waits)


def test_idle_workers():
    """What a worker waits for is not itself, nor what its parent did."""
    context = multiprocessing.get_context('fork')
    with context.Pool(1) as pool:
        worker = pool._pool[0].pid
        opened, got = -1, -1
        for _ in range(1000):  # until it has begun to wait
            opened = opened and PROBE.probe_open(worker)
            got = awaited(worker)
            if not isinstance(got, int) and id(pool._inqueue) in got:
                break
            time.sleep(0.02)
        equal(opened, 0, 'worker: open, %s' % PROBE.probe_note())
        check(not isinstance(got, int) and id(pool._inqueue) in got, 'worker: awaits %r' % got)
        check(id(pool) not in got and id(pool._pool[0]) not in got, 'worker: awaits what its parent has')
        PROBE.probe_open(0)


# ---- what a search costs ----

def take_cost():
    """A pool worker that idles, one that decodes, and one with much about it; for tests/bench."""
    pool = concurrent.futures.ThreadPoolExecutor(1, 'idler')
    pool.submit(int).result()
    idle = next(t for t in threading.enumerate() if t.name.startswith('idler'))
    many = Node(*[Node(*range(30)) for _ in range(60)])
    large = start(lambda held: over.wait(), [many, {i: Node(i) for i in range(100)}])
    q = queue.Queue()
    worker, waits = start(by_parameter, q), start(q.get)
    wanted = (ctypes.c_ulong * 2)(id(q), id(q.not_empty))
    ns = (ctypes.c_long * 300)()
    for name, thread, n in (('first', idle, 1), ('idle', idle, 300), ('found', worker, 300), ('large', large, 300)):
        equal(PROBE.probe_hold_times(thread.native_id, wanted, 2, n, ns), 0, 'times')
        figures[name] = round(sorted(ns[:n])[n // 2] / 1000, 1)
    equal(PROBE.probe_awaited_times(waits.native_id, 300, ns), 0, 'times')
    figures['awaited'] = round(sorted(ns)[150] / 1000, 1)
    over.set()
    q.put(1)


MODES = {'queues': [test_queues],
         'others': [test_executor, test_thread_pool, test_conditions, test_shared, test_processes, test_events, test_locks,
                    test_takes,
                    test_calls, test_loop, test_coroutine, test_loop_of_a_thread,
                    test_suspended, test_naps],
         'changing': [test_changing],
         'children': [test_children, test_idle_workers],
         'cost': [take_cost]}


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
