#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=900
"""Every CUPTI that PyPI has as a wheel, without a driver: facts/cupti.h's numbers against what the library says
and steps by and against the headers beside it, libprof's offsets in those headers, the table of calls against all
of them, what doctor calls it, and a job with libprof and that library on the simulator's driver, which none of
them accepts. A campaign: GS_BIG=1, and the wheels that scripts/setup --campaigns fetches."""
import ctypes
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import zipfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import cuptilayout
import gs
import prof

SCRIPT = os.path.join(gs.SOURCE, 'scripts', 'cupti-wheels')
NUMBERS = {symbol: number for symbol, number, _ in cuptilayout.kinds()}
KINDS = {ours: NUMBERS[symbol] for ours, symbol in cuptilayout.KINDS.items()}
# What CUPTI's headers want of the driver's, whose header no wheel of CUPTI carries.
CUDA_H = '''
#ifndef CUDA_H
#define CUDA_H
#include <stddef.h>
#include <stdint.h>
typedef int CUdevice, CUresult, CUstreamAttrID, CUdevice_attribute, CUgraphNodeType;
typedef uint64_t cuuint64_t, CUdeviceptr;
typedef struct st *CUcontext, *CUstream, *CUfunction, *CUmodule, *CUgraph, *CUgraphNode, *CUgraphExec, *CUevent;
typedef struct { char bytes[64]; } CUstreamAttrValue, CUaccessPolicyWindow;
typedef struct { char bytes[16]; } CUuuid;
#endif
'''
TABLE = '''
#include <stdio.h>
#include "facts/cupti.h"
int main(void)
{
	size_t n, i;
	const struct facts_cupti *r = facts_cupti_rows(&n);
	for (i = 0; i < n; i++)
		printf("{\\"version\\":%u,\\"release\\":\\"%s\\",\\"facts\\":%u,\\"KERNEL\\":%u,\\"MEMCPY\\":%u,"
		       "\\"MEMSET\\":%u,\\"PEER\\":%u,\\"SYNC\\":%u,\\"API\\":%u,\\"GRAPH\\":%u}\\n", r[i].version,
		       r[i].release, r[i].facts, r[i].bytes.kernel, r[i].bytes.memcpy, r[i].bytes.memset,
		       r[i].bytes.peer, r[i].bytes.sync, r[i].bytes.api, r[i].bytes.graph);
	return 0;
}
'''
PICKS_CALLS, NEEDS_DRIVER, ENDLESS, PASSIVE = 1 << 0, 1 << 7, 1 << 8, 1 << 4
JOB = '''
import os, sys
sys.path.insert(0, os.environ['WORKLOADS'])
import gpudev
s = gpudev.Stream(gpudev.Device(0))
for i in range(20):
    s.kernel(200_000, name='layer')
s.synchronize()
print('well')
sys.exit(6)
'''


def ask(path):
    """In a process of its own: what the library says of its version, and the size of each record it steps by."""
    lib = ctypes.CDLL(path)
    version, sizes = ctypes.c_uint32(), {}
    rc = lib.cuptiGetVersion(ctypes.byref(version))
    for name, kind in KINDS.items():
        buffer, at, steps = (ctypes.c_uint32 * 2048)(), ctypes.c_void_p(), []
        for i in range(0, 2048, 2):
            buffer[i] = kind
        while len(steps) < 2 and not lib.cuptiActivityGetNextRecord(buffer, ctypes.c_size_t(8192), ctypes.byref(at)):
            steps.append(at.value)
        sizes[name] = steps[1] - steps[0] if len(steps) == 2 else 0
    print(json.dumps(dict(rc=rc, version=version.value, sizes=sizes, calls=hasattr(lib, 'cuptiActivityEnableDriverApi'))))


if sys.argv[1:2] == ['ask']:
    ask(sys.argv[2])
    sys.exit()


def load_script():
    loader = importlib.machinery.SourceFileLoader('cupti_wheels', SCRIPT)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('cupti_wheels', loader))
    loader.exec_module(module)
    return module


