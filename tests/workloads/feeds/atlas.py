#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An atlas: the workers of torch's DataLoader have a pool of threads each for the pictures of a batch."""
import io
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from kit import Card, cfg, note, settle


class Atlas(Dataset):
    def __init__(self, root):
        self.root, self.pool = root, None

    def __len__(self):
        return cfg.steps

    def picture(self, k, n):
        with note('get', k):
            with open(f'{self.root}/f{(k + n) % cfg.files}', 'rb') as f:  #: get
                data = f.read()  #: get
        with note('make', k):
            for _ in range(cfg.rounds):
                image = Image.open(io.BytesIO(data)).convert('RGB').resize((96, 96))  #: make
            return numpy.asarray(image)

    def __getitem__(self, k):
        if not self.pool:
            self.pool = ThreadPoolExecutor(2, initializer=settle)
        return torch.from_numpy(numpy.stack([*self.pool.map(self.picture, [k] * 4, range(4))]))  #: wait


def main():
    torch.set_num_threads(1)
    loader = DataLoader(Atlas(cfg.root), batch_size=None, num_workers=cfg.workers)
    card, source = Card(), iter(loader)
    for k in range(cfg.steps):
        with note('wait', k):
            batch = next(source)  #: wait
        card.step(batch.numpy())


if __name__ == '__main__':
    main()
