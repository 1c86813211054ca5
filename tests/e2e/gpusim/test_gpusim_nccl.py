#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""libnccl.so.2 of the simulated node: processes find each other by unique id, their collectives move and
reduce what NCCL's would, to the byte, in the order of the streams, and end together in the truth."""
import os
import struct
import unittest

import test_gpusim

# A rank: r of n, on device r, with comm of all, a stream s, and memory that holds `array`s.
HEAD = '''
import array, random, struct
r, n = int(os.environ['RANK']), int(os.environ['RANKS'])
nccl = ctypes.CDLL('libnccl.so.2')
for name in 'ncclGetErrorString', 'ncclGetLastError': getattr(nccl, name).restype = ctypes.c_char_p
I8, U8, I32, U32, I64, U64_, F16, F32, F64, BF16, E4M3, E5M2 = range(12)
CODE = 'bBiIqQefdHBB'    # of struct; bfloat16 and the floats of 8 bits as their bits
SUM, PROD, MAX, MIN, AVG = range(5)
IN_PROGRESS = 7
class Id(ctypes.Structure): _fields_ = [('bytes', ctypes.c_char * 128)]
class Config(ctypes.Structure):
    _fields_ = [('size', SIZE), ('magic', UINT), ('version', UINT), ('blocking', INT), ('rest', ctypes.c_byte * 100)]
def config(blocking): return ctypes.byref(Config(ctypes.sizeof(Config), 0xcafebeef, 23007, blocking))
def ok(rc, want=0): assert rc == want, (rc, nccl.ncclGetErrorString(rc), nccl.ncclGetLastError(None))
def unique_id(name):
    """Of rank 0, who tells the others in a file."""
    path, uid = os.path.join(os.environ['DIR'], name), Id()
    if r == 0:
        ok(nccl.ncclGetUniqueId(ctypes.byref(uid)))
        with open(path + '.part', 'wb') as f: f.write(ctypes.string_at(ctypes.addressof(uid), 128))
        os.rename(path + '.part', path)
    while not os.path.exists(path): time.sleep(0.002)
    with open(path, 'rb') as f: ctypes.memmove(ctypes.addressof(uid), f.read(), 128)
    return uid
def come(name): open(os.path.join(os.environ['DIR'], name), 'w').close()
def meet(name):
    """Who has come there by then."""
    while not os.path.exists(os.path.join(os.environ['DIR'], name)): time.sleep(0.002)
def new_comm(name='id', ranks=None, rank=None):
    c = P()
    ok(nccl.ncclCommInitRank(ctypes.byref(c), n if ranks is None else ranks, unique_id(name), r if rank is None else rank))
    return c
def put(values, type=I32, stream=s):
    """New device memory with these values, and its address."""
    raw = b''.join(struct.pack(CODE[type], v) for v in values)
    at, host = d.malloc(max(len(raw), 1)), d.host_alloc(max(len(raw), 1))
    ctypes.memmove(host, raw, len(raw))
    if raw: d.h2d(at, host, len(raw), stream)
    return at
def get(at, count, type=I32, stream=s):
    size = struct.calcsize(CODE[type])
    host = d.host_alloc(max(count * size, 1))
    d.d2h(host, at, count * size, stream)
    stream.synchronize()
    return list(struct.unpack(f'<{count}{CODE[type]}', ctypes.string_at(host, count * size)))
def call(name, *args, want=0):
    ok(getattr(nccl, name)(*(P(a) if isinstance(a, int) and a > 1 << 32 else SIZE(a) if i == count_at(name) else a
                             for i, a in enumerate(args))), want)
def count_at(name): return 1 if name in ('ncclSend', 'ncclRecv', 'ncclBcast') else 2
'''
COMM = HEAD + 'comm = new_comm()\n'


