# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel in a loop: its launches go through the driver, not the runtime.
    triton_loop.py STEP-TIMES [STEPS]"""
import json
import sys
import time

import torch
import triton
import triton.language as tl

EACH = 50


@triton.jit
def add_one(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


steps = int(sys.argv[2]) if len(sys.argv) > 2 else 10
x = torch.empty(1 << 16, device='cuda')
x.zero_()
torch.cuda.synchronize()
rows, begin = [], time.time_ns()
for _ in range(steps):
    for _ in range(EACH):
        add_one[(64,)](x, x.numel(), BLOCK=1024)
    torch.cuda.synchronize()
    end = time.time_ns()
    rows.append((begin, begin, end))
    begin = end
with open(sys.argv[1], 'w') as f:
    for row in rows:
        f.write('%d %d %d\n' % row)
# A simulated GPU computes nothing: whoever reads this judges the value.
print(json.dumps(dict(steps=steps, each=dict(add_one=EACH), value=float(x[7]), expected=steps * EACH)))
