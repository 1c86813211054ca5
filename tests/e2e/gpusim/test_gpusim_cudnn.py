#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""The simulator's cuDNN, called as cudnn-frontend and PyTorch call the real one: each convolution, attention
and batch norm is one kernel of the truth, as long as its dimensions say; what it has no body for
is not supported, and counted."""
import unittest

import test_gpusim

HEAD = '''
c, ref = ctypes, ctypes.byref
dnn, sim = c.CDLL('libcudnn.so.9'), c.CDLL('libcuda.so.1')
sim.gpusim_length_work.restype = U64
sim.gpusim_length_work.argtypes = [c.c_double, c.c_double, INT]
F64, F32, TF32, F16 = range(4)          # enum gpusim_type
FLOAT, DOUBLE, HALF, BF16 = 0, 1, 2, 9  # cudnnDataType_t
HANDLE, DATA, BOOL, INT64, MODE, NOTE, DESC = 0, 1, 2, 3, 8, 11, 15
ENGINE, CFG, HEUR, PLAN, GRAPH, PACK, TENSOR = 2, 3, 4, 5, 15, 16, 17
FPROP, WGRAD, DGRAD, POINTWISE, MATMUL, SOFTMAX, SDPA, SDPA_BWD = 10, 11, 12, 13, 19, 45, 41, 43
dnn.cudnnBackendSetAttribute.argtypes = [P, INT, INT, c.c_int64, P]
dnn.cudnnBackendGetAttribute.argtypes = [P, INT, INT, c.c_int64, P, P]
dnn.cudnnBackendFinalize.argtypes = dnn.cudnnBackendDestroyDescriptor.argtypes = [P]
dnn.cudnnBackendExecute.argtypes = [P, P, P]
dnn.cudnnGetErrorString.restype = c.c_char_p

def ok(status):
    assert not status, dnn.cudnnGetErrorString(status)

handle = P()
ok(dnn.cudnnCreate(ref(handle)))
ok(dnn.cudnnSetStream(handle, s.handle))

class Desc:
    """A descriptor of the graph API; attributes are {name: (type, values)}."""
    def __init__(self, kind, attributes=None):
        self.p = P()
        ok(dnn.cudnnBackendCreateDescriptor(kind, ref(self.p)))
        if attributes is not None:
            for name, (type, values) in attributes.items():
                ok(self.set(name, type, values))
            ok(dnn.cudnnBackendFinalize(self.p))
    def set(self, name, type, values):
        values = values if isinstance(values, (list, tuple)) else [values]
        kind = {BOOL: c.c_bool, INT64: c.c_int64, DESC: P, HANDLE: P, 6: P}.get(type, c.c_int32)
        values = [v.p if isinstance(v, Desc) else v for v in values]
        return dnn.cudnnBackendSetAttribute(self.p, name, type, len(values), (kind * len(values))(*values))
    def raw(self, name, type, asked, n, values):
        return dnn.cudnnBackendGetAttribute(self.p, name, type, asked, n, values)
    def count(self, name, type):
        n = c.c_int64(-1)
        ok(self.raw(name, type, 0, ref(n), None))
        return n.value
    def numbers(self, name, type, room=16):
        n, values = c.c_int64(-1), ((c.c_int64 if type == INT64 else c.c_int32) * room)()
        ok(self.raw(name, type, room, ref(n), values))
        return list(values[:n.value])
    def descs(self, name, kind):
        """As cudnn-frontend asks for them: into descriptors of its own."""
        n, mine = c.c_int64(-1), [Desc(kind) for _ in range(self.count(name, DESC))]
        ok(self.raw(name, DESC, len(mine), ref(n), (P * len(mine))(*[m.p for m in mine])))
        assert n.value == len(mine)
        return mine
    def destroy(self):
        ok(dnn.cudnnBackendDestroyDescriptor(self.p))

def packed(dims):
    strides = [1]
    for n in dims[:0:-1]:
        strides.insert(0, strides[0] * n)
    return strides

def channels_last(dims):
    n, k, *space = dims
    inner = packed(space + [k])
    return [space[0] * inner[0], 1] + inner[:-1]

def tensor(uid, dims, data=FLOAT, strides=None, virtual=False):
    return Desc(TENSOR, {901: (DATA, data), 902: (INT64, dims), 903: (INT64, strides or packed(dims)),
                         906: (INT64, uid), 900: (INT64, 16), 907: (BOOL, virtual), 908: (BOOL, False)})

def graph(*ops):
    return Desc(GRAPH, {800: (HANDLE, handle), 801: (DESC, list(ops))})

def configs(g):
    h = Desc(HEUR, {201: (DESC, g), 200: (MODE, 3)})
    return h.descs(202, CFG)

def plan(config):
    p = Desc(PLAN, {401: (DESC, config)})
    assert p.numbers(402, INT64) == [0]
    return p

def pack(*uids):
    return Desc(PACK, {1001: (6, [4096 * u for u in uids]), 1000: (INT64, list(uids)), 1003: (6, None)})

def execute(p, v):
    return dnn.cudnnBackendExecute(handle, p.p, v.p)

def run(g, want=None):
    """By the heuristics' first choice."""
    ok(execute(plan(configs(g)[0]), pack(1, 2, 3)))

