#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits first timeout=400
"""The simulated GPU (a model) keeps its promises: times, sharing, CUPTI's manners, the truth file,
faults, NVML, and scripts/with-gpusim's being invisible."""
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

SOURCE = os.environ.get('GPUSTARVE_SOURCE') or os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
BUILD = os.environ.get('GPUSTARVE_BUILD') or os.path.join(SOURCE, 'build')
WITH = os.path.join(SOURCE, 'scripts', 'with-gpusim')
SIM = os.path.join(BUILD, 'gpusim')
WORK = os.path.join(SOURCE, 'tests', 'workloads')
sys.path.insert(0, os.path.join(SOURCE, 'tests', 'gpusim', 'test'))
import truth_check  # noqa: E402

MS = 1_000_000
ALL = '1,2,4,5,10,22,38,51'
SLOW = 1000 * MS  # what a busy machine may add to a moment of the host


def workload(name):
    return os.path.join(BUILD, 'workloads', name)


def python(text):
    """A program over gpudev; d is device 0, s a stream of it."""
    head = (f'import sys, time, os; sys.path.insert(0, {WORK!r}); from gpudev import *\n'
            'd = Device(0); s = Stream(d)\n')
    return [sys.executable, '-c', head + text]


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def env(self, **more):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(('GPUSIM_', 'TAP_', 'CUDA_', 'CUPTI_', 'RANK', 'LD_'))}
        env.update(GPUSTARVE_BUILD=BUILD, GPUSIM_TRUTH=self.path('truth'), TAP_OUT=self.path('tap'))
        env.update({k: str(v) for k, v in more.items()})
        return env

    def start(self, command, tap=False, **env):
        if tap:
            env.setdefault('TAP_KINDS', ALL)
            env['CUDA_INJECTION64_PATH'] = os.path.join(SIM, 'gpusim-tap.so')
        for name in os.listdir(self.dir.name):
            if not env.get('GPUSIM_SHM'):
                os.remove(self.path(name))
        return subprocess.Popen([WITH] + command, env=self.env(**env), cwd=self.dir.name, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_sim(self, command, tap=False, status=0, **env):
        p = self.start(command, tap, **env)
        out, err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, status, err)
        return out

    def truth(self, kind=None):
        return [r for r in truth_check.lines(self.path('truth'))
                if kind is None or (r.get('kind') == kind and 'fault' not in r)]

    def faults(self, name):
        return [r for r in truth_check.lines(self.path('truth')) if r.get('fault') == name]

    def taps(self):
        return [self.path(n) for n in sorted(os.listdir(self.dir.name)) if n.startswith('tap.')]

    def tap(self, kind=None):
        rows = [r for p in self.taps() for r in truth_check.lines(p)]
        return [r for r in rows if kind is None or r.get('kind') == kind]


class Wrapper(Case):
    """scripts/with-gpusim becomes the command."""

    def test_status_and_output(self):
        self.assertEqual(self.run_sim(['sh', '-c', 'echo out; exit 3'], status=3), 'out\n')
        self.run_sim(['/nonexistent/command'], status=127)

    def test_same_process(self):
        p = self.start(['sh', '-c', 'echo $$'])
        self.assertEqual(int(p.communicate()[0]), p.pid)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            p = self.start(['sleep', '60'])
            # Before that it is a shell, whose end would look the same.
            self.assertTrue(gs.until('it is the command', lambda: self.name_of(p.pid) == 'sleep'))
            p.send_signal(number)
            p.communicate(timeout=120)
            self.assertEqual(p.returncode, -number)

    def name_of(self, pid):
        with open(f'/proc/{pid}/comm') as f:
            return f.read().strip()

    def test_no_child_left_to_wait_for(self):
        out = self.run_sim([sys.executable, '-c', '''
import os
try:
    os.wait(); print('a child')
except ChildProcessError:
    print('none')'''])
        self.assertEqual(out, 'none\n')

    def test_segment_is_removed(self):
        name = self.run_sim(python('d.synchronize(); print(os.environ["GPUSIM_SHM"])')).strip()
        self.assertTrue(gs.until('the segment is removed', lambda: not os.path.exists(name)))

    def test_only_one_cupti(self):
        for version, soname in (('13', '13'), ('12.6', '12'), ('12.4', '12'), ('11.8', '11.8')):
            out = self.run_sim([sys.executable, '-c', f'''
import ctypes
v = ctypes.c_uint()
ctypes.CDLL('libcupti.so.{soname}').cuptiGetVersion(ctypes.byref(v)); print(v.value)
for other in ('13', '12', '11.8'):
    if other == '{soname}': continue
    try:
        ctypes.CDLL('libcupti.so.' + other); print('found', other)
    except OSError: pass'''], GPUSIM_CUPTI=version)
            self.assertEqual(out.split(), [{'13': '130001', '12.6': '24', '12.4': '22', '11.8': '18'}[version]])


