#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DALI as a loader on the CPU in front of a small model in PyTorch: JPEGs of many megapixels, decoded by DALI's threads."""
import os
import sys
import tempfile

import torch
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.plugin.pytorch import DALIGenericIterator

import cnn
import told


@pipeline_def
def photos(folder):
    data, labels = fn.readers.file(file_root=folder)
    images = fn.resize(fn.decoders.image(data, device='cpu'), size=(64, 64))
    return fn.transpose(fn.cast(images, dtype=types.FLOAT), perm=[2, 0, 1]), labels


def train(args, folder, note):
    pipe = photos(folder, batch_size=args.batch, num_threads=args.workers, device_id=None, seed=args.seed)
    pipe.build()
    model = cnn.resnet(16).cuda()
    note.count('copy-h2d', len(model.state_dict()))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DALIGenericIterator([pipe], ['x', 'y'], size=args.steps * args.batch)
    for batch in note.batches(loader):  #: decoder
        x, y = batch[0]['x'].cuda(), batch[0]['y'].squeeze(1).long().cuda()
        note.count('copy-h2d', 2)
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    torch.cuda.synchronize()


def main():
    args = told.options(__doc__).parse_args()
    args.plant, args.files = 'decoder', 16
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, 'class'))
        cnn.make_files(args, os.path.join(folder, 'class'))
        for name in os.listdir(os.path.join(folder, 'class')):  # DALI wants files by their extension
            os.rename(os.path.join(folder, 'class', name), os.path.join(folder, 'class', name + '.jpg'))
        told.same_each_time(args)
        note = told.Told(args)
        with told.watched(args):
            train(args, folder, note)
    note.write(steps=args.steps, line=told.marked(__name__, 'decoder'))
    print(f'trained {args.steps} steps')


if __name__ == '__main__':
    sys.exit(main())
