#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Languages of tribes. A runtime of its own launches; Python gives it one step after another."""
import zlib

import numpy

from kit import cfg, note, settle
from nativefeed import Launcher


def batches():
    for k in range(cfg.steps):
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                text = f.read()  #: get
        with note('make', k):
            for n in range(cfg.rounds):
                packed = zlib.compress(text * 4 + bytes([n]), 9)  #: make
        yield numpy.resize(numpy.frombuffer(packed, numpy.uint8), 1 << 18)


def main():
    launcher, source, kept = Launcher(depth=1), batches(), []
    settle()
    for k in range(cfg.steps):
        with note('wait', k):
            kept.append(next(source))  #: wait
        with note('gpu', k):
            launcher.submit(kept[-1].ctypes.data, kept[-1].nbytes, cfg.gpu_us * 1000)
        del kept[:-4]
    launcher.drain()
    launcher.close()


main()
