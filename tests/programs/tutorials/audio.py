#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spoken words: waves of a second become spectrograms, and a CNN tells which word it was."""
import io
import sys
import urllib.request
import wave

import numpy
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

BATCH = 16


class Words(Dataset):
    def __init__(self, store, length):
        self.store, self.length = store, length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        with urllib.request.urlopen(f'{self.store}/{i}.wav') as answer:  #: fetch
            data = answer.read()
        with wave.open(io.BytesIO(data)) as sound:
            samples = numpy.frombuffer(sound.readframes(sound.getnframes()), dtype='int16')
        return torch.from_numpy(samples.astype('float32') / 32768), i % 35


def spectrogram(waves, window):
    return torch.stft(waves, 400, 40, window=window, return_complex=True).abs()  #: inline


def make_model():
    return nn.Sequential(nn.Conv2d(1, 64, 5, padding=2), nn.ReLU(), nn.Conv2d(64, 128, 5, padding=2), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 35))


def train(store, steps):
    loader = DataLoader(Words(store, steps * BATCH), batch_size=BATCH, num_workers=1)
    net = make_model()
    optimizer = torch.optim.Adam(net.parameters())
    window = torch.hann_window(400)
    net.cuda()
    for waves, y in loader:
        x = spectrogram(waves, window)
        x, y = x.unsqueeze(1).cuda(), y.cuda()
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()


if __name__ == '__main__':
    train(sys.argv[2], int(sys.argv[1]))
