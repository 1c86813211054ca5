# SPDX-License-Identifier: Apache-2.0
"""A centre and its nodes in network namespaces of their own, a cable (veth) from each node to the
centre. Namespaces are held by processes that die with us, and go with them. Where the kernel gives
none, everything is on loopback, and the relay is cut off in place of the cable."""
import ctypes
import subprocess

DYING = ['setpriv', '--pdeathsig', 'KILL']
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
libc = ctypes.CDLL(None, use_errno=True)


class Missing(Exception):
    """This machine does not give that."""


def own_mounts():
    """From now on what this process mounts is seen by it and its children alone. Before any thread."""
    if libc.unshare(CLONE_NEWNS) or libc.mount(b'none', b'/', None, MS_REC | MS_PRIVATE, None):
        raise Missing('no mount namespace')


def enter_net(space):
    """Sockets that this thread makes from now on are in @space."""
    if space.holder is None:
        return
    with open(f'/proc/{space.holder.pid}/ns/net') as f:
        if libc.setns(f.fileno(), CLONE_NEWNET):
            raise Missing('cannot enter a network namespace')


class Space:
    """A network of its own, under a host name of its own; a place without, with no @name."""

    def __init__(self, name=None):
        self.holder = None
        if not name:
            return
        script = f'hostname {name} && ip link set lo up && echo up && exec sleep infinity'
        self.holder = subprocess.Popen(
            [*DYING, 'unshare', '--net', '--uts', 'sh', '-c', script],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if self.holder.stdout.readline() != b'up\n':
            self.close()
            raise Missing('no network namespace')

    def argv(self, *command):
        """@command, run in here."""
        ns = f'/proc/{self.holder.pid}/ns' if self.holder else ''
        enter = ['nsenter', f'--net={ns}/net', f'--uts={ns}/uts'] if ns else []
        return [*DYING, *enter, *map(str, command)]

    def ip(self, *args):
        done = subprocess.run(self.argv('ip', *args), capture_output=True, text=True)
        if done.returncode:
            raise Missing(f'ip {" ".join(map(str, args))}: {done.stderr.strip()}')

    def close(self):
        if self.holder:
            self.holder.kill()
            self.holder.wait()
            self.holder.stdout.close()


class Cables:
    """self.centre, self.nodes[i]: Spaces. A relay for node i listens at self.address(i)."""
    kind = 'network namespaces, a cable each'

    def __init__(self, nodes):
        self.centre, self.nodes = Space('centre'), []
        try:
            for i in range(nodes):
                self.nodes.append(Space(f'node{i}'))
                self.plug(i)
        except Missing:
            self.close()
            raise

    def plug(self, i):
        here, there = self.centre, self.nodes[i]
        here.ip('link', 'add', f'node{i}', 'type', 'veth', 'peer', 'name', 'cable', 'netns',
                there.holder.pid)
        here.ip('addr', 'add', f'10.77.{i}.1/24', 'dev', f'node{i}')
        there.ip('addr', 'add', f'10.77.{i}.2/24', 'dev', 'cable')
        here.ip('link', 'set', f'node{i}', 'up')
        there.ip('link', 'set', 'cable', 'up')

    def address(self, i):
        return f'10.77.{i}.1'

    def cut(self, i, r):
        """Nothing passes: a pulled cable at either end, or a route into nowhere."""
        return r.choice([self.cut_centre, self.cut_node, self.cut_route])(i)

    def cut_centre(self, i):
        self.centre.ip('link', 'set', f'node{i}', 'down')
        return lambda: self.centre.ip('link', 'set', f'node{i}', 'up')

    def cut_node(self, i):
        self.nodes[i].ip('link', 'set', 'cable', 'down')
        return lambda: self.nodes[i].ip('link', 'set', 'cable', 'up')

    def cut_route(self, i):
        self.centre.ip('route', 'add', 'blackhole', f'10.77.{i}.2/32')
        return lambda: self.centre.ip('route', 'del', 'blackhole', f'10.77.{i}.2/32')

    def close(self):
        for space in [self.centre, *self.nodes]:
            space.close()


class Loopback:
    """The same without namespaces: relays that swallow everything stand for pulled cables."""
    kind = 'loopback, for no network namespaces are to be had'

    def __init__(self, nodes):
        self.centre, self.nodes = Space(), [Space() for _ in range(nodes)]
        self.wires = []

    def address(self, _):
        return '127.0.0.1'

    def cut(self, i, _):
        self.wires[i].swallow = True

        def join():
            self.wires[i].swallow = False
        return join

    def close(self):
        pass


def network(nodes):
    try:
        return Cables(nodes)
    except (Missing, OSError):
        return Loopback(nodes)
