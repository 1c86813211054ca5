# SPDX-License-Identifier: Apache-2.0
"""Takes batches of next to no work, a pause, and some more. Prints which wrappers were in place
before, in between and in the end."""
import json
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset, dataloader

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir, 'workloads'))
import gpudev  # noqa: E402


def wrapper():
    return dataloader._BaseDataLoaderIter.__dict__['__next__'].__code__.co_name


def take(n):
    for _ in DataLoader(TensorDataset(torch.zeros(n, 1)), batch_size=1):
        pass
    seen.append(wrapper())


stream = gpudev.Stream(gpudev.Device(0))
stream.kernel(1000, 'first')
stream.synchronize()
time.sleep(0.3)
seen = [wrapper()]
take(2500)
time.sleep(float(sys.argv[1]))
take(10)
print(json.dumps(seen))
