#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waves, on two nodes: after each step they wait for each other over a socket."""
import os
import random
import socket
import time

from held import training
from kit import Card, cfg, note


def other_node(peer):
    rng = random.Random(1)
    while peer.recv(1):
        if cfg.rounds:
            sorted(rng.random() for _ in range(cfg.rounds * 1000))
        time.sleep(cfg.nap)
        peer.sendall(b'.')


def main():
    listener = socket.create_server(('127.0.0.1', 0))
    if os.fork() == 0:
        other_node(socket.create_connection(listener.getsockname()))
        os._exit(0)
    peer, _ = listener.accept()
    listener.close()
    card = Card()
    for k, batch in training():
        card.step(batch)
        with note('hold', k):
            peer.sendall(b'.')
            peer.recv(1)
    peer.close()
    os.wait()


main()
