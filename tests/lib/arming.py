# SPDX-License-Identifier: Apache-2.0
"""Programs for the tests of the arm: they call cuInit while armtouch.so or the simulator makes it slow,
and print in JSON what they saw. Run by Debian's Python on the simulated GPU."""
import ctypes
import json
import os
import resource
import sys
import threading
import time

sys.path.insert(0, os.environ['WORKLOADS'])
import gpudev  # noqa: E402
from cupticlient import Client  # noqa: E402

NOBODY, PR_SET_DUMPABLE = 64731, 4  # a user without processes
PRELOADED = [ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW) for path in os.environ['LD_PRELOAD'].split()]
libprof, touch = PRELOADED[0], PRELOADED[1] if PRELOADED[1:] else None
libprof.gpustarve_lend.argtypes, libprof.gpustarve_lent.argtypes = (ctypes.c_char_p,), (ctypes.c_uint,)


def work(stream, name, n):
    for _ in range(n):
        stream.kernel(200_000, name=name)
    stream.synchronize()


def initialise(pause, seen):
    if touch:
        touch.touch_begin(pause, 0)
    gpudev.driver()
    if touch:
        blocks = ctypes.c_int()
        seen['calls'] = touch.touch_end(ctypes.byref(blocks))


def lend(pause, wait):
    """A session that begins while another thread is in cuInit, @wait seconds after its begin or as soon
    as libprof pauses."""
    client, seen = Client(), {}
    arm = threading.Thread(target=initialise, args=(pause, seen))
    arm.start()
    end = time.monotonic() + (wait or 60)
    while arm.is_alive() and time.monotonic() < end and not (touch and touch.touch_pausing()):
        time.sleep(0.001)
    seen['met'] = arm.is_alive()
    libprof.gpustarve_lend(b'torch.profiler')
    client.begin()
    arm.join()
    stream = gpudev.Stream(gpudev.Device(0))
    work(stream, 'session', 50)
    client.end()
    libprof.gpustarve_lent(0)
    work(stream, 'after', 50)
    time.sleep(0.7)
    seen.update(kernels=client.kernels, unknown=client.unknown)
    return seen


def again(seconds):
    """A session, and work for so long after it."""
    client, stream = Client(), gpudev.Stream(gpudev.Device(0))
    work(stream, 'before', 20)
    libprof.gpustarve_lend(None)
    client.begin()
    work(stream, 'session', 20)
    client.end()
    libprof.gpustarve_lent(0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        work(stream, 'after', 5)
        time.sleep(0.05)
    return dict(kernels=client.kernels, unknown=client.unknown)


def starve(fail):
    """libprof gets no memory from its Nth block on until its threads have begun."""
    touch.touch_begin(0, fail)
    stream = gpudev.Stream(gpudev.Device(0))
    work(stream, 'early', 20)
    time.sleep(0.3)
    blocks = ctypes.c_int()
    touch.touch_end(ctypes.byref(blocks))
    work(stream, 'late', 20)
    return dict(blocks=blocks.value)


def crowd(left):
    """An ordinary user whose process may have so many threads more than it has."""
    loaded = [ctypes.CDLL(name) for name in ('libcuda.so.1', 'libcupti.so.13')]  # root's files, maybe
    user = NOBODY + left  # limits count all processes of a user
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    loaded[0].prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    most = len(os.listdir('/proc/self/task')) + left
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    stream = gpudev.Stream(gpudev.Device(0))
    work(stream, 'early', 20)
    time.sleep(0.3)
    return {}


if __name__ == '__main__':
    play = {'lend': lend, 'starve': starve, 'crowd': crowd, 'again': again}[sys.argv[1]]
    print(json.dumps(play(*[float(a) if '.' in a else int(a) for a in sys.argv[2:]])))
