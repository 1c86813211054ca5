#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent learns from its newest experience first: a LifoQueue, filled by a simulation in a thread."""
import math
import queue
import threading

from kit import Card, cfg, note, settle


class Cartpole:
    def __init__(self):
        self.x = self.v = 0.0
        self.angle, self.w = 0.05, 0.0

    def advance(self, force):
        s, c = math.sin(self.angle), math.cos(self.angle)  #: make
        t = (force + 0.05 * self.w * self.w * s) / 1.1  #: make
        a = (9.8 * s - c * t) / (0.5 * (4 / 3 - 0.1 * c * c / 1.1))  #: make
        self.x, self.v = self.x + 0.02 * self.v, self.v + 0.02 * (t - 0.05 * a * c / 1.1)  #: make
        self.angle, self.w = (self.angle + 0.02 * self.w) % 6.28, (self.w + 0.02 * a) % 9  #: make
        return self.angle


def play(memory, room):
    settle()
    for k in range(cfg.steps):
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                start = f.read(8192)  #: get
        with note('make', k):
            world, angles = Cartpole(), []
            for n in range(500 * cfg.rounds):  #: make
                angles.append(world.advance((n % 3) - 1.0))  #: make
        room.acquire()
        memory.put((k, start + bytes(int(a * 40) for a in angles[:512]) * 100))


def learn():
    memory, room = queue.LifoQueue(), threading.Semaphore(2)
    card = Card()
    threading.Thread(target=play, args=(memory, room), daemon=True).start()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, batch = memory.get()  #: wait
        room.release()
        card.step(batch)


learn()