def convolution(kind, x, w, y, data=FLOAT, last=False):
    """One operation; x, w and y by their dimensions."""
    layout = channels_last if last else packed
    names = {FPROP: (704, 703, 705, 702), DGRAD: (710, 709, 711, 708), WGRAD: (716, 715, 717, 714)}[kind]
    conv = Desc(1, {100: (DATA, FLOAT), 101: (7, 1), 106: (INT64, len(x) - 2)})
    return Desc(kind, dict(zip(names, [(DESC, tensor(uid, dims, data, layout(dims)))
                                       for uid, dims in ((1, x), (2, w), (3, y))] + [(DESC, conv)])))

def product(dims):
    n = 1
    for d_ in dims: n *= d_
    return n

def length(flops, bytes, type):
    print('length', sim.gpusim_length_work(flops, bytes, type))

def expect(x, w, y, size, type):
    length(2 * product(y) * product(w[1:]), size * (product(x) + product(w) + product(y)), type)

X, W, Y = [8, 64, 56, 56], [128, 64, 3, 3], [8, 128, 54, 54]
'''


class Dnn(test_gpusim.Case):
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
        return [k['name'] for k in kernels]

    def missing(self):
        return {r['missing']: r['calls'] for r in test_gpusim.truth_check.lines(self.path('truth'))
                if r.get('missing') and 'calls' in r}


class Handles(Dnn):
    def test_versions(self):
        """At least what torch 2.13 (9.20) and 2.14 (9.24) were compiled for."""
        self.program('''
assert dnn.cudnnGetVersion() == 92400 and dnn.cudnnGetCudartVersion() == 13000
v = INT()
ok(dnn.cudnnGetProperty(0, ref(v))); assert v.value == 9
ok(dnn.cudnnGetProperty(1, ref(v))); assert v.value == 24
assert dnn.cudnnGetProperty(7, ref(v)) == 2000
stream = P(); ok(dnn.cudnnGetStream(handle, ref(stream))); assert stream.value == s.handle.value
assert dnn.cudnnGetErrorString(3000) == b'CUDNN_STATUS_NOT_SUPPORTED'
assert dnn.cudnnSetStream(None, s.handle) == 2002
words = c.create_string_buffer(64); dnn.cudnnGetLastErrorString(words, 64); assert b'handle' in words.value
ok(dnn.cudnnDestroy(handle))''')


class Convolutions(Dnn):
    def test_directions(self):
        names = self.kernels('''
for kind in (FPROP, DGRAD, WGRAD):
    run(graph(convolution(kind, X, W, Y)))
    expect(X, W, Y, 4, TF32)''')
        self.assertEqual(names, [f'sm90_xmma_{v}_implicit_gemm_tf32f32_tf32f32_f32_nchwkcrs_nchw_cudnn_simulated'
                                 for v in ('fprop', 'dgrad', 'wgrad')])

    def test_types_and_layouts(self):
        names = self.kernels('''
