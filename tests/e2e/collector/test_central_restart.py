#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""A centre, and a node, that start anew on a store of many runs and long streams: streams go on with frames
that are no Hello, all that was acknowledged counts, and what is read of them is counted. Streams are as long
as true ones and take no room: bodies of zeros are holes. 64 streams and 1,000 runs; with GS_BIG 8,000 and
100,000. Prints what it took; the machine decides that, and no figure of time is asked for."""
import os
import resource
import socket
import struct
import sys
import tempfile
import threading
import time

sys.path[:0] = [sys.path[0] + '/../../lib']
import central
import collector as c
import gs
from gst_reader import HEADER, TABLE, crc32c
from gst_writer import BLOCK, MAGIC

BIN = c.bin_dir()
R = c.seeded()
STREAMS, RUNS = (8000, 100000) if gs.BIG else (64, 1000)
FRAMES, BODY = 128, 1 << 20  # of a stream: 128 MiB
TAIL = 5  # frames that came after the last look at what is known
SLOT = 4096


def zeros():
    """The head and sum of a block of so many zeros."""
    head = struct.pack('<HBBIqqqIBBH', 1, 1, 0, 5, 10, 20, 10, 0, 0, 24, 40)
    crc = crc32c(head) ^ 0xffffffff
    for _ in range(BODY):
        crc = crc >> 8 ^ TABLE[crc & 255]
    return head, crc ^ 0xffffffff


HEAD, CRC = zeros()
FRAME = HEADER.size + len(HEAD) + BODY


def sealed(stream, seq):
    fixed = HEADER.pack(MAGIC, 1, BLOCK, 0, len(HEAD), stream, seq, 1, BODY, BODY, CRC, 0)[:-4]
    return fixed + struct.pack('<I', crc32c(fixed)) + HEAD


def make_stream(folder, run, stream):
    """Its file, what is known of it (docs/FORMAT.md 3.2), and its link; how many frames it has."""
    at = os.path.join(folder, run + '.gst')
    os.makedirs(at, exist_ok=True)
    path = os.path.join(at, stream.hex() + '.gst')
    hello = c.hello(stream, run)
    with open(path, 'wb') as f:
        f.write(hello)
        for seq in range(2, FRAMES + 2):
            last = len(hello) + (seq - 2) * FRAME
            os.pwrite(f.fileno(), sealed(stream, seq), last)
        size = last + FRAME
        f.truncate(size)
        f.seek(size)
        for i in range(TAIL):
            f.write(c.frame(stream, FRAMES + 2 + i, body=b'tail'))
    slot = bytearray(SLOT)
    struct.pack_into('<4sHHQ16sQQQQQQQ', slot, 0, b'GSTK', 1, 3, 1, stream, size, FRAMES + 1, 0, last, 0, 0, 0)
    struct.pack_into('<I', slot, 108, crc32c(sealed(stream, FRAMES + 1)[:64]))
    struct.pack_into('<I', slot, SLOT - 4, crc32c(slot[:-4]))
    with open(os.path.join(at, f'.{stream.hex()}.known'), 'wb') as f:
        f.write(bytes(SLOT) + slot)
    os.symlink(run + '.gst', os.path.join(folder, '.streams', stream.hex()))
    return FRAMES + 1 + TAIL


def make_store(folder, streams, runs):
    os.makedirs(os.path.join(folder, '.streams'))
    open(os.path.join(folder, '.streams', '.all'), 'w').close()
    for i in range(runs):
        at = os.path.join(folder, f'done-{i}.gst')
        os.mkdir(at)
        with open(os.path.join(at, f'{i:032x}.gst'), 'wb') as f:
            f.write(b'')
    for i, stream in enumerate(streams):
        make_stream(folder, f'run-{i // 64}', stream)


class Watchdog:
    """What a manager is told, and the longest it was told nothing."""

    def __init__(self, root):
        path = os.path.join(root, 'notify')
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.gap, self.last = 0, time.monotonic()
        os.environ.update(NOTIFY_SOCKET=path, WATCHDOG_USEC='1000000')
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            self.socket.recv(4096)
            now = time.monotonic()
            self.gap, self.last = max(self.gap, now - self.last), now


def read_bytes(pid):
    with open(f'/proc/{pid}/io') as f:
        return next(int(line.split()[1]) for line in f if line.startswith('rchar'))


def rss_mib(pid):
    with open(f'/proc/{pid}/status') as f:
        return next(int(line.split()[1]) for line in f if line.startswith('VmHWM')) / 1024


def post_each(centre, streams, next_seq, first):
    """A frame of each stream, as nodes go on; the numbers that are acknowledged."""
    k, acked = centre.connect(timeout=120), {}
    for stream in streams:
        k.request('POST', '/v1/frames', c.frame(stream, next_seq, body=b'goes on'),
                  {'Authorization': 'Bearer ' + central.TOKENS['alpha']})
        answer = k.getresponse()
        body = answer.read()
        acked[stream] = c.Frame(body, 0).seq if answer.status == 200 else (answer.status, body)
        first.append(time.monotonic())
    k.close()
    return acked


def test_centre():
    with tempfile.TemporaryDirectory(prefix='gpustarve-restart-') as root:
        streams = [R.randbytes(16) for _ in range(STREAMS)]
        make_store(os.path.join(root, 'centre', 'alpha'), streams, RUNS)
        watchdog = Watchdog(root)
        began, first, acked = time.monotonic(), [], {}
        options = ['--limit', f'team-streams={STREAMS + 1}', '--limit', f'streams={STREAMS + 1}']
        with central.Centre(BIN, root, https=False, options=options) as centre:
            del os.environ['NOTIFY_SOCKET'], os.environ['WATCHDOG_USEC']
            parts = [streams[i::8] for i in range(8)]
            gs.side_by_side([lambda p=p: acked.update(post_each(centre, p, FRAMES + 2 + TAIL, first))
                             for p in parts], 8)
            wrong = {s.hex(): a for s, a in acked.items() if a != FRAMES + 2 + TAIL}
            gs.equal((len(acked), dict(list(wrong.items())[:3])), (STREAMS, {}), 'what is acknowledged')
            read, rss = read_bytes(centre.process.pid), rss_mib(centre.process.pid)
            print(f'{STREAMS} streams of {FRAMES * FRAME >> 20} MiB, {RUNS} runs: first acknowledgement '
                  f'{min(first) - began:.2f} s after the start, all {max(first) - began:.1f} s; '
                  f'{read / STREAMS / 1024:.0f} KiB read a stream, RSS {rss:.0f} MiB, '
                  f'longest without watchdog {watchdog.gap:.2f} s')
            # A stream's last frame of a MiB, and some for what follows it; reading it whole were 128 MiB.
            gs.check(read / STREAMS < 2 << 20, f'{read} bytes read')
            gs.check(rss < 256, f'RSS {rss} MiB')


def test_node():
    """64 processes say Hello again, as they do on each connection."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-restart-') as root:
        streams = [R.randbytes(16) for _ in range(64)]
        base = os.path.join(root, 'gpustarve-runs')
        make_store(base, streams, 0)
        began = time.monotonic()
        with c.Collector(BIN, base=base, root=root) as node:
            clients = []
            for i, stream in enumerate(streams):
                clients.append(node.client(timeout=120))
                clients[-1].send(c.hello(stream, f'run-{i // 64}'), c.frame(stream, FRAMES + 2 + TAIL))
            for client, stream in zip(clients, streams):
                client.wait_ack(stream, FRAMES + 2 + TAIL, 120)
                if client is clients[0]:
                    print(f'a node: first acknowledgement {time.monotonic() - began:.2f} s after the start')
            read = read_bytes(node.process.pid)
            print(f'all {time.monotonic() - began:.2f} s, {read / 64 / 1024:.0f} KiB read a stream')
            gs.check(read / 64 < 2 << 20, f'{read} bytes read')


if __name__ == '__main__':
    resource.setrlimit(resource.RLIMIT_NOFILE, [resource.getrlimit(resource.RLIMIT_NOFILE)[1]] * 2)
    test_centre()
    test_node()
    gs.finish()
