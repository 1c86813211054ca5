#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file system that takes its time: FUSE's protocol (linux/fuse.h) over /dev/fuse and mount(2),
so that no library is needed. One folder with files f0, f1, ... of one size, and whatever is created
in it (its content is dropped). Reads, opens, writes and fsyncs take as long as the command line says.

    slowfs.py DIR --read-ms 10 --open-ms 0 --write-ms 0 --sync-ms 0 --size BYTES

With --content FILE every file has that content instead.

Needs the right to mount. Says `ready` on stdout, ends with the mount."""
import argparse
import ctypes
import os
import struct
import sys
import threading
import time

ROOT, FIRST = 1, 2
ENOENT, ENOSYS = 2, 38
LOOKUP, FORGET, GETATTR, SETATTR, UNLINK = 1, 2, 3, 4, 10
OPEN, READ, WRITE, STATFS, RELEASE, FSYNC = 14, 15, 16, 17, 18, 20
FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, ACCESS = 25, 26, 27, 28, 29, 34
CREATE, INTERRUPT, DESTROY, BATCH_FORGET = 35, 36, 38, 42
HEAD = struct.Struct('<IIQQIIII')
SILENT = (FORGET, BATCH_FORGET, INTERRUPT)


class SlowFs:
    def __init__(self, args):
        self.args, self.made, self.lock = args, {}, threading.Lock()
        self.content = None
        if args.content:
            with open(args.content, 'rb') as f:
                self.content = f.read()
            args.size = len(self.content)
        self.fd = os.open('/dev/fuse', os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        options = f'fd={self.fd},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other'
        if libc.mount(b'slow', args.dir.encode(), b'fuse.slow', 6, options.encode()):
            raise OSError(ctypes.get_errno(), 'mount')

    def serve(self):
        print('ready', flush=True)
        while True:
            try:
                request = os.read(self.fd, 1 << 20)
            except OSError as e:
                if e.errno == 4:
                    continue
                return  # unmounted
            threading.Thread(target=self.answer, args=(request,), daemon=True).start()

    def answer(self, request):
        _, opcode, unique, node, _, _, _, _ = HEAD.unpack_from(request)
        if opcode in SILENT:
            return
        error, body = 0, b''
        try:
            body = self.handle(opcode, node, request[HEAD.size:])
        except OSError as e:
            error = -e.errno
        try:
            os.write(self.fd, struct.pack('<IiQ', 16 + len(body), error, unique) + body)
        except OSError:
            pass  # the caller is gone

    def handle(self, opcode, node, data):
        if opcode == INIT:
            major, minor, ahead, flags = struct.unpack_from('<IIII', data)
            return struct.pack('<IIIIHHIIHHI28x', 7, min(minor, 31), 0, 0, 16, 12, 1 << 17, 1, 32,
                               0, 0)
        if opcode == LOOKUP:
            return self.entry(self.node_of(data.rstrip(b'\0').decode()))
        if opcode in (GETATTR, SETATTR):
            return struct.pack('<QII', 1, 0, 0) + self.attributes(node)
        if opcode == OPEN:
            time.sleep(self.args.open_ms / 1000)
            return struct.pack('<QII', 0, 0, 0)
        if opcode == OPENDIR:
            return struct.pack('<QII', 0, 0, 0)
        if opcode == READ:
            _, offset, size = struct.unpack_from('<QQI', data)
            time.sleep(self.args.read_ms / 1000)
            if self.content is not None:
                return self.content[offset:offset + size]
            return b'\1' * max(0, min(size, self.args.size - offset))
        if opcode == WRITE:
            size, = struct.unpack_from('<16xI', data)
            time.sleep(self.args.write_ms / 1000)
            return struct.pack('<II', size, 0)
        if opcode == FSYNC:
            time.sleep(self.args.sync_ms / 1000)
            return b''
        if opcode == CREATE:
            name = data[16:].rstrip(b'\0').decode()
            with self.lock:
                node = self.made.setdefault(name, (1 << 32) + len(self.made))
            return self.entry(node) + struct.pack('<QII', 0, 0, 0)
        if opcode == STATFS:
            return struct.pack('<QQQQQIII28x', 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096,
                               255, 4096)
        if opcode in (RELEASE, RELEASEDIR, FLUSH, UNLINK, READDIR, DESTROY):
            return b''
        raise OSError(ENOSYS, '')

    def node_of(self, name):
        if name[:1] == 'f' and name[1:].isdigit():
            return FIRST + int(name[1:])
        if name in self.made:
            return self.made[name]
        raise OSError(ENOENT, '')

    def attributes(self, node):
        folder = node == ROOT
        size = 0 if folder or node >= 1 << 32 else self.args.size
        return struct.pack('<6Q10I', node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0,
                           0o40755 if folder else 0o100644, 1, os.getuid(), os.getgid(), 0, 4096, 0)

    def entry(self, node):
        return struct.pack('<QQQQII', node, 0, 1, 1, 0, 0) + self.attributes(node)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('dir')
    for what in ('read', 'open', 'write', 'sync'):
        p.add_argument(f'--{what}-ms', type=float, default=0)
    p.add_argument('--size', type=int, default=1 << 20)
    p.add_argument('--content', metavar='FILE')
    try:
        fs = SlowFs(p.parse_args())
    except OSError as e:
        sys.exit(f'slowfs: {e}')
    fs.serve()


if __name__ == '__main__':
    main()
