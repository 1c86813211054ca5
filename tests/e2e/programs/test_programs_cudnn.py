#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=400
"""What PyTorch asks of cuDNN runs on the simulated GPU (a model), with the wheels that `scripts/setup --campaigns` gets:
by both of its ways to cuDNN each convolution, batch norm, attention and network is one kernel, nothing was asked for that
is not there, and the trace is the truth."""
import collections
import functools
import json
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
import torches

PROGRAM = os.path.join(gs.SOURCE, 'tests', 'programs', 'cudnn_calls.py')
KERNEL = re.compile(r'_(fprop|dgrad|wgrad)_implicit_gemm_|cudnn\d+(bn_fw_tr|bn_bw|bn_fw_inf)_|sdpa_sm90_(flash_[fb]prop)_'
                    r'|(RNN)_blockPersist_([a-z]+)_|bilinear_(sampler_[fb]w)_')


def kinds(ops):
    """How many kernels of cuDNN, by what they do."""
    found = (KERNEL.search(op['name']) for op in ops if 'simulated' in op['name'])
    return dict(collections.Counter('_'.join(filter(None, m.groups())).replace('RNN', 'rnn') for m in found if m))


def types(ops):
    """What float convolutions computed in."""
    found = (re.search(r'implicit_gemm_(tf32f32|f32f32)_', op['name']) for op in ops)
    return {m[1] for m in found if m}


def missing(where):
    return {row['missing'] for row in gs.truth_lines(os.path.join(where, 'truth')) if 'missing' in row}


def play(torch, tf32, *options, **env):
    what = f'{torch.name}, TF32 {tf32}, {env}'
    with gs.scratch() as where:
        done = prof.run([torch.python, PROGRAM, '--told', 'told', '--tf32', tf32, *options], where, **env)
        gs.equal((done.returncode, done.stdout), (0, b'2 steps\n'), f'{what}: {done.stderr.decode()[-2000:]}')
        t = prof.trace(where)
        prof.expect_exact(where, t, what)
        with open(os.path.join(where, 'told')) as f:
            gs.equal(kinds(t.ops), json.load(f)['asked'], f'{what}: kernels of cuDNN')
        gs.equal(types(t.ops), {'tf32f32' if tf32 == 'yes' else 'f32f32'}, f'{what}: types')
        gs.equal(missing(where), set(), f'{what}: not there')


def ways(torch):
    """To where PyTorch could go elsewhere: without rounding float, and by cuDNN's older calls, which it does not
    take with bfloat16."""
    return [functools.partial(play, torch, 'no'),
            functools.partial(play, torch, 'yes', '--types', 'float32,float16', TORCH_CUDNN_V8_API_DISABLED=1)]


def main():
    newest = {torch.minor: torch for torch in reversed(torches.some())}
    cases = [functools.partial(play, torch, 'yes') for torch in newest.values()]
    for torch in newest.values() if gs.BIG else [newest[max(newest)]]:
        cases += ways(torch)
    gs.side_by_side(cases)


main()
gs.finish()
