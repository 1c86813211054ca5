#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bird songs: the trainer runs a loop of its own until the next one has come."""
import asyncio
import struct

import numpy

from kit import Card, cfg, note


class Songs:
    async def open(self):
        self.reader, self.writer = await asyncio.open_connection('127.0.0.1', cfg.port)

    async def song(self, k):
        self.writer.write(b'%d\n' % k)
        n, = struct.unpack('<I', await self.reader.readexactly(4))  #: get
        return await self.reader.readexactly(n)  #: get


async def one(songs, k):
    with note('get', k):
        data = await songs.song(k)
    with note('make', k):
        wave = numpy.frombuffer(data, 'uint8').astype('float32')
        for _ in range(cfg.rounds):
            wave = numpy.fft.irfft(numpy.fft.rfft(wave, 1 << 15))  #: make
        return wave


def main():
    songs, loop, card = Songs(), asyncio.new_event_loop(), Card()
    loop.run_until_complete(songs.open())
    for k in range(cfg.steps):
        with note('wait', k):
            wave = loop.run_until_complete(one(songs, k))
        card.step(wave)


main()
