#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenCV's VideoCapture in a thread, with a queue of clips between it and the loop."""
import itertools
import queue
import threading

import cv2
import numpy

import job
import video


def capture(paths, clips, done):
    for path in itertools.cycle(paths):
        with job.note('read'):
            film = cv2.VideoCapture(path)  #: read
        clip = []
        while True:
            with job.note('make'):
                good, frame = film.read()  #: make
                if good:
                    clip.append(cv2.resize(frame, (96, 96)))  #: make
            if not good or done.is_set():
                break
            if len(clip) == video.FRAMES // 2:
                clips.put(numpy.stack(clip))
                clip = []
        if done.is_set():
            return


def main():
    cv2.setNumThreads(1)
    clips, done = queue.Queue(maxsize=2), threading.Event()
    thread = threading.Thread(target=capture, args=(video.files(6), clips, done), name='capture')
    thread.start()
    card = job.Card()
    while not card.full():
        card.step(clips.get())  #: wait
    done.set()
    while thread.is_alive():
        while not clips.empty():
            clips.get()
        thread.join(0.01)


if __name__ == '__main__':
    main()
