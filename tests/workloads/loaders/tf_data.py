#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tf.data in front of a loop of one's own: JPEGs that TensorFlow decodes (prep, starved) or reads (fetch) in threads of
its own, or Python that it calls for each image (prep_python)."""
import io
import os

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '2')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '0')

import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402
from PIL import Image  # noqa: E402

import job  # noqa: E402


def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.cast(tf.image.resize(image, (96, 96)), tf.uint8)


def python(path):
    with job.note('make'):
        image = Image.open(io.BytesIO(open(path, 'rb').read())).convert('RGB')  #: make
        return numpy.array(image.resize((96, 96), Image.BICUBIC))  #: make


def by_python(path):
    return tf.numpy_function(python, [path], tf.uint8)


def main():
    fn = by_python if job.cfg.variant.endswith('python') else load
    data = tf.data.Dataset.from_tensor_slices(job.photo_files(1 if job.cfg.variant.endswith('python') else 3))
    data = data.map(fn, num_parallel_calls=job.cfg.workers).batch(job.cfg.batch).prefetch(2)
    card = job.Card(native=not job.cfg.variant.endswith('python'))
    for images in data:  #: wait
        card.step(images.numpy())


if __name__ == '__main__':
    main()
