#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit timeout=120
"""The record offsets that libprof reads, against NVIDIA's headers where they are installed: each one
by offsetof() in the newest struct and in every older one, enum values, and sizes against what the
installed libcupti's GetNextRecord steps by. And what doctor asks of a CUPTI is what libprof does."""
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
    want = {1: 80, 2: 80, 4: 40, 5: 40, 10: 160, 22: 88, 38: 40, 51: 48}
    for kind, least in want.items():
        buffer = (ctypes.c_uint32 * 2048)()
        for i in range(0, 2048, 2):
            buffer[i] = kind
        at = ctypes.c_void_p()
        steps = []
        for _ in range(2):
            rc = lib.cuptiActivityGetNextRecord(buffer, ctypes.c_size_t(8192), ctypes.byref(at))
            gs.equal(rc, 0, f'{path}: kind {kind}')
            steps.append(at.value)
        size = steps[1] - steps[0]
        gs.check(size >= least and size % 8 == 0, f'{path}: kind {kind} has {size} bytes')
    print(f'{path}: sizes of {len(want)} records')


def doctor():
    """doctor's own copy of the numbers: viewer and libprof include nothing of each other."""
    with open(os.path.join(gs.SOURCE, 'libprof', 'cupti', 'record.h')) as f:
        ours = {k: int(v) for k, v in re.findall(r'\bREC_(\w+)_BYTES = (\d+)', f.read())}
    with open(os.path.join(gs.SOURCE, 'viewer', 'cmd', 'probe_cuda.c')) as f:
        rows = re.findall(r'\{ "([a-z ]+)", (\d+), (\d+) \}', f.read())
    kinds = {10: 'KERNEL', 1: 'MEMCPY', 2: 'MEMSET', 5: 'API', 51: 'GRAPH', 22: 'PEER', 38: 'SYNC'}
    gs.equal({kinds[int(kind)]: int(least) for _, kind, least in rows}, ours, "doctor's sizes")


doctor()
include = next((d for d in HEADERS if os.path.exists(os.path.join(d, 'cupti_activity.h'))), None)
if include:
    print(f'{include}: {cuptilayout.compile_checks(include)} offsets and numbers')
    library = installed_library(include)
    if library:
        probe(library)
else:
    print("CUPTI's headers are not installed: doctor's numbers alone were compared")
gs.finish()
