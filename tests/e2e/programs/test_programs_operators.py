#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=400
"""PyTorch's operators over the stand-ins for CUDA's libraries (a model): what each launches, for how long, and where one stops.
The lengths are computed by hand from the sizes in tests/programs/operators.py: real launches of a real PyTorch."""
import collections
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
import torches

PROGRAM = os.path.join(gs.SOURCE, 'tests', 'programs', 'operators.py')
MARK = 777
GEMM = r'^sm90_xmma_gemm_.*_simulated$'
FUSED = 'multi_tensor_apply_kernel.*FusedAdamMathFunctor'

# All kernels of a part in order, and how long: FLOPs per ns are 53520 (float, double), 395760 (TF32) and 791520, bytes 3015.
ALL = {
    'linear': [('f32f32_f32f32_f32_tn_n_.*_bias_simulated$', 5642)],  # 2 x 64 x 768 x 3072
    'product-float32': [('f32f32_f32f32', 40124)],  # 2 x 1024 x 512 x 2048
    'product-float64': [('f64f64_f64f64', 40124)],
    'product-float16': [('f16f16_f16f32', 2713)],
    'product-bfloat16': [('bf16bf16_bf16f32', 2713)],
    'product-complex64': [('c32c32_c32f32', 160499)],  # four real products
    'tf32': [('f32f32_tf32f32', 5426)],
    'batched': [('bf16bf16', 2000), ('f32f32', 2507)],  # the floor; 2 x 32 x 64 x 128 x 256
    'vectors': [('^gemv_kernel_f32', 2000), ('^dot_kernel_f32', 2000)],
    'integers': [('i8i8_i32i32', 2000)],
    'activation': [('_bias_gelu_simulated$', 2000)],
    'elements': [('vectorized.*FillFunctorIf', 89033), ('vectorized.*FillFunctorIb', 22258),  # 2^26 of 4 bytes, and of 1
                 ('vectorized.*CUDAFunctor_add', 133549), ('unrolled_elementwise', 178066),  # three arrays of 2; two as of 4
                 ('18elementwise_kernel.*direct_copy', 197851)],  # two of 2, strided: at 0.45
    'rows': [('softmax_warp_forward', 178066), ('vectorized_layer_norm', 296777),  # two arrays of 4; at 0.6
             ('cunn_SoftMaxForward', 534199)],  # three, at 0.5
    'attention_default': [('sdpa|flash_fwd|fmha_cutlassF', None)],
}
# How often kernels of these names are launched, besides others.
SOME = {
    'eights': {'e4m3e4m3_bf16f32': 1},
    'autocast': {'bf16bf16.*_bias_sim': 1, 'bf16bf16_bf16f32_f32_nt': 1},
    'flash': {'flash_fwd_(splitkv_)?kernel': 1, 'flash_bwd_dq_dk_dv': 1},
    'efficient': {'fmha_cutlassF_bf16': 1, 'fmha_cutlassB_bf16': 1},
    'attention-float32': {'fmha_cutlassF_f32': 1, 'fmha_cutlassB_f32': 1},
    'math': {GEMM: 6, 'softmax_warp_forward': 1, 'softmax_warp_backward': 1},
    'cudnn': {'sdpa.*fprop_bf16': 1, 'sdpa.*bprop_bf16': 1},
    'adamw-fused': {FUSED: 4, GEMM: 0},
    'adamw-foreach': {FUSED: 0, 'multi_tensor_apply_kernel': 32},
    'scaler': {GEMM: 2, 'AmpKernels': 1, 'multi_tensor_apply_kernel': 2},
    # four products per layer and one at the end, each with two in the backward pass
    'transformer': {GEMM: 3 * (4 * 2 + 1), 'sdpa.*fprop|flash_fwd': 2, 'sdpa.*bprop|flash_bwd_dq': 2, FUSED: 1},
    'triangular': {'trsm_kernel': 1},
    'solve_many': {'getrf_batched_kernel': 1},
}
# cuSOLVER and cuFFT can only be loaded.
STOPS = {name: 'cusolver error' for name in ('solve', 'inv', 'cholesky', 'qr', 'svd', 'eigh', 'lstsq', 'det')}
STOPS.update(fft='CUFFT_NOT_SUPPORTED')


def rows(where):
    return gs.truth_lines(os.path.join(where, 'truth'))


def parts(where, names):
    """{name: the kernels that it launched}, by the copies that stand before each."""
    found, current = collections.defaultdict(list), iter(names)
    part = None
    for row in sorted((r for r in rows(where) if r.get('kind') in ('kernel', 'memcpy')), key=lambda r: r['call']):
        if row['kind'] == 'kernel':
            found[part].append((row['name'], row['end_ns'] - row['start_ns']))
        elif row['bytes'] == MARK:
            part = next(current)
    gs.equal(next(current, None), None, 'parts without their mark')
    return found


def lines(done):
    """{part: how it went}."""
    return dict(line.split(': ', 1) for line in done.stdout.decode().splitlines())


def kernels(what, found):
    for name, expected in ALL.items():
        gs.equal(len(found[name]), len(expected), f'{what}: kernels of {name}: {found[name]}')
        for (kernel, ns), (pattern, length) in zip(found[name], expected):
            gs.check(re.search(pattern, kernel), f'{what}: {name} launches {kernel}, not {pattern}')
            gs.check(length in (None, ns), f'{what}: {kernel} of {name} lasts {ns}, not {length}')
    for name, expected in SOME.items():
        for pattern, count in expected.items():
            gs.equal(sum(bool(re.search(pattern, kernel)) for kernel, _ in found[name]), count,
                     f'{what}: {pattern} of {name}: {[kernel[:120] for kernel, _ in found[name]]}')


def play(torch):
    what = torch.name
    with gs.scratch() as where:
        done = prof.run([torch.python, PROGRAM], where)
        gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()}')
        # one line says that it is a model; a warning of PyTorch's, such as of another path taken, would be another
        gs.equal(len(done.stderr.splitlines()), 1, f'{what}: {done.stderr.decode()}')
        said = lines(done)
        for name, how in said.items():
            gs.check(STOPS.get(name, 'done') in how and (name in STOPS or how == 'done'), f'{what}: {name}: {how}')
        gs.equal(set(STOPS) - set(said), set(), f'{what}: not played')
        kernels(what, parts(where, said))
        missing = {row['missing'] for row in rows(where) if 'missing' in row}
        gs.check({'cusolverDnCreate', 'cufftCreate'} <= missing, f'{what}: {missing} is counted')
        gs.check(not any(name.startswith('cublas') for name in missing), f'{what}: {missing} of cuBLAS')
        prof.expect_exact(where, prof.trace(where), what)


def test_operators():
    for torch in torches.some():
        if torch.name == f'torch-{torch.minor}':
            play(torch)


gs.run_tests(globals())
