# SPDX-License-Identifier: Apache-2.0
"""Exact times of torch's DataLoader and of Python's garbage collector, told to libprof by plain C calls (libprof/loader/shim.h). Runs once, after torch.utils.data.dataloader was
imported, with HERE (this folder) and DATALOADER (that module) as globals; it is in no module list.

Methods of torch's classes are replaced by wrappers that call them. What a wrapper does by itself
may fail without the program noticing: the first failure puts all originals back and leaves a note.
An exception of the program that arrives while one of them runs goes on, whatever its type.
The frames of this file are called <gpustarve> in stacks."""
import ctypes
import functools
import gc
import itertools
import os
import sys
import threading
import types
import weakref
from _thread import get_ident
from time import monotonic

ABI = 7
UNKNOWN = 2 ** 64 - 1  # WIRE_BATCH_INDEX_UNKNOWN
FETCH, PIN, CLOSE = 2, 4, 5  # enum wire_batch_what
BATCH, END, ERROR = 1, 2, 3  # enum wire_take

lib = ctypes.PyDLL(HERE.rpartition('/')[0] + '/libprof.so',  # noqa: F821
                   mode=os.RTLD_NOLOAD | os.RTLD_NOW)


def function(name, *types_):
    f = getattr(lib, 'gpustarve_' + name)
    f.argtypes, f.restype = types_, ctypes.c_int if name in ('took', 'end') else None
    return f


u32, u64, text = ctypes.c_uint, ctypes.c_ulonglong, ctypes.c_char_p
take = function('take', u64, text, u32, u32, u64)
took = function('took', u64, u32, u64, u32)
begin = function('begin', u32, u32)
end = function('end', u32, u32, u64, u32, u32)
opening = function('opening', u64, text)
opened = function('opened', u64, u32, u32, text)
worker = function('worker', u32, u32, u32, u32)
ended = function('ended', u32, ctypes.c_int)
# Called by the collector itself: it prints and forgets what a callback raises, and a function in
# Python is a place where an exception of the program may arrive.
collect = function('collect', ctypes.c_wchar_p, ctypes.py_object)
note = function('note', text)

replaced = []  # (owner, name, original, ours)
passing = []  # (owner, name, ours, stand-in that lets calls pass)
ASIDE_S = 5
until = 0.0  # when the stand-ins end
numbers = itertools.count(1)  # of iterators
newest = 0
workers_of = {}  # thread that pins or fetches -> number of its iterator
inside = set()  # threads in pin_memory
is_off = False


# What can go wrong in here.
OWN = (AttributeError, KeyError, IndexError, LookupError, TypeError, ValueError, NameError,
       UnboundLocalError, OverflowError, OSError, RecursionError, UnicodeEncodeError,
       UnicodeDecodeError, ctypes.ArgumentError)


def is_own(kind, error, trace):
    """Did our own code raise this? Signal handlers raise wherever the program happens to be, but
    from a frame of theirs. What another thread sends (PyThreadState_SetAsyncExc) has no frame; but
    it is made from a class alone, without the words that the interpreter gives its own."""
    while trace.tb_next:
        trace = trace.tb_next
    return kind in OWN and bool(error.args) and trace.tb_frame.f_code.co_filename == '<gpustarve>'


def off(where):
    """Something of ours failed: all as it was before. True if the exception under way is not ours
    at all: then it has to go on."""
    global is_off
    kind, error, trace = sys.exc_info()
    if not is_own(kind, error, trace):
        return True
    if is_off:
        return False
    is_off = True
    exchange(False)
    for owner, name, original, ours in replaced:
        if owner.__dict__.get(name) is ours:
            setattr(owner, name, original)
    if collect in gc.callbacks:
        gc.callbacks.remove(collect)
    say('the Python shim switched itself off in %s: %s: %s' % (where, kind.__name__, error))
    return False


def say(sentence):
    note(sentence.encode('utf-8', 'replace')[:230])


