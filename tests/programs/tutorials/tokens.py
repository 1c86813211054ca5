#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small language model: a transformer that guesses the next word of a text."""
import random
import re
import sys

import torch
import torch.nn as nn

WORDS = {f'word{i}': i for i in range(512)}
LENGTH, WIDTH, BATCH = 256, 64, 256


class Language(nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, len(WORDS))

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens)))


def encode(lines):
    return torch.tensor([[WORDS[w] for w in re.findall(r'[a-z]+[0-9]+', line)] for line in lines])  #: encode


def norm_of(net):
    return sum(p.grad.norm().item() ** 2 for p in net.parameters()) ** 0.5  #: norm


def train(steps):
    rng = random.Random(1)
    lines = [' '.join(rng.choices(list(WORDS), k=LENGTH + 1)) for _ in range(BATCH)]
    net = Language()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    net.cuda()
    for step in range(steps):
        batch = encode(lines).cuda()
        guess = net(batch[:, :-1])
        loss = nn.functional.cross_entropy(guess.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        size = norm_of(net)
        torch._foreach_div_([p.grad for p in net.parameters()], size + 1)
        optimizer.step()
    torch.cuda.synchronize()


if __name__ == '__main__':
    train(int(sys.argv[1]))