def rows(where):
    with open(where + '/table.c', 'w') as f:
        f.write(TABLE)
    subprocess.run(['gcc', '-I', os.path.join(gs.BUILD, 'include'), where + '/table.c',
                    os.path.join(gs.SOURCE, 'facts', 'cupti.c'), '-o', where + '/table'], check=True)
    out = subprocess.run([where + '/table'], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


class Wheel:
    def __init__(self, path, name, version, where):
        self.what = f'{name} {version}'
        self.cuda = '.'.join(version.split('.')[:2])
        with zipfile.ZipFile(path) as z:
            for member in z.namelist():
                if 'libcupti.so' in member or member.endswith('.h'):
                    z.extract(member, where)
        self.library = glob.glob(where + '/**/libcupti.so.*', recursive=True)[0]
        self.include = os.path.dirname(glob.glob(where + '/**/cupti_version.h', recursive=True)[0])
        with open(self.include + '/cupti_version.h', encoding='utf-8', errors='replace') as f:
            self.version = int(re.search(r'^#define CUPTI_API_VERSION (\d+)', f.read(), re.M)[1])


def row_of(w, table):
    """11.8, 12.0 and 12.1 share a number: the release tells them apart, as their records do."""
    fit = [r for r in table if r['version'] == w.version]
    fit = [r for r in fit if w.cuda in r['release'].replace(' U', ' or ').split(' or ')] if len(fit) > 1 else fit
    return fit[0] if gs.check(len(fit) == 1, f'{w.what}: version {w.version} in the table') else None


def library(w, row):
    done = gs.command([gs.PYTHON, __file__, 'ask', w.library])
    if row['facts'] & ENDLESS:
        gs.equal(done.returncode, -signal.SIGSEGV, f'{w.what}: asked without a driver')
        return
    gs.equal(done.returncode, 0, f'{w.what}: {done.stderr.decode()[-300:]}')
    seen = json.loads(done.stdout)
    gs.equal(seen['calls'], bool(row['facts'] & PICKS_CALLS), f'{w.what}: picks calls')
    if row['facts'] & NEEDS_DRIVER:
        gs.equal((seen['rc'], seen['version']), (999, 0), f'{w.what}: asked without a driver')
        return
    gs.equal((seen['rc'], seen['version']), (0, w.version), f'{w.what}: its version')
    gs.equal(seen['sizes'], {k: row[k] for k in KINDS}, f'{w.what}: sizes of records')


def doctor(w, row):
    done = gs.gpustarve('doctor', env=gs.environment(GPUSTARVE_CUPTI=w.library, LD_LIBRARY_PATH=''))
    line = next((x for x in done.stdout.decode().splitlines() if ' libcupti ' in x), '')
    if not row:
        words = 'CUDA before 11.8'
    elif row['facts'] & NEEDS_DRIVER:  # which of these it is, it does not tell without a driver
        at_least = min(w.cuda, '13.4')
        words = f'CUDA {at_least}:' if row['facts'] & ENDLESS else f'CUDA {at_least} or newer by what it exports'
    else:
        words = f"version {w.version} (CUDA {row['release']})"
    gs.check(words in line, f'{w.what}: doctor says {line!r}')
    gs.equal(done.returncode, int(not row or bool(row['facts'] & PASSIVE)), f"{w.what}: doctor's status")


def job(w, row):
    """libprof with this library on a driver that it does not accept."""
    with gs.scratch() as where:
        with open(where + '/job.py', 'w') as f:
            f.write(JOB)
        done = prof.run([gs.PYTHON, 'job.py'], where, WORKLOADS=gs.WORKLOADS, GPUSTARVE_CUPTI=w.library)
        gs.equal((done.returncode, done.stdout, done.stderr), (6, b'well\n', b''), f'{w.what}: the job')
        t = prof.trace(where)
        if not gs.check(t and t.bye, f'{w.what}: no run'):
            return ''
        gs.equal(len(t.ops), 0, f'{w.what}: operations')
        notes = [n for n in t.hello['notes'] if w.library in n]
        gs.equal(len(notes), 1, f"{w.what}: {t.hello['notes']}")
        return notes[0].replace(w.library, 'it') if notes else ''


def try_wheel(path, name, version, table, folders):
    with gs.scratch() as where:
        w = Wheel(path, name, version, where)
        with open(where + '/cuda.h', 'w') as f:
            f.write(CUDA_H)
        for other in ('builtin_types.h', 'cuda_runtime_api.h'):
            with open(f'{where}/{other}', 'w') as f:
                f.write('#include "cuda.h"\n')
        row = row_of(w, table) if w.version >= 18 else None
        checks = 0
        if row:
            library(w, row)
            checks = cuptilayout.compile_checks(w.include, {k: row[k] for k in KINDS}, where)
            for domain in ('driver', 'runtime'):  # kept for the comparison of all
                kept = os.path.join(folders, version)
                os.makedirs(kept, exist_ok=True)
                os.replace(f'{w.include}/cupti_{domain}_cbid.h', f'{kept}/cupti_{domain}_cbid.h')
        doctor(w, row)
        print(f"{w.what}: version {w.version}, {row['release'] if row else 'too old'}, {checks} offsets, sizes and "
              f'numbers; {job(w, row)}', flush=True)


def calls(folders):
    found = sorted(os.listdir(folders), key=lambda v: [int(n) for n in v.split('.')])
    args = [word for v in found for word in ('--headers', os.path.join(folders, v))]
    done = gs.command(['/usr/bin/python3', os.path.join(gs.SOURCE, 'scripts', 'cbids'), *args, 'same'])
    gs.equal(done.returncode, 0, f'the table of calls: {done.stdout.decode()[-600:]}')
    print(done.stdout.decode(), end='')


wheels = load_script()
if not gs.BIG:
    gs.skip('a campaign: GS_BIG=1')
here = [(wheels.have(wheels.folder(), *w), *w) for w in wheels.wanted()]
there = [h for h in here if h[0]]
if not there:
    gs.skip(f'no wheel of CUPTI in {wheels.folder()}: scripts/setup --campaigns')
if len(there) < len(here):
    gs.left_out(f'{len(here) - len(there)} wheels of CUPTI that could not be fetched')
with gs.scratch() as top:
    known = rows(top)
    os.mkdir(top + '/calls')
    gs.side_by_side([lambda h=h: try_wheel(*h, known, top + '/calls') for h in there], 3)
    if len(there) == len(here):
        calls(top + '/calls')
print(f'{len(there)} of {len(here)} wheels')
gs.finish()
