#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""The structs, numbers and prototypes of CUPTI's second interface, as the simulator and libprof have them,
against NVIDIA's headers of 13.4 Update 1 and the library's exports. Only where scripts/cupti-wheels has
fetched that wheel and cuda.h is installed."""
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import zipfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
CUDA = '/usr/local/cuda/include'
STRUCTS = {
    'CUpti_SubscriberParams': ('second_params', 'structSize=size subscriberName=name oldSubscriberName=old_name '
                               'oldSubscriberSize=old_size allowMultipleSubscribers=allow'),
    'CUpti_ActivityFieldSelection': ('second_selection', 'structSize=size numFields=fields pFieldIds=field'),
    'CUpti_ActivityConfig': ('second_config', 'structSize=size fieldSelection=selection pKindOptions=options'),
    'CUpti_BufferCallbackRequestInfo': ('second_request', 'structSize=size'),
    'CUpti_BufferCallbackCompleteInfo': ('second_complete', 'structSize=size threadId=thread ppRecordLayouts=layout '
                                         'numRecordLayouts=layouts'),
    'CUpti_ActivityRecordLayout': ('second_layout', 'structSize=size pEntries=entry numFields=fields recordSize=bytes'),
    'CUpti_ActivityFieldLayoutEntry': ('second_entry', 'structSize=size fieldId=field offset=offset size=bytes alignment=alignment'),
}
NUMBERS = {
    'CUPTI_ACTIVITY_ATTR_USER_DEFINED_RECORDS': 11, 'CUPTI_ACTIVITY_ATTR_MULTIPLE_SUBSCRIBER_STATE': 12,
    'CUPTI_ACTIVITY_ATTR_ENABLE_HES': 13, 'CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE': 20,
    'CUPTI_ACTIVITY_ATTR_TIMESTAMP_CALLBACK': 22, 'CUPTI_ACTIVITY_ATTR_COUNT': 24, 'CUPTI_API_VERSION': 130401,
    'CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE': 56, 'CUPTI_ACTIVITY_KIND_COMPUTE_ENGINE_CTX_SWITCH': 57,
    'CUPTI_ACTIVITY_KIND_HOST_LAUNCH': 58, 'CUPTI_ACTIVITY_KIND_GREEN_CONTEXT': 59,
    'CUPTI_ERROR_NOT_COMPATIBLE': 14, 'CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED': 39,
}
# Of the model's user-defined records.
FIELDS = {'KERNEL': {'KIND': 0, 'START': 7, 'END': 8, 'DEVICE_ID': 10, 'CONTEXT_ID': 11, 'STREAM_ID': 12,
                     'CORRELATION_ID': 22, 'NAME': 24, 'GRAPH_NODE_ID': 31, 'GRAPH_ID': 33},
          'MEMCPY': {'KIND': 0, 'COPY_KIND': 1, 'SRC_KIND': 2, 'DST_KIND': 3, 'FLAGS': 4, 'BYTES': 5, 'START': 6, 'END': 7,
                     'DEVICE_ID': 8, 'CONTEXT_ID': 9, 'STREAM_ID': 10, 'CORRELATION_ID': 11},
          'MEMSET': {'KIND': 0, 'BYTES': 2, 'START': 3, 'END': 4, 'DEVICE_ID': 5, 'CONTEXT_ID': 6, 'STREAM_ID': 7,
                     'CORRELATION_ID': 8}}
SUB, TIME = 'CUpti_SubscriberHandle', 'uint64_t *'
# As ours, in NVIDIA's types: handles are pointers, kinds and attributes int, ids of calls uint32_t.
PROTOTYPES = {
    'cuptiSubscribe_v2': (SUB + ' *', 'CUpti_CallbackFunc', 'void *', 'CUpti_SubscriberParams *'),
    'cuptiActivitySetAttribute_v2': (SUB, 'CUpti_ActivityAttribute', 'size_t *', 'void *'),
    'cuptiActivityGetAttribute_v2': (SUB, 'CUpti_ActivityAttribute', 'size_t *', 'void *'),
    'cuptiActivityRegisterCallbacks_v2': (SUB, 'CUpti_BuffersCallbackRequestFunc_v2', 'CUpti_BuffersCallbackCompleteFunc_v2'),
    'cuptiActivityEnable_v2': (SUB, 'CUpti_ActivityKind', 'CUpti_ActivityConfig *'),
    'cuptiActivityDisable_v2': (SUB, 'CUpti_ActivityKind', 'CUpti_ActivityConfig *'),
    'cuptiActivityEnableRuntimeApi_v2': (SUB, 'CUpti_CallbackId', 'uint8_t'),
    'cuptiActivityEnableDriverApi_v2': (SUB, 'CUpti_CallbackId', 'uint8_t'),
    'cuptiActivityGetNextRecord_v2': (SUB, 'uint8_t *', 'size_t', 'CUpti_Activity **'),
    'cuptiActivityGetNumDroppedRecords_v2': (SUB, 'CUcontext', 'uint32_t', 'size_t *'),
    'cuptiGetTimestamp_v2': (SUB, TIME),
    'cuptiActivityPushExternalCorrelationId_v2': (SUB, 'CUpti_ExternalCorrelationKind', 'uint64_t'),
    'cuptiActivityPopExternalCorrelationId_v2': (SUB, 'CUpti_ExternalCorrelationKind', TIME),
    'cuptiIsTracingSessionRunning': ('uint8_t *',),
    'cuptiActivityGetStructSize': ('CUpti_ActivityKind', 'uint32_t', 'size_t *'),
    'cuptiUnsubscribe': (SUB,),
}
CALLBACKS = {
    'CUpti_BuffersCallbackRequestFunc_v2': ('uint8_t **', 'size_t *', 'size_t *', 'CUpti_BufferCallbackRequestInfo *'),
    'CUpti_BuffersCallbackCompleteFunc_v2': ('uint8_t *', 'size_t', 'size_t', 'CUpti_BufferCallbackCompleteInfo *'),
}
KINDS = {'CUpti_ActivityKernel13': 248, 'CUpti_ActivityMemcpy7': 112, 'CUpti_ActivityMemset5': 104}


def wheel():
    path = os.path.join(SOURCE, 'scripts', 'cupti-wheels')
    loader = importlib.machinery.SourceFileLoader('cupti_wheels', path)
    spec = importlib.util.spec_from_loader('cupti_wheels', loader)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module.have(module.folder(), 'nvidia-cuda-cupti', '13.4.92')


def program():
    """Nothing of it runs: it compiles, or says what differs."""
    out = ['#include <stddef.h>', '#include <cuda.h>', '#include <cupti_version.h>', '#include <cupti_result.h>',
           '#include <cupti_callbacks.h>', '#include <cupti_activity.h>', '#include "no_prototypes.h"']
    for theirs, (ours, members) in STRUCTS.items():
        out.append(f'_Static_assert(sizeof({theirs}) == sizeof(struct {ours}), "{theirs}");')
        for pair in members.split():
            a, b = pair.split('=')
            out.append(f'_Static_assert(offsetof({theirs}, {a}) == offsetof(struct {ours}, {b}), "{theirs}.{a}");')
    out += [f'_Static_assert({name} == {n}, "{name}");' for name, n in NUMBERS.items()]
    out += [f'_Static_assert(sizeof({name}) == {n}, "{name}");' for name, n in KINDS.items()]
    for name, types in PROTOTYPES.items():
        out.append(f'CUptiResult (*p_{name})({", ".join(types)}) = {name};')
    for name, types in CALLBACKS.items():
        out.append(f'void p_{name}({", ".join(types)}); {name} q_{name} = p_{name};')
    for kind, fields in FIELDS.items():
        out += [f'_Static_assert({kind}_FIELD_{name} == {n}, "{kind} {name}");' for name, n in fields.items()]
    return '\n'.join(out) + '\n'


def structs_alone():
    """The simulator's structs without its prototypes, which have other names of types."""
    with open(os.path.join(SOURCE, 'tests', 'gpusim', 'cupti', 'second.h')) as f:
        return '\n'.join(re.findall(r'^struct second_\w+ \{.*?^\};', f.read(), re.M | re.S)) + '\n'


