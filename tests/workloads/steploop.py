#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steploop.py MS STEPS: steps marked with NVTX, each a kernel of MS milliseconds on the simulated GPU that is waited for."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gpudev  # noqa: E402
import nvtxmini  # noqa: E402

MS, STEPS = float(sys.argv[1]), int(sys.argv[2])
nvtx = nvtxmini.Nvtx()
stream = gpudev.Stream(gpudev.Device(0))
for i in range(STEPS):
    nvtx.push(f'step {i}')
    stream.kernel(int(MS * 1e6), 'gemm')
    stream.synchronize()
    nvtx.pop()