for data, size, type in ((HALF, 2, F16), (BF16, 2, F16), (DOUBLE, 8, F64)):
    run(graph(convolution(FPROP, X, W, Y, data, last=True)))
    expect(X, W, Y, size, type)''')
        self.assertEqual([n.split('gemm_')[1].split('_cudnn')[0] for n in names],
                         [t + '_nhwckrsc_nhwc' for t in
                          ('f16f16_f16f32_f32', 'bf16bf16_bf16f32_f32', 'f64f64_f64f64_f64')])

    def test_groups_and_other_dimensions(self):
        """A filter's second dimension is that of its group."""
        self.kernels('''
for x, w, y in (([4, 32, 20, 20], [32, 1, 3, 3], [4, 32, 18, 18]), ([4, 8, 1, 99], [16, 8, 1, 3], [4, 16, 1, 97]),
                ([2, 8, 9, 9, 9], [16, 8, 3, 3, 3], [2, 16, 7, 7, 7])):
    run(graph(convolution(FPROP, x, w, y, HALF)))
    expect(x, w, y, 2, F16)''')

    def test_float_has_an_engine_without_tensor_cores(self):
        """Which torch takes where TF32 is not allowed."""
        names = self.kernels('''
g = graph(convolution(FPROP, X, W, Y))
assert g.numbers(802, INT64) == [2]
engines = [cfg.descs(300, ENGINE)[0] for cfg in configs(g)]
assert [e.numbers(1303, NOTE) for e in engines] == [[0], []]
assert [e.numbers(1301, INT64) for e in engines] == [[1], [0]]
ok(execute(plan(configs(g)[1]), pack(1, 2, 3)))
expect(X, W, Y, 4, F32)
mine = Desc(ENGINE, {1300: (DESC, g), 1301: (INT64, 0)})
ok(execute(plan(Desc(CFG, {300: (DESC, mine)})), pack(1, 2, 3)))
expect(X, W, Y, 4, F32)
none = Desc(ENGINE); ok(none.set(1300, DESC, g)); ok(none.set(1301, INT64, 5))
assert dnn.cudnnBackendFinalize(none.p) == 3000
g = graph(convolution(FPROP, X, W, Y, HALF))
assert g.numbers(802, INT64) == [1] and len(configs(g)) == 1''')
        self.assertEqual({n.split('gemm_')[1].split('_nchw')[0] for n in names}, {'f32f32_f32f32_f32'})

    def test_what_a_plan_is_asked(self):
        self.program('''
cfg = configs(graph(convolution(FPROP, X, W, Y)))[0]
engine = cfg.descs(300, ENGINE)[0]
assert cfg.count(302, DESC) == 0 and engine.count(1302, DESC) == 0 and engine.numbers(1305, 19) == []
assert cfg.numbers(303, INT64) == [0]
t = tensor(7, [3, 5]); assert t.numbers(902, INT64) == [3, 5]
n, few = c.c_int64(), (c.c_int64 * 1)()
ok(t.raw(902, INT64, 1, ref(n), few)); assert (n.value, few[0]) == (1, 3)
ok(t.raw(902, INT64, 1, ref(n), None)); assert n.value == 2
one, heur = Desc(CFG), Desc(HEUR, {201: (DESC, graph(convolution(FPROP, X, W, Y))), 200: (MODE, 3)})
ok(heur.raw(202, DESC, 1, ref(n), (P * 1)(one.p))); assert n.value == 1 and heur.count(202, DESC) == 2
assert one.descs(300, ENGINE)[0].numbers(1301, INT64) == [1]''')

    def test_fused(self):
        """A convolution with a bias and a relu is one kernel; what stays within is not moved."""
        names = self.kernels('''
conv = Desc(FPROP, {704: (DESC, tensor(1, X, HALF)), 703: (DESC, tensor(2, W, HALF)),
                    705: (DESC, tensor(9, Y, HALF, virtual=True))})