def replace(owner, name, make, needs=()):
    """Puts make(original) in the place of a plain function that works with the names in needs."""
    original = owner.__dict__.get(name)
    if not isinstance(original, types.FunctionType):
        raise LookupError('no function %s' % name)
    missing = [n for n in needs if n not in original.__code__.co_names]
    if missing:
        raise LookupError('%s does not use %s' % (name, missing[0]))
    ours = functools.wraps(original)(make(original))
    setattr(owner, name, ours)
    replaced.append((owner, name, original, ours))
    if name in ('__next__', 'fetch'):
        passing.append((owner, name, ours, functools.wraps(original)(make_passing(original))))


# ---- stepping aside ----

def make_passing(original):
    """Nothing but a call would ever bring our wrapper back; the clock costs a tenth of a us."""
    def passes(*args, **kwargs):
        if monotonic() > until:
            try:
                exchange(False)
            except Exception:
                if off('a stand-in'):
                    raise
        return original(*args, **kwargs)
    return passes


def exchange(aside):
    for owner, name, ours, stand_in in passing:
        if owner.__dict__.get(name) is (ours if aside else stand_in):
            setattr(owner, name, stand_in if aside else ours)


def step_aside():
    """Calls are so brief that telling of each costs more than they do."""
    global until
    until = monotonic() + ASIDE_S
    exchange(True)


# ---- waits ----

profile_names = {}  # class -> what torch calls its waits


def profile_name(cls):
    if len(profile_names) > 100:
        profile_names.clear()
    name = profile_names[cls] = ('enumerate(DataLoader)#%s.__next__' % cls.__name__).encode()
    return name


def awaited(it):
    """Index of the next batch, or UNKNOWN."""
    state = it.__dict__
    if not state.get('_in_order', True):
        return UNKNOWN
    index = state.get('_rcvd_idx')
    return state['_num_yielded'] if index is None else index


def make_next(original):
    def __next__(self):
        came = ERROR
        key, index = id(self), UNKNOWN
        try:
            try:
                state = self.__dict__
                cls = self.__class__
                index = awaited(self)
                take(key, profile_names.get(cls) or profile_name(cls),
                     not state['_num_yielded'], state.get('_gpustarve', 0), index)
            except Exception:
                if off('__next__'):
                    raise
            batch = original(self)
            came = BATCH
            return batch
        except StopIteration:
            came = END
            raise
        finally:
            try:
                if came == BATCH and index != UNKNOWN:
                    index = awaited(self) - 1  # a worker that had no more to give is skipped
                if took(key, self.__dict__.get('_gpustarve', 0), index, came):
                    step_aside()
            except BaseException:
                if off('__next__'):
                    took(key, 0, UNKNOWN, ERROR)  # counted out, whatever happens
                    raise
            if came == ERROR:
                tell_ended(self)
    return __next__


# ---- fetches and pins ----

def locals_of(frame, functions, *names):
    """Local variables of the frame, if it runs one of these functions; else None."""
    if frame.f_code.co_name not in functions:
        return None
    found = frame.f_locals
    values = {name: found[name] for name in names if name in found}
    if type(found) is dict:
        found.clear()  # before 3.13 it is a copy, and would keep the batch alive
    return values


def number(value):
    return value if type(value) is int and value >= 0 else UNKNOWN


IN_WORKER = ('_worker_loop', '_base_worker_loop')
WORKER_NAMES = 'idx', 'task_id', 'worker_id', 'worker_method'  # of a task: idx, later task_id
IN_PINNER = ('do_one_step', '_pin_memory_loop')


def collated(fetcher):
    """Of an iterable data set the last batch may be short, and who collates it alone sees how long
    it is. In its place it is counted: [the samples of the last batch]."""
    state = fetcher.__dict__
    count = state.get('_gpustarve_count')
    if count is None and type(fetcher).__name__ == '_IterableDatasetFetcher' \
            and state.get('auto_collation') and 'collate_fn' in state:
        count = state['_gpustarve_count'] = [0]
        collate = state['collate_fn']

        def collate_fn(data):
            count[0] = len(data) if type(data) is list else 0
            return collate(data)
        state['collate_fn'] = collate_fn
    if count:
        count[0] = 0
    return count


