#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MosaicML's StreamingDataset: shards that its thread brings from a slow folder, and a DataLoader whose workers decode."""
import importlib.machinery
import importlib.util
import io
import os
import sys

# It asks torchvision for image classes that nothing here uses, and torchvision's wheel wants CUDA's torch.
for name in ('torchvision', 'torchvision.datasets', 'torchvision.transforms', 'torchvision.transforms.functional'):
    sys.modules[name] = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, None))
sys.modules['torchvision.datasets'].VisionDataset = object
sys.modules['torchvision.transforms.functional'].to_tensor = None

import numpy  # noqa: E402
import streaming  # noqa: E402
import torch  # noqa: E402
from PIL import Image  # noqa: E402

import job  # noqa: E402


class Photos(streaming.StreamingDataset):
    def __getitem__(self, i):
        with job.note('read'):
            data = super().__getitem__(i)['photo']  #: read
        with job.note('make'):
            image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
            return numpy.array(image.resize((96, 96), Image.BICUBIC))  #: make


def write(folder):
    with streaming.MDSWriter(out=folder, columns={'photo': 'bytes'}, size_limit=1_600_000) as out:
        for data in job.photos():
            out.write({'photo': data})


def main():
    write(os.path.join(job.cfg.data, 'mds'))
    data = Photos(remote=job.source('mds'), local=os.path.join(job.cfg.data, 'local'), batch_size=job.cfg.batch,
                  predownload=8, shuffle=False, num_canonical_nodes=1)
    loader = torch.utils.data.DataLoader(data, batch_size=job.cfg.batch, num_workers=job.cfg.workers)
    card = job.Card(native=job.FETCH)
    for images in loader:  #: wait
        card.step(images.numpy())


if __name__ == '__main__':
    main()
