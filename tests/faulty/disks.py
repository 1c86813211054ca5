# SPDX-License-Identifier: Apache-2.0
"""A small disk that can be full: a tmpfs of our own mount namespace. Where mounting is not allowed,
RLIMIT_FSIZE stands for it: files of the process on it cannot grow any more."""
import os
import resource
import subprocess

SIZE = 96 << 20
STEPS = (8 << 20, 1 << 20, 64 << 10, 4096)


class Disk:
    kind = 'tmpfs'

    def __init__(self, path):
        self.path, self.filler = path, os.path.join(path, '.filler')
        os.makedirs(path)
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={SIZE}', 'none', path],
                              capture_output=True)
        if done.returncode:
            raise OSError(done.stderr.decode())

    def fill(self, _):
        """To the last page."""
        with open(self.filler, 'ab') as f:
            for step in STEPS:
                try:
                    while True:
                        os.posix_fallocate(f.fileno(), f.seek(0, 2), step)
                except OSError:
                    pass

    def free(self, _):
        os.unlink(self.filler)

    def close(self):
        subprocess.run(['umount', '-l', self.path], capture_output=True)


class Capped:
    kind = 'RLIMIT_FSIZE, for nothing can be mounted'

    def __init__(self, path):
        self.path = path
        os.makedirs(path, exist_ok=True)

    def limit(self, daemon, size):
        try:
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        except OSError:
            pass  # it is dead

    def fill(self, daemon):
        self.limit(daemon, 1)

    def free(self, daemon):
        self.limit(daemon, resource.RLIM_INFINITY)

    def close(self):
        pass


def disk(path, mounts):
    if mounts:
        try:
            return Disk(path)
        except OSError:
            pass
    return Capped(path)
