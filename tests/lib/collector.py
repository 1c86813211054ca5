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

from daemon import Daemon

MAGIC = b"GSTF"
HEADER = struct.Struct("<4sHHII16sQqIII")
HELLO, STRINGS, BLOCK, PULSE, BYE, ACK = 1, 2, 3, 10, 11, 12
SKIPPED = 77

_table = []
for _i in range(256):
    for _ in range(8):
        _i = (_i >> 1) ^ (0x82F63B78 if _i & 1 else 0)
    _table.append(_i)


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    table = _table
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def frame(stream, seq, kind=PULSE, head=b"", body=b"", flags=0, raw_len=None):
    raw_len = len(body) if raw_len is None else raw_len
    fixed = HEADER.pack(MAGIC, 1, kind, flags, len(head), stream, seq, time.time_ns(), len(body),
                        raw_len, crc32c(head + body))
    return fixed + struct.pack("<I", crc32c(fixed)) + head + body


def _varint(value):
    out = b""
    value &= (1 << 64) - 1
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _field(number, value):
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def hello(stream, run, seq=1, host="node1", pid=None, start_ns=1234):
    body = (_field(1, host) + _field(2, os.getpid() if pid is None else pid) +
            _field(3, start_ns) + _field(12, run))
    return frame(stream, seq, HELLO, body=body)


def block(stream, seq, t0, t1, count=5, body=b"columns"):
    head = struct.pack("<HBBIqqqIBBH", 1, 1, 0, count, t0, t1, t0, 0, 0, 24, 40)
    return frame(stream, seq, BLOCK, head, body)


class Frame:
    def __init__(self, data, at):
        (magic, self.version, self.kind, self.flags, head_len, self.stream, self.seq, self.time_ns,
         body_len, self.raw_len, crc) = HEADER.unpack_from(data, at)
        (header_crc,) = struct.unpack_from("<I", data, at + 60)
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

    def __init__(self, path, timeout=10):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout)
        deadline = time.monotonic() + timeout
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

    def wait_ack(self, stream, seq, timeout=10):
        deadline = time.monotonic() + timeout
        while self.acked(stream) < seq:
            if not self.poll(0.05) and self.acked(stream) < seq:
                raise ConnectionError("closed by the collector")
            if time.monotonic() > deadline:
                raise TimeoutError(f"acknowledged {self.acked(stream)}, not {seq}")

    def wait_closed(self, timeout=10):
        deadline = time.monotonic() + timeout
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


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def wait_for(condition, what, timeout=10):
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.01)


def bin_dir():
    """The built programs: below the first argument, else $GPUSTARVE_BUILD, else build/."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("GPUSTARVE_BUILD")
    return os.path.abspath(os.path.join(given or os.path.join(here, "build"), "bin"))


def run_tests(names):
    """Runs the functions test_* of a module's globals in order; ends the process."""
    failed = 0
    for name, fn in list(names.items()):
        if not name.startswith("test_") or not callable(fn):
            continue
        try:
            fn()
            print("ok  ", name, flush=True)
        except Exception as e:  # noqa: BLE001: a test may fail in any way
            import traceback
            traceback.print_exc()
            print("FAIL", name, repr(e), flush=True)
            failed += 1
    sys.exit(1 if failed else 0)
