#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pyzmq: processes of the job's own push batches to the trainer, which pulls."""
import io
import multiprocessing
import os

import numpy
import zmq
from PIL import Image

import job


def feeder(address, parts):
    push = zmq.Context().socket(zmq.PUSH)
    push.sndhwm = 2
    push.connect(address)
    for part in parts:
        out = []
        for path in part:
            with job.note('read'):
                with open(path, 'rb') as file:  #: read
                    data = file.read()  #: read
            with job.note('make'):
                image = Image.open(io.BytesIO(data)).convert('RGB')  #: make
                out.append(numpy.array(image.resize((96, 96), Image.BICUBIC)))  #: make
        push.send(numpy.stack(out))
    push.close(linger=-1)


def main():
    paths = job.photo_files()
    parts = [paths[at:at + job.cfg.batch] for at in range(0, len(paths), job.cfg.batch)]
    address = 'ipc://' + os.path.join(job.cfg.data, 'feed')
    pull = zmq.Context().socket(zmq.PULL)
    pull.rcvhwm = 2
    pull.bind(address)
    fork = multiprocessing.get_context('spawn')
    card = job.Card()
    feeders = [fork.Process(target=feeder, args=(address, parts[k::job.cfg.workers])) for k in range(job.cfg.workers)]
    for each in feeders:
        each.start()
    for _ in parts:
        data = pull.recv()  #: wait
        card.step(numpy.frombuffer(data, numpy.uint8))
    for each in feeders:
        each.join()


if __name__ == '__main__':
    main()
