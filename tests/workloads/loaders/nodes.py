#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torchdata's nodes: a sampler, a ParallelMapper of threads, a Batcher and a Prefetcher."""
import io

import numpy
import torchdata.nodes
from PIL import Image

import job


def load(path):
    with job.note('read'):
        with open(path, 'rb') as file:  #: read
            data = file.read()  #: read
    with job.note('make'):
        image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
        return numpy.array(image.resize((96, 96), Image.BICUBIC))  #: make


def main():
    node = torchdata.nodes.IterableWrapper(job.photo_files())
    node = torchdata.nodes.ParallelMapper(node, load, num_workers=job.cfg.workers, method='thread')
    node = torchdata.nodes.Prefetcher(torchdata.nodes.Batcher(node, job.cfg.batch), prefetch_factor=2)
    card = job.Card()
    for images in torchdata.nodes.Loader(node):  #: wait
        card.step(numpy.stack(images))


if __name__ == '__main__':
    main()
