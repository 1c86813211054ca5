#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit timeout=120
"""The record offsets that libprof reads, against NVIDIA's headers where they are installed: each one
by offsetof() in the newest struct and in every older one, enum values, and sizes against what the
installed libcupti's GetNextRecord steps by. And docs/OPERATIONS.md names what GPUSTARVE_ONLY takes."""
import ctypes
import glob
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import cuptilayout
import gs

HEADERS = ['/usr/local/cuda/include', '/usr/local/cuda/extras/CUPTI/include', '/usr/include']


def installed_library(include):
    places = [os.path.join(include, '..', d) for d in ('lib64', 'lib', 'extras/CUPTI/lib64')]
    for place in places:
        for path in sorted(glob.glob(os.path.join(place, 'libcupti.so.1*'))):
            return os.path.realpath(path)
    return None


def probe(path):
    """Steps of the installed library over a buffer of one kind, as libprof's probe does."""
    lib = ctypes.CDLL(path)
    want = {number: least for _, number, least in cuptilayout.kinds() if least}
    newer = {number for symbol, number, _ in cuptilayout.kinds() if cuptilayout.is_newer(symbol)}
    for kind, least in want.items():
        buffer = (ctypes.c_uint32 * 2048)()
        for i in range(0, 2048, 2):
            buffer[i] = kind
        at = ctypes.c_void_p()
        steps = []
        for _ in range(2):
            rc = lib.cuptiActivityGetNextRecord(buffer, ctypes.c_size_t(8192), ctypes.byref(at))
            if rc == 21 and kind in newer:
                break
            gs.equal(rc, 0, f'{path}: kind {kind}')
            steps.append(at.value)
        if not steps:
            continue
        size = steps[1] - steps[0]
        gs.check(size >= least and size % 8 == 0, f'{path}: kind {kind} has {size} bytes')
    print(f'{path}: sizes of {len(want)} records')


def only(text, table):
    """The words of GPUSTARVE_ONLY in the table of variables, and those of facts/cupti_kinds.def."""
    row = next(line for line in text.splitlines() if line.startswith('| `GPUSTARVE_ONLY` |'))
    said = re.findall(r'`([a-z]+)`', row.split('|', 3)[3])
    return said, re.findall(r'^SWITCH\(\w+, \d+, "([a-z]+)"\)', table, re.M) + ['none']


def read(*path):
    with open(os.path.join(gs.SOURCE, *path), encoding='utf-8') as f:
        return f.read()


said, there = only('| `GPUSTARVE_ONLY` | all | takes `kernel`, `tea` or `none` |', 'SWITCH(KERNEL, 1, "kernel")\n')
gs.check(said != there, 'a word that is not there is seen')
gs.equal(*only(read('docs', 'OPERATIONS.md'), read('facts', 'cupti_kinds.def')), 'words of GPUSTARVE_ONLY')
include = next((d for d in HEADERS if os.path.exists(os.path.join(d, 'cupti_activity.h'))), None)
if include:
    print(f'{include}: {cuptilayout.compile_checks(include)} offsets and numbers')
    library = installed_library(include)
    if library:
        probe(library)
else:
    print("CUPTI's headers are not installed: words alone were compared")
gs.finish()
