#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=600
"""ThreadSanitizer over libprof as a whole: programs that have all of it in them (tests/tsan) run on the
simulated GPU, while it arms, lends CUPTI and takes it back, is refused what it asks for, meets another
client, forks, and ends. Nothing that threads share may be touched without an order, and the trace is
the simulator's truth as in any other program. The simulator is not instrumented: what its locks order
between callbacks of CUPTI is taken for granted here, and tried without them in the unit tests."""
import os
import re
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

BIN = os.path.join(gs.BUILD, 'tests')
if not os.path.exists(os.path.join(BIN, 'crowd_tsan')):
    gs.skip('built without ThreadSanitizer, or with sanitizers of its own')
# Kernels that spread addresses widely leave the sanitizer no room.
SETARCH = ['setarch', '-R'] if not subprocess.run(
    ['setarch', '-R', 'true'], stderr=subprocess.DEVNULL, check=False).returncode else []
SECONDS = '10' if gs.BIG else '1.5'
OPS = '100000' if gs.BIG else '10000'


def run(what, argv, exact=False, **env):
    with gs.scratch() as where:
        env.setdefault('TSAN_OPTIONS', 'report_thread_leaks=0')
        done = gs.command(SETARCH + [gs.WITH_GPUSIM, *argv], cwd=where, env=prof.environment(
            where, preload=False, CUDA_INJECTION64_PATH=os.path.join(BIN, 'tsan_door.so'), **env))
        said = done.stderr.decode(errors='replace')
        races = re.findall(r'SUMMARY: ThreadSanitizer: (.*)', said)
        gs.equal(races, [], f'{what}: reports')
        gs.equal(done.returncode, 0, f'{what}: status; {said[-2000:]}')
        found = prof.traces(where)
        gs.equal(len(found), 1, f'{what}: streams')
        ops = sum(len(t.ops) for t in found)
        if exact and found:
            # So slow a program on a busy machine may lose records; then the trace says so.
            lack, extra = prof.missing(where, found[0])
            gs.equal(sum(extra.values()), 0, f'{what}: operations too many')
            gs.check(not lack or found[0].losses, f'{what}: {len(lack)} operations missing, no loss told')
        gs.check(found and found[0].bye, f'{what}: the trace ends well')
        print(f'{what}: {done.stdout.decode().strip()}; {ops} operations in the trace', flush=True)
        return ops


def crowd(what, **env):
    return run(what, [os.path.join(BIN, 'crowd_tsan'), SECONDS], **env)


def mix(what, *more, **env):
    return run(what, [os.path.join(BIN, 'mixloop_tsan'), '--ops', OPS, *more], **env)


gs.check(mix('many operations', exact=True) > 0, 'operations')
gs.check(crowd('everybody at once') > 0, 'operations of the crowd')
crowd('a slow arm', GPUSIM_FAULT='pause:call=cuptiActivityRegisterCallbacks,ms=200')
crowd('kernels are refused', GPUSIM_FAULT='refuse:kind=10,code=43')
mix('another client and its clock', '--pause-every', '100', '--pause-us', '20000',
    GPUSIM_FAULT='foreign:from=0.3,for=0.5,clock=2.1', GPUSTARVE_REARM_SECONDS=1)
if gs.BIG:
    for version in '11.8', '12.4', '12.6':
        mix(f'CUPTI {version}', exact=True, GPUSIM_CUPTI=version)
        crowd(f'everybody at once, CUPTI {version}', GPUSIM_CUPTI=version)
    mix('node by node', exact=True, GPUSTARVE_GRAPHS='node', GPUSTARVE_LEVEL=2)
    crowd('no buffers', GPUSIM_FAULT='none:from=1,for=1')
    crowd('late buffers', GPUSIM_FAULT='late:ms=300')
    crowd('flushes hang', GPUSIM_FAULT='hang:from=2,for=1')
    crowd('finalized', GPUSIM_FAULT='foreign:from=1,for=1,finalize=1', GPUSTARVE_REARM_SECONDS=1)
    crowd('a slow NVML', GPUSIM_NVML='slow:50')
gs.finish()
