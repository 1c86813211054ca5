#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A compiled function's first call after the device has begun to work, and some more of them. Says
how long the first one took by its own clock: `first NANOSECONDS`. Nothing compiled before is used."""
import os
import tempfile
import time

with tempfile.TemporaryDirectory() as cache:
    os.environ.update(TORCHINDUCTOR_CACHE_DIR=cache, TRITON_CACHE_DIR=os.path.join(cache, 'triton'),
                      TORCHINDUCTOR_COMPILE_THREADS='1', TORCHINDUCTOR_FORCE_DISABLE_CACHES='1')
    import torch

    @torch.compile
    def work(x):
        return torch.relu(x * 2 + 1).softmax(-1).sum()

    x = torch.ones(256, 256, device='cuda')
    torch.cuda.synchronize()
    begin = time.time_ns()
    work(x)
    torch.cuda.synchronize()
    print('first', time.time_ns() - begin)
    for _ in range(200):
        work(x)
    torch.cuda.synchronize()