class Times(Case):
    def follows(self, after, before, gap):
        """As soon as the model allows; later only if the program itself was held up in between."""
        self.assertGreaterEqual(after['start_ns'], before['end_ns'] + gap)
        self.assertLess(after['start_ns'], before['end_ns'] + gap + SLOW)

    def test_one_stream(self):
        self.run_sim(python('for i in range(20): s.kernel(1_000_000, f"k{i}")\ns.synchronize()'))
        ops = self.truth('kernel')
        self.assertEqual([o['name'] for o in ops], [f'k{i}' for i in range(20)])
        for o in ops:
            self.assertEqual(o['end_ns'] - o['start_ns'], MS)
            self.assertGreaterEqual(o['start_ns'], o['launch_ns'] + 5000)
        for a, b in zip(ops, ops[1:]):
            if b['launch_ns'] + 100_000 < a['end_ns']:
                self.assertEqual(b['start_ns'] - a['end_ns'], 1200)

    def test_wait_for_event(self):
        self.run_sim(python('b = Stream(d); s.kernel(2_000_000_000, "a"); e = s.record(); b.wait(e)\n'
                            'b.kernel(1_000_000, "b"); b.synchronize()'))
        a, b = self.truth('kernel')
        self.assertEqual(b['start_ns'], a['end_ns'] + 1200)
        wait, = [r for r in self.truth() if r.get('sync') == 'wait']
        self.assertEqual((wait['stream'], wait['pid']), (b['stream'], b['pid']))

    def test_synchronise_returns_then(self):
        out = self.run_sim(python('s.kernel(50_000_000); s.synchronize(); print(time.time_ns())'))
        end = self.truth('kernel')[0]['end_ns']
        self.assertGreaterEqual(int(out), end)
        self.assertLess(int(out), end + SLOW)

    def at_once(self, limit):
        self.run_sim(python('t = [Stream(d) for i in range(4)]\n'
                            'for i in range(40): t[i % 4].kernel(1_000_000)\nd.synchronize()'),
                     GPUSIM_CONCURRENCY=limit)
        edges = sorted(e for o in self.truth('kernel')
                       for e in ((o['start_ns'], 1), (o['end_ns'], -1)))
        most = n = 0
        for _, step in edges:
            n += step
            most = max(most, n)
        return most

    def test_concurrency(self):
        for limit in (1, 2, 4):
            self.assertEqual(self.at_once(limit), limit)

    def test_legacy_stream(self):
        self.run_sim(python('b = Stream(d, blocking=True); b.kernel(2_000_000_000, "1"); d.default.kernel(2_000_000, "2")\n'
                            'b.kernel(1_000_000, "3"); s.kernel(1_000_000, "free"); d.synchronize()'))
        one, two, three, free = self.truth('kernel')
        self.assertGreaterEqual(two['start_ns'], one['end_ns'])
        self.assertGreaterEqual(three['start_ns'], two['end_ns'])
        self.assertLess(free['start_ns'], one['end_ns'])

    def test_copies(self):
        self.run_sim(python('buf = d.malloc(1 << 26); pin = d.host_alloc(1 << 26); page = bytearray(1 << 23)\n'
                            'd.h2d(buf, pin, 1 << 26, s); d.d2h(pin, buf, 1 << 26, s); d.d2d(buf, buf, 1 << 26, s)\n'
                            'd.memset(buf, 7, 1 << 20, s); s.synchronize()\n'
                            'd.h2d(buf, page, 1 << 23, s); d.h2d(buf, page, 1000, s); d.d2h(page, buf, 1 << 20, s)'),
                     GPUSIM_TRUTH_API=1)
        ops = [(o['copy'], o['src'], o['dst'], o['bytes'], o['end_ns'] - o['start_ns'])
               for o in self.truth('memcpy')]
        time_of = lambda n, rate: 1000 + int(n / rate)  # noqa: E731
        self.assertEqual(ops, [('h2d', 'pinned', 'device', 1 << 26, time_of(1 << 26, 50)),
                               ('d2h', 'device', 'pinned', 1 << 26, time_of(1 << 26, 50)),
                               ('d2d', 'device', 'device', 1 << 26, time_of(1 << 26, 1200)),
                               ('h2d', 'pageable', 'device', 1 << 23, time_of(1 << 23, 5)),
                               ('h2d', 'pageable', 'device', 1000, time_of(1000, 50)),
                               ('d2h', 'device', 'pageable', 1 << 20, time_of(1 << 20, 5))])
        calls = {c['call']: c for c in self.truth() if 'api' in c}
        big, small, back = self.truth('memcpy')[3:]
        self.assertGreaterEqual(calls[big['call']]['end_ns'], big['end_ns'])
        self.assertLess(calls[small['call']]['end_ns'], small['end_ns'] + SLOW)
        self.assertGreaterEqual(calls[back['call']]['end_ns'], back['end_ns'])

    def test_copies_overlap_kernels(self):
        self.run_sim(python('buf = d.malloc(1 << 26); pin = d.host_alloc(1 << 26); b = Stream(d)\n'
                            's.kernel(2_000_000_000); d.h2d(buf, pin, 1 << 26, b); d.synchronize()'))
        kernel, copy = self.truth('kernel')[0], self.truth('memcpy')[0]
        self.assertLess(copy['start_ns'], kernel['end_ns'])

    def test_host_function(self):
        self.run_sim(python('ran = []\ns.kernel(5_000_000, "1"); s.host(lambda: (time.sleep(.03), ran.append(1)))\n'
                            's.kernel(1_000_000, "2"); e = s.record(); b = Stream(d); b.wait(e); b.kernel(1_000_000, "3")\n'
                            'd.synchronize(); assert ran == [1]'))
        one, two, three = sorted(self.truth('kernel'), key=lambda o: o['name'])
        host, = self.truth('host')
        self.assertGreaterEqual(host['start_ns'], one['end_ns'])
        self.assertGreaterEqual(host['end_ns'] - host['start_ns'], 30 * MS)
        self.assertGreaterEqual(two['start_ns'], host['end_ns'])
        self.assertGreaterEqual(three['start_ns'], two['end_ns'])

    def test_queue_depth(self):
        out = self.run_sim(python('t = time.time()\nfor i in range(9): s.kernel(30_000_000)\nprint(time.time() - t)'),
                           GPUSIM_QUEUE=4)
        self.assertGreaterEqual(float(out), 0.14)

    def test_events_measure(self):
        out = self.run_sim(python('a = s.record(); s.kernel(700_000_000); b = s.record()\n'
                                  'assert not b.done(); b.synchronize(); print(a.elapsed_ms(b))'))
        self.assertGreater(float(out), 699)

    def test_graph(self):
        self.run_sim(python('g = Graph(s, lambda t: [t.kernel(500_000, f"n{i}") for i in range(5)])\n'
                            'h = Graph(s, lambda t: (t.host(lambda: time.sleep(.02)), t.kernel(400_000, "late")))\n'
                            'g.launch(s); g.launch(s); h.launch(s); s.synchronize()'))
        graphs = sorted(self.truth('graph'), key=lambda g: g['start_ns'])
        nodes = self.truth('kernel')
        self.assertEqual(len(graphs), 3)
        for g in graphs:
            mine = sorted((n for n in nodes if n['call'] == g['call']), key=lambda n: n['start_ns'])
            self.assertEqual((g['start_ns'], g['end_ns']), (mine[0]['start_ns'], mine[-1]['end_ns']))
            self.assertEqual({n['graph'] for n in mine}, {g['graph']})
            for a, b in zip(mine, mine[1:]):
                self.follows(b, a, 130)
        self.assertGreaterEqual(graphs[1]['start_ns'], graphs[0]['end_ns'])
        self.assertGreaterEqual(graphs[2]['start_ns'], graphs[1]['end_ns'] + 20 * MS)

    BY_HAND = '''
class Kernel(ctypes.Structure): _fields_ = [('fn', P), ('dims', UINT * 7), ('params', P), ('extra', P)]
class Copy(ctypes.Structure): _fields_ = [
    ('sx', SIZE), ('sy', SIZE), ('sz', SIZE), ('sl', SIZE), ('stype', UINT), ('shost', P), ('sdev', U64), ('sarr', P), ('r0', P), ('sp', SIZE), ('sh', SIZE),
    ('dx', SIZE), ('dy', SIZE), ('dz', SIZE), ('dl', SIZE), ('dtype', UINT), ('dhost', P), ('ddev', U64), ('darr', P), ('r1', P), ('dp', SIZE), ('dh', SIZE),
    ('width', SIZE), ('height', SIZE), ('depth', SIZE)]
class Fill(ctypes.Structure): _fields_ = [('dst', U64), ('pitch', SIZE), ('value', UINT), ('element', UINT), ('width', SIZE), ('height', SIZE)]
class Host(ctypes.Structure): _fields_ = [('fn', HOST_FN), ('data', P)]
c, ns, args = driver(), U64(300_000), (P * 1)()
args[0] = ctypes.addressof(ns)
g, x, buf, pin = P(), P(), d.malloc(1 << 20), d.host_alloc(1 << 20)
c.cuGraphCreate(ctypes.byref(g), 0)
def deps(*nodes): return (P * len(nodes))(*nodes), SIZE(len(nodes))
one, two, copy, fill, host, end = (P() for i in range(6))
k = Kernel(d.function('by_hand'), (UINT * 7)(1, 1, 1, 32, 1, 1, 0), ctypes.cast(args, P), None)
c.cuGraphAddMemcpyNode(ctypes.byref(copy), g, *deps(), ctypes.byref(Copy(stype=1, shost=pin, dtype=2, ddev=buf, width=1 << 20, height=1, depth=1)), d.ctx)
c.cuGraphAddKernelNode(ctypes.byref(one), g, *deps(copy), ctypes.byref(k))
c.cuGraphAddKernelNode(ctypes.byref(two), g, *deps(copy), ctypes.byref(k))
c.cuGraphAddMemsetNode(ctypes.byref(fill), g, *deps(one, two), ctypes.byref(Fill(dst=buf, element=4, width=1000, height=1)), d.ctx)
ran = []; fn = HOST_FN(lambda _: ran.append(1))
c.cuGraphAddHostNode(ctypes.byref(host), g, *deps(fill), ctypes.byref(Host(fn, None)))
c.cuGraphAddKernelNode(ctypes.byref(end), g, *deps(host), ctypes.byref(k))
c.cuGraphInstantiateWithFlags(ctypes.byref(x), g, U64(0))
for i in range(3): c.cuGraphLaunch(x, s.handle)
s.synchronize(); assert ran == [1] * 3
c.cuGraphExecDestroy(x); c.cuGraphDestroy(g)
'''

    def test_graph_by_hand(self):
        self.run_sim(python(self.BY_HAND), tap=True)
        truth_check.main([self.path('truth')] + self.taps())
        graphs = self.truth('graph')
        self.assertEqual(len(graphs), 3)
        for g in graphs:
            mine = [o for o in self.truth() if o.get('call') == g['call'] and 'kind' in o and o['kind'] != 'graph']
            by = {k: sorted((o for o in mine if o['kind'] == k), key=lambda o: o['start_ns'])
                  for k in ('memcpy', 'kernel', 'memset', 'host')}
            one, two, end = by['kernel']
            copy, fill, host = by['memcpy'][0], by['memset'][0], by['host'][0]
            self.assertEqual((copy['bytes'], copy['src'], fill['bytes']), (1 << 20, 'pinned', 4000))
            self.follows(one, copy, 130)
            self.follows(two, copy, 130)
            self.assertGreaterEqual(fill['start_ns'], two['end_ns'])
            self.assertGreaterEqual(host['start_ns'], fill['end_ns'])
            self.assertGreaterEqual(end['start_ns'], host['end_ns'])
            self.assertEqual((g['start_ns'], g['end_ns']), (copy['start_ns'], end['end_ns']))

    def test_streams_join_a_capture(self):
        self.run_sim(python('''
b = Stream(d)
def work(t):
    t.kernel(200_000, "root"); b.wait(t.record()); b.kernel(300_000, "side"); t.kernel(100_000, "main")
    t.wait(b.record()); t.kernel(50_000, "last")
g = Graph(s, work); g.launch(s); s.synchronize(); b.kernel(10_000, "after"); b.synchronize()'''))
        o = {k['name']: k for k in self.truth('kernel')}
        self.follows(o['side'], o['root'], 130)
        self.follows(o['main'], o['root'], 130)
        self.follows(o['last'], o['side'], 130)
        self.assertNotIn('graph', o['after'])

    def test_names_of_entry_points(self):
        self.run_sim(python('''
c, p, t = driver(), P(), ctypes.c_char_p()
for name in ("cuMemAlloc", "cuLaunchKernel", "cuMemcpyHtoDAsync", "cuGraphLaunch"):
    c.cuGetProcAddress_v2(name.encode(), ctypes.byref(p), 12000, U64(0), None); assert p.value
assert c.lib.cuGetProcAddress_v2(b"cuNoSuchThing", ctypes.byref(p), 12000, U64(0), None) == 500 and not p.value
c.cuGetErrorName(2, ctypes.byref(t)); assert t.value == b"CUDA_ERROR_OUT_OF_MEMORY"'''))

    def test_data_moves_if_asked(self):
        self.run_sim(python('a = d.malloc(64); x = bytearray(b"weights!" * 8); y = bytearray(64)\n'
                            'd.h2d(a, x, 64); d.d2h(y, a, 64); assert x == y, y'), GPUSIM_DATA=1)

    def test_memory_runs_out(self):
        self.run_sim(python('p = d.malloc(900 << 20); f, t = d.memory(); assert t == 1 << 30 and f == t - (900 << 20)\n'
                            'try: d.malloc(200 << 20); assert 0\n'
                            'except CudaError as e: assert e.code == 2\n'
                            'd.free(p); assert d.memory()[0] == 1 << 30'), GPUSIM_MEMORY='1G')


