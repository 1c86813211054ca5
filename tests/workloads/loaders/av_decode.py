#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyAV in a generator: the loop's own thread demuxes, decodes and scales."""
import itertools

import av
import numpy

import job
import video


def clips(paths):
    for path in itertools.cycle(paths):
        with job.note('read'):
            film = av.open(path)  #: read
        frames, clip = film.decode(video=0), []
        while True:
            with job.note('make'):
                frame = next(frames, None)  #: make
                if frame is not None:
                    clip.append(frame.to_ndarray(width=96, height=96, format='rgb24'))  #: make
            if frame is None:
                break
            if len(clip) == video.FRAMES // 2:
                yield numpy.stack(clip)
                clip = []


def main():
    card = job.Card()
    for clip in clips(video.files(6)):  #: wait
        card.step(clip)
        if card.full():
            break


if __name__ == '__main__':
    main()
