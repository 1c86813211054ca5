#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies a recorded run as if it had been recorded in other folders, so that it can be kept: no path of
the machine stays in it, and nothing else changes.

    gst_moved.py RUN.gst COPY.gst OLD=NEW...

In names, which stacks and modules are, each OLD becomes NEW, the first that stands there first. All other
frames are copied byte by byte, and numbers, stamps and order of those that change stay as well. Of what
lies beside the streams run.json is taken, which tells the command as it was typed. Ends with 1 if an OLD
is in the copy all the same, or was nowhere."""
import ctypes
import glob
import os
import shutil
import sys

import gst_reader
from gst_reader import HEADER, STRINGS, crc32c
from gst_writer import field, seal


def compressed(data):
    lib = ctypes.CDLL('libzstd.so.1')
    lib.ZSTD_compress.restype = lib.ZSTD_compressBound.restype = ctypes.c_size_t
    room = lib.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(room)
    size = lib.ZSTD_compress(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), 19)
    return out.raw[:size]


def renamed(message, moves):
    """A Strings message with its names moved."""
    out = b''
    for number, entry in gst_reader.fields(message):
        made = b''
        for n, value in gst_reader.fields(entry):
            for old, new in moves if n == 2 else ():
                value = value.replace(old, new)
            made += field(n, value)
        out += field(number, made)
    return out


def moved(data, moves):
    """The bytes of a stream's file."""
    out, at = b'', 0
    while at < len(data):
        frame = gst_reader.frame_at(data, at, None)
        if not frame:
            raise SystemExit('gst_moved: the trace is damaged')
        kind, _, _, head, body, raw_len, end = frame
        if kind == STRINGS:
            message = renamed(gst_reader.decompress(body, raw_len) if raw_len is not None else body, moves)
            body = compressed(message)
            (magic, version, number, _, _, stream, seq, time, *_) = HEADER.unpack_from(data, at)
            out += seal(magic, version, number, 1, len(head), stream, seq, time, len(body), len(message),
                        crc32c(head + body)) + head + body
        else:
            out += data[at:end]
        at = end
    return out


def everything(run):
    """All that a run's frames say, uncompressed."""
    return b''.join(head + body for stream, _, head, body in gst_reader.messages(run) if stream)


def main(run, copy, *words):
    moves = [tuple(side.encode() for side in word.split('=', 1)) for word in words]
    before = everything(run)
    os.makedirs(copy)
    for path in glob.glob(os.path.join(run, '*.gst')):
        with open(path, 'rb') as f, open(os.path.join(copy, os.path.basename(path)), 'wb') as to:
            to.write(moved(f.read(), moves))
    shutil.copy(os.path.join(run, 'run.json'), copy)
    after = everything(copy)
    wrong = [old.decode() for old, _ in moves if old not in before or old in after]
    if wrong:
        sys.exit(f'gst_moved: not there, or still there: {", ".join(wrong)}')


if __name__ == '__main__':
    main(*sys.argv[1:])
