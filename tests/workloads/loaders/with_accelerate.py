#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accelerate's wrapper around torch's DataLoader."""
import io

import accelerate
import numpy
import torch
from PIL import Image

import job


class Photos(torch.utils.data.Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with job.note('read'):
            with open(self.paths[i], 'rb') as file:  #: read
                data = file.read()  #: read
        with job.note('make'):
            image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
            return numpy.array(image.resize((96, 96), Image.BICUBIC))  #: make


def main():
    accelerator = accelerate.Accelerator(cpu=True)
    loader = torch.utils.data.DataLoader(Photos(job.photo_files()), batch_size=job.cfg.batch, num_workers=job.cfg.workers)
    loader = accelerator.prepare(loader)
    card = job.Card()
    for images in loader:  #: wait
        card.step(images.numpy())


if __name__ == '__main__':
    main()