class Sharing(Case):
    def test_time_sliced(self):
        self.run_sim([workload('mixloop'), '--processes=3', '--devices=1', '--ops=4000', '--min-ns=20000', '--max-ns=60000'])
        ops = [o for o in self.truth() if o.get('kind') in truth_check.OPS]
        self.assertEqual(len({o['pid'] for o in ops}), 3)
        truth_check.check_streams(ops)
        truth_check.check_sharing(ops)
        spans = {}
        for o in ops:
            a, b = spans.get(o['pid'], (o['start_ns'], o['end_ns']))
            spans[o['pid']] = min(a, o['start_ns']), max(b, o['end_ns'])
        self.assertLess(max(a for a, _ in spans.values()), min(b for _, b in spans.values()), 'they ran one after the other')

    def test_mps_overlaps(self):
        self.run_sim([workload('mixloop'), '--processes=3', '--devices=1', '--ops=2000', '--min-ns=50000', '--max-ns=90000'],
                     GPUSIM_MPS=1)
        kernels = sorted(self.truth('kernel'), key=lambda o: o['start_ns'])
        self.assertTrue(any(a['pid'] != b['pid'] and b['start_ns'] < a['end_ns']
                            for a, b in zip(kernels, kernels[1:])))

    def test_a_death_frees_the_device(self):
        shm = self.path('shm')
        p = self.start(python('for i in range(300): s.kernel(1_000_000_000, "dead")\nprint("queued", flush=True); time.sleep(60)'),
                       GPUSIM_SHM=shm)
        self.assertEqual(p.stdout.readline(), 'queued\n')
        p.kill()
        p.communicate()
        at = time.time_ns()
        self.run_sim(python('s.kernel(1_000_000, "alive"); s.synchronize()'), GPUSIM_SHM=shm)
        alive, = [o for o in self.truth('kernel') if o['name'] == 'alive']
        self.assertLess(alive['end_ns'], at + 120_000 * MS)

    def test_collectives(self):
        self.run_sim([workload('mixloop'), '--processes=4', '--devices=4', '--ops=2000', '--collective-every=100'],
                     GPUSIM_DEVICES=4, GPUSIM_NCCL_RANKS=4)
        ranks = {}
        for o in sorted(self.truth('kernel'), key=lambda o: o['launch_ns']):
            if o['name'].startswith('nccl'):
                ranks.setdefault(o['pid'], []).append(o)
        self.assertEqual([len(v) for v in ranks.values()], [20] * 4)
        for meeting in zip(*ranks.values()):
            self.assertEqual({o['end_ns'] for o in meeting}, {max(o['start_ns'] for o in meeting) + 20000})

    def test_communicators(self):
        """Ranks 0 and 1, and 2 and 3, meet in pairs; then all four."""
        body = ("r = int(os.environ['RANK']); "
                "s.kernel(1_000_000 * (r + 1)); s.collective(20_000, 'nccl_pair', 1 + r // 2, 2); "
                "s.collective(30_000, 'nccl_all', 0, 4); s.synchronize()")
        shm = self.path('shm')
        ranks = [self.start(python(body), GPUSIM_SHM=shm, GPUSIM_DEVICES=4, GPUSIM_NCCL_PARAM=1, RANK=r,
                            CUDA_VISIBLE_DEVICES=r) for r in range(4)]
        self.assertEqual([(p.communicate(timeout=120)[1], p.returncode) for p in ranks], [('', 0)] * 4)
        at = {(o['name'], o['device']): o for o in self.truth('kernel') if o['name'] != 'spin'}
        for group in [('nccl_pair', (0, 1), 20000), ('nccl_pair', (2, 3), 20000), ('nccl_all', range(4), 30000)]:
            meeting = [at[group[0], d] for d in group[1]]
            self.assertEqual({o['end_ns'] for o in meeting}, {max(o['start_ns'] for o in meeting) + group[2]})

    def test_slow_device(self):
        body = 'for i in range(3): s.kernel(1_000_000, "work"); s.collective(500_000)\ns.synchronize()'
        for device, want in (0, 1_000_000), (1, 1_250_000):
            self.run_sim(python(body), GPUSIM_DEVICES=2, GPUSIM_SLOW='1,1.25', CUDA_VISIBLE_DEVICES=device)
            length = {(o['name'], o['end_ns'] - o['start_ns']) for o in self.truth('kernel')}
            self.assertEqual(length, {('work', want), ('ncclDevKernel_AllReduce', 500_000)})

    def test_another_host(self):
        """Name and clock of another host: records and the program's clock show it, the truth does not."""
        offset, ppb = -5_000_000_000, 50_000
        epoch = time.time_ns() - 1000 * 10**9
        body = ('before = time.time_ns(); s.kernel(2_000_000, "work"); s.synchronize(); after = time.time_ns()\n'
                'import socket, threading; a = time.monotonic(); threading.Semaphore(0).acquire(timeout=.05)\n'
                'import multiprocessing as m; m.Semaphore(0).acquire(timeout=.05)\n'
                'print(os.uname().nodename, socket.gethostname(), before, after, time.monotonic() - a)')
        out = self.run_sim(python(body), tap=True, GPUSIM_HOST='elsewhere', GPUSIM_CLOCK_OFFSET=offset,
                           GPUSIM_CLOCK_DRIFT=ppb, GPUSIM_CLOCK_EPOCH=epoch,
                           LD_PRELOAD=os.path.join(gs.plain(SIM), 'gpusim-host.so')).split()
        self.assertEqual(out[:2], ['elsewhere'] * 2)
        self.assertGreater(float(out[4]), .09, 'deadlines are met')
        work, = self.truth('kernel')
        shown = lambda t: t + offset + (t - epoch) * ppb // 10**9  # noqa: E731
        self.assertLess(abs(work['start_ns'] - time.time_ns()), 100 * 10**9)
        record, = [r for r in self.tap() if r.get('name') == 'work']
        self.assertLessEqual(abs(record['start'] - shown(work['start_ns'])), 1)
        self.assertLessEqual(abs(record['end'] - shown(work['end_ns'])), 1)
        self.assertLess(int(out[2]), record['start'])
        self.assertLess(record['end'], int(out[3]) + 1)

    def test_visible_devices(self):
        names = 'print([Device.name_of(i)[:1] + Device(i).uuid for i in range(device_count())])'
        get = lambda **env: eval(self.run_sim(python(names), GPUSIM_DEVICES=3, GPUSIM_NAME='A,B,C', **env))  # noqa: E731
        a, b, c = get()
        self.assertEqual([a[0], b[0], c[0]], ['A', 'B', 'C'])
        self.assertEqual(get(CUDA_VISIBLE_DEVICES='2,0'), [c, a])
        self.assertEqual(get(CUDA_VISIBLE_DEVICES=b[1:]), [b])
        self.assertEqual(get(CUDA_VISIBLE_DEVICES='1,7,0'), [b])
        self.run_sim([sys.executable, '-c', 'import ctypes; assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 100'],
                     CUDA_VISIBLE_DEVICES='')
        self.run_sim([sys.executable, '-c', 'import ctypes; assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 100'],
                     GPUSIM_DEVICES=0)

    def test_forks(self):
        self.assertIn('ended with 3', self.run_sim([workload('manners'), 'fork-first']))
        self.assertEqual(len(self.truth('kernel')), 20)
        self.assertIn('ended with 4', self.run_sim([workload('manners'), 'fork-after']))
        self.assertEqual(len(self.truth('kernel')), 40)
        self.run_sim([workload('manners'), 'exec-self'])
        self.assertEqual(len(self.truth('kernel')), 40)

    def test_descriptors_are_the_programs(self):
        self.run_sim([workload('manners'), 'close-all', 'ck'])
        with open(self.path('ck')) as f:
            self.assertEqual(f.read(), ''.join(f'weights {i}\n' for i in range(200)))
        self.assertEqual(len(self.truth('kernel')), 420)


