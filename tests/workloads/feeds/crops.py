#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random crops: a pool of threads made by hand, each with a share of the pictures."""
import socket
import struct
import threading
from queue import Queue

import numpy

from kit import Card, cfg, note, settle


class Peer:
    """The picture server: a number goes there, a length and as many bytes come back."""

    def __init__(self, port):
        self.s = socket.create_connection(('127.0.0.1', port))

    def ask(self, k):
        self.s.sendall(b'%d\n' % k)
        n, = struct.unpack('<I', self.s.recv(4, socket.MSG_WAITALL))  #: get
        return self.s.recv(n, socket.MSG_WAITALL)  #: get


class Crops:
    def __init__(self, threads):
        self.out = Queue(2 * threads)
        for n in range(threads):
            threading.Thread(target=self.work, args=(n, threads), daemon=True).start()

    def work(self, first, stride):
        settle()
        peer = Peer(cfg.port) if cfg.port else None
        for k in range(first, cfg.steps, stride):
            with note('get', k):
                if peer:
                    raw = peer.ask(k)
                else:
                    with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                        raw = f.read()  #: get
            with note('make', k):
                picture = numpy.resize(numpy.frombuffer(raw, numpy.uint8), (256, 256)).astype('float32')
                for _ in range(cfg.rounds):
                    spectrum = numpy.fft.rfft2(picture)  #: make
                    picture = numpy.fft.irfft2(spectrum * 0.99)  #: make
            self.out.put((k, picture.astype('float32')))


def main():
    card = Card()
    crops = Crops(cfg.workers)
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, picture = crops.out.get()  #: wait
        card.step(picture)


main()
