# SPDX-License-Identifier: Apache-2.0
"""Saves of checkpoints and what reads them again, told to libprof by plain C calls
(libprof/loader/shim.h): torch.save, torch.distributed.checkpoint, safetensors, Lightning, DeepSpeed, orbax.
Run once for each module of theirs, right after its import, with HERE (this folder) and SAVER (the
module) as globals; it is in no module list.

As in shim.py functions are replaced by wrappers that call them, an exception of the program goes on
whatever its type, and the first failure of ours puts the originals of the module back and leaves a
note. Of a file only its name, inode, size and time of change are looked at, once before and once
after; of what goes into it, whether it holds a model's or an optimizer's state (LEDGER 9). The
frames of this file are called <gpustarve> in stacks."""
import ctypes
import functools
import itertools
import os
import sys
import types

ABI = 7
WHOLE, FAILED, HANDED, SYNCED = 2, 3, 4, 16  # enum prof_save_state
STATE, NONE = 32, 64  # ... what was seen in it

lib = ctypes.PyDLL(HERE.rpartition('/')[0] + '/libprof.so',  # noqa: F821
                   mode=os.RTLD_NOLOAD | os.RTLD_NOW)


def function(name, *types_):
    f = getattr(lib, 'gpustarve_' + name)
    f.argtypes, f.restype = types_, ctypes.c_uint if name == 'saving' else None
    return f


u32, u64, text = ctypes.c_uint, ctypes.c_ulonglong, ctypes.c_char_p
saving = function('saving', u64, text, u64)
saved = function('saved', u32, text, u32, u64, u64, u64)
save_is = function('save_is', u32, text, u32, u64, u64, u64)
loaded = function('loaded', text, u64, u64, u64)
note = function('note', text)

replaced = []  # (owner, name, original, ours)
is_off = False

# As in shim.py.
OWN = (AttributeError, KeyError, IndexError, LookupError, TypeError, ValueError, NameError,
       UnboundLocalError, OverflowError, OSError, RecursionError, UnicodeEncodeError,
       UnicodeDecodeError, ctypes.ArgumentError)


def is_own(kind, error, trace):
    while trace.tb_next:
        trace = trace.tb_next
    return kind in OWN and bool(error.args) and trace.tb_frame.f_code.co_filename == '<gpustarve>'


def off(where):
    """True if the exception under way is not ours at all: then it has to go on."""
    global is_off
    kind, error, trace = sys.exc_info()
    if not is_own(kind, error, trace):
        return True
    if not is_off:
        is_off = True
        for owner, name, original, ours in replaced:
            if owner.__dict__.get(name) is ours:
                setattr(owner, name, original)
        note(('saves are no longer told by %s: %s: %s' % (where, kind.__name__, error))
             .encode('utf-8', 'replace')[:230])
    return False


# ---- what is saved where ----

def name_of(f):
    """Path as bytes and, of an open file, its descriptor. Nothing of the program is called."""
    paths, fd = sys.modules.get('pathlib'), None
    if type(f).__module__ == 'tempfile':
        f = f.__dict__.get('file')
    if type(f).__module__ == '_io':
        name = getattr(f, 'name', None)
        if name is not None and not f.closed:
            fd = f.fileno()
        f = name
    elif paths and isinstance(f, paths.PurePath):
        f = str(f)
    if isinstance(f, str):
        f = os.fsencode(f)
    f = f if isinstance(f, bytes) else b''
    if f and f[:1] != b'/' and b'://' not in f:
        f = os.path.join(os.getcwdb(), f)
    return f, fd


NOTHING = 0, 0, 0


def look(path, fd=None):
    """Inode, size and time of change of what is there."""
    if not path or b'://' in path:
        return NOTHING
    try:
        there = os.stat(path if fd is None else fd)
    except OSError:
        return NOTHING
    return there.st_ino, there.st_size, max(there.st_mtime_ns, 0)


def is_flushed(f, size):
    """Python's own buffer holds nothing of an open file any more."""
    if type(f).__module__ == 'tempfile':
        f = f.__dict__.get('file')
    try:
        return type(f).__module__ != '_io' or f.closed or f.tell() <= size
    except (OSError, ValueError):
        return False


# ---- what is in it ----

