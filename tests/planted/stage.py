# SPDX-License-Identifier: Apache-2.0
"""What a case needs around it: slow files, pipes and servers, control groups, other load, a stop.
Everything is undone when the stage closes. Missing: this machine does not have or allow it."""
import array
import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys
import termios
import threading
import time

import gs

HERE = os.path.dirname(os.path.abspath(__file__))
HOG = 'while True: pass'


class Missing(Exception):
    pass


def write(path, text):
    with open(path, 'w') as f:
        f.write(text)


class Stage(contextlib.ExitStack):
    """place: how many other stages stand beside it, at most: they take other cores where there are
    enough."""

    def __init__(self, where, place=0):
        super().__init__()
        self.where, self.stops, self.count, self.place = where, [], 0, place

    def path(self, name):
        self.count += 1
        return os.path.join(self.where, f'{name}{self.count}')

    # ---- slow sources ----

    def fuse(self, size=1 << 20, content=None, **ms):
        """A folder on a slow file system, of files of that size or with a file's content; ms: read, open,
        write, sync."""
        folder = self.path('d')
        os.mkdir(folder)
        argv = [sys.executable, os.path.join(HERE, 'slowfs.py'), folder, '--size', str(size)]
        argv += ['--content', content] if content else []
        for what, n in ms.items():
            argv += [f'--{what}-ms', str(n)]
        server = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.callback(self.end, server)
        if server.stdout.readline() != b'ready\n':
            raise Missing(f'FUSE: {server.stderr.read().decode().strip()}')
        self.callback(ctypes.CDLL(None).umount2, folder.encode(), 2)
        return folder

    def fifo(self, ms):
        """A pipe that has a byte ms after the last one was taken."""
        path = self.path('p')
        os.mkfifo(path)
        done = threading.Event()
        threading.Thread(target=self.feed, args=(path, ms, done), daemon=True).start()
        self.callback(done.set)
        return path

    @staticmethod
    def feed(path, ms, done):
        fd, n = os.open(path, os.O_RDWR), array.array('i', [0])
        while not done.is_set():
            fcntl.ioctl(fd, termios.FIONREAD, n)
            if n[0]:
                time.sleep(0.0005)
                continue
            time.sleep(ms / 1000)
            os.write(fd, b'x')
        os.close(fd)

    def server(self):
        """A port that answers `MICROSECONDS\\n` after so long."""
        listener = socket.create_server(('127.0.0.1', 0))
        self.callback(listener.close)
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
        return listener.getsockname()[1]

    def accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = listener.accept()
                threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    @staticmethod
    def talk(peer):
        with contextlib.suppress(OSError), peer, peer.makefile('r') as lines:
            for line in lines:
                time.sleep(int(line) / 1e6)
                peer.sendall(b'done')

    # ---- control groups ----

    def group(self, kind, settings):
        """A new group of a controller (v1, or v2 as far as its root lets us); its folder."""
        old = os.path.join('/sys/fs/cgroup', kind['v1'])
        base = old if os.path.isdir(old) else '/sys/fs/cgroup'
        folder = os.path.join(base, f'{os.path.basename(self.where)}-{self.count}')
        self.count += 1
        try:
            if base != old:
                write(os.path.join(base, 'cgroup.subtree_control'), f'+{kind["v2"]}')
            os.mkdir(folder)
            self.callback(self.leave, folder)
            for name, text in settings['v1' if base == old else 'v2'].items():
                write(os.path.join(folder, name), text)
        except OSError as e:
            raise Missing(f'control group: {e}') from None
        return folder

    @staticmethod
    def leave(folder):
        for _ in range(100):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
                return
            time.sleep(0.02)

    def quota(self, share, period_us=100_000):
        us = int(share * period_us)
        return self.group(dict(v1='cpu', v2='cpu'), dict(
            v1={'cpu.cfs_period_us': str(period_us), 'cpu.cfs_quota_us': str(us)},
            v2={'cpu.max': f'{us} {period_us}'}))

    def disk(self, bytes_per_s, size):
        """(file, group): a file that the group's members read no faster than that."""
        path = self.path('b')
        with open(path, 'wb') as f:
            for _ in range(size >> 20):
                f.write(os.urandom(1 << 20))
            os.fsync(f.fileno())
        device = os.stat(path).st_dev
        number = f'{os.major(device)}:{os.minor(device)}'
        name = f'/sys/dev/block/{number}'
        if not os.path.exists(name):
            raise Missing('the scratch folder is on no block device')
        if os.path.exists(os.path.join(name, 'partition')):
            with open(os.path.join(os.path.realpath(name), '..', 'dev')) as f:
                number = f.read().strip()
        return path, self.group(dict(v1='blkio', v2='io'), dict(
            v1={'blkio.throttle.read_bps_device': f'{number} {bytes_per_s}'},
            v2={'io.max': f'{number} rbps={bytes_per_s}'}))

    # ---- other load ----

    def hogs(self, core, n):
        for _ in range(n):
            hog = subprocess.Popen([sys.executable, '-c', HOG])
            os.sched_setaffinity(hog.pid, {core})
            self.callback(self.end, hog)

    def cores(self, n):
        every = sorted(os.sched_getaffinity(0))
        if len(every) < n:
            raise Missing('too few cores')
        first = 2 * self.place
        return every[first:first + n] if first + n <= len(every) else every[:n]

    # ---- somebody else on the device ----

    def neighbour(self, path, us, case):
        """A process of nobody's run that keeps the case's device busy with kernels of so long, from
        when the file is there (path.ready says that it is at it) until it is gone."""
        argv = [gs.PYTHON, os.path.join(HERE, 'neighbour.py'), path, str(us)]
        if not case.real:
            case.env['GPUSIM_SHM'] = self.path('shm')
            argv.insert(0, gs.WITH_GPUSIM)
        other = subprocess.Popen(argv, env=gs.environment(**case.env))
        self.callback(self.end, other)

    # ---- a stop ----

    def stop(self, path, after, seconds):
        """Stops the process whose pid appears in path, and its children, for a while."""
        threading.Thread(target=self.stopper, args=(path, after, seconds), daemon=True).start()

    def stopper(self, path, after, seconds):
        while not (os.path.exists(path) and open(path).read()):
            time.sleep(0.02)
        time.sleep(after)
        pids = self.family(int(open(path).read()))
        pids.append(self.parent(pids[0]))  # the wrapper stops along with its command
        begin = time.time_ns()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        self.stops.append([begin, time.time_ns()])

    @staticmethod
    def family(pid):
        with open(f'/proc/{pid}/task/{pid}/children') as f:
            return [pid] + [int(p) for p in f.read().split()]

    @staticmethod
    def parent(pid):
        with open(f'/proc/{pid}/stat') as f:
            return int(f.read().rpartition(')')[2].split()[1])

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
