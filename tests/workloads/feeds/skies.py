#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sky photographs with aiohttp, several requests at a time, on a loop in a thread."""
import asyncio
import queue
import threading

import aiohttp
import numpy

from kit import Card, cfg, note, settle


async def download(session, k):
    with note('get', k):
        async with session.get(f'http://127.0.0.1:{cfg.port}/{k}') as answer:  #: get
            return await answer.read()  #: get


def flatten(k, photo):
    with note('make', k):
        pixels = numpy.resize(numpy.frombuffer(photo, numpy.uint8), 1 << 16).astype('float64')
        for _ in range(cfg.rounds):
            pixels = pixels - numpy.percentile(pixels, 5)  #: make
            pixels = numpy.arcsinh(pixels)  #: make
        return pixels.astype('float32')


async def follow(q):
    async with aiohttp.ClientSession() as session:
        tasks = [asyncio.ensure_future(download(session, k)) for k in range(cfg.workers)]
        for k in range(cfg.steps):
            photo = await tasks.pop(0)
            if k + cfg.workers < cfg.steps:
                tasks.append(asyncio.ensure_future(download(session, k + cfg.workers)))
            picture = flatten(k, photo)
            while q.full():
                await asyncio.sleep(0.001)
            q.put((k, picture))


def background(q):
    settle()
    asyncio.new_event_loop().run_until_complete(follow(q))


def main():
    q, card = queue.Queue(2), Card()
    threading.Thread(target=background, args=(q,), name='downloads', daemon=True).start()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, picture = q.get()  #: wait
        card.step(picture)


main()
