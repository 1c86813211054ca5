#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A folder as a slow file system shows it: what lies below another folder, read-only, each open and each byte at
its price. Over slowfs.py's FUSE.

    slowmirror.py DIR --of FOLDER --open-ms 2 --mb-s 4

Needs the right to mount. Says `ready` on stdout, ends with the mount."""
import argparse
import errno
import os
import stat
import struct
import sys
import threading
import time

import slowfs


class Mirror(slowfs.SlowFs):
    def __init__(self, args):
        self.paths, self.nodes, self.guard = {slowfs.ROOT: args.of}, {args.of: slowfs.ROOT}, threading.Lock()
        super().__init__(args)

    def handle(self, opcode, node, data):
        if opcode == slowfs.INIT:  # as slowfs's, with reading ahead
            major, minor, ahead, _ = struct.unpack_from('<IIII', data)
            return struct.pack('<IIIIHHIIHHI28x', 7, min(minor, 31), min(ahead, 1 << 17), 0, 16, 12, 1 << 17, 1, 32, 0, 0)
        if opcode == slowfs.LOOKUP:
            return self.entry(self.node_at(os.path.join(self.paths[node], os.fsdecode(data.rstrip(b'\0')))))
        if opcode == slowfs.OPEN:
            flags, = struct.unpack_from('<I', data)
            if flags & os.O_ACCMODE != os.O_RDONLY:
                raise OSError(errno.EROFS, '')
        if opcode == slowfs.READ:
            _, offset, size = struct.unpack_from('<QQI', data)
            return self.read(node, offset, size)
        if opcode == slowfs.READDIR:
            _, offset, size = struct.unpack_from('<QQI', data)
            return self.names(node, offset, size)
        if opcode == slowfs.CREATE:
            raise OSError(errno.EROFS, '')
        return super().handle(opcode, node, data)

    def node_at(self, path):
        os.lstat(path)
        with self.guard:
            node = self.nodes.setdefault(path, len(self.nodes) + slowfs.ROOT)
            self.paths[node] = path
        return node

    def read(self, node, offset, size):
        with open(self.paths[node], 'rb') as file:
            data = os.pread(file.fileno(), size, offset)
        time.sleep(len(data) / self.args.mb_s / 1e6)
        return data

    def names(self, node, offset, size):
        out = b''
        for n, name in enumerate(['.', '..', *sorted(os.listdir(self.paths[node]))][offset:], offset + 1):
            raw = os.fsencode(name)
            row = struct.pack('<QQII', n, n, len(raw), 0) + raw + b'\0' * (-len(raw) % 8)
            if len(out) + len(row) > size:
                break
            out += row
        return out

    def attributes(self, node):
        s = os.lstat(self.paths[node])
        kind = 0o40755 if stat.S_ISDIR(s.st_mode) else 0o100644
        when = int(s.st_mtime)
        return struct.pack('<6Q10I', node, s.st_size, s.st_blocks, when, when, when, 0, 0, 0, kind, 1, os.getuid(),
                           os.getgid(), 0, 4096, 0)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('dir')
    p.add_argument('--of', required=True)
    p.add_argument('--open-ms', type=float, default=0)
    p.add_argument('--mb-s', type=float, default=10)
    args = p.parse_args()
    args.write_ms = args.sync_ms = args.read_ms = args.size = 0
    args.content = ''
    try:
        fs = Mirror(args)
    except OSError as e:
        sys.exit(f'slowmirror: {e}')
    fs.serve()


if __name__ == '__main__':
    main()
