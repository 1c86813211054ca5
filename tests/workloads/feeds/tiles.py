#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Satellite tiles, fetched by HTTP or unpacked, by a thread that everything in this module knows."""
import http.client
import threading
import zlib
from queue import Queue

from kit import Card, cfg, note, settle

TILES = Queue(8)
PLAIN = bytes(range(256)) * 400


def unpack(data):
    for n in range(cfg.rounds):
        packed = zlib.compress(PLAIN + data[:n + 1], 6)  #: make
        data = zlib.decompress(packed)  #: make
    return data


def downloader():
    settle()
    site = http.client.HTTPConnection('127.0.0.1', cfg.port) if cfg.port else None
    for k in range(cfg.steps):
        with note('get', k):
            if site:
                site.request('GET', f'/tiles/{k}')  #: get
                data = site.getresponse().read()  #: get
            else:
                with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                    data = f.read()  #: get
        with note('make', k):
            tile = unpack(data)
        TILES.put((k, tile))


def train():
    card = Card()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, tile = TILES.get()  #: wait
        card.step(tile)


threading.Thread(target=downloader, daemon=True).start()
train()
