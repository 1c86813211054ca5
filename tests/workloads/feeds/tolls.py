#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A toll gate. A thread serves the cameras at the road with asyncio and queues their pictures for the one that reads
the plates on the GPU; the accounts are kept by a process beside them, which is busy with its own."""
import asyncio
import hashlib
import multiprocessing
import queue
import struct
import threading

from kit import Card, cfg, note

HEAD = struct.Struct('<I')
pictures = queue.Queue()


def accounts(done):
    book = bytes(1 << 16)
    while not done.is_set():
        book = hashlib.sha512(book).digest() * 1024


async def camera(reader, writer):
    answer = asyncio.Queue()
    loop = asyncio.get_running_loop()
    try:
        while True:
            n, = HEAD.unpack(await reader.readexactly(4))
            pictures.put((loop, answer, await reader.readexactly(n)))
            writer.write(await answer.get())
            await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        pass


async def road():
    async with await asyncio.start_server(camera, '127.0.0.1', cfg.port) as gate:
        await gate.serve_forever()


def main():
    done = multiprocessing.Event()
    office = multiprocessing.Process(target=accounts, args=(done,), daemon=True)
    if cfg.count:
        office.start()
    threading.Thread(target=lambda: asyncio.run(road()), daemon=True).start()
    card = Card()
    while card.steps < cfg.steps:
        with note('hold', card.steps):
            loop, answer, picture = pictures.get()
        card.step(picture)
        loop.call_soon_threadsafe(answer.put_nowait, b'ok')
    done.set()
    if cfg.count:
        office.join()


if __name__ == '__main__':
    main()