add = Desc(POINTWISE, {751: (DESC, tensor(9, Y, HALF, virtual=True)), 752: (DESC, tensor(4, [1, 128, 1, 1], HALF)),
                       753: (DESC, tensor(3, Y, HALF))})
run(graph(conv, add))
length(2 * product(Y) * product(W[1:]), 2 * (product(X) + product(W) + product(Y) + 128), F16)''')
        self.assertEqual(len(names), 1)

    def test_descriptors_go_before_the_plan(self):
        """What is put into a descriptor stays, whatever the program does with its own."""
        self.kernels('''
x, w, y = tensor(1, X), tensor(2, W), tensor(3, Y)
op = Desc(FPROP, {704: (DESC, x), 703: (DESC, w), 705: (DESC, y)})
g = graph(op); heur = Desc(HEUR, {201: (DESC, g), 200: (MODE, 0)}); cfgs = heur.descs(202, CFG)
p = plan(cfgs[0])
for gone in (x, w, y, op, g, heur, *cfgs): gone.destroy()
v = pack(1, 2, 3)
ok(execute(p, v)); p.destroy(); v.destroy()
expect(X, W, Y, 4, TF32)''')

    def test_misuse(self):
        self.program('''
t = Desc(TENSOR); n = c.c_int64()
assert t.raw(902, INT64, 0, ref(n), None) == 2004
ok(t.set(902, INT64, [1, 2])); ok(t.set(902, INT64, [1, 2, 3]))
op = Desc(FPROP); assert op.set(704, DESC, t) == 2004
ok(dnn.cudnnBackendFinalize(t.p)); assert t.numbers(902, INT64) == [1, 2, 3]
assert t.set(902, INT64, [4]) == 2000 and t.raw(902, DATA, 1, ref(n), None) == 2010
assert op.set(704, 99, 1) == 2010
assert dnn.cudnnBackendFinalize(Desc(GRAPH).p) == 2000 and dnn.cudnnBackendFinalize(Desc(PLAN).p) == 2000
p, v = plan(configs(graph(convolution(FPROP, X, W, Y)))[0]), pack(1, 2, 3)
assert execute(v, p) == 2012 and execute(p, Desc(PACK)) == 2004
assert dnn.cudnnBackendExecute(None, p.p, v.p) == 2002''')
        self.assertEqual(self.truth('kernel'), [])

    def test_not_there_is_counted(self):
        self.program('''
other = P(); assert dnn.cudnnBackendCreateDescriptor(4711, ref(other)) == 3000
t = tensor(1, [4]); n = c.c_int64()
for _ in range(2): assert t.raw(405, 24, 0, ref(n), None) == 3000''')
        self.assertEqual(self.missing(), {'cudnnBackendCreateDescriptor': 1, 'cudnnBackendGetAttribute': 2})

    def test_no_body(self):
        self.program('''
assert dnn.cudnnCTCLoss() == 3000 and dnn.cudnnPoolingForward() == 3000''')
        self.assertEqual(self.missing(), {'cudnnCTCLoss': 1, 'cudnnPoolingForward': 1})

    def test_call_of_the_runtime(self):
        """A launch of cuDNN, which has the runtime in it, is one call of the runtime."""
        self.kernels('''
run(graph(convolution(FPROP, X, W, Y)))
expect(X, W, Y, 4, TF32)''', GPUSIM_TRUTH_API=1)
        kernel, = self.truth('kernel')
        calls = [r for r in self.truth() if r.get('call') == kernel['call'] and r.get('api')]
        self.assertEqual([(r['api'], r['domain'], r['cbid']) for r in calls], [('cudaLaunchKernelExC', 'runtime', 430)])

    def test_capture(self):
        names = self.kernels('''
p, v = plan(configs(graph(convolution(FPROP, X, W, Y)))[0]), pack(1, 2, 3)
def enqueue(stream):
    ok(dnn.cudnnSetStream(handle, stream.handle)); ok(execute(p, v)); ok(execute(p, v))
