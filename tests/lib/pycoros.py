# SPDX-License-Identifier: Apache-2.0
"""Run by test_prof_coroutines.py under every Python that is here: at which lines the coroutines of an event loop
wait while its thread sleeps in the selector, as libprof reads it (libprof/python/pycoro.h), against what the coroutines
say of themselves. Prints failures and figures as one line of JSON. No import of gs: it runs anywhere.

    python3 pycoros.py PROBE"""
import asyncio
import ctypes
import json
import socket
import sys
import threading
import time
import traceback

from pystack import PROBE, ROOM, check, declare, equal, failures, figures

KNOWN = sys.version_info < (3, 14)


def suspended(tid):
    """[(function, line)] of the suspended functions in a thread's stack, innermost first; below 0: the error."""
    text = ctypes.create_string_buffer(ROOM)
    n = PROBE.probe_walk(tid, text, ROOM)
    if n < 0:
        return n
    frames = [line.split('\t') for line in text.value.decode().split('\n')] if n else []
    marks = [frame[3:] == ['s'] for frame in frames]
    first = marks.index(True) if True in marks else len(marks)
    check(all(marks[first:first + sum(marks)]), 'suspended functions are not together: %r' % frames)
    if any(marks):
        check('/asyncio/' in frames[first - 1][1], 'suspended functions stand elsewhere: %r' % frames)
    return [(f.split('.')[-1], int(line)) for (f, _, line, *_), mark in zip(frames, marks) if mark]


def line(function, n):
    """The name of a function, and its line of that number."""
    return function.__name__, function.__code__.co_firstlineno + n


class Pairs:
    """Sockets that nobody writes to until the end."""

    def __init__(self):
        self.ours = []

    def one(self):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self.ours.append(theirs)
        return ours

    def close(self):
        for s in self.ours:
            s.send(b'x')


class Loop:
    """A loop in a thread, which runs for a coroutine, or for ever."""

    def __init__(self, main=None):
        self.loop, self.pairs, self.tasks = asyncio.new_event_loop(), Pairs(), []
        # Of tasks that are left at the end nobody is told: in telling it Python 3.10 may run out of its stack, for
        # futures that gather() holds print each other, and ends.
        self.loop.set_exception_handler(lambda loop, context: None)
        self.thread = threading.Thread(target=self.run, args=(main,), daemon=True)
        self.thread.start()

    def run(self, main):
        asyncio.set_event_loop(self.loop)
        if main:
            self.loop.run_until_complete(main(self))
        else:
            self.loop.run_forever()

    def task(self, coroutine):
        self.tasks.append(self.loop.create_task(coroutine))
        return self.tasks[-1]

    def add(self, *coroutines):
        """As another thread does it."""
        for coroutine in coroutines:
            self.loop.call_soon_threadsafe(self.task, coroutine)

    def read(self, n=1):
        return self.loop.sock_recv(self.pairs.one(), n)

    def equal(self, want, what):
        """@want: what to find, once all have come to their waits."""
        got = None
        for _ in range(200):
            got = suspended(self.thread.native_id)
            if got == want:
                break
            time.sleep(0.01)
        if equal(got, want, what):
            equal([suspended(self.thread.native_id) for _ in range(50)], [want] * 50, what + ', again')

    def end(self):
        self.pairs.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)


# ---- one coroutine that awaits in every way there is ----

async def fetch(loop):
    first = 1
    return first, await loop.read()


async def by_generator(loop):
    before, after = 1, 2
    yield before
    await fetch(loop)
    yield after


class Awaited:
    def __init__(self, loop):
        self.loop = loop

    def __await__(self):
        return (yield from inner(self.loop).__await__())


async def inner(loop):
    async for _ in by_generator(loop):
        pass


async def outer(loop):
    with threading.Lock():
        held = [1, 2, 3]
        for _ in held:
            await Awaited(loop)


async def by_task(loop):
    await loop.task(outer(loop))


