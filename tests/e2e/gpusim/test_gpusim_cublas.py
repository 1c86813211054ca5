#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""The simulator's cuBLAS and cuBLASLt, called as PyTorch calls the real ones: each product is one kernel of the truth, as long as
its sizes and types say; results for the host are a copy that the caller waits for; what has no body is not supported, and counted."""
import unittest

import test_gpusim

HEAD = '''
c, ref, L = ctypes, ctypes.byref, ctypes.c_int64
blas, lt, sim = c.CDLL('libcublas.so.13'), c.CDLL('libcublasLt.so.13'), c.CDLL('libcuda.so.1')
sim.gpusim_length_work.restype = U64
sim.gpusim_length_work.argtypes = [c.c_double, c.c_double, INT]
F64, F32, TF32, F16, F8, I8 = range(6)  # enum gpusim_type
R32, R64, R16, RI8, C32, C64, RI32, RBF, E4M3 = 0, 1, 2, 3, 4, 5, 10, 14, 28  # cudaDataType
SINGLE, DOUBLE, INTEGER, AS_TF32 = 68, 70, 72, 77  # cublasComputeType_t
blas.cublasGetStatusName.restype = blas.cublasGetStatusString.restype = c.c_char_p
lt.cublasLtGetVersion.restype = SIZE

def ok(status):
    assert not status, blas.cublasGetStatusName(status)

handle, one, no = P(), c.c_double(1), P()
ok(blas.cublasCreate_v2(ref(handle)))
ok(blas.cublasSetStream_v2(handle, s.handle))

def length(flops, bytes, type):
    print('length', sim.gpusim_length_work(flops, bytes, type))

def product(m, n, k, size, type, batch=1, result=None, flops=2):
    """By hand: each multiplication and addition, each operand and the result moved once."""
    length(flops * m * n * k * batch, batch * (m * k * size + k * n * size + m * n * (result or size)), type)
'''


class Blas(test_gpusim.Case):
    def program(self, text, **env):
        """Its output, and that CUPTI's records are the truth's."""
        env.setdefault('GPUSIM_QUIET', 1)
        out = self.run_sim(test_gpusim.python(HEAD + text + '\ns.synchronize()\n'), tap=True, **env)
        test_gpusim.truth_check.main([self.path('truth')] + self.taps())
        return out

    def kernels(self, text, **env):
        """The kernels that came of it, which last as long as it expected."""
        out = self.program(text, **env)
        kernels = sorted(self.truth('kernel'), key=lambda r: r['start_ns'])
        self.assertEqual([k['end_ns'] - k['start_ns'] for k in kernels],
                         [int(line.split()[1]) for line in out.splitlines() if line.startswith('length ')])
        self.assertEqual({k['name'].endswith('_simulated') for k in kernels} or {True}, {True})
        return [k['name'] for k in kernels]

    def missing(self):
        return {r['missing']: r['calls'] for r in test_gpusim.truth_check.lines(self.path('truth'))
                if r.get('missing') and 'calls' in r}


class Handles(Blas):
    def test_modes(self):
        self.program('''
v, p = INT(-1), P()
for name, value in (('PointerMode_v2', 1), ('AtomicsMode', 1), ('MathMode', 3), ('SmCountTarget', 66)):
    ok(getattr(blas, 'cublasGet' + name)(handle, ref(v))); assert v.value == 0
    ok(getattr(blas, 'cublasSet' + name)(handle, value))
    ok(getattr(blas, 'cublasGet' + name)(handle, ref(v))); assert v.value == value
ok(blas.cublasGetStream_v2(handle, ref(p))); assert p.value == s.handle.value
ok(blas.cublasSetWorkspace_v2(handle, P(4096), SIZE(1 << 20)))''')

    def test_versions(self):
        self.program('''
v = INT()
ok(blas.cublasGetVersion_v2(handle, ref(v))); assert v.value == 130100 == lt.cublasLtGetVersion()
for property, value in enumerate((13, 1, 0)): ok(blas.cublasGetProperty(property, ref(v))); assert v.value == value
assert blas.cublasGetProperty(3, ref(v)) == 7''')

    def test_misuse(self):
        self.program('''
assert blas.cublasGetStatusName(15) == b'CUBLAS_STATUS_NOT_SUPPORTED' and b'simulated' in blas.cublasGetStatusString(15)
other = c.create_string_buffer(256)
for wrong in (no, other):
    assert blas.cublasSetStream_v2(wrong, s.handle) == blas.cublasSaxpy_v2(wrong, 4, no, no, 1, no, 1) == 1
    assert blas.cublasSgemm_v2(wrong, 0, 0, 4, 4, 4, no, no, 4, no, 4, no, no, 4) == 1
assert blas.cublasSgemm_v2(handle, 0, 0, -4, 4, 4, no, no, 4, no, 4, no, no, 4) == 7
assert blas.cublasGemmEx(handle, 0, 0, 4, 4, 4, no, no, 99, 4, no, 99, 4, no, no, 99, 4, SINGLE, -1) == 15
assert blas.cublasSdot_v2(handle, 4, no, 1, no, 1, no) == 7
ok(blas.cublasDestroy_v2(handle))''')
        self.assertEqual([k['name'] for k in self.truth('kernel')], ['dot_kernel_f32_simulated'])

    def test_no_body(self):
        self.program('''
for _ in range(2): assert blas.cublasSsymm_v2(handle) == 15
assert blas.cublasZrotg_v2(handle) == 15''')
        self.assertEqual(self.missing(), {'cublasSsymm_v2': 2, 'cublasZrotg_v2': 1})

    def test_says_once_that_it_computes_nothing(self):
        command = test_gpusim.python(HEAD + '''
for _ in range(3): ok(blas.cublasSgemm_v2(handle, 0, 0, 4, 4, 4, no, no, 4, no, 4, no, no, 4))''')
        p = self.start(command)
        _, err = p.communicate(timeout=60)
        self.assertEqual((p.returncode, err.count('garbage')), (0, 1))


class Products(Blas):
    def test_types(self):
        names = self.kernels('''
for letter, size, type, flops in (('S', 4, F32, 2), ('D', 8, F64, 2), ('C', 8, F32, 8), ('Z', 16, F64, 8)):
    ok(getattr(blas, f'cublas{letter}gemm_v2')(handle, 0, 1, 1000, 2000, 3000, no, no, 1000, no, 2000, no, no, 1000))
    product(1000, 2000, 3000, size, type, flops=flops)
    ok(getattr(blas, f'cublas{letter}gemm_v2_64')(handle, 1, 0, L(500), L(700), L(900), no, no, L(1), no, L(1), no, no, L(1)))
    product(500, 700, 900, size, type, flops=flops)
ok(blas.cublasHgemm(handle, 0, 0, 1024, 1024, 4096, no, no, 1024, no, 4096, no, no, 1024))
product(1024, 1024, 4096, 2, F16)''')
        self.assertEqual(names[:3], [f'sm90_xmma_gemm_{t}_tilesize128x128_simulated' for t in (
            'f32f32_f32f32_f32_nt_n', 'f32f32_f32f32_f32_tn_n', 'f64f64_f64f64_f64_nt_n')])
        self.assertEqual([r['grid'] for r in self.tap(10)][:2], [[8, 16, 1], [4, 6, 1]])  # tiles of 128 x 128

    def test_tf32(self):
        """Single precision takes tensor cores where the handle, or the call, allows it."""
        names = self.kernels('''
def gemm(compute):
    ok(blas.cublasGemmEx(handle, 0, 0, 2048, 2048, 2048, no, no, R32, 1, no, R32, 1, no, no, R32, 1, compute, -1))
gemm(SINGLE); product(2048, 2048, 2048, 4, F32)
gemm(AS_TF32); product(2048, 2048, 2048, 4, TF32)
ok(blas.cublasSetMathMode(handle, 3))
ok(blas.cublasSgemm_v2(handle, 0, 0, 2048, 2048, 2048, no, no, 1, no, 1, no, no, 1)); product(2048, 2048, 2048, 4, TF32)
ok(blas.cublasSetMathMode(handle, 2 | 16))
ok(blas.cublasSgemm_v2(handle, 0, 0, 2048, 2048, 2048, no, no, 1, no, 1, no, no, 1)); product(2048, 2048, 2048, 4, F32)''')
        self.assertEqual([n.split('_')[4] for n in names], ['f32f32', 'tf32f32', 'tf32f32', 'f32f32'])

    def test_mixed(self):
        names = self.kernels('''
for a, result, compute, size, bytes, type in ((RBF, RBF, SINGLE, 2, 2, F16), (R16, R32, SINGLE, 2, 4, F16), (RI8, RI32, INTEGER, 1, 4, I8)):
    ok(blas.cublasGemmEx(handle, 1, 0, 512, 4096, 1024, no, no, a, 1, no, a, 1, no, no, result, 1, compute, -1))
    product(512, 4096, 1024, size, type, result=bytes)
ok(blas.cublasSgemmEx(handle, 0, 0, 512, 4096, 1024, no, no, R16, 1, no, R16, 1, no, no, R16, 1))
product(512, 4096, 1024, 2, F16)''')
        self.assertEqual(names[0], 'sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128_simulated')

    def test_batches(self):
        self.kernels('''
ok(blas.cublasSgemmBatched(handle, 0, 0, 64, 64, 64, no, no, 1, no, 1, no, no, 1, 500)); product(64, 64, 64, 4, F32, 500)
ok(blas.cublasDgemmStridedBatched(handle, 0, 0, 64, 64, 64, no, no, 1, L(4096), no, 1, L(4096), no, no, 1, L(4096), 500))
product(64, 64, 64, 8, F64, 500)
ok(blas.cublasGemmStridedBatchedEx(handle, 1, 0, 5185, 5185, 64, no, no, RBF, 1, L(1), no, RBF, 1, L(1), no, no, RBF, 1, L(1), 16, SINGLE, 99))
product(5185, 5185, 64, 2, F16, 16)
ok(blas.cublasGemmBatchedEx(handle, 1, 0, 100, 200, 300, no, no, R16, 1, no, R16, 1, no, no, R16, 1, 16, SINGLE, 99))
product(100, 200, 300, 2, F16, 16)''')

    def test_nothing_to_compute(self):
        self.kernels('''
for m, n, batch in ((0, 4, 1), (4, 0, 1), (4, 4, 0)):
    ok(blas.cublasSgemmBatched(handle, 0, 0, m, n, 4, no, no, 1, no, 1, no, no, 1, batch))
ok(blas.cublasSscal_v2(handle, 0, no, no, 1))
ok(blas.cublasSgemm_v2(handle, 0, 0, 4, 4, 0, no, no, 1, no, 1, no, no, 1)); product(4, 4, 0, 4, F32)''')

    def test_call_of_the_runtime(self):
        """A launch of a library that has the runtime in it is one call of the runtime."""
        self.kernels('''
ok(blas.cublasSgemm_v2(handle, 0, 0, 64, 64, 64, no, no, 1, no, 1, no, no, 1)); product(64, 64, 64, 4, F32)''', GPUSIM_TRUTH_API=1)
        kernel, = self.truth('kernel')
        self.assertEqual([(r['api'], r['domain'], r['cbid']) for r in self.truth() if r.get('call') == kernel['call'] and r.get('api')],
                         [('cudaLaunchKernelExC', 'runtime', 430)])

    def test_capture(self):
        names = self.kernels('''
def enqueue(stream):
    ok(blas.cublasSetStream_v2(handle, stream.handle))
    for _ in range(3): ok(blas.cublasHgemm(handle, 0, 0, 1024, 1024, 4096, no, no, 1, no, 1, no, no, 1))
captured = Graph(s, enqueue)
for _ in range(2): captured.launch(s)
for _ in range(6): product(1024, 1024, 4096, 2, F16)''')
        self.assertEqual(len(names), 6)


class Vectors(Blas):
    def test_results_for_the_host(self):
        """The caller waits for a copy from the device; what it gets is zero."""
        self.kernels('''
n = 1 << 24
for name, letters, size, wide in (('Sdot_v2', 2, 4, 4), ('Ddot_v2', 2, 8, 8), ('Zdotc_v2', 2, 16, 16), ('Snrm2_v2', 1, 4, 4),
                                  ('Dznrm2_v2', 1, 16, 8), ('Scasum_v2', 1, 8, 4), ('Isamax_v2', 1, 4, 4)):
    result = (c.c_ubyte * 24)(*[7] * 24)
    ok(getattr(blas, 'cublas' + name)(handle, n, *[no, 1] * letters, result))
    length(0, letters * n * size, F32)
    assert list(result) == [0] * wide + [7] * (24 - wide), (name, list(result))''')
        kernels, copies = self.truth('kernel'), self.truth('memcpy')
        self.assertEqual([(r['copy'], r['bytes']) for r in copies], [('d2h', n) for n in (4, 8, 16, 4, 8, 4, 4)])
        waits = [r for r in self.truth() if r.get('sync') == 'stream']
        for kernel, copy in zip(kernels, copies):
            self.assertGreater(copy['start_ns'], kernel['end_ns'])
        self.assertGreaterEqual(len(waits), len(copies))

    def test_results_for_the_device(self):
        self.kernels('''
ok(blas.cublasSetPointerMode_v2(handle, 1))
ok(blas.cublasSdot_v2(handle, 1 << 24, no, 1, no, 1, no)); length(0, 8 << 24, F32)
ok(blas.cublasDotEx(handle, 1 << 24, no, RBF, 1, no, RBF, 1, no, RBF, SINGLE)); length(0, 4 << 24, F32)''')
        self.assertEqual(self.truth('memcpy'), [])

    def test_vectors(self):
        names = self.kernels('''
n = 1 << 24
ok(blas.cublasSaxpy_v2(handle, n, no, no, 1, no, 1)); length(0, 12 * n, F32)
ok(blas.cublasZscal_v2(handle, n, no, no, 1)); length(0, 32 * n, F32)
ok(blas.cublasDcopy_v2(handle, n, no, 1, no, 1)); length(0, 16 * n, F32)
ok(blas.cublasSswap_v2(handle, n, no, 1, no, 1)); length(0, 16 * n, F32)
ok(blas.cublasSgemv_v2(handle, 0, 4096, 8192, no, no, 1, no, 1, no, no, 1)); length(0, 4 * (4096 * 8192 + 4096 + 8192), F32)''')
        self.assertEqual([n.split('_')[0] for n in names], ['axpy', 'scal', 'copy', 'swap', 'gemv'])

    def test_copies(self):
        """To the device and back, by columns; memory has content where this library is in the process."""
        self.program('''
import array
sent, back = array.array('f', range(12)), array.array('f', [-1.0] * 12)
here = lambda a: P(a.buffer_info()[0])
d_ = P(); sim.cuMemAlloc_v2(ref(d_), SIZE(4096))
ok(blas.cublasSetMatrixAsync(2, 3, 4, here(sent), 4, d_, 2, s.handle))
ok(blas.cublasGetMatrixAsync(2, 3, 4, d_, 2, here(back), 4, s.handle))
s.synchronize()
assert list(back) == [0, 1, -1, -1, 4, 5, -1, -1, 8, 9, -1, -1], list(back)
ok(blas.cublasSetVectorAsync(6, 4, here(sent), 2, d_, 1, s.handle))
ok(blas.cublasGetVectorAsync(6, 4, d_, 1, here(back), 1, s.handle))
s.synchronize()
assert list(back[:6]) == [0, 2, 4, 6, 8, 10], list(back)''')
        self.assertEqual([(r['copy'], r['bytes']) for r in self.truth('memcpy')], [('h2d', 24), ('d2h', 24)] * 2)


class Solvers(Blas):
    def test_solvers(self):
        names = self.kernels('''
info = INT(5)
ok(blas.cublasStrsm_v2(handle, 0, 0, 0, 0, 4096, 512, no, no, 1, no, 1)); length(4096 * 4096 * 512, 2 * 4 * 4096 * 512, F32)
ok(blas.cublasDtrsmBatched(handle, 1, 0, 0, 0, 64, 32, no, no, 1, no, 1, 1000)); length(32 * 64 * 32 * 1000, 2 * 8 * 64 * 32 * 1000, F64)
ok(blas.cublasSgetrfBatched(handle, 32, no, 1, no, no, 1000)); length(2 * 32 ** 3 / 3 * 1000, 2 * 4 * 32 * 32 * 1000, F32)
ok(blas.cublasSgetrsBatched(handle, 0, 32, 8, no, 1, no, no, 1, ref(info), 1000)); length(2 * 32 * 32 * 8 * 1000, 2 * 4 * 32 * 8 * 1000, F32)
assert info.value == 0; info.value = 5
ok(blas.cublasCgeqrfBatched(handle, 64, 32, no, 1, no, ref(info), 100)); length(4 * 2 * 64 * 32 * 32 * 100, 2 * 8 * 64 * 32 * 100, F32)
assert info.value == 0; info.value = 5
ok(blas.cublasSgelsBatched(handle, 0, 64, 32, 1, no, 1, no, 1, ref(info), no, 100)); length(2 * 64 * 32 * 32 * 100, 2 * 4 * 64 * 32 * 100, F32)
assert info.value == 0
ok(blas.cublasCgetrfBatched(handle, 1024, no, 1, no, no, 10)); length(4 * 2 * 1024 ** 3 / 3 * 10, 2 * 8 * 1024 * 1024 * 10, F32)''')
        self.assertEqual(len(names), 7)


LT = '''
class Answer(c.Structure):
    _fields_ = [('algorithm', U64 * 8), ('workspace', SIZE), ('status', INT), ('waves', c.c_float), ('reserved', INT * 4)]

def set(kind, what, attribute, value):
    return getattr(lt, f'cublasLt{kind}SetAttribute')(what, attribute, ref(value), SIZE(c.sizeof(value)))

def layout(data, rows, columns, batch=1):
    p = P(); ok(lt.cublasLtMatrixLayoutCreate(ref(p), data, U64(rows), U64(columns), L(rows)))
    if batch > 1: ok(set('MatrixLayout', p, 5, INT(batch))); ok(set('MatrixLayout', p, 6, L(rows * columns)))
    return p

def operation(compute, transa, transb, epilogue=1):
    p = P(); ok(lt.cublasLtMatmulDescCreate(ref(p), compute, R32))
    ok(set('MatmulDesc', p, 3, INT(transa))); ok(set('MatmulDesc', p, 4, INT(transb))); ok(set('MatmulDesc', p, 7, INT(epilogue)))
    ok(set('MatmulDesc', p, 8, P(4096)))
    return p

def answers(o, a, b, d, wanted=1):
    preference, got, n = P(), (Answer * 4)(), INT(-1)
    ok(lt.cublasLtMatmulPreferenceCreate(ref(preference))); ok(set('MatmulPreference', preference, 1, SIZE(1 << 20)))
    rc = lt.cublasLtMatmulAlgoGetHeuristic(handle, o, a, b, d, d, preference, wanted, got, ref(n))
    ok(lt.cublasLtMatmulPreferenceDestroy(preference))
    return rc, n.value, got[0]

def matmul(o, a, b, d, algorithm=None):
    return lt.cublasLtMatmul(handle, o, no, no, a, no, b, no, no, d, no, d, algorithm, no, SIZE(0), s.handle)
'''


class Lt(Blas):
    def test_linear(self):
        """As F.linear does it: transposed weights, a bias inside."""
        names = self.kernels(LT + '''
o, a, b, d = operation(SINGLE, 1, 0, 4), layout(RBF, 768, 3072), layout(RBF, 768, 25089), layout(RBF, 3072, 25089)
rc, n, got = answers(o, a, b, d, wanted=4)
assert (rc, n, got.status, got.workspace) == (0, 1, 0, 0) and got.waves == 1
ok(matmul(o, a, b, d, got.algorithm)); product(3072, 25089, 768, 2, F16)
for p in (a, b, d): ok(lt.cublasLtMatrixLayoutDestroy(p))
ok(lt.cublasLtMatmulDescDestroy(o))''')
        self.assertEqual(names, ['sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128_bias_simulated'])

    def test_epilogues(self):
        names = self.kernels(LT + '''
a, b, d = layout(R16, 512, 256), layout(R16, 256, 1024), layout(R16, 512, 1024)
for epilogue in (1, 2, 6, 32, 36, 164, 192, 208, 136, 256, 512):
    ok(matmul(operation(SINGLE, 0, 0, epilogue), a, b, d)); product(512, 1024, 256, 2, F16)''')
        self.assertEqual([n.split('128x128')[1][:-len('_simulated')] for n in names],
                         ['', '_relu', '_bias_relu', '_gelu', '_bias_gelu', '_bias_gelu', '_dgelu', '_dgelu', '_drelu', '_bgrad', '_bgrad'])

    def test_types_and_batches(self):
        self.kernels(LT + '''
for data, result, compute, size, bytes, type in ((R32, R32, AS_TF32, 4, 4, TF32), (R64, R64, DOUBLE, 8, 8, F64), (E4M3, RBF, SINGLE, 1, 2, F8),
                                                 (RI8, RI32, INTEGER, 1, 4, I8)):
    ok(matmul(operation(compute, 0, 1), layout(data, 512, 300, 7), layout(data, 1024, 300, 7), layout(result, 512, 1024, 7)))
    product(512, 1024, 300, size, type, 7, bytes)''')

    def test_misuse(self):
        self.kernels(LT + '''
o, a, b, d = operation(SINGLE, 0, 0), layout(R16, 512, 256), layout(R16, 256, 1024), layout(R16, 512, 1024)
assert answers(o, a, layout(R16, 255, 1024), d)[:2] == (7, 0) and matmul(o, a, b, layout(R16, 511, 1024)) == 7
assert answers(o, layout(99, 512, 256), b, d)[:2] == (15, 0) and answers(o, a, b, d, wanted=0)[0] == 7
assert set('MatrixLayout', a, 2, INT(4)) == 7 and lt.cublasLtMatmul(no, *[no] * 15) == 1''')

    def test_algorithms(self):
        """What torch 2.14 asks besides."""
        self.kernels(LT + '''
o, a, b, d = operation(SINGLE, 0, 0), layout(R16, 512, 256), layout(R16, 256, 1024), layout(R16, 512, 1024)
algorithm, got, value, written = (U64 * 8)(), Answer(), INT(7), SIZE()
ok(lt.cublasLtMatmulAlgoInit(handle, SINGLE, R32, R16, R16, R16, R16, 66, algorithm))
ok(lt.cublasLtMatmulAlgoConfigSetAttribute(algorithm, 1, ref(value), SIZE(4)))
ok(lt.cublasLtMatmulAlgoConfigGetAttribute(algorithm, 1, ref(value), SIZE(4), ref(written))); assert (value.value, written.value) == (0, 4)
ok(lt.cublasLtMatmulAlgoCheck(handle, o, a, b, d, d, algorithm, ref(got))); assert (got.status, got.workspace) == (0, 0)
assert lt.cublasLtMatmulAlgoCheck(handle, o, b, a, d, d, algorithm, ref(got)) == 7 == got.status
ok(matmul(o, a, b, d, algorithm)); product(512, 1024, 256, 2, F16)
plain = P(); ok(lt.cublasLtCreate(ref(plain))); handle = plain
ok(matmul(o, a, b, d)); product(512, 1024, 256, 2, F16); ok(lt.cublasLtDestroy(plain))''')


if __name__ == '__main__':
    unittest.main(verbosity=2)
