#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Number plates. Whatever the prefetching thread needs it finds in the function around it."""
import threading
import time
from queue import Queue

from kit import Card, cfg, note, settle


def run_training():
    card = Card()
    ready = Queue(3)
    stop = threading.Event()

    def annotations(text):
        boxes = {}
        for n in range(4000 * cfg.rounds):
            boxes[n % 512] = (n * 7 % 640, n * 13 % 480, text[n % len(text)])  #: make
        return bytes(b[2] for b in boxes.values()) * 256

    def pump():
        settle()
        k = 0
        while not stop.is_set() and k < cfg.steps:
            with note('get', k):
                if cfg.nap:
                    time.sleep(cfg.nap)  #: get
                with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:
                    text = f.read(4096)  #: get
            with note('make', k):
                batch = annotations(text)
            ready.put((k, batch))
            k += 1

    threading.Thread(target=pump).start()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, batch = ready.get(timeout=60)  #: wait
        card.step(batch)
    stop.set()


run_training()