class Cupti(Case):
    def check(self, *args):
        truth_check.main([self.path('truth')] + self.taps() + list(args))

    def test_records_are_the_truth(self):
        for version in ('13', '12.6', '12.4', '11.8'):
            for args in (['--processes=4', '--devices=4', '--peer=20', '--host=1', '--ops=6000'],
                         ['--processes=3', '--devices=1', '--exec', '--ops=6000']):
                with self.subTest(version=version, args=args):
                    self.run_sim([workload('mixloop')] + args, tap=True, GPUSIM_DEVICES=4, GPUSIM_CUPTI=version,
                                 GPUSIM_CORRELATION_START=4294960000)
                    self.check()

    def test_node_level(self):
        self.run_sim([workload('mixloop'), '--ops=3000', '--graph=50'], tap=True, TAP_KINDS='1,2,10,22,38')
        self.check('--node-level')

    def test_threads(self):
        self.run_sim([workload('manners'), 'threads'], tap=True)
        self.check()
        requests = {r['tid'] for r in self.tap() if 'request' in r}
        self.assertGreaterEqual(len(requests), 4)  # asked for by the launching threads
        self.run_sim([workload('manners'), 'threads'], tap=True, GPUSIM_CUPTI='12.6')
        self.check()

    def test_runtime_calls(self):
        for nested in (0, 1):
            self.run_sim([workload('mixloop'), '--ops=1000', '--runtime'], tap=True, GPUSIM_RUNTIME_NESTED=nested)
            self.check()
            outer = {r['correlation']: r for r in self.tap(5)}
            launches = [r for r in self.tap(4) if r['correlation'] in outer]
            self.assertEqual(bool(launches), bool(nested))
            for r in launches:
                o = outer[r['correlation']]
                self.assertTrue(o['start'] <= r['start'] <= r['end'] <= o['end'])

    def test_call_lines(self):
        self.run_sim([workload('mixloop'), '--ops=1000'], tap=True, GPUSIM_TRUTH_API=1)
        calls = {r['correlation']: r for r in self.truth() if 'api' in r}
        for o in self.truth('kernel'):
            self.assertEqual(calls[o['correlation']]['start_ns'], o['launch_ns'])
        want = sorted((r['cbid'], r['start_ns'], r['end_ns'], r['correlation']) for r in calls.values() if r['correlation'])
        self.assertEqual(want, sorted((r['cbid'], r['start'], r['end'], r['correlation']) for r in self.tap(4)))

    def test_correlation_ids(self):
        self.run_sim([workload('mixloop'), '--ops=300'], tap=True, GPUSIM_CORRELATION_START=4294967200)
        ids = [r['correlation'] for r in self.tap(4)]
        self.assertIn(4294967295, ids)
        self.assertIn(1, ids)
        self.assertNotIn(0, ids)
        for version, zero in (('13', False), ('12.6', True)):
            self.run_sim([workload('mixloop'), '--ops=300'], tap=True, TAP_KINDS='10', GPUSIM_CUPTI=version)
            self.assertEqual({r['correlation'] == 0 for r in self.tap(10)}, {zero})

    def test_single_calls(self):
        self.run_sim([workload('mixloop'), '--ops=300'], tap=True, TAP_KINDS='10', TAP_DRIVER='307')
        self.assertEqual({r['cbid'] for r in self.tap(4)}, {307})
        self.run_sim([workload('mixloop'), '--ops=300'], tap=True, TAP_KINDS='10', TAP_DRIVER='307', GPUSIM_CUPTI='12.4')
        self.assertEqual(self.tap(4), [])
        self.assertEqual(self.tap()[0], {'version': 22, 'per_call': 0})

    LONG = 'b = Stream(d); b.kernel(2_500_000_000, "long")\nfor i in range(20): s.kernel(100_000, "short"); time.sleep(.02)\nd.synchronize()'

    def deliveries(self):
        """(when, records) of each buffer, in order of delivery."""
        rows, out = [], []
        for r in self.tap():
            if 'buffer' in r:
                out.append((r['at'], rows))
                rows = []
            elif 'kind' in r:
                rows.append(r)
        return out

    def test_withheld_behind_an_unfinished_record(self):
        for version in ('13', '12.6'):
            self.run_sim(python(self.LONG), tap=True, TAP_FLUSH_MS=20, TAP_KINDS='4,10', GPUSIM_CUPTI=version)
            self.check()
            long, = [r for r in self.tap(10) if r['name'] == 'long']
            seen = False
            for at, rows in self.deliveries():
                seen = seen or long in rows
                for r in rows:
                    self.assertGreaterEqual(at, r.get('end', 0))
                if seen:
                    self.assertGreaterEqual(at, long['end'])
            self.assertEqual(len(self.tap(10)), 21)
            self.assertLess(max(r['ns'] for r in self.tap() if 'flush' in r), SLOW)
        self.run_sim(python(self.LONG), tap=True, TAP_FLUSH_MS=20, TAP_KINDS='4,10', GPUSIM_FLUSH_BLOCKS=1)
        self.assertGreater(max(r['ns'] for r in self.tap() if 'flush' in r), 300 * MS)

    def test_forced_flush(self):
        self.run_sim(python(self.LONG), tap=True, TAP_FLUSH_MS=20, TAP_FLUSH_FLAG=1, TAP_KINDS='10')
        rows = self.tap(10)
        self.assertEqual(len(rows), 21)
        self.assertEqual([r['name'] for r in rows if r['end'] == 0][0], 'long')

    def test_no_buffer(self):
        self.run_sim([workload('mixloop'), '--ops=300'], tap=True, TAP_NULL=2, TAP_BUFFER=4096, GPUSIM_CUPTI='12.6',
                     status=-signal.SIGSEGV)
        self.run_sim([workload('mixloop'), '--ops=300'], tap=True, TAP_NULL=2, TAP_BUFFER=4096)
        self.assertEqual(sum(r.get('dropped', 0) for r in self.tap()), 1)

    def test_sync_records(self):
        self.run_sim([workload('tour')], tap=True, TAP_KINDS='38,36', TAP_FORCE=0)
        types = [r['type'] for r in self.tap(38)]
        self.assertEqual({t: types.count(t) for t in set(types)}, {1: 1, 2: 1, 3: 6, 4: 3})
        for r in self.tap(38):
            self.assertEqual(r['stream'] == 4294967295, r['type'] in (1, 4))
            self.assertEqual(r['event'] == 4294967295, r['type'] in (3, 4))
        self.assertEqual(len(self.tap(36)), 1)
        self.run_sim([workload('tour')], tap=True, TAP_KINDS='38', GPUSIM_CUPTI='12.6')
        self.assertEqual(len(self.tap(36)), 1)  # comes with the kind
        self.run_sim([workload('tour')], tap=True, TAP_KINDS='38')
        self.assertEqual(self.tap(36), [])

    def test_without_a_driver(self):
        lib = ctypes.CDLL(os.path.join(SIM, 'cupti-12.6', 'libcupti.so.12'))
        n = ctypes.c_uint64()
        self.assertEqual(lib.cuptiGetTimestamp(ctypes.byref(n)), 0)
        self.assertLess(abs(n.value - time.time_ns()), SLOW)
        self.assertEqual(lib.cuptiActivityEnable(10), 999)
        self.assertEqual(lib.cuptiActivityFlushAll(0), 999)
        self.assertEqual(lib.cuptiActivityGetNumDroppedRecords(None, 0, ctypes.byref(n)), 0)

    def test_one_subscriber(self):
        self.run_sim(python('c = ctypes.CDLL("libcupti.so.13"); a, b = P(), P()\n'
                            'assert c.cuptiSubscribe(ctypes.byref(a), None, None) == 0\n'
                            'assert c.cuptiSubscribe(ctypes.byref(b), None, None) == 39\n'
                            'assert c.cuptiUnsubscribe(a) == 0 and c.cuptiSubscribe(ctypes.byref(b), None, None) == 0'))

    def test_injection(self):
        for path in ('/nonexistent.so', __file__, ''):
            self.run_sim(python('s.kernel(1000); s.synchronize()'), CUDA_INJECTION64_PATH=path)
        self.run_sim(python(''), CUDA_INJECTION64_PATH=os.path.join(SIM, 'gpusim-returns-zero.so'), status=-signal.SIGSEGV)


