# SPDX-License-Identifier: Apache-2.0
"""Run by test_native.py: threads blocked in C functions under a Python line, and what libprof's
reader says of them. Prints one line of JSON.

    python3 native.py PROBE LIBRARY"""
import ctypes
import json
import os
import sys
import threading
import time

ROOM = 1 << 16
probe, blocks = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
probe.probe_native_note.restype = ctypes.c_char_p
probe.probe_native.restype = probe.probe_walk.restype = ctypes.c_long
probe.probe_native.argtypes = [ctypes.c_ulong, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_long]
probe.probe_walk.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_long]
text = ctypes.create_string_buffer(ROOM)
r, w = os.pipe()


def reads():
    blocks.known_reader(r)  # the line of reads


def polls():
    blocks.known_poller(r)


def waits():
    go.wait()


def registers(tid):
    with open(f'/proc/self/task/{tid}/syscall') as f:
        words = f.read().split()
    return int(words[-2], 16), int(words[-1], 16)


def native(tid):
    n = probe.probe_native(*registers(tid), text, ROOM)
    return text.value.decode().split('\n') if n > 0 else n


def time_native(tid, times=300):
    sp, pc = registers(tid)
    took = []
    for _ in range(times):
        begin = time.perf_counter_ns()
        probe.probe_native(sp, pc, text, ROOM)
        took.append(time.perf_counter_ns() - begin)
    return sorted(took)[times // 2] / 1000


def seen(tid):
    """Whether a thread sleeps, and how often it gave its core away."""
    with open(f'/proc/self/task/{tid}/status') as f:
        return [line.split()[1] for line in f if line.startswith('State') or 'ctxt_switches' in line]


def settle(tid):
    """Until it is blocked: it sleeps, and never wakes for a while. One that waits for Python's lock does."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        before = seen(tid)
        time.sleep(0.2)
        if before[0] == 'S' and before == seen(tid):
            return


go = threading.Event()
ready = probe.probe_native_ready()
result = {'ready': ready, 'note': probe.probe_native_note().decode(), 'open': probe.probe_open(0), 'of': {}}
for f in reads, polls, waits:
    thread = threading.Thread(target=f, daemon=True)
    thread.start()
    settle(thread.native_id)
    n = probe.probe_walk(thread.native_id, text, ROOM)
    python = text.value.decode().split('\n') if n > 0 else n
    first = native(thread.native_id)
    again = [native(thread.native_id) == first for _ in range(20)]
    result['of'][f.__name__] = {'python': python, 'native': first, 'same': all(again),
                                'us': time_native(thread.native_id) if ready else 0}
pid = os.fork()
if not pid:  # in a child all of it works as well
    thread = threading.Thread(target=reads, daemon=True)
    thread.start()
    settle(thread.native_id)
    os._exit(0 if not ready or len(native(thread.native_id)) > 2 else 1)
result['child'] = os.waitpid(pid, 0)[1]
print(json.dumps(result), flush=True)
os._exit(0)