def make_fetch(original):
    def fetch(self, possibly_batched_index):
        count, samples = None, 0
        try:
            try:
                begin(FETCH, sys._getframe(1).f_code.co_name in IN_WORKER)
                count = collated(self)
            except Exception:
                if off('fetch'):
                    raise
            batch = original(self, possibly_batched_index)
            if count:
                samples = count[0]
            elif type(possibly_batched_index) in (list, tuple):
                samples = len(possibly_batched_index)
            return batch
        finally:
            try:
                fetched(self, samples, sys._getframe(1))
            except BaseException:
                if off('fetch'):
                    end(FETCH, 0, UNKNOWN, 0, 0)
                    raise
    return fetch


resumed = [0, None]  # in a worker: its fetchers so far, and the last one


def fetched(fetcher, samples, frame):
    """In a worker the loader is told by the number of the fetcher: each epoch has its own. A worker
    may also be a thread of the trainer. Samples: 0 if that is not known, or none came."""
    found = locals_of(frame, IN_WORKER, *WORKER_NAMES)
    if found is None:
        if end(FETCH, 0, UNKNOWN, 0, samples):
            step_aside()
        return
    if found.get('worker_method') == 'thread':
        loader = workers_of.setdefault(get_ident(), newest)
    else:
        if resumed[1] is not fetcher:
            resumed[:] = [resumed[0] + 1, fetcher]
        loader = resumed[0]
    if end(FETCH, loader, number(found.get('idx', found.get('task_id'))),
           number(found.get('worker_id')) + 1 & 0xffffffff, samples):
        step_aside()


def make_pin(original):
    def pin_memory(data, *args, **kwargs):
        thread = get_ident()
        if thread in inside:  # it calls itself for each part of a batch
            return original(data, *args, **kwargs)
        try:
            try:
                inside.add(thread)
                begin(PIN, 0)
            except Exception:
                if off('pin_memory'):
                    raise
            return original(data, *args, **kwargs)
        finally:
            inside.discard(thread)
            try:
                found = locals_of(sys._getframe(1), IN_PINNER, 'idx')
                if found:
                    end(PIN, workers_of.setdefault(thread, newest), number(found['idx']), 0, 0)
                else:
                    end(PIN, 0, UNKNOWN, 0, 0)
            except Exception:
                if off('pin_memory'):
                    raise
    return pin_memory


# ---- where a loader is made ----

MADE_MAX = 300  # bytes: libprof keeps 512 of all settings


def constructors(cls):
    """The code of all constructors of a class, and of functions around them."""
    codes = set()
    for owner in cls.__mro__:
        f = owner.__dict__.get('__init__')
        for _ in range(8):
            if not isinstance(f, types.FunctionType):
                break
            codes.add(f.__code__)
            f = f.__dict__.get('__wrapped__')
    return codes


def made_at(loader, frame):
    """'/srv/train.py:45': who called the class, or a subclass whose constructor called on. None: it is too long."""
    codes = constructors(type(loader))
    while frame and frame.f_code in codes:
        frame = frame.f_back
    if not frame:
        return None
    name = ''.join(chr(c) if 32 < c < 127 and c != 37 else '%%%02x' % c
                   for c in os.fsencode(frame.f_code.co_filename))
    return '%s:%d' % (name, frame.f_lineno) if len(name) < MADE_MAX else None


def make_loader(original):
    def __init__(self, *args, **kwargs):
        try:
            if '_gpustarve_at' not in self.__dict__:
                self.__dict__['_gpustarve_at'] = made_at(self, sys._getframe(1))
        except Exception:
            if off('a DataLoader'):
                raise
        return original(self, *args, **kwargs)
    return __init__


