# SPDX-License-Identifier: Apache-2.0
"""JAX: a compiled function of eight matrix products, which XLA launches as CUDA graphs (command
buffers) unless XLA_FLAGS says otherwise.
    jax_loop.py STEP-TIMES [STEPS]"""
import json
import sys
import time

import jax
import jax.numpy as jnp

steps = int(sys.argv[2]) if len(sys.argv) > 2 else 60
assert jax.devices()[0].platform in ('gpu', 'cuda'), jax.devices()


@jax.jit
def forward(x, w):
    for _ in range(8):
        x = jnp.tanh(x @ w)
    return x


w = jnp.full((512, 512), 0.01, dtype=jnp.float32)
x = jnp.ones((512, 512), dtype=jnp.float32)
rows, begin = [], time.time_ns()
for _ in range(steps):
    x = forward(x, w)
    x.block_until_ready()
    end = time.time_ns()
    rows.append((begin, begin, end))
    begin = end
with open(sys.argv[1], 'w') as f:
    for row in rows:
        f.write('%d %d %d\n' % row)
print(json.dumps(dict(steps=steps, each={})))
