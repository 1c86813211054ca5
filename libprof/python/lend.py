# SPDX-License-Identifier: Apache-2.0
"""Tells libprof when a session of torch.profiler begins and when it has ended (libprof/lend.h): CUPTI
serves one client at a time. Runs once, after torch.autograd.profiler was imported, with HERE (this
folder) and PROFILER (that module) as globals; it is in no module list.

Two functions of torch are replaced, in that module alone, by wrappers that call them. The frames of
this file are called <gpustarve> in stacks."""
import ctypes
import functools
import os

ABI = 1

# Unlike shim.py's calls these may wait, so that they give up Python's lock.
lib = ctypes.CDLL(HERE.rpartition('/')[0] + '/libprof.so',  # noqa: F821
                  mode=os.RTLD_NOLOAD | os.RTLD_NOW)
lib.gpustarve_lend.argtypes, lib.gpustarve_lend.restype = (), None
lib.gpustarve_lent.argtypes, lib.gpustarve_lent.restype = (ctypes.c_uint,), None


def detaches():
    """Kineto calls cuptiFinalize some time after a session if this says so."""
    return os.environ.get('TEARDOWN_CUPTI') == '1'


# A session that looks at the CPU alone registers with CUPTI, too.
def make_prepare(original):
    def _prepare_profiler(*args, **kwargs):
        try:
            lib.gpustarve_lend()
            return original(*args, **kwargs)
        except BaseException:
            lib.gpustarve_lent(0)
            raise
    return _prepare_profiler


def make_disable(original):
    def _disable_profiler(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        finally:
            lib.gpustarve_lent(detaches())
    return _disable_profiler


def install(module):
    made = [(name, functools.wraps(module[name])(make(module[name])))
            for name, make in (('_prepare_profiler', make_prepare),
                               ('_disable_profiler', make_disable))]
    if lib.gpustarve_lending(ABI) == 1:
        module.update(made)


install(PROFILER.__dict__)  # noqa: F821