def exports(library):
    done = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True)
    return {line.split()[-1].split('@')[0] for line in done.stdout.decode().splitlines() if line.strip()}


def main():
    found = wheel()
    if not found or not os.path.exists(os.path.join(CUDA, 'cuda.h')):
        gs.skip('no wheel of CUPTI 13.4 Update 1 (scripts/cupti-wheels), or no cuda.h')
    with gs.scratch() as where:
        with zipfile.ZipFile(found) as z:
            z.extractall(where, [n for n in z.namelist() if n.endswith('.h') or 'libcupti.so' in n])
        for name, text in (('p.c', program()), ('no_prototypes.h', '#include <stdint.h>\n' + structs_alone())):
            with open(os.path.join(where, name), 'w') as f:
                f.write(text)
        done = subprocess.run(['cc', '-std=gnu17', '-Werror=incompatible-pointer-types', '-Werror=int-conversion',
                               '-fsyntax-only', '-I' + where, '-isystem',
                               os.path.join(where, 'nvidia/cu13/include'), '-isystem', CUDA, os.path.join(where, 'p.c')],
                              capture_output=True)
        gs.equal(done.returncode, 0, done.stderr.decode()[:3000])
        theirs = exports(os.path.join(where, 'nvidia/cu13/lib/libcupti.so.13'))
    ours = {n for n in exports(os.path.join(gs.BUILD, 'gpusim', 'cupti-13.4', 'libcupti.so.13')) if n.startswith('cupti')}
    gs.check(len([n for n in ours if n.endswith('_v2')]) >= 12, f'the model has the second interface: {sorted(ours)}')
    gs.equal(sorted(ours - theirs), [], 'exported here and not by CUPTI')
    gs.finish()


main()