captured = Graph(s, enqueue)
for _ in range(2): captured.launch(s)
for _ in range(4): expect(X, W, Y, 4, TF32)''')
        self.assertEqual(len(names), 4)


class Graphs(Dnn):
    ATTENTION = 'B, H, S, D = 2, 4, 128, 64\nQ, T = [B, H, S, D], [B, H, S, S]\n'

    def test_attention(self):
        names = self.kernels(self.ATTENTION + '''
run(graph(Desc(MATMUL, {1520: (DESC, tensor(1, Q, HALF)), 1521: (DESC, tensor(2, [B, H, D, S], HALF)),
                        1522: (DESC, tensor(8, T, virtual=True))}),
          Desc(SOFTMAX, {3001: (DESC, tensor(8, T, virtual=True)), 3002: (DESC, tensor(9, T, HALF, virtual=True))}),
          Desc(MATMUL, {1520: (DESC, tensor(9, T, HALF, virtual=True)), 1521: (DESC, tensor(4, Q, HALF)),
                        1522: (DESC, tensor(3, Q, HALF))})))
length(4 * B * H * S * S * D, 4 * 2 * product(Q), F16)
run(graph(Desc(SDPA, {2800: (DESC, tensor(1, Q, HALF)), 2801: (DESC, tensor(2, Q, HALF)),
                      2802: (DESC, tensor(4, Q, HALF)), 2803: (DESC, tensor(3, Q, HALF))})))
length(4 * B * H * S * S * D, 4 * 2 * product(Q), F16)
run(graph(Desc(SDPA_BWD, {2851: (DESC, tensor(1, Q, HALF)), 2852: (DESC, tensor(2, Q, HALF)),
                          2853: (DESC, tensor(4, Q, HALF)), 2859: (DESC, tensor(3, Q, HALF))})))
length(10 * B * H * S * S * D, 4 * 2 * product(Q), F16)''')
        self.assertEqual(names, [f'cudnn_sdpa_sm90_flash_{v}_f16_simulated' for v in ('fprop', 'fprop', 'bprop')])

    def test_others(self):
        names = self.kernels(self.ATTENTION + '''
run(graph(Desc(MATMUL, {1520: (DESC, tensor(1, [S, D], BF16)), 1521: (DESC, tensor(2, [D, S], BF16)),
                        1522: (DESC, tensor(3, [S, S], BF16))})))
length(2 * S * S * D, 2 * (2 * S * D + S * S), F16)
run(graph(Desc(POINTWISE, {751: (DESC, tensor(1, Q)), 753: (DESC, tensor(3, Q))})))
length(0, 8 * product(Q), F32)''')
        self.assertEqual(names, ['sm90_xmma_gemm_cudnn_simulated', 'cudnn_generated_pointwise_simulated'])


LEGACY = '''
for fn in ('BatchNormalizationForwardTrainingEx', 'BatchNormalizationBackwardEx',
           'BatchNormalizationForwardInference'):
    getattr(dnn, 'cudnn' + fn).restype = INT
def described(make, set, *args):
    p = P()
    ok(getattr(dnn, 'cudnnCreate' + make)(ref(p))); ok(getattr(dnn, 'cudnnSet' + set)(p, *args))
    return p
def ints(values): return (INT * len(values))(*values)
def old_tensor(dims, data=FLOAT, strides=None):
    return described('TensorDescriptor', 'TensorNdDescriptor', data, len(dims), ints(dims), ints(strides or packed(dims)))
def old_filter(dims, data=FLOAT):
    return described('FilterDescriptor', 'FilterNdDescriptor', data, 0, len(dims), ints(dims))
no, one, size, zero = P(), c.c_double(1), SIZE(99), SIZE(0)
'''

RECURRENT = '''
LSTM, GRU, INPUT, HIDDEN, LAYERS = 2, 3, 48, 32, 2
def network(cell, biases, two, narrow):
    return described('RNNDescriptor', 'RNNDescriptor_v8', 0, cell, biases, two, 0, HALF, FLOAT, 0, INPUT, HIDDEN,
                     narrow or HIDDEN, LAYERS, no, 0)
