#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A help desk: threads take requests from their clients and queue them for the one that has the model."""
import queue
import socket
import struct
import threading

from kit import Card, cfg, note

requests = queue.Queue()


def client(peer):
    with peer, peer.makefile('rb') as f:
        while head := f.read(4):
            requests.put((peer, f.read(*struct.unpack('<I', head))))


def doorman(listener):
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=client, args=(peer,), daemon=True).start()


def main():
    listener = socket.create_server(('127.0.0.1', cfg.port))
    threading.Thread(target=doorman, args=(listener,), daemon=True).start()
    card = Card()
    while card.steps < cfg.steps:
        with note('hold', card.steps):
            peer, question = requests.get()
        card.step(question)
        peer.sendall(b'ok')


main()
