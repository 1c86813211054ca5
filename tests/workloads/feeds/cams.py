#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A camera's recording, frame by frame, read by a thread with OpenCV."""
import threading

import cv2
import queue

from kit import Card, cfg, note, settle


class Camera:
    def __init__(self, path):
        self.path, self.frames = path, queue.Queue(maxsize=2)

    def start(self):
        threading.Thread(target=self.update, daemon=True).start()
        return self

    def update(self):
        settle()
        capture = cv2.VideoCapture(self.path)
        for k in range(cfg.steps):
            with note('make', k):
                for _ in range(cfg.batch):
                    ok, frame = capture.read()  #: make get
                    if not ok:
                        capture.set(cv2.CAP_PROP_POS_FRAMES, 0)  #: make get
                        ok, frame = capture.read()  #: make get
                for _ in range(cfg.rounds):
                    small = cv2.resize(cv2.bilateralFilter(frame, 7, 50, 50), (224, 224))  #: make
            self.frames.put((k, small))


def main():
    cv2.setNumThreads(1)
    card, camera = Card(), Camera(cfg.path).start()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, frame = camera.frames.get()  #: wait
        card.step(frame)


main()