def shape(tensor):
    data, n, dims, strides = INT(), INT(), ints([0] * 8), ints([0] * 8)
    ok(dnn.cudnnGetTensorNdDescriptor(tensor, 8, ref(data), ref(n), dims, strides))
    return data.value, dims[:n.value]
'''


class Older(Dnn):
    """The calls from before the graph API."""

    def test_batch_norm(self):
        names = self.kernels(LEGACY + '''
for strides, data, bytes in ((None, FLOAT, 4), (channels_last(X), HALF, 2)):
    x, scale = old_tensor(X, data, strides), old_tensor([1, 64, 1, 1])
    ok(dnn.cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(handle, 1, 0, x, no, x, scale, no, ref(size)))
    assert size.value == 0; size.value = 99
    ok(dnn.cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle, 1, 0, no, x, ref(size)))
    assert size.value == 0; size.value = 99
    ok(dnn.cudnnGetBatchNormalizationBackwardExWorkspaceSize(handle, 1, 0, x, x, x, no, x, scale, no, ref(size)))
    assert size.value == 0; size.value = 99
    ok(dnn.cudnnBatchNormalizationForwardTrainingEx(handle, 1, 0, no, no, x, no, no, no, x, no, scale, no, no,
        one, no, no, one, no, no, no, no, zero, no, zero))
    length(0, 2 * bytes * product(X), F32)
    ok(dnn.cudnnBatchNormalizationBackwardEx(handle, 1, 0, no, no, no, no, x, no, x, no, x, no, no, no, x, no,
        scale, no, no, no, no, one, no, no, no, no, zero, no, zero))
    length(0, 3 * bytes * product(X), F32)
    ok(dnn.cudnnBatchNormalizationForwardInference(handle, 1, no, no, x, no, x, no, scale, no, no, no, no, one))
    length(0, 2 * bytes * product(X), F32)
    ok(dnn.cudnnBatchNormalizationForwardTrainingEx(handle, 1, 2, no, no, x, no, x, no, x, no, scale, no, no,
        one, no, no, one, no, no, no, no, zero, no, zero))
    length(0, 3 * bytes * product(X), F32)
    ok(dnn.cudnnBatchNormalizationBackwardEx(handle, 1, 2, no, no, no, no, x, no, x, no, x, no, x, no, x, no,
        scale, no, no, no, no, one, no, no, no, no, zero, no, zero))
    length(0, 4 * bytes * product(X), F32)
    ok(dnn.cudnnDestroyTensorDescriptor(x))
assert dnn.cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle, 1, 0, no, scale, None) == 2002''')
        self.assertEqual([n.split('cudnn')[1].lstrip('0123456789')[:9] for n in names],
                         ['bn_fw_tr_', 'bn_bw_1C1', 'bn_fw_inf', 'bn_fw_tr_', 'bn_bw_1C1',
                          'bn_fw_tr_', 'bn_bw_nhw', 'bn_fw_inf', 'bn_fw_tr_', 'bn_bw_nhw'])
        self.assertEqual(names[0], '_ZN5cudnn35bn_fw_tr_1C11_kernel_NCHW_simulatedEv')

    def test_convolutions(self):
        names = self.kernels(LEGACY + '''
class Perf(c.Structure):
    _fields_ = [('algorithm', INT), ('status', INT), ('time', c.c_float), ('memory', SIZE),
                ('deterministic', INT), ('math', INT), ('reserved', INT * 3)]
x, w, y = old_tensor(X), old_filter(W), old_tensor(Y)
conv = described('ConvolutionDescriptor', 'ConvolutionNdDescriptor', 2, ints([0, 0]), ints([1, 1]), ints([1, 1]), 1, FLOAT)
ok(dnn.cudnnSetConvolutionGroupCount(conv, 1)); ok(dnn.cudnnSetConvolutionMathType(conv, 3))
perf, n = Perf(), INT()
def chosen():
    assert (n.value, perf.algorithm, perf.status, perf.memory, perf.deterministic, perf.math) == (1, 1, 0, 0, 1, 3)
    assert perf.time > 0
