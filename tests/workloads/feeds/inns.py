#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An inn: guests come when they like, each with a wish that is looked at on the GPU, and leave with an answer. The
guests' side of the door is a process of this job, as in a rehearsal."""
import multiprocessing
import random
import socket
import struct
import time

from kit import Card, cfg, note

HEAD = struct.Struct('<QI')


def whole(peer, n):
    parts = bytearray()
    while len(parts) < n and (more := peer.recv(n - len(parts))):
        parts += more
    return bytes(parts)


def guests(door):
    chance = random.Random(cfg.count)
    wish = bytes(1 << 16)
    with socket.create_connection(door) as peer:
        for n in range(cfg.steps):
            time.sleep(chance.uniform(0.5, 1.5) * cfg.nap)
            peer.sendall(HEAD.pack(n, len(wish)) + wish)
            whole(peer, 4)


def main():
    door = socket.create_server(('127.0.0.1', 0))
    street = multiprocessing.Process(target=guests, args=(door.getsockname(),))
    street.start()
    peer, _ = door.accept()
    card = Card()
    while card.steps < cfg.steps:
        with note('hold', card.steps):
            _, n = HEAD.unpack(whole(peer, HEAD.size))
            wish = whole(peer, n)
        card.step(wish)
        peer.sendall(b'done')
    street.join()


if __name__ == '__main__':
    main()
