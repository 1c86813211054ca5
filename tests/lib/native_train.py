# SPDX-License-Identifier: Apache-2.0
"""Run by test_native.py: a training loop whose loader worker blocks in a C function.

    python3 native_train.py LIBRARY STEPS SLEEP_S"""
import ctypes
import fcntl
import os
import sys
import termios
import time

sys.path.insert(0, os.environ['WORKLOADS'])
import gpudev  # noqa: E402
import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

blocks, steps, sleep_s = ctypes.CDLL(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
r, w = os.pipe()


class Slow(Dataset):
    def __len__(self):
        return steps

    def __getitem__(self, i):
        blocks.known_reader(r)  # the line of the worker
        return torch.zeros(64)


feeder = os.fork()
if not feeder:
    while True:  # a source that gives a byte some time after the last one was taken, so that it is never ahead
        time.sleep(sleep_s)
        os.write(w, b'x')
        while fcntl.ioctl(r, termios.FIONREAD, bytes(4)) != bytes(4):
            time.sleep(0.001)
dev = gpudev.Device(0)
stream = gpudev.Stream(dev)
for batch in DataLoader(Slow(), num_workers=1):
    stream.kernel(2_000_000, name='layer')
    stream.synchronize()
os.kill(feeder, 9)
os.waitpid(feeder, 0)