args = dict(Forward=((x, w), y), BackwardData=((w, y), x), BackwardFilter=((x, y), w))
for name, ((a, b), out) in args.items():
    ok(getattr(dnn, f'cudnnGetConvolution{name}WorkspaceSize')(handle, a, b, conv, out, 1, ref(size))); assert size.value == 0
    ok(getattr(dnn, f'cudnnGetConvolution{name}Algorithm_v7')(handle, a, b, conv, out, 8, ref(n), ref(perf))); chosen()
    ok(getattr(dnn, f'cudnnFindConvolution{name}AlgorithmEx')(handle, a, no, b, no, conv, out, no, 8, ref(n), ref(perf),
                                                              no, zero)); chosen()
    expect(X, W, Y, 4, F32)
    ok(getattr(dnn, f'cudnnConvolution{name}')(handle, no, a, no, b, no, conv, 1, no, zero, no, out, no))
    expect(X, W, Y, 4, F32)
ok(dnn.cudnnSetConvolutionMathType(conv, 0))
ok(dnn.cudnnConvolutionBiasActivationForward(handle, no, x, no, w, no, conv, 1, no, zero, no, y, no, y, no,
    described('ActivationDescriptor', 'ActivationDescriptor', 1, 0, one), y, no))
expect(X, W, Y, 4, TF32)
assert dnn.cudnnConvolutionForward(handle, no, x, no, w, no, no, 1, no, zero, no, y, no) == 2002''')
        self.assertEqual([n.split('_')[2] for n in names],
                         ['fprop', 'fprop', 'dgrad', 'dgrad', 'wgrad', 'wgrad', 'fprop'])

    def test_weights_of_networks(self):
        """As PyTorch reads where they lie: none over another, none left over, those of a kind in a row."""
        self.program(LEGACY + RECURRENT + '''
