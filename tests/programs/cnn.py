#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small ResNet trained on a folder of JPEGs, in plain PyTorch: DataLoader with workers and pinned memory, SGD, one step
after the other. --plant makes one thing slow, as people do without knowing:

    decoder     JPEGs of many megapixels, of which the model sees 64 x 64
    disk        nothing here: give a --data folder that is slow
    pageable    a table that never changes is sent in every step, from pageable memory
    item        what is shown of a step is read from the device number by number
    checkpoint  the model is saved every --save steps"""
import io
import os
import sys
import tempfile

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F
from PIL import Image

import told

CLASSES = 16  # of photos
PLANTS = ('none', 'decoder', 'disk', 'pageable', 'item', 'checkpoint')


def parse():
    p = told.options(__doc__)
    p.add_argument('--plant', choices=PLANTS, default='none')
    p.add_argument('--data', metavar='DIR', help='of files f0, f1, ..., JPEGs padded with zeros; made where it is empty')
    p.add_argument('--files', type=int, default=16)
    p.add_argument('--width', type=int, default=32)
    p.add_argument('--out', metavar='DIR', help='for checkpoints')
    p.add_argument('--save', type=int, default=5)
    p.add_argument('--edge', type=int, default=64, help='of the photos as the model sees them; made of 64 x 64 by the device')
    return p.parse_args()


def jpeg(rng, edge):
    data = io.BytesIO()
    coarse = Image.fromarray(rng.randint(0, 255, (16, 16, 3)).astype('uint8'))
    coarse.resize((edge, edge), Image.BICUBIC).save(data, 'JPEG', quality=85)
    return data.getvalue()


def make_files(args, folder):
    rng = numpy.random.RandomState(args.seed)
    edge = 1600 if args.plant == 'decoder' else 96
    for i in range(args.files):
        with open(os.path.join(folder, f'f{i}'), 'wb') as f:
            f.write(jpeg(rng, edge))


class Photos(torch.utils.data.Dataset):
    """Reads a file, decodes it, and makes a tensor of it."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder

    def __len__(self):
        return self.args.steps * self.args.batch

    def load(self, i):
        with open(os.path.join(self.folder, f'f{i % self.args.files}'), 'rb') as f:
            return f.read()  #: disk

    def decode(self, data):
        image = Image.open(io.BytesIO(data))
        return image.convert('RGB').resize((64, 64))  #: decoder

    def __getitem__(self, i):
        data = self.load(i)
        if self.args.plant == 'disk':  # the folder holds noise, whose reading is what counts
            data = numpy.frombuffer(data[:64 * 64 * 3], dtype='uint8').reshape(64, 64, 3)
        else:
            data = numpy.asarray(self.decode(data))
        return torch.from_numpy(data.copy()).permute(2, 0, 1).float() / 255, i % CLASSES


class Block(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.one = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.two = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(outer), nn.BatchNorm2d(outer)])
        self.way = nn.Conv2d(inner, outer, 1, stride, bias=False) if stride > 1 else nn.Identity()

    def forward(self, x):
        y = F.relu(self.norms[0](self.one(x)))
        return F.relu(self.norms[1](self.two(y)) + self.way(x))


def resnet(width):
    return nn.Sequential(nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                         Block(width, width, 1), Block(width, 2 * width, 2), Block(2 * width, 4 * width, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, CLASSES))


class Trainer:
    def __init__(self, args, note):
        self.args, self.note = args, note
        self.model = resnet(args.width).cuda()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.confusions = []
        self.table = torch.zeros(8 << 20 if args.plant == 'pageable' else 1)
        note.count('copy-h2d', len(self.model.state_dict()))

    def send(self, x, y):
        if self.args.plant == 'pageable':
            with self.note.planted():
                self.table.cuda()  #: pageable
            self.note.count('copy-h2d')
        self.note.count('copy-h2d', 2)
        return x.cuda(non_blocking=True), y.cuda(non_blocking=True)

    def step(self, i, x, y):
        x, y = self.send(x, y)
        self.opt.zero_grad()
        if self.args.edge != 64:
            x = F.interpolate(x, self.args.edge)
        guess = self.model(x)
        loss = F.cross_entropy(guess, y)
        loss.backward()
        self.opt.step()
        if self.args.plant == 'item':
            self.show(guess.argmax(1), y)
        if self.args.plant == 'checkpoint' and (i + 1) % self.args.save == 0:
            self.save()

    def show(self, guess, y):
        """How often each class was taken for each: a table, read cell by cell."""
        cells = [(a, b) for a in range(CLASSES) for b in range(CLASSES)]
        with self.note.planted():
            self.confusions = [((guess == a) & (y == b)).sum().item() for a, b in cells]  #: item
        self.note.count('copy-d2h', len(cells))

    def save(self):
        with self.note.planted():
            torch.save(self.model.state_dict(), os.path.join(self.args.out, 'model.pt'))  #: checkpoint
        self.note.count('copy-d2h', len(self.model.state_dict()))


def train(args, folder, note):
    loader = torch.utils.data.DataLoader(Photos(args, folder), batch_size=args.batch, num_workers=args.workers,
                                         pin_memory=True)
    trainer = Trainer(args, note)
    for i, (x, y) in enumerate(note.batches(loader)):
        trainer.step(i, x, y)
    torch.cuda.synchronize()


def main():
    args = parse()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.data or scratch
        args.out = args.out or scratch
        if not args.data:
            make_files(args, folder)
        told.same_each_time(args)
        note = told.Told(args)
        with told.watched(args):
            train(args, folder, note)
    note.write(steps=args.steps, line=told.marked(__name__, args.plant))
    print(f'trained {args.steps} steps')


if __name__ == '__main__':
    sys.exit(main())
