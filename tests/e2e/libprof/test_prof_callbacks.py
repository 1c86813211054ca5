#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=120
"""A tool that CUPTI calls back at every call of the driver, our own on our threads included, beside libprof, which
holds no place for subscribers: the tool is told of all calls, the job ends as without us, and no operation is lost; also
where each callback asks CUPTI for what it has."""
import functools
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

KERNELS, ROUNDS = 200, 3
JOB = f'''
import ctypes, os, sys, threading, time
sys.path.insert(0, {gs.WORKLOADS!r})
import gpudev
from cupticlient import CALLBACK, NAMES
flushes = sys.argv[1] == 'flush'
stream = gpudev.Stream(gpudev.Device(0))
cupti, handle, told, elsewhere = ctypes.CDLL(NAMES['13']), ctypes.c_void_p(), [0, 0], set()
def called(data, domain, cbid, site):
    told[site[0]] += domain == 1 and cbid == 307
    if threading.get_native_id() != os.getpid():
        elsewhere.add(cbid)
    if flushes and site[0]:
        cupti.cuptiActivityFlushAll(0)
callback = CALLBACK(called)
assert cupti.cuptiSubscribe(ctypes.byref(handle), callback, None) == 0
assert cupti.cuptiEnableAllDomains(1, handle) == 0
for i in range({ROUNDS}):
    for _ in range({KERNELS}):
        stream.kernel(100_000, name='layer')
    stream.synchronize()
    elsewhere.clear()
    end = time.monotonic() + 30  # until libprof has made a call of its own
    while 2 not in elsewhere and time.monotonic() < end:
        time.sleep(0.05)
assert cupti.cuptiUnsubscribe(handle) == 0
print(told, 2 in elsewhere)
sys.exit(5)
'''


def beside(how):
    what = f'a tool with callbacks, {how}'
    with gs.scratch() as where:
        done = prof.run([gs.PYTHON, '-c', JOB, how], where)
        n = KERNELS * ROUNDS
        gs.equal((done.returncode, done.stdout, done.stderr), (5, f'[{n}, {n}] True\n'.encode(), b''), what)
        t = prof.trace(where)
        gs.equal(prof.expect_exact(where, t, what), n, f'{what}: operations')
        gs.equal(t.losses, [], f'{what}: losses')


gs.side_by_side([functools.partial(beside, how) for how in ('plain', 'flush')])
gs.finish()
