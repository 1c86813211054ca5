#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dask.distributed: a local cluster of processes makes batches, a few of which are asked for ahead."""
import collections
import io
import os

import distributed
import numpy
from PIL import Image

import job


def load(paths):
    out = []
    for path in paths:
        with job.note('read'):
            with open(path, 'rb') as file:  #: read
                data = file.read()  #: read
        with job.note('make'):
            image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
            out.append(numpy.array(image.resize((96, 96), Image.BICUBIC)))  #: make
    return numpy.stack(out)


def main():
    paths = job.photo_files()
    parts = [paths[at:at + job.cfg.batch] for at in range(0, len(paths), job.cfg.batch)]
    with distributed.LocalCluster(n_workers=job.cfg.workers, threads_per_worker=1, dashboard_address=None,
                                  local_directory=os.path.join(job.cfg.data, 'dask')) as cluster, \
            distributed.Client(cluster) as client:
        card, ahead = job.Card(), collections.deque()
        for part in parts:
            ahead.append(client.submit(load, part, pure=False))
            if len(ahead) > 4:
                card.step(ahead.popleft().result())  #: wait
        while ahead:
            card.step(ahead.popleft().result())  #: wait


if __name__ == '__main__':
    main()