# ---- iterators ----

def field(thing, name):
    """Nothing of the program is called: no property, no __getattr__."""
    if type(thing).__dictoffset__:
        return object.__getattribute__(thing, '__dict__').get(name)


def settings(it, loader):
    """Of a loader, as wire/evidence.h wants them."""
    def word(value):
        return ''.join(c if 32 < ord(c) < 127 else '?' for c in str(value))[:60]

    workers = it.__dict__.get('_workers') or ()
    method = getattr(type(field(workers[0], '_popen')), 'method', None) if workers else None
    out = [('kind', 'torch'), ('workers', it._num_workers)]
    if it._num_workers:
        out.append(('prefetch', it._prefetch_factor))
        out.append(('persistent', int(bool(it._persistent_workers))))
        out.append(('in_order', int(bool(it.__dict__.get('_in_order', True)))))
        if type(method) is str:
            out.append(('start', method))
    size = field(loader, 'batch_size') or field(field(loader, 'batch_sampler'), 'batch_size')
    if type(size) is int:
        out.append(('batch', size))
    if type(it.__dict__.get('_dataset_kind')) is int and it._dataset_kind == 1:
        out.append(('iterable', 1))  # _DatasetKind.Iterable
    out.append(('pin', int(bool(it._pin_memory))))
    out.append(('dataset', type(it._dataset).__name__))
    text = ' '.join('%s=%s' % (k, word(v)) for k, v in out)
    made = field(loader, '_gpustarve_at')
    return (text + ' made=' + made if type(made) is str else text).encode()


numbers_over = itertools.count(1)
known_over = {}  # addresses and names of what is gone over -> (weak references to it, its number)
KNOWN_MAX = 1000
PLAIN = 'RandomSampler', 'SequentialSampler', '_InfiniteConstantSampler', 'BatchSampler'


def parts_over(it, loader):
    """What tells apart what is gone over: the data set, and the samplers that torch did not make for
    it. Of those that it made, as it does again for each loader, the names."""
    data, sampler, batches = it.__dict__.get('_dataset'), field(loader, 'sampler'), field(loader, 'batch_sampler')
    objects, names = [data], []
    for thing, of in (sampler, ('data_source', data)), (batches, ('sampler', sampler)):
        name = type(thing).__name__
        if thing is None or name in PLAIN and (field(thing, of[0]) is of[1] or name[0] == '_'):
            names.append(name)
        else:
            objects.append(thing)
    return objects, names


def over(it, loader):
    """The number of what an iterator goes over. An address may come again, and then the reference is
    dead; of what takes no references (a list) each loader's is another one."""
    objects, names = parts_over(it, loader)
    if not all(type(o).__weakrefoffset__ for o in objects):
        own = object.__getattribute__(loader, '__dict__') if type(loader).__dictoffset__ else {}
        return own.setdefault('_gpustarve_over', next(numbers_over))
    key = (*map(id, objects), *names)
    refs, mine = known_over.get(key, ((), 0))
    if not refs or any(ref() is not o for ref, o in zip(refs, objects)):
        if len(known_over) >= KNOWN_MAX:
            tidy_over()
        mine = next(numbers_over)
        known_over[key] = [weakref.ref(o) for o in objects], mine
    return mine


def tidy_over():
    for key, (refs, _) in list(known_over.items()):
        if any(ref() is None for ref in refs):
            del known_over[key]
    if len(known_over) >= KNOWN_MAX:
        known_over.clear()  # who comes again has another number


def threads_of(it):
    own = [it.__dict__.get('_pin_memory_thread'), *(it.__dict__.get('_workers') or ())]
    return [t for t in own if isinstance(t, threading.Thread)]


