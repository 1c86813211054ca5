# SPDX-License-Identifier: Apache-2.0
"""Loads with so many workers from a dataset that reads each sample through a loader of its own."""
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir, "workloads"))
import gpudev  # noqa: E402

ITEMS = 8


class Nested(Dataset):
    inner = DataLoader(TensorDataset(torch.zeros(3, 1)))

    def __len__(self):
        return ITEMS

    def __getitem__(self, i):
        time.sleep(0.02)
        return sum(len(batch) for batch in self.inner)


if __name__ == '__main__':
    stream = gpudev.Stream(gpudev.Device(0))
    stream.kernel(1000, 'first')
    stream.synchronize()
    got = [int(batch) for batch in DataLoader(Nested(), num_workers=int(sys.argv[1]))]
    assert got == [3] * ITEMS, got
