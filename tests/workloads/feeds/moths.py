#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Moths: several children, each with a pipe; select tells who has a batch."""
import io
import os
import selectors
import struct

import numpy
from PIL import Image, ImageOps

from kit import Card, cfg, note, settle


def draw(k):
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            data = f.read()  #: get
    with note('make', k):
        for _ in range(cfg.rounds):
            moth = ImageOps.equalize(Image.open(io.BytesIO(data)).convert('RGB'))  #: make
        return numpy.asarray(moth.resize((128, 128))).tobytes()


def child(fd, first):
    settle()
    for k in range(first, cfg.steps, cfg.workers):
        moth = draw(k)
        data = struct.pack('<II', k, len(moth)) + moth
        while data:
            data = data[os.write(fd, data):]


def exactly(fd, n):
    data = b''
    while len(data) < n:
        part = os.read(fd, n - len(data))  #: wait
        if not part:
            return None
        data += part
    return data


def main():
    ready, pids = selectors.DefaultSelector(), []
    for n in range(cfg.workers):
        out, into = os.pipe()
        pids.append(os.fork())
        if not pids[-1]:
            child(into, n)
            os._exit(0)
        os.close(into)
        ready.register(out, selectors.EVENT_READ)
    card, done, events = Card(), 0, []
    while done < cfg.steps:
        with note('wait') as n:
            head = None
            while not head:
                while not events:
                    events = ready.select()  #: wait
                fd = events.pop()[0].fd
                head = exactly(fd, 8)
                if not head:
                    ready.unregister(fd)
            n.key, size = struct.unpack('<II', head)
            moth = exactly(fd, size)
        card.step(moth)
        done += 1
    for pid in pids:
        os.waitpid(pid, 0)


main()