LOOKS = 400  # at so many things, four deep
NAMES = 'state_dict', 'optim', 'model', 'module', 'network', 'params', 'weights'
PARAMETERS = '.weight', '.bias', '.kernel', '.scale'
PLAIN = str, bytes, int, float, bool, complex, type(None)


def is_a(thing, *names):
    return any((c.__module__, c.__name__) in names for c in type(thing).__mro__)


def is_state_key(key, value):
    if not isinstance(key, str):
        return False
    name = key.lower()
    return name == 'param_groups' or name.endswith(PARAMETERS) or (
        type(value) not in PLAIN and any(n in name for n in NAMES))


def attributes(thing):
    try:
        own = object.__getattribute__(thing, '__dict__')
    except AttributeError:
        return {}
    return own if type(own) is dict else {}


def holds_state(thing):
    """A module, an optimizer, or what their state_dict() returns, by its names. Nothing of the
    program is called: dictionaries and lists are read as such, whatever their class makes of it."""
    things = [(thing, 0)]
    for thing, depth in things:
        inside = []
        if is_a(thing, ('torch.nn.modules.module', 'Module'),
                ('torch.optim.optimizer', 'Optimizer')):
            return True
        if issubclass(type(thing), dict):
            inside = list(itertools.islice(dict.items(thing), 64))
            if '_metadata' in attributes(thing) or any(is_state_key(k, v) for k, v in inside):
                return True
            inside = [v for k, v in inside]
        elif type(thing) in (list, tuple):
            inside = thing[:16]
        elif not is_a(thing, ('torch', 'Tensor'), ('torch._tensor', 'Tensor')):
            inside = list(dict.values(attributes(thing)))[:64]
        if depth < 4 and len(things) < LOOKS:
            things.extend((t, depth + 1) for t in inside if type(t) not in PLAIN)
    return False


class Save(object):
    """One of them, from before the call on."""
    __slots__ = 'f', 'what', 'path', 'fd', 'number', 'content'

    def __init__(self, saver, f, content=0):
        self.f, (self.path, self.fd) = f, name_of(f)
        self.content = content
        self.what = saver.encode() + b'\t' + self.path
        self.number = saving(id(self), self.what, look(self.path, self.fd)[0])

    def ended(self, state, tell=saved):
        inode, size, mtime = look(self.path, self.fd) if self.number else NOTHING
        if state & 15 == WHOLE and b'://' not in self.path and (
                not inode or not is_flushed(self.f, size)):
            state = HANDED  # to a buffer, or something that still has it
        tell(self.number, self.what, state | self.content, inode, size, mtime)
        self.f = None

    def later(self, failed, state=WHOLE):
        """What became of one that was handed to a thread."""
        self.ended(FAILED if failed else state, save_is)


def make_save(saver, where, state=WHOLE, handed=None, what=None):
    """where(args, kwargs) is the file, what(args, kwargs) goes into it, None: a training's state by
    what the saver is for; handed(save, result): who will call save.later()."""
    def make(original):
        def save(*args, **kwargs):
            one, result, done = None, None, False
            try:
                try:
                    one = Save(saver, where(args, kwargs))
                    if what and one.number:
                        one.content = STATE if holds_state(what(args, kwargs)) else NONE
                except Exception:
                    if off(saver):
                        raise
                result = original(*args, **kwargs)
                done = True
                return result
            finally:
                try:
                    if one:
                        one.ended(FAILED if not done else HANDED if handed else state)
                        if done and handed and one.number:
                            handed(one, result, args)
                except BaseException:
                    if off(saver):
                        if one:
                            saved(one.number, one.what, FAILED, 0, 0, 0)
                        raise
        return save
    return make


def make_load(saver, where):
    def make(original):
        def load(*args, **kwargs):
            try:
                path, fd = name_of(where(args, kwargs))
                if path:
                    loaded(saver.encode() + b'\t' + path, *look(path, fd))
            except Exception:
                if off(saver):
                    raise
            return original(*args, **kwargs)
        return load
    return make


def given(place, name):
    def where(args, kwargs):
        return args[place] if len(args) > place else kwargs.get(name)
    return where


def replace(owner, name, make):
    original = owner.__dict__.get(name) if owner else None
    if not isinstance(original, types.FunctionType):
        return
    ours = functools.wraps(original)(make(original))
    setattr(owner, name, ours)
    replaced.append((owner, name, original, ours))


