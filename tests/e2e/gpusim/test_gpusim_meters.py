#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=240
"""What an H100 said when tests/gpu/probe asked it, and what the simulated GPU says: GPM's values, the
driver's ring of samples, rows by process; what CUPTI refuses, and with which word; what it costs."""
import json
import os
import sys
import unittest

import test_gpusim

# Without a context yet; gpu() makes one, and a stream.
HEAD = f'''
import sys, time, os; sys.path.insert(0, {test_gpusim.WORK!r}); from gpudev import *
c, ref = ctypes, ctypes.byref
MS = 1_000_000
n = c.CDLL('libnvidia-ml.so.1'); assert n.nvmlInit_v2() == 0
h = P(); assert n.nvmlDeviceGetHandleByIndex_v2(0, ref(h)) == 0
def gpu():
    global d, s
    d = Device(0); s = Stream(d)
def launch(ns, blocks=132, threads=32):
    s.ns.value = int(ns)
    s.launch(d.function('spin'), blocks, 1, 1, threads, 1, 1, 0, s.handle, s.args, None)
class Metric(c.Structure): _fields_ = [('id', UINT), ('rc', INT), ('value', c.c_double), ('text', P * 3)]
IDS = (1, 2, 3, 5, 174, 248, 249, 170, 300)
class Metrics(c.Structure):
    _fields_ = [('version', UINT), ('count', UINT), ('a', P), ('b', P), ('metric', Metric * len(IDS))]
def taken():
    """A sample of now."""
    sample = P(); assert n.nvmlGpmSampleAlloc(ref(sample)) == 0
    assert n.nvmlGpmSampleGet(h, sample) == 0
    return sample
def values(a, b):
    m = Metrics(version=1, count=len(IDS), a=a, b=b)
    for i, id in enumerate(IDS): m.metric[i].id = id
    assert n.nvmlGpmMetricsGet(ref(m)) == 0
    return {{x.id: x.value if not x.rc else f'error {{x.rc}}' for x in m.metric}}
def between(ns=60 * MS):
    a = taken(); time.sleep(ns / 1e9)
    return values(a, taken())
'''


