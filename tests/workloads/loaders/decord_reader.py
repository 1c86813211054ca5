#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""decord's VideoReader, asked for the frames of each batch in the loop; its threads decode."""
import decord

import job
import video


def clips(paths):
    while True:
        for path in paths:
            reader = decord.VideoReader(path, num_threads=job.cfg.workers, width=96, height=96)  #: wait native
            for at in range(0, len(reader), video.FRAMES // 2):
                yield reader.get_batch(range(at, at + video.FRAMES // 2)).asnumpy()  #: wait native


def main():
    card = job.Card(native=True)
    for frames in clips(video.files(6)):  #: wait
        card.step(frames)
        if card.full():
            break


if __name__ == '__main__':
    main()
