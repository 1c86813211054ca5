# SPDX-License-Identifier: Apache-2.0
"""A loop over the driver whose every operation is known: prints as JSON how many of each there are
per step, how many steps, and how many nodes its graph has. Simulated and real GPU alike.
    driver.py STEP-TIMES [STEPS]"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'workloads'))
from gpudev import Device, Graph, Stream  # noqa: E402

SIZE = 1 << 16
# The kernels of a step on a stream, and those inside its graph.
KERNELS = {'gs_forward': 5, 'gs_backward': 3}
NODES = {'gs_node': 7, 'gs_last': 1}


def enqueue(stream, kernels, ns):
    for name, n in kernels.items():
        for _ in range(n):
            stream.kernel(ns, name)


def main():
    path, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50
    dev = Device(0)
    main_stream, side = Stream(dev), Stream(dev)
    buf, host = dev.malloc(SIZE), dev.host_alloc(SIZE)
    for name in list(KERNELS) + list(NODES):
        dev.function(name)
    graph = Graph(main_stream, lambda s: enqueue(s, NODES, 2_000))
    rows, begin = [], time.time_ns()
    for _ in range(steps):
        dev.h2d(buf, host, SIZE, main_stream)
        dev.h2d(buf, host, SIZE, main_stream)
        enqueue(main_stream, KERNELS, 5_000)
        side.kernel(5_000, 'gs_side')
        dev.memset(buf, 0, SIZE, main_stream)
        dev.d2d(buf, buf + SIZE // 2, SIZE // 2, main_stream)
        graph.launch(main_stream)
        dev.d2h(host, buf, SIZE, main_stream)
        main_stream.synchronize()
        side.synchronize()
        end = time.time_ns()
        rows.append((begin, begin, end))
        begin = end
    with open(path, 'w') as f:
        for row in rows:
            f.write('%d %d %d\n' % row)
    each = dict(KERNELS, gs_side=1, memset=1, graph=1)
    each.update({'copy-h2d': 2, 'copy-d2d': 1, 'copy-d2h': 1})
    print(json.dumps(dict(steps=steps, each=each, nodes=NODES, bytes_each=SIZE)))


if __name__ == '__main__':
    main()
