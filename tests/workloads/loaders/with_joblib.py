#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""joblib's Parallel as a generator, over processes (loky) or, with fetch, threads."""
import io

import joblib
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
    backend = 'threading' if job.FETCH else 'loky'
    parallel = joblib.Parallel(n_jobs=job.cfg.workers, backend=backend, return_as='generator', pre_dispatch=4)
    card = job.Card()
    for images in parallel(joblib.delayed(load)(part) for part in parts):  #: wait
        card.step(images)


if __name__ == '__main__':
    main()
