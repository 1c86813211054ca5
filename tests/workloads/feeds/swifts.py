#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flights of birds: coroutines read into an asyncio.Queue, one makes tracks of what is in it; others of the same
loop tick, and wait for news that never come."""
import asyncio
import queue
import struct
import threading

import numpy

from kit import Card, cfg, note, settle


async def read(raw, first):
    reader, writer = await asyncio.open_connection('127.0.0.1', cfg.port)
    for k in range(first, cfg.steps, cfg.workers):
        with note('get', k):
            writer.write(b'%d\n' % k)
            n, = struct.unpack('<I', await reader.readexactly(4))  #: get
            data = await reader.readexactly(n)  #: get
        await raw.put((k, data))


async def track(raw, q):
    for _ in range(cfg.steps):
        k, data = await raw.get()
        with note('make', k):
            points = numpy.frombuffer(data, 'uint8').astype('float64')
            for _ in range(cfg.rounds):
                points = numpy.sort(numpy.cumsum(points) % 251)  #: make
        while q.full():
            await asyncio.sleep(0.001)
        q.put((k, points.astype('float32')))


async def tick():
    while True:
        await asyncio.sleep(0.5)


async def news():
    reader, _ = await asyncio.open_connection('127.0.0.1', cfg.port)
    await reader.readline()


async def everything(q):
    raw = asyncio.Queue(4)
    others = [asyncio.ensure_future(one) for one in (tick(), news(), news(), news())]
    await asyncio.gather(track(raw, q), *[read(raw, n) for n in range(cfg.workers)])
    for task in others:
        task.cancel()


def background(q):
    settle()
    asyncio.run(everything(q))


def main():
    q, card = queue.Queue(2), Card()
    threading.Thread(target=background, args=(q,), name='swifts', daemon=True).start()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, points = q.get()  #: wait
        card.step(points)


main()
