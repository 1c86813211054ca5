# SPDX-License-Identifier: Apache-2.0
"""Plain training under gpustarve: is every kernel that was launched in the trace?"""
import json
import os
import re
import sys

import base

SECONDS = 230


def part(r, out):
    loops = [('cnn jpeg, 4 workers', ['--model', 'cnn', '--data', 'jpeg', '--steps', 40]),
             ('transformer eager', ['--model', 'transformer', '--steps', 40]),
             ('transformer as a CUDA graph', ['--model', 'transformer', '--graph', '--steps', 40]),
             ('ddp, one rank', ['--model', 'cnn', '--ddp', '--steps', 20])]
    if not base.QUICK:
        loops.append(('transformer compiled', ['--model', 'transformer', '--compile', '--steps', 30]))
    for name, args in loops:
        if base.left() < 60:
            r.put('works', name, 'skipped: out of time')
            continue
        tag = re.sub(r'\W+', '-', name)
        rc, o, e, d, s = base.traced(tag, [sys.executable, base.TRAIN, *args], out)
        ops = sum(g['ops'] for g in s['gpus']) if s else None
        seen = None
        path = os.path.join(out, tag + '.profile')
        if '--graph' not in args and '--compile' not in args:
            rc2, _, e2, _ = base.run([sys.executable, base.TRAIN, *args, '--profile', path], 120)
            if rc2 == 0:
                with open(path) as f:
                    seen = json.load(f)
        same = None if not seen or ops is None else ops == sum(seen.values())
        if seen and ops and not same:   # torch.profiler begins after the first kernels of set-up
            same = 0 <= ops - sum(seen.values()) <= 0.02 * ops
        r.put('works', name, f'rc {rc}; {base.verdict_of(s, e)}; torch.profiler in a run of its own: '
              f'{seen}', rc == 0 and s is not None and same is not False, run=d)
    for name, code in (('cupy', 'import cupy\nx=cupy.ones((2048,2048),dtype="f4")\n'
                        'for i in range(200): x=x@x*0+1\ncupy.cuda.Device().synchronize()'),
                       ('jax', 'import jax,jax.numpy as jnp\nf=jax.jit(lambda x:x@x*0+1)\n'
                        'x=jnp.ones((2048,2048))\nfor i in range(200): x=f(x)\nx.block_until_ready()'),
                       ('triton', open(os.path.join(base.SOURCE, 'tests/gpu/triton_add.py')).read())):
        if base.left() < 45:
            r.put('works', name, 'skipped: out of time')
            continue
        script = os.path.join(out, name + '_loop.py')
        with open(script, 'w') as f:
            f.write(code)
        rc, o, e, d, s = base.traced(name, [sys.executable, script], out,
                                XLA_PYTHON_CLIENT_PREALLOCATE='false')
        r.put('works', name, f'rc {rc}; {base.verdict_of(s, e)}; {e.strip()[-200:] if rc else ""}',
              rc == 0 and s is not None)