for cell, biases, two, narrow in ((LSTM, 2, 0, 0), (GRU, 2, 1, 0), (1, 0, 1, 0), (LSTM, 2, 1, 24), (GRU, 1, 0, 0),
                                  (LSTM, 3, 1, 0)):
    n = network(cell, biases, two, narrow)
    ok(dnn.cudnnGetRNNWeightSpaceSize(handle, n, ref(size)))
    gates, taken, rows = {LSTM: 4, GRU: 3, 1: 1}[cell], [], []
    for layer in range(LAYERS * (1 + two)):
        for gate in range(2 * gates + bool(narrow)):
            m, b = old_tensor([1, 1, 1]), old_tensor([1, 1, 1])
            at, bias_at = P(), P()
            ok(dnn.cudnnGetRNNWeightParams(handle, n, layer, size, P(1 << 20), gate, m, ref(at), b, ref(bias_at)))
            k, dims = shape(m)
            taken.append((at.value, product(dims)))
            rows.append((layer, gate // gates, dims))
            has = gate < 2 * gates and (biases == 2 or biases == (1 if gate < gates else 3))
            assert bool(bias_at.value) == has, (cell, biases, gate)
            if has:
                assert shape(b)[1] == [1, HIDDEN, 1]
                taken.append((bias_at.value, HIDDEN))
    taken.sort()
    assert taken[0][0] == 1 << 20 and all(a + 2 * n_ == b for (a, n_), (b, _) in zip(taken, taken[1:]))
    assert taken[-1][0] + 2 * taken[-1][1] == (1 << 20) + size.value
    deep = (narrow or HIDDEN) * (1 + two)
    for layer, part, dims in rows:
        inner = INPUT if layer < 1 + two else deep
        assert dims == ([1, HIDDEN, inner], [1, HIDDEN, narrow or HIDDEN], [1, narrow, HIDDEN])[part], (layer, part, dims)
    assert dnn.cudnnGetRNNWeightParams(handle, n, 99, size, no, 0, no, no, no, no) == 2000''')

    def test_networks(self):
        names = self.kernels(LEGACY + RECURRENT + '''
n, x = network(LSTM, 2, 0, 0), P()
ok(dnn.cudnnCreateRNNDataDescriptor(ref(x)))
ok(dnn.cudnnSetRNNDataDescriptor(x, HALF, 0, 9, 3, INPUT, ints([9, 5, 2]), no))
work, reserve = SIZE(9), SIZE(9)
ok(dnn.cudnnGetRNNTempSpaceSizes(handle, n, 1, x, ref(work), ref(reserve))); assert (work.value, reserve.value) == (0, 0)
matrices = 4 * HIDDEN * (INPUT + 3 * HIDDEN)
def expect_steps():
    length(2 * 16 * matrices, 2 * (matrices + 2 * 8 * HIDDEN + 16 * (INPUT + HIDDEN)), F16)
ok(dnn.cudnnRNNForward(handle, n, 1, no, x, no, x, no, no, no, no, no, no, no, zero, no, zero, no, zero, no)); expect_steps()
ok(dnn.cudnnRNNBackwardData_v8(handle, n, no, x, no, no, x, no, no, no, no, no, no, no, no, no, zero, no, zero, no,
                               zero, no)); expect_steps()
ok(dnn.cudnnRNNBackwardWeights_v8(handle, n, 0, no, x, no, no, no, x, no, zero, no, zero, no, zero, no)); expect_steps()
ok(dnn.cudnnDropoutGetStatesSize(handle, ref(size)))
dropout = P(); ok(dnn.cudnnCreateDropoutDescriptor(ref(dropout)))
ok(dnn.cudnnRestoreDropoutDescriptor(dropout, handle, c.c_float(0.5), P(1 << 20), size, c.c_ulonglong(1)))
ok(dnn.cudnnSetDropoutDescriptor(dropout, handle, c.c_float(0), no, zero, c.c_ulonglong(1)))
ok(dnn.cudnnSetDropoutDescriptor(dropout, handle, c.c_float(0.5), P(1 << 20), size, c.c_ulonglong(1)))
length(0, size.value, F32)''')
        self.assertEqual(names, [f'RNN_blockPersist_{v}_LSTM_simulated' for v in ('fp', 'bp', 'wgrad')] +
                         ['cudnn_init_dropout_states_simulated'])

    def test_sampler(self):
        names = self.kernels(LEGACY + '''
x, y, small = old_tensor(X), old_tensor([8, 64, 9, 9]), [8, 64, 9, 9]
tf = described('SpatialTransformerDescriptor', 'SpatialTransformerNdDescriptor', 0, FLOAT, 4, ints(small))
grid = 8 * 8 * 9 * 9
ok(dnn.cudnnSpatialTfGridGeneratorForward(handle, tf, no, no)); length(0, grid, F32)
ok(dnn.cudnnSpatialTfGridGeneratorBackward(handle, tf, no, no)); length(0, grid, F32)
ok(dnn.cudnnSpatialTfSamplerForward(handle, tf, no, x, no, no, no, y, no))
length(0, 4 * (product(X) + product(small)) + grid, F32)
ok(dnn.cudnnSpatialTfSamplerBackward(handle, tf, no, x, no, no, x, no, no, y, no, no, no, no))
length(0, 4 * (2 * product(X) + product(small)) + 2 * grid, F32)''')
        self.assertEqual(len(names), 4)

    def test_read_back(self):
        self.program(LEGACY + '''
data, n, dims, strides, format = INT(), INT(), ints([0] * 8), ints([0] * 8), INT()
ok(dnn.cudnnGetTensorNdDescriptor(old_tensor(X, HALF), 8, ref(data), ref(n), dims, strides))
assert (data.value, n.value, dims[:4], strides[:4]) == (HALF, 4, X, packed(X))
ok(dnn.cudnnGetFilterNdDescriptor(old_filter(W, BF16), 8, ref(data), ref(format), ref(n), dims))
assert (data.value, n.value, dims[:4]) == (BF16, 4, W)
p = P(); ok(dnn.cudnnCreateTensorDescriptor(ref(p)))
assert dnn.cudnnSetTensorNdDescriptor(p, FLOAT, 9, ints([1] * 9), ints([1] * 9)) == 2000''')


if __name__ == '__main__':
    unittest.main()
