#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lakes, with a parameter server: gradients leave the device, go there, and weights come back."""
import multiprocessing
import socket

import numpy

from held import Weights, training
from kit import Card, cfg, note, settle


def exactly(peer, n):
    data = bytearray(n)
    view = memoryview(data)
    while view:
        view = view[peer.recv_into(view):]
    return numpy.frombuffer(data, numpy.uint8)


def serve(listener, n):
    settle()
    peer, _ = listener.accept()
    state = numpy.zeros(n)
    for _ in range(cfg.steps):
        gradient = exactly(peer, n)
        for _ in range(cfg.rounds):
            state = 0.9 * state + gradient
        peer.sendall(state.astype('uint8').tobytes())


def main():
    card = Card()
    weights = Weights(card, 1 << 19)
    listener = socket.create_server(('127.0.0.1', 0))
    server = multiprocessing.Process(target=serve, args=(listener, weights.n))
    server.start()
    peer = socket.create_connection(listener.getsockname())
    for k, batch in training():
        card.step(batch)
        gradient = weights.fetch()
        with note('hold', k):
            peer.sendall(gradient)
            new = exactly(peer, weights.n)
        weights.load(new)
    peer.close()
    server.join()


if __name__ == '__main__':
    main()