def tell_opened(it, loader, key):
    mine = it.__dict__['_gpustarve']
    again = '_gpustarve_made' in it.__dict__
    for i, process in enumerate(it.__dict__.get('_workers') or ()):
        if type(getattr(process, 'pid', None)) is int:
            worker(process.pid, mine, i, again)
    for thread in threads_of(it):
        workers_of[thread.ident] = mine
    opened(key, mine, over(it, loader), settings(it, loader))


def tell_ended(it):
    """Of workers that were waited for: by what they ended. Nobody is waited for here."""
    try:
        for process in it.__dict__.get('_workers') or ():
            popen = getattr(process.__dict__.get('_popen'), '__dict__', {})
            pid, code = popen.get('pid'), popen.get('returncode')
            if type(pid) is int and type(code) is int and code:
                ended(pid, code)
    except Exception:
        if off('a worker'):
            raise


def open_with(it, loader, key, call):
    """Makes or rewinds an iterator by call() and tells of it."""
    global newest
    made = False
    try:
        try:
            newest = it.__dict__['_gpustarve'] = next(numbers)
            opening(key, type(it).__name__.encode('ascii', 'replace'))
        except Exception:
            if off('an iterator'):
                raise
        call()
        made = True
    finally:
        try:
            if made:
                tell_opened(it, loader, key)
            else:
                opened(key, 0, 0, None)
        except Exception:
            if off('an iterator'):
                raise


def make_init(original):
    def __init__(self, loader, *args, **kwargs):
        open_with(self, loader, id(self), lambda: original(self, loader, *args, **kwargs))
        self.__dict__['_gpustarve_made'] = True
    return __init__


def make_reset(original):
    def _reset(self, loader, *args, **kwargs):
        if '_gpustarve_made' not in self.__dict__:  # called by __init__
            return original(self, loader, *args, **kwargs)
        return open_with(self, loader, id(self),
                         lambda: original(self, loader, *args, **kwargs))
    return _reset


def make_shutdown(original):
    def _shutdown_workers(self):
        if self.__dict__.get('_shutdown', True):
            return original(self)
        try:
            try:
                begin(CLOSE, 0)
            except Exception:
                if off('_shutdown_workers'):
                    raise
            return original(self)
        finally:
            try:
                tell_ended(self)
                if self.__dict__.get('_shutdown'):
                    for thread in threads_of(self):
                        workers_of.pop(thread.ident, None)
                    end(CLOSE, self.__dict__.get('_gpustarve', 0), 0, 0, 0)
            except Exception:
                if off('_shutdown_workers'):
                    raise
    return _shutdown_workers


# ---- all of it ----

def install(loader_module):
    utils = loader_module._utils
    base, multi = loader_module._BaseDataLoaderIter, loader_module._MultiProcessingDataLoaderIter
    if '_num_yielded' not in base.__init__.__code__.co_names \
            or '_rcvd_idx' not in multi._reset.__code__.co_names:
        raise LookupError('an iterator of another kind')
    replace(base, '__next__', make_next, ['_next_data', '_num_yielded'])
    replace(multi, '_reset', make_reset, ['_rcvd_idx'])
    replace(multi, '_shutdown_workers', make_shutdown, ['_shutdown'])
    replace(multi, '__init__', make_init, ['_workers'])
    replace(loader_module._SingleProcessDataLoaderIter, '__init__', make_init)
    try:
        replace(loader_module.DataLoader, '__init__', make_loader)
    except LookupError:
        pass  # of another kind: where it is made is not told
    replace(utils.fetch._MapDatasetFetcher, 'fetch', make_fetch)
    replace(utils.fetch._IterableDatasetFetcher, 'fetch', make_fetch)
    replace(utils.pin_memory, 'pin_memory', make_pin)
    gc.callbacks.append(collect)


recorded = lib.gpustarve_shim(ABI)
if recorded == 2:
    lib.InitializeInjection()  # without a GPU nobody else calls it
if recorded:
    try:
        install(DATALOADER)  # noqa: F821
    except Exception:
        if off('the beginning'):
            raise
