#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A chat bot behind an asyncio server; a request is a line, its answer another."""
import asyncio
import base64

from kit import Card, cfg, note


class Bot:
    def __init__(self):
        self.card, self.done = Card(), asyncio.Event()

    async def talk(self, reader, writer):
        while line := await reader.readline():
            self.card.step(base64.b64decode(line))
            writer.write(b'indeed\n')
            await writer.drain()
            if self.card.steps == cfg.steps:
                self.done.set()
        writer.close()


async def main():
    bot = Bot()
    server = await asyncio.start_server(bot.talk, '127.0.0.1', cfg.port, limit=1 << 20)
    async with server:
        with note('hold'):
            await bot.done.wait()


asyncio.run(main())
