#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Short messages by asyncio streams; tasks fill a queue.Queue of batches from another thread."""
import asyncio
import json
import queue
import struct
import threading

import numpy

from kit import Card, cfg, note, settle


async def follow(q, first):
    reader, writer = await asyncio.open_connection('127.0.0.1', cfg.port)
    for k in range(first, cfg.steps, cfg.workers):
        with note('get', k):
            writer.write(b'%d\n' % k)
            head = await reader.readexactly(4)  #: get
            data = await reader.readexactly(*struct.unpack('<I', head))  #: get
        with note('make', k):
            for _ in range(cfg.rounds):
                said = json.loads(json.dumps([*data[:3000]] * 2))  #: make
        await asyncio.get_running_loop().run_in_executor(None, q.put, (k, numpy.array(said, 'uint8')))


async def everything(q):
    await asyncio.gather(*[follow(q, n) for n in range(cfg.workers)])


def background(q):
    settle()
    asyncio.run(everything(q))


def main():
    q = queue.Queue(2)
    threading.Thread(target=background, args=(q,), daemon=True).start()
    card = Card()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, said = q.get()  #: wait
        card.step(said)


main()