# ---- the savers ----

def torch_serialization(module):
    replace(module, 'save', make_save('torch.save', given(1, 'f'), what=given(0, 'obj')))
    replace(module, 'load', make_load('torch.load', given(0, 'f')))
    torch = sys.modules.get('torch')
    for owner, name, original, ours in list(replaced):
        if torch and torch.__dict__.get(name) is original:
            setattr(torch, name, ours)
        replaced.append((torch, name, original, ours))


def safetensors(module):
    replace(module, 'save_file', make_save('safetensors', given(1, 'filename'),
                                           what=given(0, 'tensors')))
    replace(module, 'load_file', make_load('safetensors', given(0, 'filename')))


def lightning(module):
    replace(module, '_atomic_save', make_save('lightning', given(1, 'filepath')))


def field(thing, name):
    return getattr(thing, '__dict__', {}).get(name)


def dcp_place(at, device):
    def where(args, kwargs):
        path = kwargs.get('checkpoint_id')
        if path is None:
            path = field(kwargs.get(device) or (args[at] if len(args) > at else None), 'path')
        return path
    return where


def when_done(one, result, args):
    """A Future, or since torch 2.9 what has one for the upload."""
    future = field(result, 'upload_completion') or result

    def done(f):
        try:
            one.later(f.cancelled() or f.exception() is not None, WHOLE | SYNCED)
        except Exception:
            if off('async_save'):
                raise
    future.add_done_callback(done)


def dcp_saver(module):
    where = dcp_place(1, 'storage_writer')
    replace(module, 'save', make_save('torch.distributed.checkpoint', where, WHOLE | SYNCED))
    replace(module, 'async_save', make_save('torch.distributed.checkpoint.async', where,
                                            handed=when_done))


def dcp_loader(module):
    replace(module, 'load', make_load('torch.distributed.checkpoint',
                                      dcp_place(1, 'storage_reader')))


def deepspeed_place(args, kwargs):
    folder, tag = given(1, 'save_dir')(args, kwargs), given(2, 'tag')(args, kwargs)
    return os.path.join(folder, 'global_step%d' % args[0].__dict__['global_steps']
                        if tag is None else str(tag))


def deepspeed(module):
    replace(module.__dict__.get('DeepSpeedEngine'), 'save_checkpoint',
            make_save('deepspeed', deepspeed_place))


pending = {}  # orbax: checkpointer -> its save under way


def orbax_handed(one, result, args):
    pending[id(args[0])] = one


def make_orbax_wait(original):
    def wait_until_finished(self, *args, **kwargs):
        done = False
        try:
            result = original(self, *args, **kwargs)
            done = True
            return result
        finally:
            try:
                one = pending.pop(id(self), None)
                if one:
                    one.later(not done)
            except BaseException:
                if off('orbax'):
                    raise
    return wait_until_finished


def orbax(module):
    own = module.__dict__.get('Checkpointer')
    if own and own.__module__ == module.__name__:
        replace(own, 'save', make_save('orbax', given(1, 'directory')))
        replace(own, 'restore', make_load('orbax', given(1, 'directory')))
    own = module.__dict__.get('AsyncCheckpointer')
    if own and own.__module__ == module.__name__:
        replace(own, 'wait_until_finished', make_orbax_wait)
        replace(own, 'save', make_save('orbax.async', given(1, 'directory'),
                                       handed=orbax_handed))


SAVERS = {'torch.serialization': torch_serialization,
          'torch.distributed.checkpoint.state_dict_saver': dcp_saver,
          'torch.distributed.checkpoint.state_dict_loader': dcp_loader,
          'safetensors.torch': safetensors,
          'lightning.fabric.utilities.cloud_io': lightning,
          'lightning_fabric.utilities.cloud_io': lightning,
          'deepspeed.runtime.engine': deepspeed,
          'orbax.checkpoint._src.checkpointers.checkpointer': orbax,
          'orbax.checkpoint._src.checkpointers.async_checkpointer': orbax}

if lib.gpustarve_shim(ABI):
    try:
        SAVERS[SAVER.__name__](SAVER)  # noqa: F821
    except Exception:
        if off('the beginning'):
            raise
