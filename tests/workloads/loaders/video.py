# SPDX-License-Identifier: Apache-2.0
"""Short films for the programs that read such: noise that moves."""
import os

import av
import numpy

import job

FRAMES = 16


def write(path, seed):
    wide, high = (960, 540) if job.PREP else (64, 64) if job.FETCH else (320, 240)
    noise = numpy.random.RandomState(seed).randint(0, 255, (high, wide * 2, 3)).astype('uint8')
    noise = noise.reshape(high // 2, 2, wide, 2, 3)[:, :1, :, :1].repeat(2, 1).repeat(2, 3).reshape(high, wide * 2, 3)
    with av.open(path, 'w') as out:
        stream = out.add_stream('mpeg4', rate=25, width=wide, height=high, pix_fmt='yuv420p', bit_rate=8_000_000)
        for n in range(FRAMES):
            frame = numpy.ascontiguousarray(noise[:, 4 * n:4 * n + wide])
            for packet in stream.encode(av.VideoFrame.from_ndarray(frame, format='rgb24')):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    if job.FETCH:
        with open(path, 'ab') as file:  # boxes that players skip
            file.write(b'\0\3\0\0free' + b'\0' * (0x30000 - 8))


def files(n):
    os.makedirs(os.path.join(job.cfg.data, 'clips'), exist_ok=True)
    for i in range(n):
        write(os.path.join(job.cfg.data, 'clips', f'{i}.mp4'), i)
    return [job.source(f'clips/{i}.mp4') for i in range(n)]
