#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""What PyTorch, Triton and numba ask of the driver and NVML besides launches and copies, on the simulated GPU
(a model): virtual memory by hand, pools, facts of pointers and kernels, binaries that somebody compiled (their
kernels last a while and write nothing), entry points by version, and one clear line where a program cannot run."""
import os
import unittest

import test_gpusim

HEAD = '''
c, ref, drv = ctypes, ctypes.byref, driver()
KIB, MIB = 1024, 1 << 20
PAGE = 2 * MIB
class Location(ctypes.Structure):
    _fields_ = [('type', INT), ('id', INT)]
class Allocation(ctypes.Structure):
    _fields_ = [('type', INT), ('handles', UINT), ('location', Location), ('windows', P), ('rest', c.c_ubyte * 8)]
class Access(ctypes.Structure):
    _fields_ = [('location', Location), ('flags', UINT)]
class PoolWish(ctypes.Structure):
    _fields_ = [('type', INT), ('handles', UINT), ('location', Location), ('windows', P), ('most', SIZE), ('rest', c.c_ubyte * 56)]
class Launch(ctypes.Structure):
    _fields_ = [('grid', UINT * 3), ('block', UINT * 3), ('shared', UINT), ('stream', P), ('attrs', P), ('n', UINT)]
def raw(name, *args): return getattr(drv, name).raw(*args)
def want(rc, name, *args):
    got = raw(name, *args)
    assert got == rc, f'{name}: {got}, not {rc}'
def out(kind, name, *args, first=True):
    """What a call says through its first argument."""
    it = kind()
    getattr(drv, name)(ref(it), *args) if first else getattr(drv, name)(*args, ref(it))
    return it.value
def used(): return d.memory()[1] - d.memory()[0]
def cubin(machine=190): return b'\\x7fELF\\x02\\x01\\x01' + bytes(11) + machine.to_bytes(2, 'little') + bytes(100)
s_ = s.handle
'''


class Driver(test_gpusim.Case):
    def program(self, text, **env):
        p = self.start(test_gpusim.python(HEAD + text), True, **env)
        out, self.err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, 0, self.err)
        test_gpusim.truth_check.main([self.path('truth')] + self.taps())
        return out

    def kernels(self):
        return [(r['name'], r['end_ns'] - r['start_ns']) for r in self.truth('kernel')]

    def test_virtual_memory(self):
        """Content is the memory's, not the address's: it survives being mapped elsewhere, and is zero at first."""
        for content in 1, 0:
            self.program('''
DATA = os.environ['GPUSIM_DATA'] == '1'
is_ = Allocation(type=1, location=Location(1, 0))
assert out(SIZE, 'cuMemGetAllocationGranularity', ref(is_), 0) == PAGE
assert out(INT, 'cuDeviceGetAttribute', 102, 0) == 1
before = used()
va = out(U64, 'cuMemAddressReserve', SIZE(10 * PAGE), SIZE(0), U64(0), U64(0))
assert va % PAGE == 0 and used() == before
big = out(U64, 'cuMemAddressReserve', SIZE(200 << 30), SIZE(1 << 30), U64(0), U64(0))
assert big % (1 << 30) == 0
drv.cuMemAddressFree(U64(big), SIZE(200 << 30))
a = U64(out(U64, 'cuMemCreate', SIZE(2 * PAGE), ref(is_), U64(0)))
b = U64(out(U64, 'cuMemCreate', SIZE(PAGE), ref(is_), U64(0)))
assert used() - before == 3 * PAGE
drv.cuMemMap(U64(va), SIZE(2 * PAGE), SIZE(0), a, U64(0))
drv.cuMemMap(U64(va + 2 * PAGE), SIZE(PAGE), SIZE(0), b, U64(0))
want(1, 'cuMemMap', U64(va + PAGE), SIZE(PAGE), SIZE(0), b, U64(0))       # taken
want(1, 'cuMemMap', U64(va + 9 * PAGE), SIZE(2 * PAGE), SIZE(0), a, U64(0))  # not all of it reserved
want(1, 'cuMemMap', U64(va + 4 * PAGE), SIZE(PAGE), SIZE(0), a, U64(0))   # half of it
both = Access(Location(1, 0), 3)
assert out(U64, 'cuMemGetAccess', ref(both.location), U64(va)) == 0
drv.cuMemSetAccess(U64(va), SIZE(3 * PAGE), ref(both), SIZE(1))
assert out(U64, 'cuMemGetAccess', ref(both.location), U64(va + 2 * PAGE)) == 3
want(1, 'cuMemSetAccess', U64(va + 2 * PAGE), SIZE(2 * PAGE), ref(both), SIZE(1))
# one tensor over the seam of two mappings, copied as a whole
n = 2 * MIB
host = (c.c_ubyte * n)(*([1, 2, 3, 4] * (n // 4)))
at = va + 2 * PAGE - MIB
d.h2d(at, host, n); d.synchronize()
back = (c.c_ubyte * n)()
d.d2h(back, at, n); d.synchronize()
assert not DATA or bytes(back) == bytes(host)
d.d2h(back, va, MIB); d.synchronize()
assert not any(bytes(back[:MIB:4096])) or not DATA, 'zero at first'
base, size = U64(), SIZE()
drv.cuMemGetAddressRange_v2(ref(base), ref(size), U64(va + 5))
assert (base.value, size.value) == (va, 2 * PAGE)
# the properties and the handle, asked back
got = Allocation()
drv.cuMemGetAllocationPropertiesFromHandle(ref(got), a)
assert bytes(got) == bytes(is_)
again = U64(out(U64, 'cuMemRetainAllocationHandle', P(va + 2 * PAGE + 17)))
assert again.value == b.value
drv.cuMemRelease(again)
want(1, 'cuMemRetainAllocationHandle', ref(again), P(d.malloc(512)))
want(1, 'cuMemFree_v2', U64(va))
# the second one, mapped elsewhere, still has the tensor's second half
want(1, 'cuMemUnmap', U64(va + 2 * PAGE), SIZE(2 * PAGE))
drv.cuMemUnmap(U64(va + 2 * PAGE), SIZE(PAGE))
drv.cuMemMap(U64(va + 7 * PAGE), SIZE(PAGE), SIZE(0), b, U64(0))
drv.cuMemMap(U64(va + 5 * PAGE), SIZE(PAGE), SIZE(0), b, U64(0))   # and once more
drv.cuMemSetAccess(U64(va + 7 * PAGE), SIZE(PAGE), ref(both), SIZE(1))
d.d2h(back, va + 7 * PAGE, MIB); d.synchronize()
assert not DATA or bytes(back[:MIB]) == bytes(host[MIB:])
drv.cuMemsetD8_v2(U64(va + 5 * PAGE), c.c_ubyte(9), SIZE(16)); d.synchronize()
d.d2h(back, va + 7 * PAGE, 32); d.synchronize()
assert not DATA or bytes(back[:32]) == bytes([9] * 16) + bytes(host[:16])
want(1, 'cuMemAddressFree', U64(va), SIZE(10 * PAGE))
drv.cuMemUnmap(U64(va + 5 * PAGE), SIZE(PAGE)); drv.cuMemUnmap(U64(va + 7 * PAGE), SIZE(PAGE))
# memory lives as long as its handle or a mapping
drv.cuMemRelease(a)
want(1, 'cuMemRelease', a)
assert used() - before == 3 * PAGE + 512
drv.cuMemUnmap(U64(va), SIZE(2 * PAGE))
assert used() - before == PAGE + 512
want(801, 'cuMemExportToShareableHandle', ref(again), b, 1, U64(0))
want(801, 'cuMemImportFromShareableHandle', ref(again), P(3), 1)
drv.cuMemRelease(b)
drv.cuMemAddressFree(U64(va), SIZE(10 * PAGE))
assert used() - before == 512
want(2, 'cuMemCreate', ref(a), SIZE(90 << 30), ref(is_), U64(0))
want(1, 'cuMemCreate', ref(a), SIZE(PAGE + 1), ref(is_), U64(0))
want(801, 'cuMemCreate', ref(a), SIZE(PAGE), ref(Allocation(type=1, handles=8, location=Location(1, 0))), U64(0))
want(101, 'cuMemCreate', ref(a), SIZE(PAGE), ref(Allocation(type=1, location=Location(1, 5))), U64(0))
''', GPUSIM_DATA=content)

    def test_memory_is_zero(self):
        """Also where another allocation was freed a moment ago."""
        self.program('''
back = (c.c_ubyte * MIB)()
for how in range(6):
    p = d.malloc(MIB) if how % 2 else out(U64, 'cuMemAllocAsync', SIZE(MIB), s_)
    d.d2h(back, p, MIB); d.synchronize()
    assert not any(back), how
    d.h2d(p, bytearray(b'x' * MIB), MIB); d.synchronize()
    d.d2h(back, p, MIB); d.synchronize()
    assert all(back)
    d.free(p) if how % 2 else drv.cuMemFreeAsync(U64(p), s_)
''', GPUSIM_DATA=1)

    def test_content_by_a_library(self):
        """gpusim_content() opens what was allocated before it, too."""
        self.program('''
p = d.malloc(64)
drv.lib.gpusim_content()
d.h2d(p, bytearray(b'abcdefgh'), 8); d.synchronize()
back = (c.c_ubyte * 16)()
d.d2h(back, p, 16); d.synchronize()
assert bytes(back) == b'abcdefgh' + bytes(8)
''')

    def test_pools(self):
        self.program('''
assert out(INT, 'cuDeviceGetAttribute', 115, 0) == 1
pool = P(out(P, 'cuDeviceGetDefaultMemPool', 0))
assert out(P, 'cuDeviceGetMemPool', 0) == pool.value
before = used()
p = out(U64, 'cuMemAllocAsync', SIZE(MIB), s_)
def attribute(which, kind=U64):
    v = kind(); drv.cuMemPoolGetAttribute(pool, which, ref(v)); return v.value
assert used() - before == MIB and attribute(7) == MIB and attribute(1, INT) == 1
assert out(P, 'cuPointerGetAttribute', 17, U64(p)) == pool.value
q = out(U64, 'cuMemAllocAsync', SIZE(MIB), s_)
# what is not known yet holds a free back
import threading
gate = threading.Event()
s.kernel(1_000_000)
s.host(gate.wait)
drv.cuMemsetD8Async(U64(q), c.c_ubyte(1), SIZE(MIB), s_)
drv.cuMemFreeAsync(U64(q), s_)
assert attribute(7) == 2 * MIB
gate.set()
s.synchronize()
assert attribute(7) == MIB and attribute(8) == 2 * MIB
zero = U64(0)
drv.cuMemPoolSetAttribute(pool, 8, ref(zero))
assert attribute(8) == MIB
drv.cuMemPoolSetAttribute(pool, 4, ref(U64(2**64 - 1)))
assert attribute(4) == 2**64 - 1
want(1, 'cuMemPoolSetAttribute', pool, 7, ref(zero))
drv.cuMemFree_v2(U64(p))
assert attribute(7) == 0 and used() == before
want(1, 'cuMemFreeAsync', U64(p), s_)
mine = P()
want(801, 'cuMemPoolCreate', ref(mine), ref(PoolWish(type=1, handles=1, location=Location(1, 0))))
drv.cuMemPoolCreate(ref(mine), ref(PoolWish(type=1, location=Location(1, 0))))
p = out(U64, 'cuMemAllocFromPoolAsync', SIZE(512), mine, s_)
assert out(P, 'cuPointerGetAttribute', 17, U64(p)) == mine.value
drv.cuMemPoolSetAccess(mine, ref(Access(Location(1, 0), 3)), SIZE(1))
assert out(INT, 'cuMemPoolGetAccess', mine, ref(Location(1, 0))) == 3
drv.cuDeviceSetMemPool(0, mine)
assert out(P, 'cuDeviceGetMemPool', 0) == mine.value
drv.cuMemPoolTrimTo(mine, SIZE(0))
drv.cuMemFreeAsync(U64(p), s_)
drv.cuMemPoolDestroy(mine)
assert out(P, 'cuDeviceGetMemPool', 0) == pool.value
want(1, 'cuMemPoolDestroy', pool)
''')

    def test_pointers(self):
        self.program('''
p, h, plain = d.malloc(1000), d.host_alloc(4096), (c.c_ubyte * 16)()
m = out(U64, 'cuMemAllocManaged', SIZE(4096), 1)
look = lambda at, what, kind=INT: out(kind, 'cuPointerGetAttribute', what, U64(at))
assert [look(x, 2) for x in (p, h, m)] == [2, 1, 2]                   # memory type
assert [look(x + 8, 3, U64) for x in (p, h)] == [p + 8, h + 8]         # as the device sees it
assert look(h, 4, P) == h and look(m, 4, P) == m
want(1, 'cuPointerGetAttribute', ref(U64()), 4, U64(p))
assert [look(x, 8, c.c_ubyte) for x in (p, h, m)] == [0, 0, 1]
assert look(p, 9) == 0 and (look(p + 500, 11, U64), look(p, 12, U64)) == (p, 1024)
assert look(p, 1, P) == out(P, 'cuCtxGetCurrent')
want(1, 'cuPointerGetAttribute', ref(U64()), 3, U64(c.addressof(plain)))  # the host's: Triton goes by that
want(1, 'cuPointerGetAttribute', ref(U64()), 99, U64(p))
# several at once, of an address nobody knows too
kind, dev, at = INT(7), INT(7), U64(7)
which, where = (INT * 3)(2, 9, 3), (P * 3)(*map(c.addressof, (kind, dev, at)))
drv.cuPointerGetAttributes(3, which, where, U64(p))
assert (kind.value, dev.value, at.value) == (2, 0, p)
drv.cuPointerGetAttributes(3, which, where, U64(c.addressof(plain)))
assert (kind.value, dev.value, at.value) == (0, -2, 0)
''')

    def test_kernels_of_others(self):
        """Binaries are loaded, their kernels last a while whatever their parameters are, and nothing is computed;
        the model's own kernels go by their first parameter as before."""
        self.program('''
m, f, lib, k = P(), P(), P(), P()
image = cubin()
drv.cuModuleLoadData(ref(m), image)
drv.cuModuleGetFunction(ref(f), m, b'triton_poi_fused_add_0')
p, n = U64(d.malloc(4096)), INT(1024)          # 10^14 ns, if it were a length
args = (P * 2)(c.addressof(p), c.addressof(n))
drv.cuLaunchKernel(f, 4, 1, 1, 128, 1, 1, 0, s_, args, None)
drv.cuLaunchCooperativeKernel(f, 4, 1, 1, 128, 1, 1, 0, s_, args)
how = Launch(grid=(8, 1, 1), block=(64, 1, 1), stream=s_)
class Attribute(ctypes.Structure):
    _fields_ = [('id', INT), ('pad', INT), ('value', UINT * 16)]
attr = Attribute(4, 0, (2, 1, 1))
how.attrs, how.n = c.addressof(attr), 1
drv.cuLaunchKernelEx(ref(how), f, args, None)
# in a graph
g = Graph(s, lambda _: drv.cuLaunchKernel(f, 4, 1, 1, 128, 1, 1, 0, s_, args, None))
g.launch(s)
drv.cuLibraryLoadData(ref(lib), image, None, None, 0, None, None, 0)
drv.cuLibraryGetKernel(ref(k), lib, b'_Z3addPfS_')
drv.cuKernelGetFunction(ref(f), k)
drv.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s_, args, None)
s.kernel(3_000_000, 'own')
s.synchronize()
name = c.c_char_p()
drv.cuFuncGetName(ref(name), f); assert name.value == b'_Z3addPfS_'
assert out(P, 'cuKernelGetLibrary', k) == lib.value and out(P, 'cuLibraryGetModule', lib) == lib.value
assert out(P, 'cuFuncGetModule', f) == lib.value
drv.cuLibraryUnload(lib); drv.cuModuleUnload(m)
# a record of the runtime's, a fat binary, a file
import struct
drv.cuModuleLoadFatBinary(ref(m), struct.pack('<IIQQ', 0x466243b1, 1, 0, 0))
drv.cuModuleLoadData(ref(m), struct.pack('<IHHQ', 0xba55ed50, 1, 16, 0))
open('k.cubin', 'wb').write(image)
drv.cuModuleLoad(ref(m), b'k.cubin'); drv.cuLibraryLoadFromFile(ref(lib), b'k.cubin', None, None, 0, None, None, 0)
want(209, 'cuModuleLoadData', ref(m), cubin(62))   # of the host
assert out(INT, 'cuModuleGetLoadingMode') == 1
''')
        self.assertEqual([k for k, _ in self.kernels()],
                         ['triton_poi_fused_add_0'] * 4 + ['_Z3addPfS_', 'own'])
        self.assertTrue(all(ns < 100_000_000 for _, ns in self.kernels()[:5]), self.kernels())
        self.assertEqual(self.kernels()[5][1], 3_000_000)
        self.assertEqual(self.err.count('garbage'), 1, self.err)

    def test_launches_that_block(self):
        """CUDA_LAUNCH_BLOCKING=1, which people set to find the launch that an error belongs to; also behind what waits."""
        for blocking in 1, 0:
            self.program('''
import threading
blocks, gate = os.environ['CUDA_LAUNCH_BLOCKING'] == '1', threading.Event()
s.host(gate.wait)
if blocks:
    threading.Timer(0.05, gate.set).start()
for _ in range(2):
    s.kernel(20_000_000)
    assert s.record().done() == blocks
gate.set()
s.synchronize()
''', CUDA_LAUNCH_BLOCKING=blocking)

    def test_own_kernels_say_nothing(self):
        self.program('s.kernel(1000); s.synchronize()')
        self.assertEqual(self.err, '')

    def test_facts_of_kernels(self):
        self.program('''
m, f = P(), P()
drv.cuModuleLoadData(ref(m), cubin())
drv.cuModuleGetFunction(ref(f), m, b'k')
get = lambda what: out(INT, 'cuFuncGetAttribute', what, f)
assert [get(i) for i in (0, 5, 6)] == [1024, 90, 90] and get(4) > 0
drv.cuFuncSetAttribute(f, 8, 200 * KIB); assert get(8) == 200 * KIB
want(1, 'cuFuncSetAttribute', f, 8, 1 << 20)
want(1, 'cuFuncSetAttribute', f, 4, 255)
want(400, 'cuFuncGetAttribute', ref(INT()), 0, None)
drv.cuFuncSetCacheConfig(f, 2)
blocks = lambda threads, shared=0: out(INT, 'cuOccupancyMaxActiveBlocksPerMultiprocessor', f, threads, SIZE(shared))
assert [blocks(n) for n in (1024, 256, 32, 33)] == [2, 8, 32, 32] and blocks(128, 100 * KIB) == 2
assert blocks(2048) == 0 and blocks(32, 300 * KIB) == 0
want(1, 'cuOccupancyMaxActiveBlocksPerMultiprocessor', ref(INT()), f, 0, SIZE(0))
assert out(INT, 'cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags', f, 256, SIZE(0), 0) == 8
grid, block = INT(), INT()
drv.cuOccupancyMaxPotentialBlockSize(ref(grid), ref(block), f, None, SIZE(0), 0)
assert (grid.value, block.value) == (264, 1024)
shared = c.CFUNCTYPE(SIZE, INT)(lambda threads: threads * 256)
drv.cuOccupancyMaxPotentialBlockSize(ref(grid), ref(block), f, shared, SIZE(0), 512)
assert block.value == 448 and grid.value == 264
how = Launch(grid=(8, 1, 1), block=(256, 1, 1))
assert out(INT, 'cuOccupancyMaxActiveClusters', f, ref(how)) == 8 * 132
assert out(INT, 'cuOccupancyMaxPotentialClusterSize', f, ref(how)) == 8
assert out(SIZE, 'cuOccupancyAvailableDynamicSMemPerBlock', f, 2, 128) == 233472 // 2 - 1024
# a tensor map, at a multiple of 64
room = (c.c_ubyte * 256)()
at = (c.addressof(room) + 63) // 64 * 64
dims, strides, box, steps = (U64 * 2)(64, 64), (U64 * 1)(128), (UINT * 2)(64, 8), (UINT * 2)(1, 1)
drv.cuTensorMapEncodeTiled(P(at), 6, 2, P(d.malloc(8192)), dims, strides, box, steps, 0, 3, 2, 0)
want(1, 'cuTensorMapEncodeTiled', P(at + 8), 6, 2, P(512), dims, strides, box, steps, 0, 3, 2, 0)
want(1, 'cuTensorMapEncodeTiled', P(at), 6, 9, P(512), dims, strides, box, steps, 0, 3, 2, 0)
# what an H100 says
assert [out(INT, 'cuDeviceGetAttribute', i, 0) for i in (75, 76, 16, 97, 106, 81, 82, 2)] == [9, 0, 132, 232448, 32, 233472, 65536, 1024]
''')

    def test_streams(self):
        self.program('''
assert out(INT, 'cuCtxGetStreamPriorityRange', ref(INT())) == 0
low, high = INT(), INT()
drv.cuCtxGetStreamPriorityRange(ref(low), ref(high))
assert low.value == 0 > high.value
t = P()
drv.cuStreamCreateWithPriority(ref(t), 1, high.value)
ask = lambda kind, name, st: out(kind, name, st, first=False)
assert ask(INT, 'cuStreamGetPriority', t) == high.value and ask(UINT, 'cuStreamGetFlags', t) == 1
assert ask(P, 'cuStreamGetCtx', t) == out(P, 'cuCtxGetCurrent') and ask(INT, 'cuStreamGetDevice', t) == 0
assert ask(U64, 'cuStreamGetId', t) != ask(U64, 'cuStreamGetId', s_)
h = d.host_alloc(64)
drv.cuStreamWriteValue32(t, U64(h), UINT(7), 0)
drv.cuStreamWriteValue64(t, U64(h + 8), U64(1 << 40), 0)
drv.cuStreamSynchronize(t)
assert (UINT.from_address(h).value, U64.from_address(h + 8).value) == (7, 1 << 40)
want(1, 'cuStreamWriteValue32', t, U64(h + 1), UINT(7), 0)
want(801, 'cuStreamWaitValue32', t, U64(h), UINT(7), 0)
mode = INT(2)
drv.cuThreadExchangeStreamCaptureMode(ref(mode)); assert mode.value == 0
drv.cuThreadExchangeStreamCaptureMode(ref(mode)); assert mode.value == 2
# where a capture stands
status, id_, graph, deps, edges, n = INT(), U64(), P(), c.POINTER(P)(), P(7), SIZE()
info = lambda: drv.cuStreamGetCaptureInfo_v3(t, ref(status), ref(id_), ref(graph), ref(deps), ref(edges), ref(n))
info(); assert status.value == 0
drv.cuStreamBeginCapture_v2(t, 2)
info(); first = id_.value
assert status.value == 1 and first and n.value == 0 and edges.value is None
drv.cuMemsetD8Async(U64(d.malloc(64)), c.c_ubyte(0), SIZE(64), t)
info(); assert n.value == 1 and deps[0]
node = P(deps[0])
drv.cuMemsetD8Async(U64(d.malloc(64)), c.c_ubyte(0), SIZE(64), t)
info(); assert deps[0] != node.value
drv.cuStreamUpdateCaptureDependencies(t, (P * 1)(node), SIZE(1), 1)
info(); assert deps[0] == node.value
drv.cuStreamUpdateCaptureDependencies(t, None, SIZE(0), 1)
info(); assert n.value == 0
e = P()
drv.cuEventCreate(ref(e), 0)
drv.cuEventRecordWithFlags(e, t, 0)
done = P()
drv.cuStreamEndCapture(t, ref(done))
assert done.value == graph.value
want(401, 'cuStreamUpdateCaptureDependencies', t, None, SIZE(0), 1)
drv.cuStreamBeginCapture_v2(t, 0)
info(); assert id_.value != first
''')

    def test_peers(self):
        self.program('''
ctx = P()
drv.cuDevicePrimaryCtxRetain(ref(ctx), 1)
drv.cuCtxEnablePeerAccess(ctx, 0)
want(704, 'cuCtxEnablePeerAccess', ctx, 0)
drv.cuCtxDisablePeerAccess(ctx)
want(705, 'cuCtxDisablePeerAccess', ctx)
want(101, 'cuCtxEnablePeerAccess', P(out(P, 'cuCtxGetCurrent')), 0)
assert [out(INT, 'cuDeviceGetP2PAttribute', i, 0, 1) for i in (1, 2, 3)] == [0, 1, 1]
for i in 0, 1:
    name = c.create_string_buffer(32)
    drv.cuDeviceGetPCIBusId(name, 32, i)
    assert out(INT, 'cuDeviceGetByPCIBusId', name) == i
want(101, 'cuDeviceGetByPCIBusId', ref(INT()), b'0000:01:00.0')
want(801, 'cuIpcGetEventHandle', c.create_string_buffer(64), P(1))
''', GPUSIM_DEVICES=2)

    def test_entry_points(self):
        """By the version of CUDA that the program was built for, where calls changed what they are called with."""
        self.program('''
def named(name, version):
    fn, how = P(), INT()
    rc = raw('cuGetProcAddress_v2', name.encode(), ref(fn), version, U64(0), ref(how))
    return None if rc else fn.value
def exported(name): return c.cast(getattr(drv.lib, name), P).value
for name, version, function in (('cuCtxCreate', 12000, 'cuCtxCreate_v2'), ('cuCtxCreate', 13000, 'cuCtxCreate_v4'),
        ('cuGraphInstantiate', 11000, 'cuGraphInstantiate_v2'), ('cuGraphInstantiate', 12000, 'cuGraphInstantiateWithFlags'),
        ('cuStreamGetCaptureInfo', 12000, 'cuStreamGetCaptureInfo_v2'), ('cuStreamGetCaptureInfo', 13000, 'cuStreamGetCaptureInfo_v3'),
        ('cuMemAdvise', 11000, 'cuMemAdvise'), ('cuMemPrefetchAsync', 13000, 'cuMemPrefetchAsync_v2'),
        ('cuMemAlloc', 12000, 'cuMemAlloc_v2'), ('cuInit', 2000, 'cuInit')):
    assert named(name, version) == exported(function), (name, version)
assert named('cuNoSuchThing', 13000) is None
# what PyTorch's allocator looks up and insists on
for name in ('cuDeviceGet cuDeviceGetAttribute cuMemGetAddressRange cuMemAddressReserve cuMemRelease cuMemMap cuMemAddressFree '
             'cuMemSetAccess cuMemUnmap cuMemCreate cuMemGetAllocationGranularity cuMemExportToShareableHandle '
             'cuMemImportFromShareableHandle cuMemRetainAllocationHandle cuMemGetAllocationPropertiesFromHandle '
             'cuMemsetD32Async cuStreamWriteValue32 cuGetErrorString').split():
    assert named(name, 12000), name
''')

    def test_static_runtime(self):
        """Private tables of NVIDIA's are not given out, and one line says who wanted them and what that means. Its
        compilers want one too, go on without, and are no reason to say so."""
        def ask(name):
            self.program(f'''
lib = c.CDLL({test_gpusim.SIM!r} + '/asks/{name}.so')
for _ in range(3):
    assert lib.asks() == 500
''')
        ask('asks')
        self.assertEqual(self.err.count('\n'), 1, self.err)
        for word in '/asks.so asks', 'linked statically', 'do not run on the simulated GPU':
            self.assertIn(word, self.err)
        ask('libnvrtc-asks')
        self.assertEqual(self.err, '')

    def test_triton_finds_it(self):
        """Triton asks ldconfig before it reads LD_LIBRARY_PATH, unless this is set."""
        self.assertEqual(self.run_sim(['sh', '-c', 'cd "$TRITON_LIBCUDA_PATH" && pwd -P && ls libcuda.so.1']),
                         os.path.realpath(test_gpusim.SIM) + '\nlibcuda.so.1\n')

    def test_wishes(self):
        """What a program would like of memory that never moves, and a graph with parameters."""
        self.program('''
m, h = out(U64, 'cuMemAllocManaged', SIZE(4096), 1), d.host_alloc(64)
where = Location(1, 0)
drv.cuMemAdvise(U64(m), SIZE(4096), 1, 0); drv.cuMemAdvise_v2(U64(m), SIZE(16), 3, where)
drv.cuMemPrefetchAsync(U64(m), SIZE(4096), 0, s_); drv.cuMemPrefetchAsync_v2(U64(m), SIZE(4096), where, 0, s_)
want(1, 'cuMemPrefetchAsync_v2', U64(m), SIZE(4097), where, 0, s_)
want(1, 'cuMemAdvise_v2', U64(d.malloc(512)), SIZE(16), 3, where)
assert out(UINT, 'cuMemHostGetFlags', P(h)) & 2
want(1, 'cuMemHostGetFlags', ref(UINT()), P(m))
class How(ctypes.Structure):
    _fields_ = [('flags', U64), ('upload', P), ('failed', P), ('result', INT)]
graph, run, how = P(), P(), How(result=7)
drv.cuGraphCreate(ref(graph), 0)
drv.cuGraphInstantiateWithParams(ref(run), graph, ref(how))
assert run.value and how.result == 0
drv.cuGraphLaunch(run, s_)
''')

    def test_errors_by_name(self):
        """Also those that only a script answers, as a sick GPU would."""
        self.program('''
def named(code):
    name, text = c.c_char_p(), c.c_char_p()
    assert (raw('cuGetErrorName', code, ref(name)) == 0) == (drv.cuGetErrorString(code, ref(text)) == 0) == bool(text.value)
    return name.value
assert [named(i) for i in (0, 214, 700, 719, 900, 12345)] == [
    b'CUDA_SUCCESS', b'CUDA_ERROR_ECC_UNCORRECTABLE', b'CUDA_ERROR_ILLEGAL_ADDRESS', b'CUDA_ERROR_LAUNCH_FAILED',
    b'CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED', None]
try:
    s.kernel(1000)
    assert False
except CudaError as e:
    assert 'illegal memory access' in str(e), e
''', GPUSIM_FAULT='fail:call=cuLaunchKernel,nth=1,code=700')

    def test_nvml(self):
        self.program('''
nvml = c.CDLL('libnvidia-ml.so.1')
def ask(name, kind, *args):
    v = kind(); rc = getattr(nvml, name)(*args, ref(v)); assert rc == 0, (name, rc)
    return v
assert nvml.nvmlInit_v2() == 0
h = ask('nvmlDeviceGetHandleByIndex_v2', P, 0)
assert ask('nvmlSystemGetCudaDriverVersion_v2', INT).value == 13000
assert ask('nvmlSystemGetCudaDriverVersion', INT).value == 13000
class Old(ctypes.Structure):
    _fields_ = [('pid', UINT), ('memory', c.c_ulonglong)]
d.malloc(5 * MIB)
n = UINT(0)
assert nvml.nvmlDeviceGetComputeRunningProcesses(h, ref(n), None) == 7 and n.value == 1
n, list_ = UINT(4), (Old * 4)()
assert nvml.nvmlDeviceGetComputeRunningProcesses(h, ref(n), list_) == 0 and n.value == 1
assert list_[0].pid == os.getpid() and list_[0].memory == 5 * MIB
class Pci(ctypes.Structure):
    _fields_ = [('legacy', c.c_char * 16), ('n', UINT * 5), ('text', c.c_char * 32)]
assert ask('nvmlDeviceGetNvLinkRemoteDeviceType', UINT, h, 17).value == 2
assert nvml.nvmlDeviceGetNvLinkRemoteDeviceType(h, 18, ref(n)) == 2
own = ask('nvmlDeviceGetPciInfo_v3', Pci, h).text
assert ask('nvmlDeviceGetNvLinkRemotePciInfo_v2', Pci, h, 0).text not in (b'', own)
assert ask('nvmlDeviceGetNvLinkState', UINT, h, 0).value == 1
assert ask('nvmlDeviceGetP2PStatus', INT, h, ask('nvmlDeviceGetHandleByIndex_v2', P, 1), 0).value == 0
''', GPUSIM_DEVICES=2)


if __name__ == '__main__':
    unittest.main()
