#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop that a case describes, as JSON in the first argument:

    steps, workers, batch, sample_ms     torch's DataLoader; each sample sleeps so long
    turns, fast_ms                       so many samples in turn sleep so long instead; 0, or left out: none
    kernels  [[name, ns], ...]           of a step, in order
    host_us                              Python's work before each kernel
    copy_bytes                           the batch to the GPU, pinned
    collective_ns                        0: none; else an all-reduce at the end of a step
    sync                                 waits for the step's end, as loss.item() does

On the simulated GPU, a model: kernels last as long as the case says, so a GPU of another speed is the same
case with other numbers."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

from gpudev import Device, Stream  # noqa: E402


class Samples(Dataset):
    def __init__(self, count, seconds, turns=0, fast=0.0):
        self.count, self.seconds, self.turns, self.fast = count, seconds, turns, fast

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        time.sleep(self.fast if self.turns and i // self.turns % 2 == 0 else self.seconds)
        return torch.full((8,), float(i))


def busy(us):
    end = time.perf_counter_ns() + us * 1000
    while time.perf_counter_ns() < end:
        pass


def main():
    case = json.loads(sys.argv[1])
    rank = int(os.environ.get('LOCAL_RANK', '0'))
    dev = Device(rank)
    stream = Stream(dev)
    room, pinned = dev.malloc(1 << 24), dev.host_alloc(1 << 24)
    loader = DataLoader(Samples(case['steps'] * case['batch'], case['sample_ms'] / 1000, case.get('turns', 0),
                                case.get('fast_ms', 0) / 1000),
                        batch_size=case['batch'], num_workers=case['workers'])
    for _ in loader:
        if case['copy_bytes']:
            dev.h2d(room, pinned, case['copy_bytes'], stream)
        for name, ns in case['kernels']:
            if case['host_us']:
                busy(case['host_us'])
            stream.kernel(ns, name=name)
        if case['collective_ns']:
            stream.collective(case['collective_ns'])
        if case['sync']:
            stream.synchronize()
    stream.synchronize()


if __name__ == '__main__':
    main()
