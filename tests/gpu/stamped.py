#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Work of known length that tells its own times: stamped.py OUT.json [--quick]

Kernels spin on %globaltimer and leave the timer's value at their begin and end; CUDA events stand
between the operations of ladders; the host's clock is read around every call. Knows nothing of
gpustarve. Runs on the simulated GPU too, which cannot run PTX: there the stamps stay absent.

OUT.json: {"simulated", "timer_steps": [ns], "sections": {name: section}, "clocks": [[realtime,
cupti or null, realtime, monotonic, realtime, monotonic]]}. A section has "ops" in order of launch,
each [host before, host after, wanted ns, device begin or null, device end or null], "synced", the
host's clock after the synchronisation, for each op or once, and, for ladders, "events_ms": between
one event and the next, of which one stands before the first operation and one behind each."""
import ctypes
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'workloads'))
import gpudev  # noqa: E402

P, U64 = ctypes.c_void_p, ctypes.c_uint64

# Spins for the first parameter's ns. The first thread writes when it began and ended.
STAMPED = '''
.visible .entry %s(.param .u64 duration, .param .u64 out)
{
    .reg .pred %%p, %%other;
    .reg .u64 %%start, %%now, %%left, %%want, %%at;
    .reg .u32 %%thread;
    ld.param.u64 %%want, [duration];
    ld.param.u64 %%at, [out];
    mov.u32 %%thread, %%tid.x;
    mov.u64 %%start, %%globaltimer;
again:
    mov.u64 %%now, %%globaltimer;
    sub.u64 %%left, %%now, %%start;
    setp.lt.u64 %%p, %%left, %%want;
    @%%p bra again;
    setp.ne.u32 %%other, %%thread, 0;
    @%%other bra done;
    st.global.u64 [%%at], %%start;
    st.global.u64 [%%at+8], %%now;
done:
    ret;
}
'''
# Writes the timer's next 256 different values.
STEPS = '''
.visible .entry %s(.param .u64 duration, .param .u64 out)
{
    .reg .pred %%p;
    .reg .u64 %%last, %%now, %%at, %%end;
    ld.param.u64 %%at, [out];
    add.u64 %%end, %%at, 2048;
    mov.u64 %%last, %%globaltimer;
again:
    mov.u64 %%now, %%globaltimer;
    setp.eq.u64 %%p, %%now, %%last;
    @%%p bra again;
    st.global.u64 [%%at], %%now;
    mov.u64 %%last, %%now;
    add.u64 %%at, %%at, 8;
    setp.lt.u64 %%p, %%at, %%end;
    @%%p bra again;
    ret;
}
'''
ROOM = 4096          # stamps that fit
now = time.time_ns   # CLOCK_REALTIME


class Program:
    def __init__(self, quick):
        self.dev, self.drv = gpudev.Device(0), gpudev.driver()
        self.simulated, self.quick = gpudev.simulated(), quick
        self.stamps = self.dev.malloc(16 * ROOM)
        self.host = self.dev.host_alloc(16 * ROOM)
        self.sections, self.clocks, self.functions, self.used = {}, [], {}, 0
        self.timestamp = cupti_timestamp()
        self.a, self.b = gpudev.Stream(self.dev), gpudev.Stream(self.dev)

    def count(self, n):
        return max(4, n // 8) if self.quick else n

    def function(self, name, text=STAMPED):
        if name not in self.functions:
            module, fn = P(), P()
            image = (gpudev.PTX_HEAD + text % name).encode() + b'\0'
            self.drv.cuModuleLoadData(ctypes.byref(module), image)
            self.drv.cuModuleGetFunction(ctypes.byref(fn), module, name.encode())
            self.functions[name] = fn
            self.raw_launch(fn, 1000, 0, self.a, 1)   # loading happens at the first launch
            self.a.synchronize()
        return self.functions[name]

    def raw_launch(self, fn, ns, slot, stream, threads=32):
        duration, at = U64(int(ns)), U64(self.stamps + 16 * slot)
        args = (P * 3)(ctypes.addressof(duration), ctypes.addressof(at), None)
        before = now()
        self.drv.cuLaunchKernel(fn, 1, 1, 1, threads, 1, 1, 0, stream.handle, args, None)
        return before, now()

    def kernel(self, fn, ns, stream):
        """[before, after, wanted, slot of its stamps]"""
        slot, self.used = self.used, self.used + 1
        return [*self.raw_launch(fn, ns, slot, stream), int(ns), slot]

    def block(self, ms, *streams):
        """Holds streams back, so that what is launched meanwhile runs without a break."""
        for s in streams:
            s.kernel(ms * 1_000_000, 'blocker')

    def read(self, ops):
        """Puts the device's stamps into the ops in the place of their slots."""
        self.dev.d2h(self.host, self.stamps, 16 * ROOM, self.a)
        self.a.synchronize()
        values = (U64 * (2 * ROOM)).from_address(self.host)
        for op in ops:
            slot = op.pop()
            op += [None, None] if self.simulated else [values[2 * slot], values[2 * slot + 1]]
        self.used = 0

    def clock(self):
        """Both clocks beside the host's, the tightest of several readings each."""
        def tightest(read):
            rows = [(now(), read(), now()) for _ in range(200)]
            return list(min(rows, key=lambda r: r[2] - r[0]))
        cupti = tightest(self.timestamp) if self.timestamp else [0, None, 0]
        mono = [(time.monotonic_ns(), now(), time.monotonic_ns()) for _ in range(200)]
        self.clocks.append(cupti + list(min(mono, key=lambda r: r[2] - r[0])))

    def section(self, name, **data):
        self.sections[name] = data
        self.clock()

    # ---- the sections ----

    def timer(self):
        fn = self.function('timer_steps', STEPS)
        self.raw_launch(fn, 1000, 0, self.a, 1)
        self.dev.d2h(self.host, self.stamps, 2048, self.a)
        self.a.synchronize()
        values = (U64 * 256).from_address(self.host)
        return [] if self.simulated else [y - x for x, y in zip(values, values[1:])]

    def chain(self, name, ns, n):
        """Kernels of one length, one behind the other."""
        fn = self.function(name)
        self.block(20, self.a)
        ops = [self.kernel(fn, ns, self.a) for _ in range(self.count(n))]
        self.a.synchronize()
        synced = now()
        self.read(ops)
        self.section(name, ops=ops, synced=synced)

    def streams(self):
        """Two streams at once, kernels of drawn lengths."""
        draw, fns = random.Random(1), [self.function('left'), self.function('right')]
        self.block(20, self.a, self.b)
        ops = [[], []]
        for _ in range(self.count(150)):
            for i, s in enumerate((self.a, self.b)):
                ops[i].append(self.kernel(fns[i], draw.randrange(30_000, 300_000), s))
        self.a.synchronize()
        self.b.synchronize()
        synced = now()
        self.read(ops[0] + ops[1])
        for name, some in zip(('left', 'right'), ops):
            self.section(name, ops=some, synced=synced)

    def ladder(self, name, n, step):
        """Operations with an event between each two."""
        n = self.count(n)
        events = [gpudev.Event() for _ in range(n + 1)]
        self.block(20, self.a)
        ops = []
        self.a.record(events[0])
        for i in range(n):
            ops.append(step())
            self.a.record(events[i + 1])
        self.a.synchronize()
        synced = now()
        if len(ops[0]) == 4:
            self.read(ops)
        self.section(name, ops=ops, synced=synced,
                     events_ms=[x.elapsed_ms(y) for x, y in zip(events, events[1:])])

    def call(self, fn, *args):
        before = now()
        fn(*args)
        return [before, now(), 0, None, None]

    def ladders(self):
        fn = self.function('paired')
        self.ladder('paired', 60, lambda: self.kernel(fn, 500_000, self.a))
        size = (16 << 20) if self.quick else (64 << 20)
        x, y, host = self.dev.malloc(size), self.dev.malloc(size), self.dev.host_alloc(size)
        for name, copy in (('h2d', lambda: self.dev.h2d(x, host, size, self.a)),
                           ('d2h', lambda: self.dev.d2h(host, x, size, self.a)),
                           ('d2d', lambda: self.dev.d2d(y, x, size, self.a)),
                           ('memset', lambda: self.dev.memset(x, 1, size, self.a))):
            copy()
            self.a.synchronize()
            self.ladder(name, 12, lambda: self.call(copy))
        self.dev.host_free(host)

    def graphs(self):
        """Launches of a graph of ten kernels: in a ladder, then alone with their stamps."""
        fn = self.function('node')
        graph = gpudev.Graph(self.a, lambda s: [self.raw_launch(fn, 50_000, i, s)
                                                for i in range(10)])
        graph.launch(self.a)
        self.a.synchronize()
        self.ladder('graph', 40, lambda: self.call(graph.launch, self.a))
        ops, synced = [], []
        for _ in range(self.count(60)):
            op = self.call(graph.launch, self.a)
            self.a.synchronize()
            synced.append(now())
            rows = [[0, 0, 0, i] for i in range(10)]
            self.read(rows)
            op[2:] = [500_000, rows[0][3], rows[-1][4]]
            ops.append(op)
        self.section('graph alone', ops=ops, synced=synced)

    def lone(self):
        """Launches onto an idle device."""
        fn, ops, synced = self.function('lone'), [], []
        for _ in range(self.count(400)):
            ops.append(self.kernel(fn, 20_000, self.a))
            self.a.synchronize()
            synced.append(now())
        self.read(ops)
        self.section('lone', ops=ops, synced=synced)

    def play(self):
        self.clock()
        steps = self.timer()
        for ns, n in ((20_000, 400), (200_000, 300), (2_000_000, 150)):
            self.chain(f'chain_{ns // 1000}us', ns, n)
        self.streams()
        self.ladders()
        self.graphs()
        self.lone()
        self.dev.synchronize()
        return dict(simulated=self.simulated, timer_steps=steps, sections=self.sections,
                    clocks=self.clocks)


def cupti_timestamp():
    """cuptiGetTimestamp of the libcupti that is in the process; None: there is none."""
    gpudev.driver()
    with open('/proc/self/maps') as f:
        paths = {line.split(None, 5)[5].strip() for line in f if 'libcupti.so' in line}
    if not paths:
        return None
    get, value = ctypes.CDLL(min(paths)).cuptiGetTimestamp, U64()
    get.argtypes, at = [P], ctypes.addressof(value)

    def read():
        get(at)
        return value.value
    return read


def main():
    with open(sys.argv[1], 'w') as f:
        json.dump(Program('--quick' in sys.argv[2:]).play(), f)


if __name__ == '__main__':
    main()
