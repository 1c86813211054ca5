#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""neighbour.py FILE US: once FILE is there, has a context on the GPU, and two seconds later keeps it busy
with kernels of US microseconds until FILE is gone. FILE.ready says that it is there. The pause is
for whoever looks for other processes only now and then."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'workloads'))

import gpudev  # noqa: E402


def busy(path, ns, parent):
    stream = gpudev.Stream(gpudev.Device(0))
    before = None
    with open(path + '.ready', 'w'):
        pass
    time.sleep(2)
    while os.path.exists(path) and os.getppid() == parent:
        stream.kernel(ns, 'other')
        last = stream.record()
        if before:
            before.synchronize()  # one runs, one waits
        before = last
    stream.synchronize()


def main():
    path, parent = sys.argv[1], os.getppid()
    while not os.path.exists(path):
        if os.getppid() != parent:
            return
        time.sleep(0.01)
    try:
        busy(path, int(sys.argv[2]) * 1000, parent)
    finally:
        os.unlink(path + '.ready')


if __name__ == '__main__':
    main()
