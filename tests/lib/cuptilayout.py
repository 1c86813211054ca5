# SPDX-License-Identifier: Apache-2.0
"""The record offsets that libprof reads, against NVIDIA's headers: each one by offsetof() in the newest struct
and in every older one that CUDA 11.8 and later write, and enum values."""
import glob
import os
import re
import subprocess

import gs

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
# The same of kinds that only newer releases have: their structs may be missing.
NEWER = {
    'HOST': ('CUpti_ActivityHostLaunch', 1, 'HOST_LAUNCH', dict(
        STREAM='streamId', CONTEXT='contextId', DEVICE='deviceId', CORRELATION='correlationId',
        THREAD='threadId', START='start', END='end')),
    'HOST_NODE': ('CUpti_ActivityGraphHostNode', 1, 'GRAPH_HOST_NODE', dict(
        GRAPH='graphId', THREAD='threadId', START='start', END='end')),
    'OVERHEAD': ('CUpti_ActivityOverhead', 3, 'OVERHEAD', dict(
        WHAT='overheadKind', OBJECT='objectKind', THREAD='objectId.pt.threadId', START='start', END='end',
        CORRELATION='correlationId')),
}
# Fields that only newer structs have: they are read where the probed size says so.
LATER = {'OVERHEAD_DATA': ('CUpti_ActivityOverhead3', 'overheadData'),
         'GRAPH_END_DEVICE': ('CUpti_ActivityGraphTrace2', 'endDeviceId')}
ENUMS = {
    'OVERHEAD_COMPILER': 'CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER',
    'OVERHEAD_MODULE_LOAD': 'CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING',
    'OVERHEAD_LAZY_LOAD': 'CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING',
    'OVERHEAD_QUEUE_FULL': 'CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL',
    'OVERHEAD_OF_THREAD': 'CUPTI_ACTIVITY_OBJECT_THREAD',
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


# Whose records they are, in facts/cupti_kinds.def.
KINDS = dict(KERNEL='CONCURRENT_KERNEL', MEMCPY='MEMCPY', PEER='MEMCPY2', MEMSET='MEMSET', SYNC='SYNCHRONIZATION',
             API='RUNTIME', GRAPH='GRAPH_TRACE')


def kinds():
    """The rows of facts/cupti_kinds.def: symbol, number, bytes that are read; 0: passed over."""
    with open(os.path.join(gs.SOURCE, 'facts', 'cupti_kinds.def'), encoding='utf-8') as f:
        text = f.read()
    rows = [(s, int(n), int(b)) for s, n, b in re.findall(r'^KIND\((\w+), (\d+), (\d+),', text, re.M)]
    rows += [(s, int(n), 0) for s, n in re.findall(r'^PASSED\((\w+), (\d+)\)', text, re.M)]
    gs.equal(len(rows), len(re.findall(r'^(?:KIND|PASSED)\(', text, re.M)), 'rows of cupti_kinds.def')
    return rows


def is_newer(symbol):
    """Whether a release may lack the kind."""
    return symbol in ('HOST_LAUNCH', 'GRAPH_HOST_NODE')


def versions(stem, lowest, text):
    """The struct names that the headers define, from the lowest version on."""
    found = []
    for name in sorted(set(re.findall(rf'\b({stem}\d*)\b *;', text))):
        number = int(name[len(stem):] or 1)
        if number >= lowest:
            found.append(name)
    return found


def newest(stem, text):
    """The struct that this release writes: the one with the highest number."""
    names = set(re.findall(rf'\b({stem}\d*)\b *;', text))
    return max(names, key=lambda n: int(n[len(stem):] or 1)) if names else None


def source(include, text, sizes):
    lines, checks = [], 0
    if os.path.exists(os.path.join(include, 'cupti_activity_deprecated.h')):
        lines.append('#include <cupti_activity_deprecated.h>')
    for prefix, (stem, lowest, fields) in STRUCTS.items():
        names = versions(stem, lowest, text)
        gs.check(names, f'no struct {stem} in {include}')
        for name in names:
            for ours, theirs in fields.items():
                lines.append(f'_Static_assert(REC_{prefix}_{ours} == offsetof({name}, {theirs}), "{name}.{theirs}");')
            lines.append(f'_Static_assert(REC_BYTES_{KINDS[prefix]} <= sizeof({name}), "{name}");')
            checks += len(fields)
        if sizes:
            lines.append(f'_Static_assert(sizeof({newest(stem, text)}) == {sizes[prefix]}, "{newest(stem, text)}");')
            checks += 1
    for prefix, (stem, lowest, kind, fields) in NEWER.items():
        for name in versions(stem, lowest, text):
            for ours, theirs in fields.items():
                lines.append(f'_Static_assert(REC_{prefix}_{ours} == offsetof({name}, {theirs}), "{name}.{theirs}");')
            lines.append(f'_Static_assert(REC_BYTES_{kind} <= sizeof({name}), "{name}");')
            checks += len(fields)
    for ours, (name, theirs) in LATER.items():
        if name in text:
            lines.append(f'_Static_assert(REC_{ours} == offsetof({name}, {theirs}), "{name}.{theirs}");')
            checks += 1
    for ours, number, _ in kinds():
        if not re.search(rf'\bCUPTI_ACTIVITY_KIND_{ours}\b', text) and is_newer(ours):
            continue
        lines.append(f'_Static_assert(CUPTI_ACTIVITY_KIND_{ours} == {number}, "{ours}");')
        checks += 1
    for ours, theirs in ENUMS.items():
        if re.search(rf'\b{theirs}\b', text):
            lines.append(f'_Static_assert((int){ours} == (int){theirs}, "{theirs}");')
            checks += 1
    return lines, checks


def compile_checks(include, sizes=None, cuda=None):
    """Compares libprof's numbers with the headers in @include; @sizes: of the newest structs, by our prefix;
    @cuda: a folder with a cuda.h. Returns how many were compared."""
    text = ''
    for header in glob.glob(os.path.join(include, 'cupti_*.h')):
        with open(header, errors='replace') as f:
            text += f.read()
    lines, checks = source(include, text, sizes)
    ours = ['#include <stddef.h>', '#include <cuda.h>', '#include <cupti_result.h>', '#include <cupti_activity.h>',
            '#include <cupti_callbacks.h>', '#include "cupti/record.h"', '#include "wire/event.h"']
    # cuda_api.h names enum values as NVIDIA does, so its numbers are taken from its text.
    with open(os.path.join(gs.SOURCE, 'libprof', 'cupti', 'cuda_api.h')) as f:
        numbers = re.findall(r'\b(CUPTI_\w+) = (\d+)', f.read())
    ours += [f'enum {{ {name} = {value} }};' for name, value in numbers if name in ENUMS]
    with gs.scratch() as where:
        path = os.path.join(where, 'check.c')
        with open(path, 'w') as f:
            f.write('\n'.join(ours + lines) + '\n')
        folders = [include, *([cuda] if cuda else []), os.path.join(gs.SOURCE, 'libprof'), os.path.join(gs.BUILD, 'include')]
        done = subprocess.run(['gcc', '-fsyntax-only', '-w', *(f'-I{d}' for d in folders), path], capture_output=True)
    gs.equal(done.returncode, 0, f'{include}: {done.stderr.decode()[:2000]}')
    return checks
