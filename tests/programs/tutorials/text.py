#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reviews: which of sixteen kinds of shop are they about? Words to numbers, an embedding, a wide classifier."""
import random
import re
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

WORDS = [f'word{i}' for i in range(2000)]
CLASSES = 16
BATCH = 64
STEPS = 20  # of an epoch


class Reviews(Dataset):
    def __init__(self):
        rng = random.Random(1)
        self.texts = [' '.join(rng.choices(WORDS, k=200)) for _ in range(64)]
        self.vocabulary = {word: i for i, word in enumerate(WORDS)}

    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, i):
        words = re.findall(r'\w+', self.texts[i % len(self.texts)])
        return torch.tensor([self.vocabulary[w] for w in words]), i % CLASSES


class Classifier(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), width)
        self.body = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width), nn.ReLU())
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.body(self.embed(x)).mean(1))


def train(epochs):
    loader = DataLoader(Reviews(), batch_size=BATCH, shuffle=True, num_workers=2)
    net = Classifier()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.cuda()
    for epoch in range(epochs):
        right = [0] * CLASSES
        for x, y in loader:  #: epoch
            x, y = x.cuda(), y.cuda()
            guess = net(x)
            loss = nn.functional.cross_entropy(guess, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for c in range(CLASSES):
                right[c] += ((guess.argmax(1) == c) & (y == c)).sum().item()  #: item
        print(f'epoch {epoch}: {sum(right)} right')


if __name__ == '__main__':
    train(int(sys.argv[1]))
