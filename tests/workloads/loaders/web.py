#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""webdataset over shards in tar files: from the disk with WebLoader's workers, or streamed from a web server by the
curl that webdataset starts (fetch)."""
import io
import os

import numpy
import webdataset
from PIL import Image

import job


def decode(data):
    with job.note('make'):
        image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
        return numpy.array(image.resize((96, 96), Image.BICUBIC))  #: make


def shards(n=4):
    data = job.photos()
    for k in range(n):
        with webdataset.TarWriter(os.path.join(job.cfg.data, f'shard{k}.tar')) as tar:
            for i in range(k, len(data), n):
                tar.write({'__key__': f'{i:04}', 'jpg': data[i]})
    if job.FETCH:
        return [f'pipe:curl -s --noproxy 127.0.0.1 {job.cfg.url}/shard{k}.tar' for k in range(n)]
    return [os.path.join(job.cfg.data, f'shard{k}.tar') for k in range(n)]


def main():
    data = webdataset.WebDataset(shards(), shardshuffle=False).to_tuple('jpg').map_tuple(decode)
    if job.FETCH:
        loader = data.batched(job.cfg.batch)
    else:
        loader = webdataset.WebLoader(data.batched(job.cfg.batch), batch_size=None, num_workers=job.cfg.workers)
    card = job.Card(native=job.FETCH)
    for images, in loader:  #: wait native
        card.step(numpy.asarray(images))


if __name__ == '__main__':
    main()
