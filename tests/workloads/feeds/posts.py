#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A post office. Its counter is a process of this job at which people from outside hand in parcels; the one with
the scale, a model on the GPU, connects to the counter and has the parcels handed on, one after the other. The
counter is served by a thread per person and a queue, by one thread that looks at all of them, or by asyncio."""
import asyncio
import multiprocessing
import os
import queue
import selectors
import socket
import struct
import threading

from kit import Card, cfg, note

HEAD = struct.Struct('<I')


def whole(peer, n):
    parts = bytearray()
    while len(parts) < n:
        more = peer.recv(n - len(parts))
        if not more:
            raise EOFError
        parts += more
    return bytes(parts)


def door():
    """Between the counter and the scale: a path in the file system, or a port."""
    return os.path.join(cfg.own, 'door') if cfg.path == 'unix' else ('127.0.0.1', 0)


def opened():
    if cfg.path != 'unix':
        return socket.create_server(('127.0.0.1', 0))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(door())
    listener.listen()
    return listener


def connected(address):
    peer = socket.socket(socket.AF_UNIX if cfg.path == 'unix' else socket.AF_INET)
    peer.connect(address)
    return peer


# ---- the counter ----

def with_threads(counter, inner):
    parcels = queue.Queue()

    def person(peer):
        while True:
            try:
                parcels.put((peer, whole(peer, *HEAD.unpack(whole(peer, 4)))))
            except (EOFError, OSError):
                return

    def people():
        while True:
            threading.Thread(target=person, args=(counter.accept()[0],), daemon=True).start()

    threading.Thread(target=people, daemon=True).start()
    scale, _ = inner.accept()
    while True:
        peer, parcel = parcels.get()
        scale.sendall(HEAD.pack(len(parcel)) + parcel)
        peer.sendall(whole(scale, 2))


def with_select(counter, inner):
    ready = selectors.DefaultSelector()
    ready.register(counter, selectors.EVENT_READ)
    scale, _ = inner.accept()
    while True:
        for key, _ in ready.select():
            if key.fileobj is counter:
                ready.register(counter.accept()[0], selectors.EVENT_READ)
                continue
            try:
                parcel = whole(key.fileobj, *HEAD.unpack(whole(key.fileobj, 4)))
            except (EOFError, OSError):
                ready.unregister(key.fileobj)
                continue
            scale.sendall(HEAD.pack(len(parcel)) + parcel)
            key.fileobj.sendall(whole(scale, 2))


async def in_turn(counter, inner):
    parcels, scales = asyncio.Queue(), asyncio.Queue()

    async def person(reader, writer):
        try:
            while True:
                n, = HEAD.unpack(await reader.readexactly(4))
                await parcels.put((writer, await reader.readexactly(n)))
        except (asyncio.IncompleteReadError, OSError):
            pass

    async def scale(reader, writer):
        await scales.put((reader, writer))

    start = asyncio.start_unix_server if cfg.path == 'unix' else asyncio.start_server
    async with await asyncio.start_server(person, sock=counter), await start(scale, sock=inner):
        reader, writer = await scales.get()
        while True:
            back, parcel = await parcels.get()
            writer.write(HEAD.pack(len(parcel)) + parcel)
            await writer.drain()
            back.write(await reader.readexactly(2))
            await back.drain()


def counters(counter, inner):
    try:
        if cfg.how == 'asyncio':
            asyncio.run(in_turn(counter, inner))
        else:
            (with_select if cfg.how == 'select' else with_threads)(counter, inner)
    except (EOFError, OSError, asyncio.IncompleteReadError):
        pass  # the scale has closed for today


# ---- the scale ----

def main():
    counter, inner = socket.create_server(('127.0.0.1', cfg.port)), opened()
    office = multiprocessing.Process(target=counters, args=(counter, inner), daemon=True)
    office.start()
    address = inner.getsockname()
    counter.close()
    inner.close()
    scale = connected(address)
    card = Card()
    while card.steps < cfg.steps:
        with note('hold', card.steps):
            parcel = whole(scale, *HEAD.unpack(whole(scale, 4)))
        card.step(parcel)
        scale.sendall(b'ok')
    office.terminate()


if __name__ == '__main__':
    main()
