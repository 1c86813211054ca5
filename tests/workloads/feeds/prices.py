#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prices: the job starts a feature server of its own and asks it over TCP."""
import multiprocessing
import pickle
import socketserver
import socket
import struct

import numpy

from kit import Card, cfg, note, settle


class Features(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            answer = pickle.dumps(self.features(int(line)))
            self.wfile.write(struct.pack('<I', len(answer)) + answer)

    def features(self, k):
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                ticks = numpy.frombuffer(f.read(), numpy.uint8)  #: get
        with note('make', k):
            series = numpy.resize(ticks, 1 << 15).astype('float64')
            for _ in range(cfg.rounds):
                mean = numpy.convolve(series, numpy.ones(25) / 25, mode='same')  #: make
                spread = numpy.sqrt(numpy.convolve((series - mean) ** 2, numpy.ones(25), mode='same'))  #: make
            return spread.astype('float32')


def serve(ready):
    settle()
    with socketserver.TCPServer(('127.0.0.1', 0), Features) as server:
        ready.send(server.server_address[1])
        server.serve_forever()


def main():
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,), daemon=True)
    server.start()
    s = socket.create_connection(('127.0.0.1', here.recv()))
    answers = s.makefile('rb')
    card = Card()
    s.sendall(b'0\n')
    for k in range(cfg.steps):
        with note('wait', k):
            size, = struct.unpack('<I', answers.read(4))  #: wait
            features = pickle.loads(answers.read(size))  #: wait
        s.sendall(b'%d\n' % (k + 1))
        card.step(features)


if __name__ == '__main__':
    main()
