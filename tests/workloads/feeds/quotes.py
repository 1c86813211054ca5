#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quotations: coroutines on an event loop in a thread; the trainer asks for one ahead."""
import asyncio
import struct
import threading

import numpy

from kit import Card, cfg, note, settle

loop = asyncio.new_event_loop()


def drive():
    settle()
    asyncio.set_event_loop(loop)
    loop.run_forever()


class Source:
    async def open(self):
        self.reader, self.writer = await asyncio.open_connection('127.0.0.1', cfg.port)

    async def text(self, k):
        with note('get', k):
            self.writer.write(b'%d\n' % k)
            n, = struct.unpack('<I', await self.reader.readexactly(4))  #: get
            data = await self.reader.readexactly(n)  #: get
        with note('make', k):
            return self.tokens(data)

    def tokens(self, data):
        for _ in range(cfg.rounds):
            words = [data[n:n + 3] for n in range(0, len(data), 3)]  #: make
            places = {word: n for n, word in enumerate(sorted(words))}  #: make
        return numpy.array([places[word] for word in words], dtype='int32')  #: make


def main():
    threading.Thread(target=drive, name='io', daemon=True).start()
    source = Source()
    asyncio.run_coroutine_threadsafe(source.open(), loop).result()
    card = Card()
    ahead = asyncio.run_coroutine_threadsafe(source.text(0), loop)
    for k in range(cfg.steps):
        with note('wait', k):
            batch = ahead.result()  #: wait
        ahead = asyncio.run_coroutine_threadsafe(source.text(k + 1), loop)
        card.step(batch)


main()