class Meters(test_gpusim.Case):
    def program(self, text, **env):
        env.setdefault('GPUSIM_GPM_REFRESH_MS', 20)
        return self.run_sim([sys.executable, '-c', HEAD + text], **env)

    def test_gpm_of_an_idle_device(self):
        self.program('''
v = between(); assert v[1] == v[2] == v[3] == 0, v
gpu(); time.sleep(.1); v = between()
assert abs(v[1] - 0.005) < 1e-9 and v[2] == v[3] == 0, v
''')

    def test_gpm_of_a_busy_one(self):
        """A kernel that outlasts the windows: id 1 tells that it runs, id 2 on how many multiprocessors,
        id 3 with how many of the warps that fit."""
        for blocks, threads, sms, warps in ((132, 32, 1, 1 / 64), (1, 32, 1 / 132, 1 / 132 / 64), (66, 1024, 1 / 2, 1 / 4),
                                            (1000000, 1024, 1, 1), (1000000, 32, 1, 1 / 2)):
            self.program(f'''
gpu(); launch(7e9, {blocks}, {threads}); time.sleep(.1); v = between()
assert v[1] == 100, v
assert abs(v[2] - {100 * sms}) < 0.001 and abs(v[3] - {100 * warps}) < 0.001, v
assert v[5] == v[174] == 0, v
os._exit(0)
''')

    def test_gpm_ids(self):
        """A driver 580 refuses the cycles of newer ones, each for itself; 170 the model lacks."""
        self.program('''
gpu(); v = between(); assert [v[i] for i in IDS[5:]] == ['error 2', 'error 2', 'error 3', 'error 2'], v
''')
        self.program('''
gpu(); launch(7e9); time.sleep(.1); a, b = between(), between()
cycles = [b[i] - a[i] for i in (248, 249)]; assert abs(cycles[0] - cycles[1]) < 1 < cycles[0], (a, b)
os._exit(0)
''', GPUSIM_GPM='cycles')

    def test_gpm_around_a_kernel(self):
        """The engine is busy for some 2 us more than a kernel runs; the multiprocessors are not."""
        self.program('''
gpu(); a = taken()
for i in range(10): launch(5 * MS); s.synchronize()
time.sleep(.1); v = values(a, taken())
more = v[1] - 0.005 - v[2]; one = v[2] / 50 * 0.0023
assert 9.5 * one < more < 10.5 * one, (v, more, one)
''')

    def test_gpm_changes_each_100_ms(self):
        self.program('''
gpu(); a = taken(); time.sleep(.2); launch(7e9); seen, begin = set(), time.monotonic()
while time.monotonic() < begin + 1: seen.add(values(a, taken())[2])
changes = (time.monotonic() - begin) / .1
assert 2 < len(seen) <= changes + 2, (len(seen), changes)
os._exit(0)
''', GPUSIM_GPM_REFRESH_MS='')

    SAMPLES = '''
class Sample(c.Structure): _fields_ = [('us', U64), ('value', U64)]
def ring(since=0, room=512):
    kind, k, l = INT(), UINT(room), (Sample * 512)()
    rc = n.nvmlDeviceGetSamples(h, 1, U64(since), ref(kind), ref(k), l if room else None)
    return rc, k.value, [(x.us, x.value & 0xffffffff) for x in l[:k.value]] if room else []
'''

    def test_samples(self):
        """14 seconds of them, each of 200 ms, also of what was long ago."""
        self.program(self.SAMPLES + '''
gpu(); launch(1e9); s.synchronize(); time.sleep(2)
rc, count, l = ring(); assert (rc, count) == (0, 71), (rc, count)
assert {b[0] - a[0] for a, b in zip(l, l[1:])} == {200_000}
assert 0 <= time.time() * 1e6 - l[-1][0] < 10e6
assert 495 <= sum(x[1] for x in l) <= 505, l
assert sum(x[1] == 100 for x in l) >= 3, l
assert ring(room=0)[:2] == (0, 71)
assert ring(room=70)[0] == 7
assert ring(l[60][0])[2][:10] == l[61:]
assert ring(l[-1][0] + 60_000_000)[0] == 6
''')

    def test_rows_by_process(self):
        """A list for 64 rows was refused; the count says what there must be room for."""
        self.program('''
class Row(c.Structure): _fields_ = [('us', U64)] + [(x, UINT) for x in 'pid sm memory enc dec jpg ofa'.split()]
class Use(c.Structure): _fields_ = [('version', UINT), ('count', UINT), ('since', U64), ('list', P)]
def ask(room):
    l = (Row * 512)()
    u = Use(24 | 1 << 24, room, 0, c.addressof(l) if room else None)
    return n.nvmlDeviceGetProcessesUtilizationInfo(h, ref(u)), u.count, l
gpu(); launch(7e9); time.sleep(.5)
for room in (0, 64):
    rc, count, _ = ask(room); assert rc == 7 and count > 64, (rc, count)
rc, rows, l = ask(count)
assert (rc, rows, l[0].pid, l[0].sm) == (0, 1, os.getpid(), 100), (rc, rows, l[0].pid, l[0].sm)
os._exit(0)
''')

    def test_kinds_that_a_version_lacks(self):
        """14 for those that came later, as for 56 to 59 in 13.0."""
        for version, known in (('13', []), ('13.1', [56, 57, 58])):
            self.program(f'cupti = c.CDLL("libcupti.so.13"); known = {known}' + """
for kind in (56, 57, 58, 59, 60, 63, 64, 1000, 0, -1):
    want = 0 if kind in known else 14
    assert cupti.cuptiActivityEnable(kind) == want, kind
    assert cupti.cuptiActivityDisable(kind) == want, kind
assert cupti.cuptiActivityEnable(14) == 21  # CUPTI has it, the model does not
""", GPUSIM_CUPTI=version)

    def test_tracing_by_hardware(self):
        """15 where nothing has initialised the driver yet, then refused."""
        self.program("""
cupti = c.CDLL('libcupti.so.13'); on, off = c.c_uint8(1), c.c_uint8(0)
assert cupti.cuptiActivityEnableHWTrace(on) == 15
gpu()
assert cupti.cuptiActivityEnableHWTrace(on) == 27 and cupti.cuptiActivityEnableHWTrace(off) == 0
""")

    def test_costs(self):
        """Each part of a launch's cost by itself, in milliseconds: no less by the clock, and, whoever else
        wants the CPU, hardly more of the thread's own time."""
        self.program("""
cupti = c.CDLL('libcupti.so.13'); gpu(); N = 8
FN = c.CFUNCTYPE(None, P, P, P); none = FN(lambda a, b, d: None)
event, subscriber = P(), P()
def cost(want, what, do=lambda: launch(1000)):
    s.synchronize(); wall, cpu = time.monotonic(), time.thread_time()
    for _ in range(N): do()
    wall, cpu = (time.monotonic() - wall) * 1e3 / N, (time.thread_time() - cpu) * 1e3 / N
    assert wall >= want and cpu < want + .7, (what, want, wall, cpu)
def on(*kinds): assert not any(map(cupti.cuptiActivityEnable, kinds)), kinds
def off(*kinds): assert not any(map(cupti.cuptiActivityDisable, kinds)), kinds
cost(0, 'no libcupti')
assert cupti.cuptiActivityRegisterCallbacks(none, none) == 0
cost(1, 'loaded')
on(1, 2, 22, 38, 51); cost(1 + 3, 'other kinds'); off(1, 2, 22, 51); cost(1 + 3, 'waits alone'); off(38)
on(4, 5, 36); cost(1, 'calls and events')
driver().cuEventCreate(ref(event), 0); record = lambda: driver().cuEventRecord(event, s.handle)
cost(0, 'an event', record)
assert cupti.cuptiActivityEnableCudaEventDeviceTimestamps(c.c_uint8(1)) == 0
cost(6, 'an event with a stamp', record)
off(4, 5, 36); cost(1, 'off again')
on(10); cost(1 + 4, 'kernels'); on(1); cost(1 + 4, 'all'); off(10); cost(1 + 3, 'kernels off')
off(1); cost(1 + 2, 'off again'); assert cupti.cuptiActivityFlushAll(1) == 0; cost(1 + 2, 'flushed')
assert cupti.cuptiSubscribe(ref(subscriber), none, None) == 0; cost(1 + 2, 'subscribed')
assert cupti.cuptiEnableCallback(1, subscriber, 1, 307) == 0; cost(1 + 2 + 5, 'called back')
assert cupti.cuptiUnsubscribe(subscriber) == 0; cost(1 + 2, 'unsubscribed')
assert cupti.cuptiFinalize() == 0; cost(1, 'finalized')
""", GPUSIM_TRACE_COST='loaded=1000000,kernel=4000000,left=2000000,other=3000000,callbacks=5000000,event=6000000')

    def charged(self, body, cost):
        """What the truth file says of what each thread was charged; operations are not in it."""
        with test_gpusim.gs.scratch() as where:
            truth = os.path.join(where, 'truth')
            self.program(body, GPUSIM_TRACE_COST=cost, GPUSIM_TRUTH=truth, GPUSIM_TRUTH_OPS='0')
            with open(truth) as f:
                rows = [json.loads(line) for line in f]
        self.assertFalse([r for r in rows if ('kind' in r or 'sync' in r) and 'fault' not in r])
        return [r for r in rows if 'charged' in r]

    def test_what_was_charged(self):
        """By kind of record and thread, and no more: kernels, their calls, copies, waits; alone and in a
        graph as a whole."""
        rows = self.charged("""
cupti = c.CDLL('libcupti.so.13'); gpu(); v = driver()
FN = c.CFUNCTYPE(None, P, P, P); none = FN(lambda a, b, d: None)
def on(*kinds): assert not any(map(cupti.cuptiActivityEnable, kinds)), kinds
def off(*kinds): assert not any(map(cupti.cuptiActivityDisable, kinds)), kinds
s.synchronize(); assert cupti.cuptiActivityRegisterCallbacks(none, none) == 0
launch(1000); s.synchronize()                       # loaded
on(10); launch(1000); off(10); launch(1000)         # loaded, kernel; loaded, left
on(4); launch(1000); s.synchronize(); off(4)        # loaded, left; calls: two
on(38); s.synchronize(); off(38)                    # a wait
p = c.c_uint64(); v.cuMemAlloc_v2(ref(p), c.c_size_t(64)); host = (c.c_char * 64)()
on(1); v.cuMemcpyHtoD_v2(p, host, c.c_size_t(64)); off(1)       # a copy
v.cuMemcpyHtoD_v2(p, host, c.c_size_t(64))                      # nothing
import threading
t = threading.Thread(target=lambda: (d.use(), launch(1000))); t.start(); t.join()
""", 'loaded=1000,kernel=20000,left=3000,api=70,copy=500000,sync=6000')
        last = {r['tid']: r for r in rows}
        self.assertEqual([r['charged'] for r in last.values()], [sum(r['by'].values()) for r in last.values()])
        sums = sorted([r['by'] for r in last.values()], key=lambda by: -sum(by.values()))
        first = {'loaded': 4000, 'kernel': 20000, 'left': 6000, 'api': 140, 'copy': 500000, 'sync': 6000}
        self.assertEqual(sums, [first, {'loaded': 1000, 'left': 3000}])

    def test_graphs_are_charged_as_a_whole(self):
        """A kernel within one then costs its own part."""
        from_nodes, whole = (self.charged(f"""
cupti = c.CDLL('libcupti.so.13'); gpu(); v = driver()
FN = c.CFUNCTYPE(None, P, P, P); none = FN(lambda a, b, d: None)
assert cupti.cuptiActivityRegisterCallbacks(none, none) == 0
g, x = P(), P()
v.cuStreamBeginCapture_v2(s.handle, 0)
for _ in range(5): launch(1000)
v.cuStreamEndCapture(s.handle, ref(g))
v.cuGraphInstantiateWithFlags(ref(x), g, c.c_uint64(0))
for kind in {kinds}: assert cupti.cuptiActivityEnable(kind) == 0
for _ in range(3): v.cuGraphLaunch(x, s.handle)
""", 'h100-recovers')[-1]['by'] for kinds in ('(10,)', '(10, 51)'))
        self.assertEqual((from_nodes, whole), ({'kernel': 15 * 1560}, {'within': 15 * 112, 'graph': 3 * 5054}))


if __name__ == '__main__':
    unittest.main(verbosity=1)
