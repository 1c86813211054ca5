#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Photographs: a small CNN learns from a folder of JPEGs."""
import glob
import os
import sys
import tempfile

import numpy
import torch
import torch.nn as nn
from PIL import Image
from torch.utils.data import DataLoader, Dataset

BATCH = 32


class Photos(Dataset):
    def __init__(self, folder, length):
        self.files = sorted(glob.glob(os.path.join(folder, '*.jpg')))
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        image = Image.open(self.files[i % len(self.files)]).convert('RGB').resize((224, 224))  #: decode
        return torch.from_numpy(numpy.array(image)).permute(2, 0, 1).float() / 255, i % 10


def make_model():
    return nn.Sequential(nn.Conv2d(3, 64, 7, stride=2, padding=3), nn.ReLU(), nn.Conv2d(64, 512, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(512, 512, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(512, 10))


def train(folder, steps):
    loader = DataLoader(Photos(folder, steps * BATCH), batch_size=BATCH)
    net = make_model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    net.cuda()
    for x, y in loader:
        x, y = x.cuda(), y.cuda()  #: pageable
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()


def make_photos(folder):
    rng = numpy.random.RandomState(1)
    for i in range(16):
        coarse = Image.fromarray(rng.randint(0, 255, (16, 16, 3)).astype('uint8'))
        coarse.resize((320, 320), Image.BICUBIC).save(os.path.join(folder, f'{i}.jpg'), quality=85)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as photos:
        make_photos(photos)
        train(photos, int(sys.argv[1]))