class Truth(Case):
    def test_directory(self):
        os.mkdir(self.path('dir'))
        p = subprocess.run([WITH, workload('mixloop'), '--processes=3', '--ops=500'],
                           env=self.env(GPUSIM_TRUTH=self.path('dir')), stdout=subprocess.PIPE, check=True)
        self.assertEqual(p.returncode, 0)
        files = os.listdir(self.path('dir'))
        self.assertEqual(len(files), 3)
        for name in files:
            for r in truth_check.lines(os.path.join(self.path('dir'), name)):
                self.assertEqual(f'{r["pid"]}.jsonl', name)

    def test_kill(self):
        p = self.start([workload('manners'), 'endless'])
        self.assertEqual(p.stdout.readline(), 'running\n')
        time.sleep(1)
        p.kill()
        at = time.time_ns()
        p.communicate()
        last = max(o['start_ns'] for o in self.truth('kernel'))
        self.assertLess(at - last, 200 * MS + SLOW)


class Faults(Case):
    def mix(self, fault, *more, **env):
        self.run_sim([workload('mixloop'), '--ops=2000', '--graph=0', '--pause-every=10', '--pause-us=1000', *more],
                     tap=True, GPUSIM_FAULT=fault, TAP_KINDS=env.pop('kinds', '1,2,4,10,22,51'), **env)
        return [r for r in self.tap() if r.get('kind') in truth_check.KINDS]

    def keys(self, rows):
        return sorted(r['correlation'] for r in rows)

    def test_drop(self):
        found = self.mix('drop:every=100')
        lost = self.faults('drop')
        self.assertEqual((len(found), len(lost)), (1980, 20))
        self.assertEqual(sum(r.get('dropped', 0) for r in self.tap()), 20)
        ops = [o for o in self.truth() if o.get('kind') in truth_check.OPS and 'fault' not in o]
        self.assertEqual(self.keys(found + lost), self.keys(ops))

    def test_bad_stamps(self):
        found = self.mix('zero:every=50;reverse:every=77,count=5')
        zero = [r for r in found if r['start'] == 0 and r['end'] == 0]
        back = [r for r in found if r['end'] < r['start']]
        self.assertEqual(self.keys(zero), self.keys(self.faults('zero')))
        self.assertEqual(self.keys(back), self.keys(self.faults('reverse')))
        self.assertEqual((len(zero), len(back)), (40, 5))

    def test_no_buffers(self):
        found = self.mix('none:from=0.5,for=0.5', '--pause-us=10000')  # two seconds, whoever is late for some of them
        span, = self.faults('none')
        lost = self.faults('lost')
        self.assertGreater(len(lost), 0)
        self.assertEqual(len(found) + len(lost), 2000)
        for r in lost:
            self.assertTrue(span['start_ns'] <= r['launch_ns'] + SLOW and r['launch_ns'] <= span['end_ns'])

    def test_full_and_late(self):
        self.assertEqual(len(self.mix('full:records=10')), 2000)
        self.assertGreater(sum('request' in r for r in self.tap()), 300)
        self.assertEqual(len(self.mix('late:ms=200', TAP_FLUSH_MS=20)), 2000)

    def test_hang(self):
        self.mix('hang:from=0.1,for=2', '--hold-ms=2500')
        span, = self.faults('hang')
        self.assertEqual(span['end_ns'] - span['start_ns'], 2000 * MS)
        self.assertGreater(max(r['ns'] for r in self.tap() if 'flush' in r), 250 * MS)

    def test_foreign_client(self):
        found = self.mix('foreign:from=1,for=0.1', '--ops=5000', '--pause-us=4000', '--hold-ms=300', TAP_FLUSH_MS=20)
        span, = self.faults('foreign')
        self.assertTrue(0 < len(found) < 5000, len(found))
        self.assertLess(max(r['start'] for r in found), span['end_ns'])

    def test_foreign_clock(self):
        """Of several readings of both clocks that one is taken at which the least went by in between."""
        self.run_sim(python('c = ctypes.CDLL("libcupti.so.13"); t = U64()\n'
                            'def both():\n'
                            '    rows = []\n'
                            '    for _ in range(50):\n'
                            '        at = time.time_ns(); c.cuptiGetTimestamp(ctypes.byref(t)); rows.append((time.time_ns() - at, at, t.value))\n'
                            '    return min(rows)[1:]\n'
                            'at, theirs = both(); assert abs(theirs - at) < 10**9\n'
                            'time.sleep(1.5); x, a = both(); assert a < 10**15\n'
                            'time.sleep(.3); y, b = both()\n'
                            'r = (b - a) / (y - x); assert 2 < r < 2.2, r'),
                     tap=True, GPUSIM_FAULT='foreign:from=1,for=0.1,clock=2.1')

    def test_failing_call(self):
        self.run_sim(python('d.malloc(512)\ntry: d.malloc(512); assert 0\nexcept CudaError as e: assert e.code == 2\nd.malloc(512)'),
                     GPUSIM_FAULT='fail:call=cuMemAlloc_v2,nth=2,code=2')
        self.assertEqual(len(self.faults('fail')), 1)

    def test_rank(self):
        self.run_sim([workload('mixloop'), '--processes=2', '--exec', '--ops=500'], tap=True, GPUSIM_FAULT='drop:every=10,rank=1')
        self.assertEqual(len({r['pid'] for r in self.faults('drop')}), 1)


