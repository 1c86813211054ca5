#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What the shim's Python calls takes what it is given: each function that a file of libprof/python declares by ctypes has
the types of its prototype in libprof/loader/shim.h, in number and order. ctypes checks neither, in a program that is not ours."""
import glob
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

LIBPROF = os.path.join(gs.SOURCE, 'libprof')
OF_C = {'uint64_t': 'u64', 'uint32_t': 'u32', 'int': 'ctypes.c_int', 'const char *': 'text', 'const wchar_t *': 'ctypes.c_wchar_p',
        'const void *': 'ctypes.py_object'}


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def of_prototypes():
    """name -> types, as Python calls them"""
    found = {}
    for name, args in re.findall(r'PROF_EXPORT [a-z0-9_ ]+ gpustarve_(\w+)\(([^)]*)\);', read(os.path.join(LIBPROF, 'loader', 'shim.h'))):
        types = [re.fullmatch(r'\s*(.*?[ *])\w+\s*', a, re.S)[1].strip() for a in args.split(',')]
        found[name] = [OF_C[t] for t in types]
    return found


wanted, seen = of_prototypes(), 0
for path in sorted(glob.glob(os.path.join(LIBPROF, 'python', '*.py'))):
    for name, types in re.findall(r"= function\('(\w+)'((?:, [\w.]+)*)\)", read(path)):
        gs.equal(re.findall(r', ([\w.]+)', types), wanted.get(name), f'{os.path.basename(path)}: {name}')
        seen += 1
gs.check(seen > 20, f'{seen} declarations')
gs.finish()
