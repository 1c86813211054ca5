# SPDX-License-Identifier: Apache-2.0
"""A collector under test, clients that speak to it, and a reader of what it stored.

Written from docs/FORMAT.md, with nothing of our C code in it. Frames carry random payloads: the
collector never looks into them, but for the Hello.
"""
import os
import random
import select
import socket
import struct
import sys
import tempfile
import time

import gs
from daemon import Daemon
from gst_reader import HEADER, HELLO, crc32c
from gst_writer import ACK, BYE, MAGIC, PULSE, block, frame, hello  # noqa: F401: for those who import us

class Frame:
    def __init__(self, data, at):
        (magic, self.version, self.kind, self.flags, head_len, self.stream, self.seq, self.time_ns,
         body_len, self.raw_len, crc, header_crc) = HEADER.unpack_from(data, at)
        self.bytes = 64 + head_len + body_len
        if magic != MAGIC or header_crc != crc32c(data[at:at + 60]):
            raise ValueError(f"no frame at byte {at}")
        if at + self.bytes > len(data):
            raise ValueError(f"half a frame at byte {at}")
        self.payload = bytes(data[at + 64:at + self.bytes])
        if crc != crc32c(self.payload):
            raise ValueError(f"bad payload at byte {at}")
        self.offset = at


def read_stream(path):
    """All frames of a file, which must hold nothing else."""
    with open(path, "rb") as f:
        data = f.read()
    at, out = 0, []
    while at < len(data):
        out.append(Frame(data, at))
        at += out[-1].bytes
    return out


class Client:
    """One connection. Acknowledgements are read when asked for."""

    def __init__(self, path, timeout=120):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout * gs.PATIENCE)
        deadline = time.monotonic() + timeout * gs.PATIENCE
        while True:
            try:
                self.sock.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
        self.buffer = b""
        self.acks = []  # (stream, seq), all so far

    def send(self, *frames):
        self.sock.sendall(b"".join(frames))

    def poll(self, timeout=0):
        """Reads what is there; False once the collector has closed."""
        while select.select([self.sock], [], [], timeout)[0]:
            try:
                got = self.sock.recv(65536)
            except ConnectionError:
                got = b""
            if not got:
                return False
            self.buffer += got
            while len(self.buffer) >= 64:
                f = Frame(self.buffer[:64], 0)
                assert f.kind == ACK and f.bytes == 64, f.kind
                self.acks.append((f.stream, f.seq))
                self.buffer = self.buffer[64:]
            timeout = 0
        return True

    def acked(self, stream):
        return max((seq for s, seq in self.acks if s == stream), default=-1)

    def wait_ack(self, stream, seq, timeout=120):
        deadline = time.monotonic() + timeout * gs.PATIENCE
        while self.acked(stream) < seq:
            if not self.poll(0.05) and self.acked(stream) < seq:
                raise ConnectionError("closed by the collector")
            if time.monotonic() > deadline:
                raise TimeoutError(f"acknowledged {self.acked(stream)}, not {seq}")

    def wait_closed(self, timeout=120):
        deadline = time.monotonic() + timeout * gs.PATIENCE
        while self.poll(0.05):
            if time.monotonic() > deadline:
                raise TimeoutError("still open")

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def close(self):
        self.sock.close()


class Collector(Daemon):
    """A collector process on a directory of its own; a context manager."""

    def __init__(self, bin_dir, base=None, options=(), root=None, ready=True, preexec_fn=None):
        super().__init__(root or tempfile.mkdtemp(prefix="gpustarve-coll-"), "stderr", root is None)
        self.program = os.path.join(bin_dir, "gpustarve-collector")
        self.base = base or os.path.join(self.root, "runs")
        self.socket = os.path.join(self.root, "sock", "c")
        self.options = list(options)
        self.preexec_fn = preexec_fn
        self.start(ready)

    def start(self, ready=True):
        self.launch([self.program, "--dir", self.base, "--unix", self.socket, "--verbose", *self.options],
                    ready, self.preexec_fn)

    def errors(self):
        return self.log()

    def client(self, **kw):
        return Client(self.socket, **kw)

    def path(self, run, stream, suffix=".gst"):
        return os.path.join(self.base, run + ".gst", stream.hex() + suffix)

    def frames(self, run, stream):
        return read_stream(self.path(run, stream))

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))


def seeded():
    seed = int(os.environ.get("GPUSTARVE_TEST_SEED", random.randrange(1 << 32)))
    print("seed", seed)
    return random.Random(seed)


def wait_for(condition, what, timeout=120):
    """As gs.until, for what nothing further can be tried without."""
    if not gs.until(what, condition, timeout):
        raise TimeoutError(what)


def bin_dir():
    """The built programs: below the first argument, else $GPUSTARVE_BUILD, else build/."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("GPUSTARVE_BUILD")
    return os.path.abspath(os.path.join(given or os.path.join(here, "build"), "bin"))
