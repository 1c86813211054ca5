#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job of steps of one length: a kernel of 8 ms, waited for. Its own times go to --out, in ns by a
clock that nobody steps; what it prints is always the same."""
import argparse
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'workloads'))
import gpudev  # noqa: E402


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--steps', type=int, default=120)
    p.add_argument('--out', required=True)
    args = p.parse_args()
    stream, times, total = gpudev.Stream(gpudev.Device(0)), [], 0
    for i in range(args.steps):
        begin = time.monotonic_ns()
        stream.kernel(8_000_000, name='step')
        stream.synchronize()
        times.append(time.monotonic_ns() - begin)
        total += i
    with open(args.out, 'w') as f:
        json.dump(times, f)
    print(f'steps: {args.steps}, sum: {total}')


if __name__ == '__main__':
    main()
