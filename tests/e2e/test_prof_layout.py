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
import subprocess

import gs

HEADERS = ['/usr/local/cuda/include', '/usr/local/cuda/extras/CUPTI/include', '/usr/include']
# Our prefix: the struct's stem, the lowest version that CUDA 11.8 or later writes, its fields.
STRUCTS = {
    'KERNEL': ('CUpti_ActivityKernel', 8, dict(
        START='start', END='end', DEVICE='deviceId', CONTEXT='contextId', STREAM='streamId',
        CORRELATION='correlationId', NAME='name', GRAPH_NODE='graphNodeId', GRAPH='graphId')),
    'MEMCPY': ('CUpti_ActivityMemcpy', 5, dict(
        COPY_KIND='copyKind', SRC_KIND='srcKind', DST_KIND='dstKind', FLAGS='flags', SIZE='bytes',
        START='start', END='end', DEVICE='deviceId', CONTEXT='contextId', STREAM='streamId',
        CORRELATION='correlationId', RUNTIME_CORRELATION='runtimeCorrelationId', GRAPH='graphId')),
    'PEER': ('CUpti_ActivityMemcpyPtoP', 4, dict(
        SRC_DEVICE='srcDeviceId', DST_DEVICE='dstDeviceId', CORRELATION='correlationId',
        GRAPH='graphId')),
    'MEMSET': ('CUpti_ActivityMemset', 4, dict(
        SIZE='bytes', START='start', END='end', DEVICE='deviceId', CONTEXT='contextId',
        STREAM='streamId', CORRELATION='correlationId', MEMORY_KIND='memoryKind',
        GRAPH='graphId')),
    'SYNC': ('CUpti_ActivitySynchronization', 1, dict(
        TYPE='type', START='start', END='end', CORRELATION='correlationId', CONTEXT='contextId',
        STREAM='streamId')),
    'API': ('CUpti_ActivityAPI', 1, dict(
        CBID='cbid', START='start', END='end', THREAD='threadId', CORRELATION='correlationId')),
    'GRAPH': ('CUpti_ActivityGraphTrace', 1, dict(
        CORRELATION='correlationId', START='start', END='end', DEVICE='deviceId', ID='graphId',
        CONTEXT='contextId', STREAM='streamId')),
}
# Fields that only newer structs have: they are read where the probed size says so.
LATER = {'OVERHEAD_DATA': ('CUpti_ActivityOverhead3', 'overheadData'),
         'GRAPH_END_DEVICE': ('CUpti_ActivityGraphTrace2', 'endDeviceId')}
BYTES = dict(KERNEL='KERNEL', MEMCPY='MEMCPY', PEER='PEER', MEMSET='MEMSET', SYNC='SYNC', API='API',
             GRAPH='GRAPH')
ENUMS = {
    'CUPTI_KIND_MEMCPY': 'CUPTI_ACTIVITY_KIND_MEMCPY',
    'CUPTI_KIND_MEMSET': 'CUPTI_ACTIVITY_KIND_MEMSET',
    'CUPTI_KIND_DRIVER': 'CUPTI_ACTIVITY_KIND_DRIVER',
    'CUPTI_KIND_RUNTIME': 'CUPTI_ACTIVITY_KIND_RUNTIME',
    'CUPTI_KIND_CONCURRENT_KERNEL': 'CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL',
    'CUPTI_KIND_MEMCPY2': 'CUPTI_ACTIVITY_KIND_MEMCPY2',
    'CUPTI_KIND_CUDA_EVENT': 'CUPTI_ACTIVITY_KIND_CUDA_EVENT',
    'CUPTI_KIND_SYNC': 'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION',
    'CUPTI_KIND_GRAPH_TRACE': 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE',
    'CUPTI_KIND_KERNEL': 'CUPTI_ACTIVITY_KIND_KERNEL',
    'CUPTI_KIND_OVERHEAD': 'CUPTI_ACTIVITY_KIND_OVERHEAD',
    'CUPTI_OK': 'CUPTI_SUCCESS',
    'CUPTI_MAX_LIMIT_REACHED': 'CUPTI_ERROR_MAX_LIMIT_REACHED',
    'CUPTI_NOT_INITIALIZED': 'CUPTI_ERROR_NOT_INITIALIZED',
    'CUPTI_NOT_SUPPORTED': 'CUPTI_ERROR_NOT_SUPPORTED',
    'CUPTI_MULTIPLE_SUBSCRIBERS': 'CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED',
    'CUPTI_CONFIDENTIAL_COMPUTING': 'CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED',
    'CUPTI_MIG_DEVICE': 'CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED',
    'CUPTI_ATTR_ZEROED_OUT': 'CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER',
    'CUPTI_ATTR_PER_THREAD': 'CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER',
    'WIRE_COPY_H2D': 'CUPTI_ACTIVITY_MEMCPY_KIND_HTOD',
    'WIRE_COPY_D2H': 'CUPTI_ACTIVITY_MEMCPY_KIND_DTOH',
    'WIRE_COPY_D2D': 'CUPTI_ACTIVITY_MEMCPY_KIND_DTOD',
    'WIRE_COPY_P2P': 'CUPTI_ACTIVITY_MEMCPY_KIND_PTOP',
    'WIRE_MEM_PAGEABLE': 'CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE',
    'WIRE_COPY_H2H': 'CUPTI_ACTIVITY_MEMCPY_KIND_HTOH',
    'WIRE_MEM_DEVICE': 'CUPTI_ACTIVITY_MEMORY_KIND_DEVICE',
    'WIRE_MEM_ARRAY': 'CUPTI_ACTIVITY_MEMORY_KIND_ARRAY',
    'WIRE_SYNC_EVENT': 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE',
    'WIRE_SYNC_STREAM': 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE',
    'WIRE_MEM_PINNED': 'CUPTI_ACTIVITY_MEMORY_KIND_PINNED',
    'WIRE_MEM_MANAGED': 'CUPTI_ACTIVITY_MEMORY_KIND_MANAGED',
    'WIRE_SYNC_STREAM_WAIT': 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT',
    'WIRE_SYNC_CONTEXT': 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE',
    'WIRE_DOMAIN_DRIVER': 'CUPTI_CB_DOMAIN_DRIVER_API',
    'WIRE_DOMAIN_RUNTIME': 'CUPTI_CB_DOMAIN_RUNTIME_API',
}


