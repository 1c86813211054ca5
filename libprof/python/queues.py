# SPDX-License-Identifier: Apache-2.0
"""A loader that is none of torch's, as far as Python's queues show it, for `gpustarve loader` alone: threads
or processes put batches into a queue, and the main thread takes them out. Runs once in a process, after `queue` or
`multiprocessing.queues` was imported, with HERE (this folder) and that module as QUEUE or QUEUES.

A batch is made from when its maker came back from a queue until it puts one: what a full queue, or an empty
one of work, holds up is no part of it. As in shim.py what goes wrong here puts all as it was before."""
import ctypes
import itertools
import os
import sys
import threading
from _thread import get_ident

ABI = 7
UNKNOWN = 2 ** 64 - 1
FETCH = 2
FIRST = 60000  # number of the first one: shim.py counts its iterators from 1
PASSED = ('torch.', 'concurrent.', 'multiprocessing.', 'logging.', 'asyncio.')  # who uses queues of their own

lib = ctypes.PyDLL(HERE.rpartition('/')[0] + '/libprof.so',  # noqa: F821
                   mode=os.RTLD_NOLOAD | os.RTLD_NOW)
u32, u64, text = ctypes.c_uint, ctypes.c_ulonglong, ctypes.c_char_p


def function(name, *types_):
    f = getattr(lib, 'gpustarve_' + name)
    f.argtypes, f.restype = types_, ctypes.c_int if name in ('took', 'end') else None
    return f


take = function('take', u64, text, u32, u32, u64)
took = function('took', u64, u32, u64, u32)
begin = function('begin', u32, u32)
end = function('end', u32, u32, u64, u32, u32)
forget = function('forget', u32)
opening = function('opening', u64, text)
opened = function('opened', u64, u32, u32, text)
worker = function('worker', u32, u32, u32, u32)

process = os.getpid()
main = threading.main_thread().ident
numbers = itertools.count(FIRST)
told = {}  # process that works for a queue -> number of the queue
replaced = []  # (owner, name, original)


def off():
    while replaced:
        owner, name, original = replaced.pop()
        setattr(owner, name, original)


def is_passed(frame):
    return (frame.f_globals.get('__name__') or '').startswith(PASSED)


def is_here():
    """Is this the process whose main thread takes, and no worker of it?"""
    if os.getpid() != process:
        return False
    module = sys.modules.get('multiprocessing.process')
    return not module or module.parent_process() is None


def arm():
    """Once somebody takes from a queue, for many programs merely have one."""
    if lib.gpustarve_shim(ABI) == 2:
        lib.InitializeInjection()


def number_of(queue, key, kind):
    """Of a queue that the main thread takes from; it is told of at its first."""
    mine = queue.__dict__.get('_gpustarve')
    if mine is None:
        arm()
        mine = queue.__dict__['_gpustarve'] = next(numbers)
        opening(key, kind)
        opened(key, mine, 0, b'kind=' + kind)
    return mine


def tell_workers(mine):
    module = sys.modules['multiprocessing.process']
    for i, child in enumerate(list(getattr(module, '_children', ()))):
        pid = child.pid
        if type(pid) is int and told.get(pid) is None:
            told[pid] = mine
            worker(pid, mine, i, 0)


def taken(original, queue, args, kwargs, between):
    key, mine = id(queue), 0
    try:
        mine = number_of(queue, key, b'processes' if between else b'queue')
        if between:
            tell_workers(mine)
        take(key, b'queue.get', 0, mine, UNKNOWN)
    except Exception:
        off()
        return original(queue, *args, **kwargs)
    try:
        return original(queue, *args, **kwargs)
    finally:
        took(key, mine, UNKNOWN, 0)  # of a queue nobody counts what came


def make_get(original, between):
    def get(self, *args, **kwargs):
        passed = is_passed(sys._getframe(1))
        if not passed and get_ident() == main and is_here():
            return taken(original, self, args, kwargs, between)
        if passed:
            return original(self, *args, **kwargs)
        forget(FETCH)
        item = original(self, *args, **kwargs)
        begin(FETCH, between and not is_here())
        return item
    return get


def make_put(original, between):
    def put(self, *args, **kwargs):
        if is_passed(sys._getframe(1)) or get_ident() == main and is_here():
            return original(self, *args, **kwargs)
        below = between and not is_here()
        mine = 1 if below else self.__dict__.get('_gpustarve')
        if mine:
            end(FETCH, mine, UNKNOWN, 1 if below else 0, 0)
        try:
            return original(self, *args, **kwargs)
        finally:
            forget(FETCH)
            begin(FETCH, below)
    return put


def install(owner, between):
    for name, make in ('get', make_get), ('put', make_put):
        original = owner.__dict__.get(name)
        if not original:
            continue
        replaced.append((owner, name, original))
        ours = make(original, between)
        ours.__name__, ours.__qualname__, ours.__doc__ = name, original.__qualname__, original.__doc__
        setattr(owner, name, ours)


try:
    if lib.gpustarve_shim(ABI) and 'QUEUE' in globals():
        install(QUEUE.Queue, False)  # noqa: F821
    elif lib.gpustarve_shim(ABI):
        if is_here():
            arm()  # a worker is given the trainer's memory when it is started: it has to be there by then
        for kind in QUEUES.Queue, QUEUES.JoinableQueue, QUEUES.SimpleQueue:  # noqa: F821
            install(kind, True)
except Exception:
    off()
