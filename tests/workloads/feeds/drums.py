#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drum sounds through a FIFO, written by another process of the job."""
import audioop
import os
import struct

from kit import Card, cfg, note, settle


def render(path):
    settle()
    with open(path, 'wb', buffering=0) as out:
        for k in range(cfg.steps):
            with note('get', k):
                with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                    wave = f.read()  #: get
            with note('make', k):
                wave = wave * (32768 // len(wave)) * 2
                for n in range(cfg.rounds):
                    wave = audioop.lin2lin(audioop.mul(wave, 1, 0.9), 1, 2)  #: make
                    wave, _ = audioop.ratecv(wave, 2, 1, 48000, 24000, None)  #: make
                    wave = wave[:65536]
            out.write(struct.pack('<I', len(wave)) + wave)


def main():
    path = os.path.join(cfg.own, 'drums')
    os.mkfifo(path)
    child = os.fork()
    if not child:
        render(path)
        os._exit(0)
    card = Card()
    with open(path, 'rb') as sounds:
        for k in range(cfg.steps):
            with note('wait', k):
                size, = struct.unpack('<I', sounds.read(4))  #: wait
                wave = sounds.read(size)  #: wait
            card.step(wave)
    os.waitpid(child, 0)


main()
