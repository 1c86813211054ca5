# SPDX-License-Identifier: Apache-2.0
"""Machines that are network namespaces, and the cables between them, which can be cut: unplugged, or so that packets of one
direction or both vanish without a word. Whoever uses them is in a network of its own (network.be_alone)."""
import concurrent.futures
import contextlib
import ctypes
import os
import socket
import subprocess
import threading

from daemon import die_with_parent
from pumping import pump

CLONE_NEWNET = 0x40000000
NOBODY = '02:00:00:00:00:99'  # what is sent to it arrives nowhere
KINDS = ('cable', 'both', 'asked', 'answers')  # how a link is cut; the latter: packets to its second end, or to its first
libc = ctypes.CDLL(None, use_errno=True)


def ip(*words, inside=None):
    into = ['nsenter', '-t', str(inside), '-n'] if inside else []
    subprocess.run([*into, 'ip', *words], check=True, capture_output=True)


class Machine:
    """A network of its own; what is started by its do() is in there, and so are the sockets that are made there. @address:
    others know it by that one."""

    def __init__(self, name, address):
        self.name, self.address = name, address
        # The thread lives on: a process dies with the thread that started it (die_with_parent).
        self.thread = concurrent.futures.ThreadPoolExecutor(1)
        self.holder = subprocess.Popen(['unshare', '-n', 'sleep', 'infinity'], preexec_fn=die_with_parent)
        while os.readlink(f'/proc/{self.holder.pid}/ns/net') == os.readlink('/proc/self/ns/net'):
            pass
        ip('link', 'set', 'lo', 'up', inside=self.holder.pid)
        ip('address', 'add', address, 'dev', 'lo', inside=self.holder.pid)
        self.do(self.enter)

    def enter(self):
        with open(f'/proc/{self.holder.pid}/ns/net', 'rb') as f:
            if libc.setns(f.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), 'setns')

    def do(self, what, *words, **kw):
        return self.thread.submit(what, *words, **kw).result()

    def close(self):
        self.thread.shutdown()
        self.holder.kill()
        self.holder.wait()


class Here:
    """The network that the test is in."""
    name, address, holder = 'here', '10.9.0.1', None

    def __init__(self):
        ip('address', 'add', self.address, 'dev', 'lo')

    def close(self):
        pass


class Link:
    """A cable between two of them; each finds the other's address by it."""
    made = 0

    def __init__(self, a, b):
        Link.made += 1
        self.ends = a, b
        self.devices = [f'v{Link.made}a', f'v{Link.made}b']
        self.near = [f'10.10.{Link.made}.{i}' for i in (1, 2)]
        self.pids = [m.holder and m.holder.pid for m in (a, b)]
        ip('link', 'add', self.devices[0], 'type', 'veth', 'peer', 'name', self.devices[1])
        for i in range(2):
            if self.pids[i]:
                ip('link', 'set', self.devices[i], 'netns', str(self.pids[i]))
            ip('address', 'add', self.near[i] + '/30', 'dev', self.devices[i], inside=self.pids[i])
            ip('link', 'set', self.devices[i], 'up', inside=self.pids[i])
        self.route()

    def route(self):
        for i in range(2):
            ip('route', 'replace', self.ends[1 - i].address, 'via', self.near[1 - i], 'dev', self.devices[i], inside=self.pids[i])

    def cut(self, kind):
        if kind == 'cable':
            ip('link', 'set', self.devices[1], 'down', inside=self.pids[1])
        for i in range(2):
            if kind in ('both', KINDS[2 + i]):
                ip('neighbour', 'replace', self.near[1 - i], 'lladdr', NOBODY, 'dev', self.devices[i], 'nud', 'permanent',
                   inside=self.pids[i])

    def mend(self):
        for i in range(2):
            ip('link', 'set', self.devices[i], 'up', inside=self.pids[i])
            with contextlib.suppress(subprocess.CalledProcessError):
                ip('neighbour', 'delete', self.near[1 - i], 'dev', self.devices[i], inside=self.pids[i])
        self.route()  # an interface that was down has lost its own

    def remove(self):
        ip('link', 'delete', self.devices[0], inside=self.pids[0])


class Door:
    """At a machine's address what listens on its loopback. Made by its do(); threads are there, too."""

    def __init__(self, port):
        self.port, self.listener = port, socket.create_server(('0.0.0.0', 0), backlog=64)
        self.at = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            try:
                far = socket.create_connection(('127.0.0.1', self.port), 2)
            except OSError:
                near.close()
                continue
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=pump, args=(a, b), daemon=True).start()

    def close(self):
        self.listener.close()