def versions(stem, lowest, text):
    """The struct names that the headers define, from the lowest version on."""
    found = []
    for name in sorted(set(re.findall(rf'\b({stem}\d*)\b *;', text))):
        number = int(name[len(stem):] or 1)
        if number >= lowest:
            found.append(name)
    return found


def source(include, text):
    lines = ['#include <stddef.h>', '#include <cupti.h>']
    if os.path.exists(os.path.join(include, 'cupti_activity_deprecated.h')):
        lines.append('#include <cupti_activity_deprecated.h>')
    checks = 0
    for prefix, (stem, lowest, fields) in STRUCTS.items():
        names = versions(stem, lowest, text)
        gs.check(names, f'no struct {stem} in the headers')
        for name in names:
            for ours, theirs in fields.items():
                lines.append(f'_Static_assert(REC_{prefix}_{ours} == offsetof({name}, {theirs}), '
                             f'"{name}.{theirs}");')
                checks += 1
            lines.append(f'_Static_assert(REC_{BYTES[prefix]}_BYTES <= sizeof({name}), "{name}");')
    for ours, (name, theirs) in LATER.items():
        if name in text:
            lines.append(f'_Static_assert(REC_{ours} == offsetof({name}, {theirs}), '
                         f'"{name}.{theirs}");')
            checks += 1
    for ours, theirs in ENUMS.items():
        lines.append(f'_Static_assert((int){ours} == (int){theirs}, "{theirs}");')
        checks += 1
    return lines, checks


def compile_checks(include):
    text = ''
    for header in glob.glob(os.path.join(include, 'cupti_activity*.h')):
        with open(header, errors='replace') as f:
            text += f.read()
    lines, checks = source(include, text)
    with gs.scratch() as where:
        ours = ['#include "record.h"', '#include "wire/event.h"']
        # cuda_api.h names enum values as NVIDIA does, so its numbers are taken from its text.
        with open(os.path.join(gs.SOURCE, 'libprof', 'cuda_api.h')) as f:
            numbers = re.findall(r'\b(CUPTI_\w+) = (\d+)', f.read())
        ours += [f'enum {{ {name} = {value} }};' for name, value in numbers if name in ENUMS]
        path = os.path.join(where, 'check.c')
        with open(path, 'w') as f:
            f.write('\n'.join(lines[:3] + ours + lines[3:]) + '\n')
        done = subprocess.run(['gcc', '-fsyntax-only', '-w', '-I', include, '-I',
                               os.path.join(gs.SOURCE, 'libprof'), '-I',
                               os.path.join(gs.BUILD, 'include'), path], capture_output=True)
    gs.equal(done.returncode, 0, done.stderr.decode()[:2000])
    print(f'{include}: {checks} offsets and numbers')


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
    with open(os.path.join(gs.SOURCE, 'libprof', 'record.h')) as f:
        ours = {k: int(v) for k, v in re.findall(r'\bREC_(\w+)_BYTES = (\d+)', f.read())}
    with open(os.path.join(gs.SOURCE, 'viewer', 'cmd', 'probe_cuda.c')) as f:
        rows = re.findall(r'\{ "([a-z ]+)", (\d+), (\d+) \}', f.read())
    kinds = {10: 'KERNEL', 1: 'MEMCPY', 2: 'MEMSET', 5: 'API', 51: 'GRAPH', 22: 'PEER', 38: 'SYNC'}
    gs.equal({kinds[int(kind)]: int(least) for _, kind, least in rows}, ours, "doctor's sizes")


doctor()
include = next((d for d in HEADERS if os.path.exists(os.path.join(d, 'cupti_activity.h'))), None)
if include:
    compile_checks(include)
    library = installed_library(include)
    if library:
        probe(library)
else:
    print("CUPTI's headers are not installed: doctor's numbers alone were compared")
gs.finish()