def test_main():
    """What the loop is run for, down to its innermost function, through tasks."""
    loop = Loop(by_task)
    loop.equal([line(fetch, 2), line(by_generator, 3), line(inner, 1), line(Awaited.__await__, 1), line(outer, 4),
                line(by_task, 1)], 'a chain of awaits')
    loop.end()


# ---- several tasks ----

async def beats():
    while True:
        await asyncio.sleep(60)


async def listens(loop):
    await loop.read()


async def gets(loop, n):
    loop.made = True
    await asyncio.gather(*[fetch(loop) for _ in range(n)])


async def takes(loop):
    await loop.queue.get()


async def with_queue(loop):
    loop.queue = asyncio.Queue()
    loop.task(beats())
    loop.task(puts(loop, loop.queue))
    for _ in range(3):
        loop.task(listens(loop))
    await takes(loop)


async def puts(loop, queue):
    await queue.put(await fetch(loop))


async def idles(loop):
    loop.queue = asyncio.Queue()
    await takes(loop)


def test_several():
    """Without any that others wait for: where most wait for something outside."""
    loop = Loop()
    loop.add(beats(), beats(), listens(loop), fetch(loop), fetch(loop), fetch(loop))
    loop.equal([line(fetch, 2)], 'most of several')
    loop.end()
    loop = Loop(lambda loop: gets(loop, 3))
    loop.equal([line(fetch, 2)], 'several at once')
    loop.end()
    loop = Loop()
    loop.add(beats())
    loop.equal([line(beats, 2)], 'none but a clock')
    loop.end()


def test_queue():
    """A coroutine that waits for another one leads to that, and to none that has nothing to do with it."""
    loop = Loop(with_queue)
    loop.equal([line(fetch, 2), line(puts, 1)], 'who puts')
    loop.end()
    loop = Loop(idles)
    time.sleep(0.2)
    loop.equal([], 'nobody puts')
    loop.end()


def test_noted():
    """Whose result another thread waits for comes before more of others."""
    loop = Loop()
    loop.add(beats(), fetch(loop), fetch(loop))
    loop.equal([line(fetch, 2)], 'before anybody waits')
    future = asyncio.run_coroutine_threadsafe(listens(loop), loop.loop)
    waits = threading.Thread(target=future.result, daemon=True)
    waits.start()
    out = (ctypes.c_ulong * 16)()
    for _ in range(200):
        PROBE.probe_awaited(waits.native_id, out, 16)
        if suspended(loop.thread.native_id) == [line(listens, 1)]:
            break
        time.sleep(0.01)
    loop.equal([line(listens, 1)], 'whose result is waited for')
    loop.end()


# ---- a loop that never rests ----

async def naps(n):
    await asyncio.sleep(0.0002 * n)


async def churns(loop):
    while not loop.over:
        await asyncio.gather(*[naps(n) for n in range(4)])
        loop.turns += 1


def test_churn():
    """Whatever happens meanwhile, only places where these functions wait are told."""
    Loop.over, Loop.turns = False, 0
    loop = Loop(churns)
    known = {(), (line(naps, 1),), (line(churns, 2),)}
    seen = {}
    for _ in range(4000):
        got = suspended(loop.thread.native_id)
        if got != -11:
            seen[tuple(got)] = seen.get(tuple(got), 0) + 1
    loop.over = True
    strange = set(seen) - known
    check(not strange, 'a loop that never rests: %r' % strange)
    check(loop.turns > 0, 'it rests')
    figures['churn'] = {repr(k): v for k, v in seen.items()}
    loop.thread.join(10)


def main():
    declare()
    PROBE.probe_open(0)
    for test in (test_main, test_several, test_queue, test_noted, test_churn) if KNOWN else ():
        try:
            test()
        except Exception:
            check(False, traceback.format_exc())
    print(json.dumps({'failures': failures, 'figures': figures}))


main()
