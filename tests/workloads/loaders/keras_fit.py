#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keras' fit, which has the loop, over a tf.data pipeline (native) or a PyDataset with worker threads (prep_python)."""
import io
import os

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '2')

import keras  # noqa: E402
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402
from PIL import Image  # noqa: E402

import job  # noqa: E402


def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.cast(tf.image.resize(image, (96, 96)), tf.uint8), 0


class Photos(keras.utils.PyDataset):
    def __init__(self, paths):
        super().__init__(workers=job.cfg.workers, max_queue_size=4)
        self.paths = paths

    def __len__(self):
        return len(self.paths) // job.cfg.batch

    def __getitem__(self, n):
        out = []
        for path in self.paths[n * job.cfg.batch:(n + 1) * job.cfg.batch]:
            with job.note('make'):
                image = Image.open(io.BytesIO(open(path, 'rb').read())).convert('RGB')  #: make
                out.append(numpy.array(image.resize((96, 96), Image.BICUBIC)))  #: make
        return numpy.stack(out), numpy.zeros(len(out))


class Model(keras.Model):
    def build(self, _):
        self.card = job.Card(native=not job.cfg.variant.endswith('python'))

    def train_step(self, data):
        self.card.step(data[0].numpy())
        return {'loss': 0.0}


def main():
    paths = job.photo_files(1 if job.cfg.variant.endswith('python') else 3)
    if job.cfg.variant.endswith('python'):
        data = Photos(paths)
    else:
        data = tf.data.Dataset.from_tensor_slices(paths).map(load, num_parallel_calls=job.cfg.workers)
        data = data.batch(job.cfg.batch).prefetch(2)
    model = Model()
    model.build(None)
    model.compile(run_eagerly=True)
    model.fit(data, epochs=1, verbose=0, shuffle=False)  #: wait


if __name__ == '__main__':
    main()
