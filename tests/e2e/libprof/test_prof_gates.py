#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit timeout=60
"""What libprof.so shows to and asks of the process it is loaded into: the listed exports, no version
newer than GLIBC_2.17, no unwinder, the listed libraries, no lazy binding, no unloading, static TLS of a few words,
no executable stack."""
import os
import re
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

SHIM = 'begin collect end ended forget lend lending lent loaded note opened opening save_is saved saving shim take took worker'
EXPORTS = ['InitializeInjection', 'InitializeInjectionNvtx2', '_Exit', '__asan_default_options', '_exit',
           'fdatasync', 'fsync', *('gpustarve_' + name for name in SHIM.split()), 'rename', 'renameat', 'renameat2']
NEEDED = {'libc.so.6', 'libpthread.so.0', 'libdl.so.2', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
NEWEST = (2, 17)  # ld.so ends every program that preloads a library which needs a version it has not
ONLY_GLIBC = {'__register_atfork', '_dl_find_object', 'gnu_get_libc_version', '__libc_single_threaded'}
TLS_MAX = 512  # bytes; a library loaded late shares 1,500 or so with all others


def output(*argv):
    done = gs.command(argv)
    gs.equal(done.returncode, 0, ' '.join(argv))
    return done.stdout.decode()


exports = sorted(line.split()[-1].split('@')[0]
                 for line in output('nm', '-D', '--defined-only', gs.LIBPROF).splitlines())
gs.equal(exports, EXPORTS, 'exports')

# An unwinder among its symbols, given or taken, would catch the calls of all other libraries.
symbols = output('nm', '-D', gs.LIBPROF)
gs.check(not re.search(r'\b(_Unwind_|_?unw_|_U[a-zA-Z0-9_]*_step|backtrace)', symbols),
         f'an unwinder is linked: {symbols}')

# Read by readelf, for a version may be needed without a symbol that has it (GLIBC_ABI_DT_RELR).
versions = re.findall(r'Name: (\S+)  Flags', output('readelf', '-V', '-W', gs.LIBPROF))
gs.check(versions, 'no version is needed at all: was anything read?')
for name in versions:
    number = re.fullmatch(r'GLIBC_([0-9.]+)', name)
    if not gs.check(number and tuple(map(int, number[1].split('.'))) <= (*NEWEST, 0), f'newer than promised: {name}'):
        print('needed by:', re.findall(rf'\S+@{re.escape(name)}\b', symbols), file=sys.stderr)

# What another libc lacks must not be missed: its loader ends the program over a symbol, version or none.
strong = set(re.findall(r'^ +U ([^@\s]+)', symbols, re.M))
gs.check('malloc' in strong, 'no symbol is needed at all: was anything read?')
gs.equal(strong & ONLY_GLIBC, set(), 'strong, and in no libc but glibc')
# These move what other threads may be reading (libprof/core/env.h).
gs.equal(strong & {'setenv', 'putenv', 'unsetenv', 'clearenv'}, set(), 'changes the environment by calls')

dynamic = output('readelf', '-d', '-W', gs.LIBPROF)
needed = set(re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic))
gs.check(needed <= NEEDED, f'NEEDED: {needed}')
gs.check({'libpthread.so.0', 'libdl.so.2'} <= needed,
         f'before glibc 2.34 threads and dlopen stand in libraries of their own: {needed}')
for flag in ['NODELETE', 'NOW', 'STATIC_TLS']:
    if flag == 'STATIC_TLS' and ' TLS ' not in output('readelf', '-lW', gs.LIBPROF):
        continue
    gs.check(flag in dynamic, f'{flag} is not set')
gs.check('RPATH' not in dynamic and 'RUNPATH' not in dynamic, 'no search path of its own')

segments = output('readelf', '-l', '-W', gs.LIBPROF)
stack = re.search(r'GNU_STACK.*', segments).group(0)
gs.check(' RW ' in stack and 'RWE' not in stack, f'executable stack: {stack}')
tls = re.search(r'^\s+TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+0x([0-9a-f]+)', segments, re.M)
if tls:
    gs.check(int(tls.group(1), 16) <= TLS_MAX, f'thread-local storage: {int(tls.group(1), 16)} bytes')

strings = output('strings', '-n', '8', gs.LIBPROF)
gs.check(gs.SOURCE not in strings, 'the path of the source tree is in the library')
# What the constructor sets, and for whom: other tools' launchers may refuse to start with it.
with gs.scratch() as where:
    def variables(argv, **more):
        done = gs.command(argv, env=dict({'LD_PRELOAD': gs.LIBPROF, 'PATH': '/usr/bin'}, **more),
                          cwd=where)
        return dict(line.split('=', 1) for line in done.stdout.decode().splitlines())

    INJECTION = ['CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH']
    for name, want in [('train', True), ('ncu', False), ('nsys', False), ('nsys-launcher', False),
                       ('compute-sanitizer', False), ('cuda-gdb-python3.12-tui', False), ('ncurses', True)]:
        path = shutil.copy('/usr/bin/env', os.path.join(where, name))
        got = variables([path])
        for v in [*INJECTION, 'GPUSTARVE_RUN_ID']:
            gs.equal(v in got, want, f'{name}: {v}')
        # They are often started by a shell script of the same name, which inherits what we set.
        got = variables(['/bin/sh', '-c', f'"{path}"; :'])
        for v in INJECTION:
            gs.equal(v in got, want, f'{name} in a script: {v}')
        got = variables([path], CUDA_INJECTION64_PATH='/theirs.so')
        gs.equal(got['CUDA_INJECTION64_PATH'], '/theirs.so', f'{name}: what is set already')
    # Some load themselves into all that they start, and let nothing go on where CUDA is to load another.
    for tool, want in [('NSIGHT', False), ('SANITIZER', False), ('OTHER', True)]:
        theirs = {f'NV_{tool}_INJECTION_TRANSPORT_TYPE': 'uds'}
        for more in ({}, dict.fromkeys(INJECTION, gs.LIBPROF)):
            got = variables([os.path.join(where, 'train')], **theirs, **more)
            for v in INJECTION:
                gs.equal(v in got, want, f'in what {tool} starts, {v}, with {list(more)}')
gs.finish()
