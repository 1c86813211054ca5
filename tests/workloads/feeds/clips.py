#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Video clips by several threads over one SimpleQueue; a clip is three pictures."""
import io
import threading
from queue import SimpleQueue

import numpy
from PIL import Image

from kit import Card, cfg, note, settle


def frames_of(clip, data):
    out = []
    for _ in range(cfg.rounds):
        image = Image.open(io.BytesIO(data))  #: make
        image.load()  #: make
        out.append(numpy.asarray(image.resize((112, 112))))  #: make
    return numpy.stack(out)  #: make


def worker(todo, done, room):
    settle()
    for clip in iter(todo.get, None):
        room.acquire()
        with note('get', clip):
            data = open(f'{cfg.root}/f{clip % cfg.files}', 'rb').read()  #: get
        with note('make', clip):
            frames = frames_of(clip, data)
        done.put((clip, frames))


def main():
    todo, done, room = SimpleQueue(), SimpleQueue(), threading.Semaphore(2 * cfg.workers)
    for clip in [*range(cfg.steps), *[None] * cfg.workers]:
        todo.put(clip)
    card = Card()
    for _ in range(cfg.workers):
        threading.Thread(target=worker, args=(todo, done, room), daemon=True).start()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, frames = done.get()  #: wait
        room.release()
        card.step(frames)


main()
