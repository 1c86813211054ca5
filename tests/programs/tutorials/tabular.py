#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Customers: will they stay? Rows of a table become numbers, embeddings, a wide perceptron."""
import os
import random
import sys
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

COLUMNS = [f'c{i}' for i in range(32)]
CITIES = 50000
BATCH = 4096


class Customers(Dataset):
    def __init__(self, length):
        rng = random.Random(1)
        self.rows = [{**{c: rng.random() for c in COLUMNS}, 'city': rng.randrange(CITIES)} for _ in range(1000)]
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        row = self.rows[i % len(self.rows)]
        return torch.tensor([row[c] for c in COLUMNS]), row['city'], i % 2  #: rows


class Net(nn.Module):
    def __init__(self, width=4096):
        super().__init__()
        self.city = nn.Embedding(CITIES, 64)
        self.body = nn.Sequential(nn.Linear(64 + len(COLUMNS), width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                  nn.Linear(width, 2))

    def forward(self, x, city):
        return self.body(torch.cat([x, self.city(city)], 1))


def train(folder, steps):
    loader = DataLoader(Customers(steps * BATCH), batch_size=BATCH)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    net.cuda()
    for step, (x, city, y) in enumerate(loader):
        x, city, y = x.cuda(), city.cuda(), y.cuda()
        loss = nn.functional.cross_entropy(net(x, city), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            torch.save(net.state_dict(), os.path.join(folder, 'net.pt'))  #: save
    torch.cuda.synchronize()


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as scratch:
        train(scratch, int(sys.argv[1]))
