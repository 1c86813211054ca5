#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weather fields that somebody else's server streams."""
import socket
import struct

from kit import Card, cfg, note


class Fields:
    def __init__(self, port):
        self.peer = socket.create_connection(('127.0.0.1', port))

    def read(self, n):
        parts = []
        while n:
            part = self.peer.recv(n)  #: get
            if not part:
                raise EOFError
            parts.append(part)
            n -= len(part)
        return b''.join(parts)

    def field(self, k):
        self.peer.sendall(b'%d\n' % k)
        size, = struct.unpack('<I', self.read(4))
        return self.read(size)


def main():
    card, fields = Card(), Fields(cfg.port)
    for k in range(cfg.steps):
        with note('wait', k), note('get', k):
            field = fields.field(k)
        card.step(field)


main()
