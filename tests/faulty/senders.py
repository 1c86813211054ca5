# SPDX-License-Identifier: Apache-2.0
"""Processes that send to a node's collector as libprof does: what is not acknowledged is kept and sent
again, in order, after the stream's Hello. They never block. Frames are made up (their payloads are
random: many and quick) or those of a recorded trace under another stream, run, host and process."""
import ctypes
import ctypes.util
import hashlib
import random
import socket
import struct
import time

import collector as c
from gst_reader import crc32c
from gst_writer import field

ROOM = 64 << 10
RETRY_S = 0.05
BODIES = 64


def digest(frame):
    return hashlib.blake2b(frame, digest_size=16).digest()


def renumbered(frame, stream, seq):
    """The frame of another stream, under another number."""
    head = bytearray(frame[:60])
    head[16:32] = stream
    struct.pack_into('<Q', head, 32, seq)
    return bytes(head) + struct.pack('<I', crc32c(head)) + frame[64:]


class MadeUp:
    """Frames with random payloads, of a run that nobody will read."""

    def __init__(self, seed, size=1500):
        r = random.Random(seed)
        self.bodies = [c.frame(bytes(16), 1, body=r.randbytes(r.randrange(size))) for _ in range(BODIES)]

    def frames(self, stream, run, host, count, r):
        out = [c.hello(stream, run, host=host, pid=r.randrange(2, 1 << 22))]
        return out + [renumbered(r.choice(self.bodies), stream, n) for n in range(2, count + 1)]


class Recorded:
    """The frames of a real trace."""

    def __init__(self, path):
        with open(path, 'rb') as f:
            data = f.read()
        self.frames_there = [(f, data[f.offset:f.offset + f.bytes]) for f in c.read_stream(path)]
        if [f.seq for f, _ in self.frames_there] != list(range(1, len(self.frames_there) + 1)):
            raise ValueError(f'{path}: numbers are missing')

    @staticmethod
    def plain(f):
        """The body, decompressed."""
        if not f.flags & 1:
            return f.payload
        zstd = ctypes.CDLL(ctypes.util.find_library('zstd') or 'libzstd.so.1')
        out = ctypes.create_string_buffer(f.raw_len)
        zstd.ZSTD_decompress.restype = ctypes.c_size_t
        got = zstd.ZSTD_decompress(out, ctypes.c_size_t(f.raw_len), f.payload,
                                   ctypes.c_size_t(len(f.payload)))
        if got != f.raw_len:
            raise ValueError('a Hello that cannot be decompressed')
        return out.raw

    def frames(self, stream, run, host, count, r):
        """All of them. Of a field that stands in a message twice the later one counts."""
        identity = field(1, host) + field(2, r.randrange(2, 1 << 22)) + field(12, run)
        out = []
        for f, data in self.frames_there:
            if f.kind == c.HELLO:
                made = c.frame(stream, f.seq, c.HELLO, body=self.plain(f) + identity)
                data = made[:40] + data[40:48] + made[48:]  # its own time
            out.append(renumbered(data, stream, f.seq))
        return out


class Sender:
    """One stream on its way to @node (which has a socket). Its frames come into being over @span seconds."""

    def __init__(self, node, run, stream, sent, seed, span):
        self.node, self.run, self.stream, self.sent, self.span = node, run, stream, sent, span
        self.r = random.Random(seed)
        self.made = 1  # so many of them exist by now
        self.acked, self.next = 0, 0
        self.sock, self.fresh, self.out, self.heard = None, False, bytearray(), bytearray()
        self.retry_at, self.begin = 0, time.monotonic()
        self.dead = self.harm = False
        self.wrong, self.losses, self.twice = [], 0, 0

    @property
    def done(self):
        return self.dead or self.acked == len(self.sent)

    def turn(self):
        """What there is to do now, without waiting."""
        if self.dead:
            return
        due = (time.monotonic() - self.begin) / self.span * len(self.sent)
        self.made = max(self.made, min(len(self.sent), int(due) + 1))
        try:
            if not self.sock and self.acked < self.made:
                self.connect()
            for step in (self.write, self.hear):
                try:
                    if self.sock:
                        step()
                except BlockingIOError:
                    pass
        except OSError:
            self.lose()

    def connect(self):
        if time.monotonic() < self.retry_at:
            return
        self.retry_at = time.monotonic() + RETRY_S
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            sock.connect(self.node.socket)
        except OSError:
            sock.close()
            return
        self.sock, self.fresh = sock, True
        self.next = self.acked
        self.out = bytearray(self.sent[0] if self.acked else b'')
        self.heard = bytearray()

    def fill(self):
        while len(self.out) < ROOM and self.next < self.made:
            frame = self.sent[self.next]
            if self.harm:
                self.harm = False
                bad = bytearray(frame)
                bad[self.r.randrange(len(bad))] ^= 1 << self.r.randrange(8)
                self.out += bad  # what follows it is not taken: the collector hangs up
                continue
            again = self.r.random() < 0.02
            self.twice += again
            self.out += frame * (1 + again)
            self.next += 1

    def write(self):
        self.fill()
        while self.out:
            n = self.sock.send(self.out)
            del self.out[:n]
            self.fill()

    def hear(self):
        while True:
            got = self.sock.recv(65536)
            if not got:
                raise ConnectionResetError
            self.heard += got
            while len(self.heard) >= 64:
                self.take(c.Frame(bytes(self.heard[:64]), 0))
                del self.heard[:64]

    def take(self, ack):
        if ack.kind != c.ACK or ack.stream != self.stream:
            self.wrong.append('an answer that is no acknowledgement of ours')
        elif ack.seq > self.made:
            self.wrong.append(f'{ack.seq} was acknowledged, and only {self.made} were made')
        elif self.fresh and ack.seq < self.acked:
            self.wrong.append(f'{self.acked} was acknowledged, and later only {ack.seq} is known')
        self.fresh = False
        self.acked = max(self.acked, min(ack.seq, len(self.sent)))

    def lose(self):
        if self.sock:
            self.losses += 1
            self.sock.close()
        self.sock = None

    def die(self):
        """As a process that is killed amid a write."""
        if self.dead:
            return
        if self.sock and self.next < len(self.sent) and not self.out:
            frame = self.sent[self.next]
            try:
                self.sock.send(frame[:self.r.randrange(len(frame))])
            except OSError:
                pass
        self.lose()
        self.dead = True

    def digests(self):
        return [digest(f) for f in self.sent]