class Nvml(Case):
    PROGRAM = '''
n = ctypes.CDLL('libnvidia-ml.so.1'); assert n.nvmlInit_v2() == 0
def handle(i):
    h = P(); assert n.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(h)) == 0; return h
def text(fn, h):
    t = ctypes.create_string_buffer(96); assert fn(h, t, 96) == 0; return t.value.decode()
'''

    def test_device(self):
        self.run_sim(python(self.PROGRAM + '''
h = handle(0); assert text(n.nvmlDeviceGetName, h) == d.name and text(n.nvmlDeviceGetUUID, h) == d.uuid
d.malloc(1 << 30); m = (U64 * 3)(); n.nvmlDeviceGetMemoryInfo(h, m); assert m[2] == 1 << 30 and m[0] == m[1] + m[2]
begin = time.time(); s.kernel(500_000_000); begun = time.time(); time.sleep(1.05); u = (UINT * 2)()
asked = time.time(); assert n.nvmlDeviceGetUtilizationRates(h, u) == 0; told = time.time()
# of the second before it: what of the half lies in there, by when it may have begun and been asked at
assert 100 * (begin + 1.5 - told) - 2 <= u[0] <= 100 * (begun + 1.5 - asked) + 2, (u[0], begin, begun, asked, told)
class Process(ctypes.Structure): _fields_ = [('pid', UINT), ('memory', U64), ('gi', UINT), ('ci', UINT)]
k = UINT(4); l = (Process * 4)(); assert n.nvmlDeviceGetComputeRunningProcesses_v3(h, ctypes.byref(k), l) == 0
assert k.value == 1 and l[0].pid == os.getpid() and l[0].memory == 1 << 30
k = UINT(0); assert n.nvmlDeviceGetComputeRunningProcesses_v3(h, ctypes.byref(k), None) == 7 and k.value == 1
k = UINT(4); assert n.nvmlDeviceGetMPSComputeRunningProcesses_v3(h, ctypes.byref(k), l) == 0 and k.value == 0
'''), GPUSIM_DEVICES=2)

    def test_slices(self):
        program = self.PROGRAM + '''
g = handle(0); a, b = UINT(), UINT(); assert n.nvmlDeviceGetMigMode(g, ctypes.byref(a), ctypes.byref(b)) == 0 and a.value == 1
i, p = P(), P(); assert n.nvmlDeviceGetMigDeviceHandleByIndex(g, 1, ctypes.byref(i)) == 0
u = text(n.nvmlDeviceGetUUID, i); assert u.startswith('MIG-')
assert n.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(i, ctypes.byref(p)) == 0 and p.value == g.value
assert text(n.nvmlDeviceGetName, i) == 'NVIDIA H100 80GB HBM3 (simulated) MIG 3g.40gb'
assert device_count() == 1; print(u, d.name.split()[-1], d.uuid)
'''
        mig = '0:1g.10gb,3g.40gb'
        uuid, first, _ = self.run_sim(python(program), GPUSIM_MIG=mig, GPUSIM_DEVICES=2).split()
        self.assertEqual(first, '1g.10gb')
        _, second, mine = self.run_sim(python(program + 's.kernel(1000); s.synchronize()'), GPUSIM_MIG=mig,
                                       GPUSIM_DEVICES=2, CUDA_VISIBLE_DEVICES=uuid).split()
        self.assertEqual((second, mine[4:]), ('3g.40gb', uuid[4:]))
        self.assertEqual(self.truth('kernel')[0]['uuid'], uuid)


class Torch(Case):
    def test_real_loader(self):
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest('no torch')
        for args in (['--workers=0'], ['--workers=2', '--sync=late', '--pin']):
            self.run_sim([sys.executable, os.path.join(WORK, 'train_loader.py'), '--steps=10', '--own-ledger=own'] + args)
            with open(self.path('own')) as f:
                *steps, total = map(json.loads, f)
            self.assertEqual((len(steps), total['steps']), (10, 10))
            self.assertEqual(sum(o['end_ns'] - o['start_ns'] for o in self.truth('kernel')), total['gpu_ns'])


if __name__ == '__main__':
    unittest.main(verbosity=1)
