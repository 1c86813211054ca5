#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""Calls of the simulated driver that real programs make and our own workloads do not: rectangles and
boxes, arrays, managed memory, callbacks, what contexts remember; the answers where the driver gives an
error; and that CUPTI's records of all of it are the truth's."""
import unittest

import test_gpusim

HEAD = '''
def ends(kind): return [(kind + 'X', SIZE), (kind + 'Y', SIZE)]
def where(kind): return [(kind + 'Type', UINT), (kind + 'Host', P), (kind + 'Device', U64), (kind + 'Array', P)]
class Rows(ctypes.Structure):
    _fields_ = (ends('src') + where('src') + [('srcPitch', SIZE)] + ends('dst') + where('dst') +
                [('dstPitch', SIZE), ('width', SIZE), ('height', SIZE)])
def more(kind): return ends(kind) + [(kind + 'Z', SIZE), (kind + 'Lod', SIZE)] + where(kind) + [
    (kind + 'No', P), (kind + 'Pitch', SIZE), (kind + 'Height', SIZE)]
class Box(ctypes.Structure):
    _fields_ = more('src') + more('dst') + [('width', SIZE), ('height', SIZE), ('depth', SIZE)]
class Flat(ctypes.Structure):
    _fields_ = [('width', SIZE), ('height', SIZE), ('format', UINT), ('channels', UINT)]
class Deep(ctypes.Structure):
    _fields_ = [('width', SIZE), ('height', SIZE), ('depth', SIZE), ('format', UINT), ('channels', UINT), ('flags', UINT)]
HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4
c, ref, drv = ctypes, ctypes.byref, driver()
def end(kind, at, pitch=0):
    type, what = at
    field = {HOST: 'Host', ARRAY: 'Array'}.get(type, 'Device')
    return {kind + 'Type': type, kind + field: what, kind + 'Pitch': pitch}
def rows(dst, src, width, height, dp=0, sp=0, call='cuMemcpy2D_v2', stream=None, **more):
    r = Rows(width=width, height=height, **end('dst', dst, dp), **end('src', src, sp), **more)
    fn = getattr(drv, call).raw
    return fn(ref(r), stream) if 'Async' in call else fn(ref(r))
def raw(name, *args):
    return getattr(drv, name).raw(*args)
def buffer(n, fill=None):
    b = (c.c_ubyte * n)(*(fill if fill is not None else bytes(n)))
    return b
def host(b): return HOST, c.addressof(b)
def pitched(width, height):
    p, pitch = U64(), SIZE()
    assert raw('cuMemAllocPitch_v2', ref(p), ref(pitch), SIZE(width), SIZE(height), 4) == 0
    return p.value, pitch.value
def array(*is_, make='cuArrayCreate_v2', type=Flat):
    a, d_ = P(), type(*is_)
    rc = raw(make, ref(a), ref(d_))
    return rc or a.value
s_ = s.handle
s.kernel(1000)
'''


class Calls(test_gpusim.Case):
    def program(self, text, **env):
        """Its output, and that all records are the truth's."""
        env.setdefault('GPUSIM_DATA', 1)
        out = self.run_sim(test_gpusim.python(HEAD + text), tap=True, **env)
        test_gpusim.truth_check.main([self.path('truth')] + self.taps())
        return out

    def copies(self):
        return [(r['copy'], r['src'], r['dst'], r['bytes']) for r in self.truth('memcpy')]

    def tapped(self):
        """The same as CUPTI's numbers, from its records."""
        return [(r['copy'], r['src'], r['dst'], r['bytes']) for r in self.tap(1)]

    def test_rectangles(self):
        self.program('''
n = 100 * 40
src, back = buffer(n, [i * 7 % 251 for i in range(n)]), buffer(n)
at, pitch = pitched(100, 40)
assert pitch == 512 and at % 512 == 0
assert rows((DEVICE, at), host(src), 100, 40, pitch, 100) == 0
assert rows(host(back), (DEVICE, at), 100, 40, 100, pitch) == 0
assert bytes(back) == bytes(src)
# a piece of it, from the middle, into the middle, asynchronously
piece = buffer(30 * 10)
assert rows(host(piece), (UNIFIED, at), 20, 5, 30, pitch, 'cuMemcpy2DAsync_v2', s_, srcX=10, srcY=3, dstX=4, dstY=2) == 0
s.synchronize()
for y in range(10):
    for x in range(30):
        inside = 2 <= y < 7 and 4 <= x < 24
        assert piece[y * 30 + x] == (src[(y - 2 + 3) * 100 + x - 4 + 10] if inside else 0), (x, y)
# rows that follow each other need no pitch
line = buffer(100)
assert rows(host(line), (DEVICE, at), 100, 1, 0, 0) == 0 and bytes(line) == bytes(src[:100])
other = pitched(100, 40)[0]
assert rows((DEVICE, other), (DEVICE, at), 100, 40, pitch, pitch, 'cuMemcpy2DUnaligned_v2') == 0
drv.cuCtxSynchronize()
''')
        self.assertEqual(self.copies(), [('h2d', 'pageable', 'device', 4000), ('d2h', 'device', 'pageable', 4000),
                                         ('d2h', 'device', 'pageable', 100), ('d2h', 'device', 'pageable', 100),
                                         ('d2d', 'device', 'device', 4000)])
        self.assertEqual(sorted(self.tapped()), sorted([(1, 1, 3, 4000), (2, 3, 1, 4000), (2, 3, 1, 100),
                                                        (2, 3, 1, 100), (8, 3, 3, 4000)]))

    def test_rectangles_refused(self):
        self.program('''
b = buffer(4096)
at, pitch = pitched(100, 4)
INVALID = 1
assert rows((DEVICE, at), host(b), 100, 4, pitch, 99) == INVALID          # rows overlap
assert rows((DEVICE, at), host(b), 100, 4, pitch, 2**64 - 100) == INVALID   # upside down
assert rows((DEVICE, at), host(b), 100, 5, pitch, 100) == INVALID         # beyond the allocation
assert rows((DEVICE, c.addressof(b)), host(b), 10, 1) == INVALID          # no device's memory
assert rows((5, at), host(b), 10, 1) == INVALID
assert rows((ARRAY, None), host(b), 10, 1) == 400
assert rows((DEVICE, at), host(b), 0, 4, 1, 1) == 0                       # nothing to do
p, n = U64(), SIZE()
assert raw('cuMemAllocPitch_v2', ref(p), ref(n), SIZE(10), SIZE(1), 3) == INVALID
assert raw('cuMemAllocPitch_v2', ref(p), ref(n), SIZE(10), SIZE(0), 4) == INVALID
assert raw('cuMemAllocPitch_v2', ref(p), ref(n), SIZE(2**63), SIZE(2**40), 4) == 2
assert raw('cuMemFree_v2', U64(at + 512)) == INVALID
''')
        self.assertEqual(self.copies(), [])

    def test_arrays(self):
        self.program('''
n = 6 * 8 * 4
src, back = buffer(n, range(n)), buffer(n)
a = array(6, 4, 0x20, 2)   # 6 x 4 pairs of floats, 48 bytes a row
d_ = Flat()
drv.cuArrayGetDescriptor_v2(ref(d_), P(a))
assert (d_.width, d_.height, d_.format, d_.channels) == (6, 4, 0x20, 2)
assert rows((ARRAY, a), host(src), 48, 4, 0, 48) == 0
b = array(6, 4, 0x20, 2)
assert rows((ARRAY, b), (ARRAY, a), 48, 4) == 0
at, pitch = pitched(48, 4)
assert rows((DEVICE, at), (ARRAY, b), 48, 4, pitch) == 0
assert rows((ARRAY, a), (DEVICE, at), 16, 1, 0, pitch, dstX=8, dstY=1) == 0
assert rows(host(back), (ARRAY, a), 48, 4, 48, 0) == 0
want = bytearray(src); want[48 + 8:48 + 24] = bytes(src[:16])
assert bytes(back) == bytes(want)
assert rows(host(back), (ARRAY, a), 7, 4, 48, 0) == 1        # no whole element
assert rows(host(back), (ARRAY, a), 48, 5, 48, 0) == 1       # a row too many
assert array(6, 4, 0x20, 3) == 1 and array(0, 4, 0x20, 1) == 1
assert array(4, 4, 0, 1, 1, 0x40, make='cuArray3DCreate_v2', type=Deep) == 801  # sparse
# a cube, by boxes
cube = array(4, 3, 2, 1, 1, 0, make='cuArray3DCreate_v2', type=Deep)
x = Box(srcType=HOST, srcHost=c.addressof(src), srcPitch=4, srcHeight=3, dstType=ARRAY, dstArray=cube,
        width=4, height=3, depth=2)
assert raw('cuMemcpy3D_v2', ref(x)) == 0
y = Box(srcType=ARRAY, srcArray=cube, srcX=1, srcY=1, srcZ=1, dstType=HOST, dstHost=c.addressof(back), width=2, height=2, depth=1)
assert raw('cuMemcpy3DAsync_v2', ref(y), s_) == 0
s.synchronize()
assert bytes(back[:4]) == bytes([17, 18, 21, 22]), list(back[:4])
free = d.memory()[0]
for each in a, b, cube:
    drv.cuArrayDestroy(P(each))
assert d.memory()[0] > free and raw('cuArrayDestroy', P(a)) == 400
''')
        self.assertEqual([r[0] for r in self.copies()], ['h2a', 'a2a', 'a2d', 'd2a', 'a2h', 'h2a', 'a2h'])
        self.assertEqual(sorted(self.tapped()), sorted([(3, 1, 4, 192), (5, 4, 4, 192), (6, 4, 3, 192),
                                                        (7, 3, 4, 16), (4, 4, 1, 192), (3, 1, 4, 24), (4, 4, 1, 4)]))

    def test_memsets(self):
        self.program('''
at, pitch = pitched(64, 8)
drv.cuMemsetD8_v2(U64(at), c.c_ubyte(1), SIZE(8 * pitch))
drv.cuMemsetD2D16_v2(U64(at + 2), SIZE(pitch), c.c_ushort(0x0302), SIZE(3), SIZE(2))
drv.cuMemsetD2D32Async(U64(at + pitch * 4), SIZE(pitch), UINT(0x07060504), SIZE(2), SIZE(1), s_)
drv.cuMemsetD32_v2(U64(at + pitch * 5), UINT(0x0b0a0908), SIZE(1))
assert raw('cuMemsetD32_v2', U64(at + 1), UINT(0), SIZE(1)) == 1
drv.cuCtxSynchronize()
b = (c.c_ubyte * (8 * pitch)).from_address(at)
assert bytes(b[:10]) == bytes([1, 1, 2, 3, 2, 3, 2, 3, 1, 1]) == bytes(b[pitch:pitch + 10])
assert bytes(b[2 * pitch:2 * pitch + 10]) == bytes([1] * 10)
assert bytes(b[4 * pitch:4 * pitch + 9]) == bytes([4, 5, 6, 7, 4, 5, 6, 7, 1])
assert bytes(b[5 * pitch:5 * pitch + 5]) == bytes([8, 9, 10, 11, 1])
''')
        self.assertEqual([r['bytes'] for r in self.truth('memset')], [4096, 12, 8, 4])

    def test_managed_memory(self):
        """The host uses it too; copies say which kind of memory it is."""
        self.program('''
p = U64()
assert raw('cuMemAllocManaged', ref(p), SIZE(4096), 3) == 1
drv.cuMemAllocManaged(ref(p), SIZE(4096), 1)
b = (c.c_ubyte * 4096).from_address(p.value)
b[:] = bytes(i % 256 for i in range(4096))
q = d.malloc(4096)
drv.cuMemcpy(U64(q), p, SIZE(4096))
drv.cuCtxSynchronize()
base, size = U64(), SIZE()
drv.cuMemGetAddressRange_v2(ref(base), ref(size), U64(p.value + 100))
assert (base.value, size.value) == (p.value, 4096)
assert raw('cuMemGetAddressRange_v2', ref(base), ref(size), U64(c.addressof(base))) == 500
drv.cuMemFree_v2(p)
''', GPUSIM_DATA=0)
        self.assertEqual(self.copies(), [('d2d', 'managed', 'device', 4096)])

    def test_callback(self):
        self.assertEqual(self.program('''
FN = c.CFUNCTYPE(None, P, INT, P)
seen = []
fn = FN(lambda stream, status, data: seen.append((stream, status, data)))
s.kernel(3_000_000)
drv.cuStreamAddCallback(s_, fn, P(77), 0)
assert raw('cuStreamAddCallback', s_, fn, None, 1) == 1
s.synchronize()
print(seen == [(s_.value, 0, 77)])
'''), 'True\n')
        self.assertEqual(len(self.truth('host')), 1)

    def test_contexts_remember(self):
        self.program('''
flags, n, active, major, minor = UINT(), SIZE(), INT(), INT(), INT()
drv.cuDeviceComputeCapability(ref(major), ref(minor), 0)
assert (major.value, minor.value) == (9, 0)
drv.cuDeviceGetAttribute(ref(major), 33, 0)
name = c.create_string_buffer(32)
drv.cuDeviceGetPCIBusId(name, 32, 0)
assert name.value.decode() == '0000:%02X:00.0' % major.value
nvml, handle, n_ = c.CDLL('libnvidia-ml.so.1'), P(), UINT(9)
assert nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetHandleByIndex_v2(0, ref(handle)) == 0
assert nvml.nvmlDeviceGetGraphicsRunningProcesses_v3(handle, ref(n_), None) == 0 and n_.value == 0
drv.cuDevicePrimaryCtxSetFlags(0, 4)
drv.cuDevicePrimaryCtxGetState(0, ref(flags), ref(active))
assert (flags.value, active.value) == (4, 1)
assert raw('cuDevicePrimaryCtxSetFlags', 0, 3) == 1 and raw('cuDevicePrimaryCtxSetFlags', 9, 0) == 101
drv.cuCtxSetLimit(0, SIZE(4096))
drv.cuCtxGetLimit(ref(n), 0)
assert n.value == 4096
drv.cuCtxGetLimit(ref(n), 1)
assert n.value == 1 << 20
assert raw('cuCtxSetLimit', 3, SIZE(1)) == 215 and raw('cuCtxGetLimit', ref(n), 99) == 215
free = d.memory()[0]
ctx = P()
drv.cuCtxCreate_v2(ref(ctx), 1, 0)
drv.cuCtxGetFlags(ref(flags))
assert flags.value == 1
d.malloc(1 << 20)
drv.cuCtxDestroy_v2(ctx)
assert d.memory()[0] == free, 'a context ends and its memory with it'
p = d.malloc(4096)
drv.cuDevicePrimaryCtxReset(0)
drv.cuDevicePrimaryCtxGetState(0, ref(flags), ref(active))
assert active.value == 0
assert raw('cuMemFree_v2', U64(p)) == 1
assert raw('cuCtxSynchronize') == 201
Device(0).synchronize()
''')

    def test_code_to_be_compiled_is_refused(self):
        self.program('''
def load(image):
    m = P()
    return raw('cuModuleLoadData', ref(m), image)
ptx = b'.version 7.0\\n.target sm_50\\n.address_size 64\\n.visible .entry add(.param .u64 a) { ret; }\\0'
assert load(ptx) == 221
assert load(b'\\x7fELF\\x02\\x01' + bytes(30)) == 209   # no binary for a GPU
assert load(b'a name\\0') == 0 and load(None) == 1
m, p, n = P(), U64(), SIZE()
assert raw('cuModuleLoad', ref(m), b'/nonexistent.ptx') == 301
open('add.ptx', 'wb').write(ptx)
assert raw('cuModuleLoad', ref(m), b'add.ptx') == 221
drv.cuModuleLoadData(ref(m), b'a name\\0')
assert raw('cuModuleGetGlobal_v2', ref(p), ref(n), m, b'x') == 500
link = P()
assert raw('cuIpcGetMemHandle', ref(p), U64(d.malloc(512))) == 801
assert raw('cuLinkCreate_v2', 0, None, None, ref(link)) == 221
assert raw('cuTexObjectCreate', ref(p), None, None, None) == 801
assert raw('cuGraphicsGLRegisterImage', ref(m), 1, 2, 0) == 219
text = c.c_char_p()
for code in 209, 215, 219, 221, 301:
    drv.cuGetErrorName(code, ref(text))
    assert text.value.startswith(b'CUDA_ERROR_')
''')


if __name__ == '__main__':
    unittest.main()
