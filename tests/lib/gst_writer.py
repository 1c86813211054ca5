# SPDX-License-Identifier: Apache-2.0
"""Frames written from docs/FORMAT.md, with nothing of our C code in it."""
import os
import struct
import time

from gst_reader import BLOCK, HEADER, HELLO, crc32c

MAGIC = b"GSTF"
PULSE, BYE, ACK = 10, 11, 12


def frame(stream, seq, kind=PULSE, head=b"", body=b"", flags=0, raw_len=None, made_ns=None):
    raw_len = len(body) if raw_len is None else raw_len
    return seal(MAGIC, 1, kind, flags, len(head), stream, seq, made_ns or time.time_ns(), len(body), raw_len,
                crc32c(head + body)) + head + body


def seal(*values):
    """A header of these values, with its checksum."""
    fixed = HEADER.pack(*values, 0)[:-4]
    return fixed + struct.pack("<I", crc32c(fixed))


def varint(value):
    out = b""
    value &= (1 << 64) - 1
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def hello(stream, run, seq=1, host="node1", pid=None, start_ns=1234):
    body = (field(1, host) + field(2, os.getpid() if pid is None else pid) +
            field(3, start_ns) + field(12, run))
    return frame(stream, seq, HELLO, body=body)


def block(stream, seq, t0, t1, count=5, body=b"columns"):
    head = struct.pack("<HBBIqqqIBBH", 1, 1, 0, count, t0, t1, t0, 0, 0, 24, 40)
    return frame(stream, seq, BLOCK, head, body)
