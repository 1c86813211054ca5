# SPDX-License-Identifier: Apache-2.0
"""Mangled C++ names in words. Standard library only."""
import ctypes
import functools


@functools.lru_cache(maxsize=None)
def demangled(name):
    """A name as the C++ runtime writes it; itself where it is no mangled one, or there is no such runtime."""
    if not name.startswith('_Z'):
        return name
    try:
        library = ctypes.CDLL('libstdc++.so.6')
    except OSError:
        return name
    library.__cxa_demangle.restype = ctypes.c_void_p
    status = ctypes.c_int(-1)
    text = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if status.value or not text:
        return name
    result = ctypes.string_at(text).decode(errors='replace')
    ctypes.CDLL(None).free(ctypes.c_void_p(text))
    return result
