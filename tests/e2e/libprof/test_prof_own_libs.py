#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=120
"""A library that libprof brings into a process would satisfy, by its name, what the program loads
later: a conda environment's own liblzma, newer than the system's, would not be loaded. So the program
gets its own, whatever its name, and libprof has brought no library but CUPTI and NVML."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

PROGRAM = '''
import ctypes, json, sys, time
sys.path.insert(0, sys.argv[1])
from gpudev import Device, Stream
stream = Stream(Device(0))
until = time.monotonic() + 2.5  # the sampler looks, and has unwound a thread
while time.monotonic() < until:
    stream.kernel(1_000_000)
    stream.synchronize()
    time.sleep(0.05)
before = sorted({line.split(None, 5)[5].strip() for line in open('/proc/self/maps') if '.so' in line})
seen = {}
for name in sys.argv[2:]:
    try:
        seen[name] = ctypes.CDLL(name).user_version()
    except (OSError, AttributeError) as e:
        seen[name] = str(e)
print(json.dumps({'loaded': before, 'seen': seen}))
'''
NAMES = {'liblzma.so.5': 'XZ_99', 'libunwind.so.8': 'UNW_99', 'libunwind-x86_64.so.8': 'UNWX_99',
         'libzstd.so.1': 'ZSTD_99', 'libprotobuf-c.so.1': 'PBC_99'}


def link(out, source, *options):
    done = subprocess.run(['cc', '-shared', '-fPIC', '-o', out, '-x', 'c', '-', '-x', 'none', *options],
                          input=source.encode(), stderr=subprocess.PIPE)
    if not gs.equal(done.returncode, 0, f'cc: {done.stderr.decode()}'):
        gs.finish()


def make(where):
    """Libraries of well-known names with a version nobody else has, and one user of each."""
    users = []
    for name, version in NAMES.items():
        own, script = os.path.join(where, name), os.path.join(where, 'map')
        user = os.path.join(where, f'user_{len(users)}.so')
        with open(script, 'w') as f:
            f.write(f'{version} {{ global: own_version; local: *; }};\n')
        link(own, 'int own_version(void) { return 99; }', f'-Wl,-soname,{name}',
             f'-Wl,--version-script={script}')
        link(user, 'int own_version(void); int user_version(void) { return own_version(); }', own,
             '-Wl,-rpath,$ORIGIN')
        users.append(user)
    return users


if not shutil.which('cc'):
    gs.skip('no compiler')
with gs.scratch() as where:
    users = make(where)
    argv = [gs.PYTHON, '-c', PROGRAM, gs.WORKLOADS, *users]
    seen = {}
    for preload in False, True:
        done = prof.run(argv, where, preload=preload)
        if not gs.equal(done.returncode, 0, f'the program: {done.stderr.decode()[-500:]}'):
            gs.finish()
        seen[preload] = json.loads(done.stdout.decode().splitlines()[-1])
    gs.equal(seen[False]['seen'], {u: 99 for u in users}, 'without libprof')
    gs.equal(seen[True]['seen'], {u: 99 for u in users}, 'with libprof the program gets its own')
    own = os.path.dirname(os.path.realpath(gs.LIBPROF))
    names = [{os.path.basename(path).split('.so')[0] for path in seen[p]['loaded'] if not path.startswith(own)}
             for p in (False, True)]
    gs.check(any(path.startswith(own) for path in seen[True]['loaded']), 'libprof is there')
    gs.equal(names[1] - names[0] - {'libpthread', 'libdl'}, {'libcupti', 'libnvidia-ml'},
             'libraries that are not our own and that libprof brought')
    t = prof.trace(where)
    gs.check(t and len(t.samples) > 0, 'threads were looked at meanwhile')
gs.finish()