class Nccl(test_gpusim.Case):
    def ranks(self, text, n=4, head=COMM, statuses=None, **env):
        """Runs the text as n ranks; what they print."""
        shm = self.path('shm')
        os.makedirs(self.path('meet'))
        processes = [self.start(test_gpusim.python(head + text), GPUSIM_SHM=shm, GPUSIM_DEVICES=n, RANK=r, RANKS=n,
                                DIR=self.path('meet'), CUDA_VISIBLE_DEVICES=r, GPUSIM_QUIET=1, **env) for r in range(n)]
        try:
            out = [p.communicate(timeout=120) for p in processes]
        finally:
            for p in processes:
                p.kill()
        self.assertEqual([err for _, err in out], [''] * n)
        self.assertEqual([p.returncode for p in processes], statuses or [0] * n)
        return [o for o, _ in out]

    def kernels(self):
        """The collectives of the truth: by name, in order, the ops of all ranks."""
        met = {}
        for o in sorted(self.truth('kernel'), key=lambda o: o['launch_ns']):
            if 'nccl' in o['name']:
                met.setdefault(o['name'], {}).setdefault(o['pid'], []).append(o)
        return {name: list(zip(*by.values())) for name, by in met.items()}

    def test_every_collective(self):
        self.ranks('''
count = 1000
def mine(rank, more=1): return [rank * 100003 + i for i in range(count * more)]
a, b = put(mine(r)), put([7] * count)
call('ncclAllReduce', a, b, count, I32, SUM, comm, s.handle)
assert get(b, count) == [sum(v) for v in zip(*map(mine, range(n)))]
call('ncclAllReduce', a, a, count, I32, MAX, comm, s.handle)              # in place
assert get(a, count) == mine(n - 1)
a, b = put(mine(r)), put([7] * count)
call('ncclReduce', a, b, count, I32, SUM, 2, comm, s.handle)
assert get(b, count) == ([sum(v) for v in zip(*map(mine, range(n)))] if r == 2 else [7] * count)
call('ncclBroadcast', a, b, count, I32, 1, comm, s.handle)
assert get(b, count) == mine(1)
a = put(mine(r))
call('ncclBcast', a, count, I32, 3, comm, s.handle)
assert get(a, count) == mine(3)
a, b = put(mine(r)), put([7] * count * n)
call('ncclAllGather', a, b, count, I32, comm, s.handle)
assert get(b, count * n) == sum(map(mine, range(n)), [])
c = b + r * count * 4                                                     # in place: its own part
d.memset(b, 0, 4 * count * n, s)
d.d2d(c, a, 4 * count, s)
call('ncclAllGather', c, b, count, I32, comm, s.handle)
assert get(b, count * n) == sum(map(mine, range(n)), [])
a, b = put(mine(r, n)), put([7] * count)
call('ncclReduceScatter', a, b, count, I32, SUM, comm, s.handle)
assert get(b, count) == [sum(v) for v in zip(*(mine(k, n) for k in range(n)))][r * count:(r + 1) * count]
b = put([7] * count * n)
call('ncclAlltoAll', a, b, count, I32, comm, s.handle)
assert get(b, count * n) == sum((mine(k, n)[r * count:(r + 1) * count] for k in range(n)), [])
b = put([7] * count * n)
call('ncclGather', a, b, count, I32, 0, comm, s.handle)
assert get(b, count * n) == (sum(map(mine, range(n)), []) if r == 0 else [7] * count * n)
b = put([7] * count)
call('ncclScatter', a, b, count, I32, 1, comm, s.handle)
assert get(b, count) == mine(1, n)[r * count:(r + 1) * count]
call('ncclAllReduce', a, b, 0, I32, SUM, comm, s.handle)                 # nothing to do
ok(nccl.ncclCommDestroy(comm))
''')
        for name, meetings in self.kernels().items():
            for meeting in meetings:
                self.assertEqual(len(meeting), 4, name)
                self.assertEqual(len({o['end_ns'] for o in meeting}), 1, name)
                last = max(meeting, key=lambda o: o['start_ns'])
                self.assertGreaterEqual(last['end_ns'] - last['start_ns'], 15000)
        self.assertEqual({k.split('24nccl')[0].lstrip('_Z0123456789'): len(v) for k, v in self.kernels().items()}, {
            'ncclDevKernel_AllReduce_Sum_u32_RING_LL': 2, 'ncclDevKernel_Reduce_Sum_u32_RING_LL': 1,
            'ncclDevKernel_Broadcast_RING_LL': 2, 'ncclDevKernel_AllGather_RING_LL': 2,
            'ncclDevKernel_ReduceScatter_Sum_u32_RING_LL': 1, 'ncclDevKernel_SendRecv': 3})

    def test_every_type_and_reduction(self):
        """Small whole numbers are exact in all types, whatever the order of adding."""
        self.ranks('''
def f8(exponent, mantissa, bias):
    """By bits, all values of a float of 8 bits."""
    def value(b):
        e, m = b >> mantissa & (1 << exponent) - 1, b & (1 << mantissa) - 1
        v = m * 2.0 ** (1 - bias - mantissa) if not e else (1 + m / 2 ** mantissa) * 2.0 ** (e - bias)
        return -v if b >> 7 else v
    return {value(b): b for b in reversed(range(256))}
e4, e5 = f8(4, 3, 7), f8(5, 2, 15)
def bits(x): return struct.unpack('<I', struct.pack('<f', x))[0] >> 16
def encode(type, x): return e4[x] if type == E4M3 else e5[x] if type == E5M2 else bits(x) if type == BF16 else x
values = [[1, 2, 3, 4], [2, 1, 4, 3], [4, 4, 1, 1], [1, 1, 2, 4]]    # of each rank
want = {SUM: [8, 8, 10, 12], PROD: [8, 8, 24, 48], MAX: [4, 4, 4, 4], MIN: [1, 1, 1, 1], AVG: [2, 2, 2.5, 3]}
for type in range(12):
    floats = type >= F16
    for op, out in want.items():
        if not floats: out = [int(v) for v in out]
        a = put([encode(type, v) for v in values[r]], type)
        call('ncclAllReduce', a, a, 4, type, op, comm, s.handle)
        assert get(a, 4, type) == [encode(type, v) for v in out], (type, op, get(a, 4, type))
    # a sum of products: this rank's scalar, on the host and on the device
    for host in 1, 0:
        op, scalar = INT(), 2 if type >= E4M3 else r % 2 + 1
        at = ctypes.create_string_buffer(struct.pack(CODE[type], encode(type, scalar)), 8)
        place = at if host else P(put([encode(type, scalar)], type))
        ok(nccl.ncclRedOpCreatePreMulSum(ctypes.byref(op), place, type, host, comm))
        at.raw = bytes(8)
        assert op.value >= 5
        a = put([encode(type, v) for v in values[r]], type)
        call('ncclAllReduce', a, a, 4, type, op.value, comm, s.handle)
        out = (16, 16, 20, 24) if type >= E4M3 else (11, 10, 16, 19)
        assert get(a, 4, type) == [encode(type, v) for v in out], (type, get(a, 4, type))
        ok(nccl.ncclRedOpDestroy(op, comm))
        ok(nccl.ncclRedOpDestroy(op, comm), 4)
a = put([-5 if r else 3, -1])                                             # signs count where they are compared
call('ncclAllReduce', a, a, 2, I32, MIN, comm, s.handle)
assert get(a, 2) == [-5, -1]
a = put([1.1 * (r + 1), 3e38, -0.0], F32)
call('ncclAllReduce', a, a, 3, F32, SUM, comm, s.handle)
print(get(a, 3, F32))                                                     # the same everywhere, to the bit
''')

    def test_identical_everywhere(self):
        out = self.ranks('''
random.seed(r)
for type in F16, F32, F64:
    a = put([random.gauss(0, 3) for i in range(500)], type)
    call('ncclAllReduce', a, a, 500, type, SUM, comm, s.handle)
    print(get(a, 500, type))
''')
        self.assertEqual(len(set(out)), 1)

    def test_order_of_the_streams(self):
        """What was put on the stream before a late rank came, moves after what it waits for."""
        self.ranks('''
time.sleep(0.2 * r)
a, b, c = put([r]), put([0] * n), put([0] * n)
t = Stream(d)
call('ncclAllGather', a, b, 1, I32, comm, s.handle)
d.d2d(c, b, 4 * n, s)
d.memset(b, 0, 4 * n, s)
t.wait(s.record())
call('ncclAllReduce', c, c, n, I32, SUM, comm, t.handle)
assert get(c, n, I32, t) == [n * i for i in range(n)]
assert get(b, n) == [0] * n
''')

    def test_messages(self):
        """A ring in a group; pairs alone; two to the same rank arrive in their order; to itself."""
        self.ranks('''
a, b = put([r, r + 10]), put([0, 0])
ok(nccl.ncclGroupStart())
call('ncclSend', a, 2, I32, (r + 1) % n, comm, s.handle)
call('ncclRecv', b, 2, I32, (r - 1) % n, comm, s.handle)
ok(nccl.ncclGroupEnd())
assert get(b, 2) == [(r - 1) % n, (r - 1) % n + 10]
if r == 0:
    call('ncclSend', a, 1, I32, 3, comm, s.handle)
    call('ncclSend', a + 4, 1, I32, 3, comm, s.handle)
if r == 3:
    call('ncclRecv', b, 1, I32, 0, comm, s.handle)
    call('ncclRecv', b + 4, 1, I32, 0, comm, s.handle)
    assert get(b, 2) == [0, 10]
ok(nccl.ncclGroupStart())                     # everybody to everybody, as torch does it
all_ = put([100 * r + k for k in range(n)])
got = put([0] * n)
for k in range(n):
    call('ncclSend', all_ + 4 * k, 1, I32, k, comm, s.handle)
    call('ncclRecv', got + 4 * k, 1, I32, k, comm, s.handle)
ok(nccl.ncclGroupEnd())
assert get(got, n) == [100 * k + r for k in range(n)]
''')
        name, = self.kernels()
        self.assertIn('ncclDevKernel_SendRecv', name)
        sends = [o for o in self.truth('kernel')]
        self.assertEqual(len(sends), 4 + 2 * 2 + 4)  # one per group and rank, however many messages

    def test_several_communicators(self):
        """All, the even, the pairs by split (sorted by key), a copy: at once, on streams of their own."""
        self.ranks('''
pair, odd, none, copy = P(), P(), P(), P()
ok(nccl.ncclCommSplit(comm, r // 2, -r, ctypes.byref(pair), None))
ok(nccl.ncclCommSplit(comm, 0 if r % 2 else -1, 0, ctypes.byref(odd), None))
assert bool(odd) == (r % 2 == 1)
ok(nccl.ncclCommSplit(comm, 5, 0, ctypes.byref(copy), None))
def who(c):
    out = [INT() for _ in range(3)]
    for f, o in zip(('ncclCommCount', 'ncclCommUserRank', 'ncclCommCuDevice'), out): ok(getattr(nccl, f)(c, ctypes.byref(o)))
    return [o.value for o in out]
assert who(comm) == [n, r, 0] and who(copy) == [n, r, 0]
assert who(pair) == [2, 1 - r % 2, 0]          # by key, the later first
if odd: assert who(odd) == [2, r // 2, 0]
t, u = Stream(d), Stream(d)
a, b, c = put([r]), put([r], stream=t), put([r], stream=u)
for i in range(20):
    call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
    call('ncclAllReduce', b, b, 1, I32, MAX, pair, t.handle)
    if odd: call('ncclAllReduce', c, c, 1, I32, MIN, odd, u.handle)
first = 6 * 4 ** 19 & 0xffffffff
assert get(a, 1, U32) == [first]
assert get(b, 1, I32, t) == [r // 2 * 2 + 1]
assert get(c, 1, I32, u) == [1 if odd else r]
other = new_comm('another', 2, r // 2) if r % 2 == 0 else None
if other:
    call('ncclAllReduce', a, a, 1, I32, SUM, other, s.handle)
for c in pair, odd, copy, comm: ok(nccl.ncclCommDestroy(c) if c else 0)
s.synchronize()
''')

    def test_many_at_random(self):
        """Of all sizes, on three communicators and streams at once, with kernels and copies between; one seed for all."""
        seed = int(os.environ.get('GPUSTARVE_TEST_SEED', 1))
        print('seed', seed)
        self.ranks(f'seed, rounds = {seed}, {120 if test_gpusim.gs.BIG else 12}' + '''
random.seed(seed)
pair = P()
ok(nccl.ncclCommSplit(comm, r // 2, r, ctypes.byref(pair), None))
copy = P()
ok(nccl.ncclCommSplit(comm, 0, n - r, ctypes.byref(copy), None))
# communicator, stream, and its ranks by their first ones' numbers
lanes = [(comm, s, list(range(n))), (pair, Stream(d), [r // 2 * 2, r // 2 * 2 + 1]), (copy, Stream(d), list(range(n))[::-1])]
def mine(rank, k, count): return [(rank + 1) * 1000003 + k * 7919 + i for i in range(count)]
def flat(lists): return [v & 0xffffffff for l in lists for v in l]
for k in range(rounds):
    checks = []
    for which in random.sample(range(3), 3):
        c, t, members = lanes[which]
        what, count, pause, root = random.randrange(6), random.choice([1, 3, 1000, 20000, 60000]), random.randrange(3), random.randrange(2)
        me, m, all_ = members.index(r), len(members), [mine(x, k, count) for x in members]
        if pause == r % 3: t.kernel(300_000)
        a = put([v & 0xffffffff for v in all_[me]], U32, t)
        b = put([0] * count * m, U32, t)
        if what == 0:
            call('ncclAllReduce', a, b, count, U32, SUM, c, t.handle)
            want = flat([[sum(v) for v in zip(*all_)]])
        elif what == 1:
            call('ncclAllGather', a, b, count, U32, c, t.handle)
            want = flat(all_)
        elif what == 2:
            call('ncclBroadcast', a, b, count, U32, root, c, t.handle)
            want = flat([all_[root]])
        elif what == 3:
            part = max(count // m, 1)
            if count < m: continue
            call('ncclReduceScatter', a, b, part, U32, MAX, c, t.handle)
            want = flat([[max(v) for v in zip(*all_)][me * part:(me + 1) * part]])
        elif what == 4:
            part = count // m
            if not part: continue
            call('ncclAlltoAll', a, b, part, U32, c, t.handle)
            want = flat([x[me * part:(me + 1) * part] for x in all_])
        else:
            ok(nccl.ncclGroupStart())
            call('ncclSend', a, count, U32, (me + 1) % m, c, t.handle)
            call('ncclRecv', b, count, U32, (me - 1) % m, c, t.handle)
            ok(nccl.ncclGroupEnd())
            want = flat([all_[(me - 1) % m]])
        checks.append((b, want, t, (k, which, what, count)))
    for b, want, t, about in checks:
        got = get(b, len(want), U32, t)
        assert got == want, about
''')

    def test_without_blocking(self):
        """In progress until the last has come; calls before that are refused."""
        self.ranks('''
uid, comm, state = unique_id('id'), P(), INT()
if r == n - 1: meet('refused')
rc = nccl.ncclCommInitRankConfig(ctypes.byref(comm), n, uid, r, config(0))
assert rc in (0, IN_PROGRESS) and comm
if r == 0:
    assert rc == IN_PROGRESS
    ok(nccl.ncclCommGetAsyncError(comm, ctypes.byref(state)))
    a = put([1])
    ok(state.value, IN_PROGRESS)
    call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle, want=4)
    come('refused')
def wait(c):
    while ok(nccl.ncclCommGetAsyncError(c, ctypes.byref(state))) or state.value == IN_PROGRESS: time.sleep(0.001)
    ok(state.value)
wait(comm)
a = put([1])
call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
assert get(a, 1) == [n]
half = P()
rc = nccl.ncclCommSplit(comm, r % 2, r, ctypes.byref(half), None)        # takes after its parent
assert rc in (0, IN_PROGRESS)
wait(half)
call('ncclAllReduce', a, a, 1, I32, SUM, half, s.handle)
assert get(a, 1) == [n * n // 2]
rc = nccl.ncclCommFinalize(comm)
assert rc in (0, IN_PROGRESS)
wait(comm)
ok(nccl.ncclCommDestroy(comm))
''', head=HEAD)

    def test_one_process_with_all_devices(self):
        self.run_sim(test_gpusim.python('''
os.environ.update(RANK='0', RANKS='3')
''' + HEAD + '''
comms, devices = (P * 3)(), (INT * 3)(0, 1, 2)
ok(nccl.ncclCommInitAll(comms, 3, devices))
all_ = [Device(i) for i in range(3)]
streams, at = [], []
for i, dev in enumerate(all_):
    dev.use()
    d = dev
    streams.append(Stream(dev))
    at.append(put([i + 1], stream=streams[i]))
ok(nccl.ncclGroupStart())
for i in range(3): call('ncclAllReduce', at[i], at[i], 1, I32, SUM, P(comms[i]), streams[i].handle)
ok(nccl.ncclGroupEnd())
for i, dev in enumerate(all_):
    dev.use()
    assert get(at[i], 1, I32, streams[i]) == [6]
twice = (INT * 2)(1, 1)
assert nccl.ncclCommInitAll(comms, 2, twice) == 5                         # a device twice
assert b'Duplicate GPU' in nccl.ncclGetLastError(None)
'''), GPUSIM_DEVICES=3, GPUSIM_QUIET=1)
        ops = [o for o in self.truth('kernel')]
        self.assertEqual(sorted(o['device'] for o in ops), [0, 1, 2])
        self.assertEqual(len({o['end_ns'] for o in ops}), 1)

    def test_large_messages_stay(self):
        self.ranks('''
count = (1 << 18) + 1
a = d.malloc(4 * count)
d.memset(a, 1, 4 * count, s)
b = d.malloc(4 * count)
call('ncclAllReduce', a, b, count, I32, SUM, comm, s.handle)              # 4 bytes too many
assert get(b, count) == [0] * count
call('ncclAllReduce', a, b, count - 1, I32, SUM, comm, s.handle)          # exactly 1 MiB
assert get(b, count) == [0x02020202] * (count - 1) + [0]
''', n=2)
        unmoved = [o for o in self.truth() if 'unmoved' in o]
        self.assertEqual([(o['unmoved'], o['calls'], o['bytes']) for o in unmoved], [('ncclAllReduce', 1, 4 * ((1 << 18) + 1))] * 2)
        first, second = (m for k in self.kernels().values() for m in k)
        for meeting in first, second:
            self.assertEqual({o['end_ns'] for o in meeting}, {max(o['start_ns'] for o in meeting) + 15000 + 2912})

    def test_lengths(self):
        """By what the busiest link carries, of which two ranks have half where each keeps its own part; a link carries
        both directions at once."""
        self.ranks('''
a, b, count = d.malloc(1 << 20), d.malloc(1 << 20), 1 << 18
call('ncclAllReduce', a, b, count, I32, SUM, comm, s.handle)
call('ncclReduce', a, b, count, I32, SUM, 0, comm, s.handle)
call('ncclReduceScatter', a, b, count // 2, I32, SUM, comm, s.handle)
call('ncclBroadcast', a, b, count, I32, 0, comm, s.handle)
call('ncclAllGather', a, b, count // 2, I32, comm, s.handle)
call('ncclAlltoAll', a, b, count // 2, I32, comm, s.handle)
ok(nccl.ncclGroupStart())
call('ncclSend', a, count, I32, 1 - r, comm, s.handle)
call('ncclRecv', b, count, I32, 1 - r, comm, s.handle)
ok(nccl.ncclGroupEnd())
s.synchronize()
''', n=2)
        whole, half = 15000 + 2912, 15000 + 1456  # a MiB, or half, at 360 bytes per ns
        lengths = {name.split('Kernel_')[1].split('_')[0].split('24nccl')[0]:
                   [meeting[0]['end_ns'] - max(o['start_ns'] for o in meeting) for meeting in meetings]
                   for name, meetings in self.kernels().items()}
        self.assertEqual(lengths, {'AllReduce': [whole], 'Reduce': [whole], 'ReduceScatter': [half], 'Broadcast': [whole],
                                   'AllGather': [half], 'SendRecv': [half, whole]})

    def test_finalize_waits(self):
        """Until what is under way is over."""
        self.ranks('''
a = put([1])
if r == 1:
    meet('waits')
    time.sleep(0.3)
at = time.time()
if r == 0: come('waits')
call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
ok(nccl.ncclCommFinalize(comm))
assert r or time.time() - at > 0.2
ok(nccl.ncclCommDestroy(comm))
assert get(a, 1) == [2]
''', n=2)

    def test_revoked_and_shrunk(self):
        """Rank 1 does not come to a collective: the others give it up, and go on without it."""
        self.ranks('''
a, b, state, rest = put([r + 1]), put([7]), INT(), P()
if r != 1:
    call('ncclAllReduce', a, b, 1, I32, SUM, comm, s.handle)
    ok(nccl.ncclCommRevoke(comm, 0))
    s.synchronize()
    assert get(b, 1) == [7]
    call('ncclAllReduce', a, b, 1, I32, SUM, comm, s.handle, want=5)
ok(nccl.ncclCommShrink(comm, (INT * 1)(1), 1, ctypes.byref(rest), None, 0), 4 if r == 1 else 0)
if r != 1:
    count, rank = INT(), INT()
    ok(nccl.ncclCommCount(rest, ctypes.byref(count))); ok(nccl.ncclCommUserRank(rest, ctypes.byref(rank)))
    assert (count.value, rank.value) == (3, (0, None, 1, 2)[r])
    call('ncclAllReduce', a, b, 1, I32, SUM, rest, s.handle)
    assert get(b, 1) == [1 + 3 + 4]
''')

    def test_simulated_group(self):
        """What the group would take is told, and forgotten together with its error."""
        self.ranks('''
class Info(ctypes.Structure): _fields_ = [('size', SIZE), ('magic', UINT), ('version', UINT), ('time', ctypes.c_float)]
a, info = put([r + 1]), Info(24, 0x74685283, 23007)
ok(nccl.ncclGroupStart())
for i in range(3): call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
call('ncclBroadcast', a, a, 1, I32, 99, comm, s.handle, want=4)
ok(nccl.ncclGroupSimulateEnd(ctypes.byref(info)))
assert 45 <= info.time < 46 and get(a, 1) == [r + 1]                      # microseconds
ok(nccl.ncclGroupSimulateEnd(ctypes.byref(info)), 5)
call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
assert get(a, 1) == [3]
''', n=2)

    def test_captured(self):
        """A graph of a collective meets at each launch, and moves its bytes each time."""
        self.ranks('''
a, b = put([r + 1] * 8), put([0] * 8)
s.synchronize()
g = Graph(s, lambda s: call('ncclAllReduce', a, b, 8, I32, SUM, comm, s.handle))
assert get(b, 8) == [0] * 8
for i in range(3):
    g.launch(s)
    assert get(b, 8) == [10] * 8, get(b, 8)
    d.memset(b, 0, 32, s)
''')
        for meetings in self.kernels().values():
            self.assertEqual(len(meetings), 3)
            for meeting in meetings:
                self.assertEqual(len({o['end_ns'] for o in meeting}), 1)

    def test_killed_rank(self):
        """Who is killed is missed: an error to whoever asks, no end to whoever waits, and abort ends it."""
        self.ranks('''
a = put([1])
call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
s.synchronize()
if r == 1:
    os.kill(os.getpid(), 9)
call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
d.memset(a, 9, 4, s)
state, until = INT(), time.time() + 60
while state.value == 0 and time.time() < until:
    ok(nccl.ncclCommGetAsyncError(comm, ctypes.byref(state)))
    time.sleep(0.01)
assert state.value == 6, state.value                                      # remote error
assert not s.done()
call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle, want=6)
ok(nccl.ncclCommAbort(comm))
s.synchronize()
assert get(a, 1) == [0x09090909]
ok(nccl.ncclCommAbort(comm), 4)
''', statuses=[0, -9, 0, 0])

    def test_killed_while_others_come(self):
        self.ranks('''
comm = P()
if r == 1:
    ok(nccl.ncclCommInitRankConfig(ctypes.byref(comm), n, unique_id('id'), r, config(0)), IN_PROGRESS)
    os.kill(os.getpid(), 9)
if r == 2: time.sleep(0.5); sys.exit()
assert nccl.ncclCommInitRank(ctypes.byref(comm), n, unique_id('id'), r) == 6
ok(nccl.ncclCommAbort(comm))
''', head=HEAD, statuses=[0, -9, 0, 0])

    def test_abort_by_another_thread(self):
        """As a watchdog does: the thread that waits comes back."""
        self.ranks('''
import threading
a = put([1])
if r == 0:
    call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
    t = threading.Timer(0.3, lambda: ok(nccl.ncclCommAbort(comm)))
    at = time.time()
    t.start()
    s.synchronize()
    assert time.time() - at > 0.2
    t.join()
    assert get(a, 1) == [1]
''', n=2)

    def test_group_errors(self):
        self.ranks('''
a = put([r])
ok(nccl.ncclGroupStart())
call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
call('ncclBroadcast', a, a, 1, I32, 99, comm, s.handle, want=4)
ok(nccl.ncclGroupEnd(), 4)                    # nothing of it was done
assert get(a, 1) == [r]
ok(nccl.ncclGroupEnd(), 5)
call('ncclAllReduce', a, a, 1, 12, SUM, comm, s.handle, want=4)
call('ncclAllReduce', a, a, 1, I32, 5, comm, s.handle, want=4)
call('ncclAllReduce', a, a, 1, I32, SUM, None, s.handle, want=4)
ok(nccl.ncclGroupStart()); ok(nccl.ncclGroupStart())
call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
ok(nccl.ncclGroupEnd())
assert get(a, 1) == [r]                       # not yet
ok(nccl.ncclGroupEnd())
assert get(a, 1) == [1]
''', n=2)

    def test_nobody_else(self):
        """Alone, a collective is a copy, and none where the result lies there already."""
        self.ranks('''
a, b = put([5]), put([0])
call('ncclAllReduce', a, a, 1, I32, SUM, comm, s.handle)
call('ncclAllReduce', a, b, 1, I32, AVG, comm, s.handle)
assert get(b, 1) == [5]
''', n=1)
        self.assertEqual(self.truth('kernel'), [])
        self.assertEqual([o['bytes'] for o in self.truth('memcpy') if o['copy'] == 'd2d'], [4])

    def test_ranges(self):
        """NVTX's, as NCCL has them: its domain, the calls' names, payloads of communicator, bytes and what else."""
        self.ranks('''
a = put([1, 2, 3])
call('ncclAllReduce', a, a, 3, I32, MAX, comm, s.handle)
ok(nccl.ncclGroupStart())
call('ncclBcast', a, 3, I32, 0, comm, s.handle)
ok(nccl.ncclGroupEnd())
call('ncclReduce', a, a, 2, I64, MIN, 0, comm, s.handle)
ok(nccl.ncclCommDestroy(comm))
''', n=1, NVTX_INJECTION64_PATH=os.path.join(test_gpusim.SIM, 'gpusim-nvtx-tool.so'), NVTX_TOOL_OUT=self.path('nvtx'))
        with open(self.path('nvtx')) as f:
            lines = [line.split() for line in f]
        depth, seen = 0, []
        for what, domain, *more in lines:
            self.assertEqual(domain, 'NCCL')
            depth += 1 if what == 'push' else -1
            if what == 'push':
                seen.append((depth, *more))
        self.assertEqual(depth, 0)
        self.assertEqual([(d, name, int(more[0]) - (1 << 24) if more else None) for d, name, *more in seen],
                         [(1, 'ncclCommInitRank', 0), (1, 'ncclAllReduce', 5), (1, 'ncclGroupStart', None),
                          (1, 'ncclBroadcast', 6), (1, 'ncclGroupEnd', None), (1, 'ncclReduce', 8),
                          (1, 'ncclCommDestroy', 2)])
        payload = {name: bytes.fromhex(more[1]) for _, name, *more in seen if more}
        comm = struct.unpack_from('<Q', payload['ncclAllReduce'])[0]
        self.assertNotEqual(comm, 0)
        self.assertEqual(struct.unpack('<QQii', payload['ncclAllReduce'])[:3], (comm, 12, 2))
        self.assertEqual(struct.unpack('<QQii', payload['ncclBroadcast'])[:3], (comm, 12, 0))
        self.assertEqual(struct.unpack('<QQii', payload['ncclReduce']), (comm, 16, 0, 3))
        self.assertEqual(struct.unpack('<Qiii', payload['ncclCommInitRank'][:20])[1:], (1, 0, 0))

    def test_memory_and_registration(self):
        self.ranks('''
at, handle, window, back = P(), P(), P(), P()
ok(nccl.ncclMemAlloc(ctypes.byref(at), SIZE(1 << 20)))
ok(nccl.ncclCommRegister(comm, at, SIZE(1 << 20), ctypes.byref(handle)))
ok(nccl.ncclCommWindowRegister(comm, at, SIZE(1 << 20), ctypes.byref(window), 1))
ok(nccl.ncclWinGetUserPtr(comm, window, ctypes.byref(back)))
assert back.value == at.value and handle.value
ok(nccl.ncclCommWindowDeregister(comm, window))
ok(nccl.ncclCommDeregister(comm, handle))
ok(nccl.ncclMemFree(at))
v = INT(); ok(nccl.ncclGetVersion(ctypes.byref(v))); assert v.value == 23007
assert nccl.ncclCommGrow(comm) == 5                                       # no body: counted
''', n=1)
        self.assertIn('ncclCommGrow', [o.get('missing') for o in self.truth()])


if __name__ == '__main__':
    unittest.main()
