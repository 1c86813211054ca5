# SPDX-License-Identifier: Apache-2.0
"""CuPy: two kernels of our own by NVRTC, a matrix product by cuBLAS, a copy each way.
    cupy_loop.py STEP-TIMES [STEPS]"""
import json
import sys
import time

import cupy
import numpy

steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
scale = cupy.ElementwiseKernel('float32 x', 'float32 y', 'y = x * 0.5f + 1.0f', 'gs_scale')
shift = cupy.ElementwiseKernel('float32 x', 'float32 y', 'y = x - 1.0f', 'gs_shift')
host = numpy.ones((512, 512), dtype='f4')
device = cupy.cuda.Device()
rows, begin = [], time.time_ns()
for _ in range(steps):
    x = cupy.asarray(host)
    y, z = cupy.empty_like(x), cupy.empty_like(x)
    for _ in range(3):
        scale(x, y)
    shift(y, z)
    product = z @ y
    back = cupy.asnumpy(y)
    device.synchronize()
    end = time.time_ns()
    rows.append((begin, begin, end))
    begin = end
assert float(back[3, 3]) == 1.5
with open(sys.argv[1], 'w') as f:
    for row in rows:
        f.write('%d %d %d\n' % row)
print(json.dumps(dict(steps=steps, each={'gs_scale': 3, 'gs_shift': 1, 'copy-h2d': 1,
                                         'copy-d2h': 1})))
