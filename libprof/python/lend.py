# SPDX-License-Identifier: Apache-2.0
"""Tells libprof when a session of another profiler begins and when it has ended (libprof/cupti/handover.h): CUPTI
serves one client at a time. Runs after a module of FUNCTIONS was imported, once for each, with HERE
(this folder) and PROFILER (that module) as globals; it is in no module list.

Functions of the module are replaced, in that module alone, by wrappers that call them; what imports
them from there comes later. The frames of this file are called <gpustarve> in stacks."""
import ctypes
import functools
import os

ABI = 2

# Unlike shim.py's calls these may wait, so that they give up Python's lock.
lib = ctypes.CDLL(HERE.rpartition('/')[0] + '/libprof.so',  # noqa: F821
                  mode=os.RTLD_NOLOAD | os.RTLD_NOW)
lib.gpustarve_lending.argtypes = (ctypes.c_int, ctypes.c_char_p)
lib.gpustarve_lend.argtypes, lib.gpustarve_lend.restype = (ctypes.c_char_p,), None
lib.gpustarve_lent.argtypes, lib.gpustarve_lent.restype = (ctypes.c_uint,), None

sessions = set()  # that go on


def begin(session, original, args, kwargs):
    """What begins a session; if it fails there is none."""
    try:
        lib.gpustarve_lend(NAME)
        result = original(*args, **kwargs)
        sessions.add(result if session is None else session)
        return result
    except BaseException:
        if not sessions:
            lib.gpustarve_lent(0)
        raise


def over(session=None):
    """It has ended; None: all have."""
    if session is None:
        sessions.clear()
    sessions.discard(session)
    if not sessions:
        lib.gpustarve_lent(0)


# ---- torch.autograd.profiler ----

def detaches():
    """Kineto calls cuptiFinalize some time after a session if this says so."""
    return os.environ.get('TEARDOWN_CUPTI') == '1'


# A session that looks at the CPU alone registers with CUPTI, too.
def torch_begins(original):
    def _prepare_profiler(*args, **kwargs):
        try:
            lib.gpustarve_lend(NAME)
            return original(*args, **kwargs)
        except BaseException:
            lib.gpustarve_lent(0)
            raise
    return _prepare_profiler


def torch_ends(original):
    def _disable_profiler(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        finally:
            lib.gpustarve_lent(detaches())
    return _disable_profiler


# ---- jax._src.profiler, tensorflow.python.profiler.profiler_v2: one session at a time ----

def one_begins(original):
    def start(*args, **kwargs):
        if sessions:  # it refuses, and the other goes on
            return original(*args, **kwargs)
        return begin(1, original, args, kwargs)
    return start


def one_ends(original):
    def stop(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        finally:
            if sessions:
                over()
    return stop


# ---- triton.profiler.profile: sessions have numbers, and hold CUPTI until they are finalized ----

def uses_cupti(args, kwargs):
    """By its backend, which is the caller's word or what the GPU is made for."""
    backend = kwargs.get('backend')
    try:
        return (backend or PROFILER._select_backend()) == 'cupti'  # noqa: F821
    except Exception:
        return False  # the original will say why


def proton_begins(original):
    def start(*args, **kwargs):
        if not uses_cupti(args, kwargs):
            return original(*args, **kwargs)
        session = begin(None, original, args, kwargs)
        if session is None:  # none began: it is switched off, or a command line's business
            sessions.discard(None)
            if not sessions:
                over()
        return session
    return start


def proton_ends(original):
    def finalize(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        finally:
            if sessions:
                over(args[0] if args else kwargs.get('session'))
    return finalize


FUNCTIONS = {
    'torch.autograd.profiler': (b'torch.profiler', {'_prepare_profiler': torch_begins,
                                                    '_disable_profiler': torch_ends}),
    'jax._src.profiler': (b'jax.profiler', {'start_trace': one_begins, 'stop_trace': one_ends,
                                            'stop_and_get_fdo_profile': one_ends}),
    'tensorflow.python.profiler.profiler_v2': (b"TensorFlow's profiler", {'start': one_begins,
                                                                          'stop': one_ends}),
    'triton.profiler.profile': (b"Triton's Proton", {'start': proton_begins,
                                                     'finalize': proton_ends}),
}
OPTIONAL = {'stop_and_get_fdo_profile'}  # younger than the others


def install(module, wrappers):
    made = [(name, functools.wraps(module[name])(make(module[name])))
            for name, make in wrappers.items() if name in module or name not in OPTIONAL]
    if lib.gpustarve_lending(ABI, NAME) == 1:
        module.update(made)


NAME, wrappers_ = FUNCTIONS[PROFILER.__name__]  # noqa: F821
install(PROFILER.__dict__, wrappers_)  # noqa: F821
