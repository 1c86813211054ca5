#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Market ticks over ZeroMQ: processes push, the trainer pulls."""
import multiprocessing
import struct

import numpy
import zmq

from kit import Card, cfg, note, settle


def push(address, first):
    settle()
    out = zmq.Context().socket(zmq.PUSH)
    out.set_hwm(1)
    out.connect(address)
    for k in range(first, cfg.steps, cfg.workers):
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                book = f.read()  #: get
        with note('make', k):
            prices = numpy.resize(numpy.frombuffer(book, numpy.uint8), 1 << 14).astype('float64')
            for _ in range(cfg.rounds):
                prices = numpy.cumsum(numpy.sort(prices) % 97)  #: make
                prices = numpy.lexsort((prices % 13, prices % 7)).astype('float64')  #: make
        out.send_multipart([struct.pack('<I', k), prices.astype('float32').tobytes()])
    out.close(10000)


def main():
    pull = zmq.Context().socket(zmq.PULL)
    pull.set_hwm(2)
    port = pull.bind_to_random_port('tcp://127.0.0.1')
    pushers = [multiprocessing.Process(target=push, args=(f'tcp://127.0.0.1:{port}', n)) for n in range(cfg.workers)]
    for pusher in pushers:
        pusher.start()
    card = Card()
    for _ in range(cfg.steps):
        with note('wait') as n:
            number, prices = pull.recv_multipart()  #: wait
            n.key, = struct.unpack('<I', number)
        card.step(prices)
    for pusher in pushers:
        pusher.join()


if __name__ == '__main__':
    multiprocessing.set_start_method('spawn')
    main()
