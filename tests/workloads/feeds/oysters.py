#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens oysters for pearls.py, into the FIFO that is its second argument."""
import io
import pickle
import sys

import numpy
from PIL import Image

from kit import cfg, note, settle


def main():
    settle()
    with open(sys.argv[2], 'wb') as sack:
        for k in range(cfg.steps):
            with note('get', k):
                with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                    photo = f.read()  #: get
            with note('make', k):
                for _ in range(cfg.rounds):
                    pearl = numpy.asarray(Image.open(io.BytesIO(photo)).resize((256, 256)))  #: make
            pickle.dump((k, pearl), sack)
            sack.flush()


main()
