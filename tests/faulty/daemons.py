# SPDX-License-Identifier: Apache-2.0
"""The collectors of a node and of the centre as processes: killed, stopped, started again on what they
left; each on a small disk, with a wall clock that can be stepped."""
import os
import signal
import struct
import subprocess
import urllib.parse

import central
import gs

COLLECTOR = os.path.join(gs.BUILD, 'bin', 'gpustarve-collector')
CLOCKSTEP = os.path.join(gs.plain(gs.BUILD), 'tests', 'libclockstep.so')
TOKEN = 'token-of-the-fault-campaign'
DAY = 86400 * 10**9


def certificates(folder, addresses):
    """Those of a centre that is known by these addresses. Good for days before and after today, for clocks
    are stepped by one."""
    clock = os.path.join(folder, 'certificates.clock')
    with open(clock, 'wb') as f:
        f.write(struct.pack('<q', -3 * DAY))
    central.certificates(folder, ','.join(f'IP:{a}' for a in {'127.0.0.1', *addresses}), 30,
                         LD_PRELOAD=CLOCKSTEP, GS_CLOCK_STEP=clock)


class Daemon:
    """@space: where its network is. self.base: its store, on self.disk."""

    def __init__(self, name, folder, space, disk, options):
        self.name, self.folder, self.space, self.disk = name, folder, space, disk
        self.base, self.options = os.path.join(disk.path, 'runs'), options
        self.clock = os.path.join(folder, name + '.clock')
        self.process, self.paused, self.starts = None, False, 0
        self.step(0)
        self.start()

    def step(self, ns):
        """By so much its wall clock is ahead from now on."""
        with open(self.clock, 'r+b' if os.path.exists(self.clock) else 'w+b') as f:
            f.write(struct.pack('<q', ns))

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    def start(self):
        """True: it serves. Of one that cannot (its disk is full) nothing remains."""
        if self.alive:
            return True
        read, write = os.pipe()
        env = gs.environment(LD_PRELOAD=CLOCKSTEP, GS_CLOCK_STEP=self.clock)
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(
                # Full disks are to be full, not refused before.
                self.space.argv(COLLECTOR, '--dir', self.base, '--verbose', '--ready-fd', write,
                                '--limit', 'free-floor=0', *self.options), pass_fds=[write], stderr=log, env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read, 'rb') as f:
            line = f.readline().decode()
        if not line.startswith('ready'):
            self.process.wait()
            return False
        self.starts += 1
        self.is_ready(line)
        return True

    def is_ready(self, line):
        pass

    @property
    def log_path(self):
        return os.path.join(self.folder, self.name + '.log')

    def log(self):
        with open(self.log_path, errors='replace') as f:
            return f.read()

    def kill(self):
        if self.alive:
            self.process.kill()
        self.process.wait()
        self.paused = False

    def pause(self):
        if self.alive:
            self.process.send_signal(signal.SIGSTOP)
            self.paused = True

    def resume(self):
        if self.alive:
            self.process.send_signal(signal.SIGCONT)
        self.paused = False

    def stop(self, timeout=120):
        """Its exit status."""
        self.resume()
        if self.alive:
            self.process.terminate()
        return self.process.wait(timeout)


class Centre(Daemon):
    def __init__(self, folder, space, disk, tls, name='centre'):
        tokens = os.path.join(folder, 'tokens')
        with open(tokens, 'w') as f:
            f.write(f'{TOKEN} team read,write\n')
        os.chmod(tokens, 0o600)
        self.port, self.scheme = 0, 'https' if tls else 'http'
        own = ['--cert', os.path.join(folder, 'server.pem'), '--key', os.path.join(folder, 'server.key')]
        super().__init__(name, folder, space, disk,
                         ['--token-file', tokens, *(own if tls else []), '--listen', None])
        if not self.alive:
            raise RuntimeError(self.log())

    def start(self):
        self.options[-1] = f'{self.scheme}://127.0.0.1:{self.port}'
        return super().start()

    def is_ready(self, line):
        self.port = urllib.parse.urlsplit(line.split()[1]).port

    def run(self, run):
        return os.path.join(self.base, 'team', run + '.gst')


class Node(Daemon):
    """Forwards over @wire."""

    def __init__(self, index, folder, space, disk, wire):
        self.index, self.wire = index, wire
        token = os.path.join(folder, f'token{index}')
        with open(token, 'w') as f:
            f.write(TOKEN + '\n')
        os.chmod(token, 0o600)
        self.socket = os.path.join(folder, f'sock{index}', 's')
        way = ['--upstream-ca', os.path.join(folder, 'ca.pem')] if wire.tls else ['--insecure-http']
        super().__init__(f'node{index}', folder, space, disk,
                         ['--unix', self.socket, '--upstream', wire.url, *way, '--upstream-token-file', token])
        if not self.alive:
            raise RuntimeError(self.log())

    def run(self, run):
        return os.path.join(self.base, run + '.gst')


class Faultless(Daemon):
    """What the same frames make where nothing goes wrong: a collector without an upstream."""

    def __init__(self, folder, space, disk):
        self.socket = os.path.join(folder, 'sock', 's')
        super().__init__('faultless', folder, space, disk, ['--unix', self.socket])

    def run(self, run):
        return os.path.join(self.base, run + '.gst')
