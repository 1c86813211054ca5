#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits
"""A disk that is slow or fails: whoever waits for it waits, all others are served. Nothing is acknowledged before it is
durable, and nothing that could not be made durable stays."""
import os
import sys
import tempfile
import threading

sys.path.insert(0, sys.path[0] + '/../../lib')
import central
import collector as c
import gs

BIN = c.bin_dir()
R = c.seeded()
SHIM = os.path.join(gs.plain(gs.BUILD), 'tests', 'libslowdisk.so')
PATIENCE = 120  # others compute here, too


class Disk:
    """What programs that are started meanwhile have for a disk."""

    def __init__(self, root):
        self.path = os.path.join(root, 'disk')
        os.mkdir(self.path)

    def __enter__(self):
        self.was = {name: os.environ.get(name) for name in ('LD_PRELOAD', 'SLOWDISK')}
        os.environ.update(LD_PRELOAD=SHIM, SLOWDISK=self.path)
        return self

    def __exit__(self, *_):
        self.unset('hold')
        for name, value in self.was.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

    def has(self, name):
        return os.path.exists(os.path.join(self.path, name))

    def set(self, name):
        open(os.path.join(self.path, name), 'w').close()

    def unset(self, name):
        if self.has(name):
            os.unlink(os.path.join(self.path, name))

    def wait_held(self):
        c.wait_for(lambda: self.has('held'), 'somebody waits for the disk', PATIENCE)


class Post(threading.Thread):
    """One that goes on beside the test."""

    def __init__(self, centre, *frames, **kw):
        super().__init__(daemon=True)
        self.centre, self.frames, self.kw, self.got = centre, frames, kw, None
        self.start()

    def run(self):
        self.got = self.centre.post(*self.frames, **self.kw)

    def answer(self):
        self.join(PATIENCE)
        return self.got


def blocks(stream, first, last):
    return [c.frame(stream, n, body=R.randbytes(5000)) for n in range(first, last + 1)]


def size_of(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def test_centre_goes_on():
    """While the disk hangs the centre answers, and takes what comes; no post is answered."""
    beta = {'token': central.TOKENS['beta']}
    with tempfile.TemporaryDirectory() as root, Disk(root) as disk, central.Centre(BIN, root, https=False) as centre:
        first, second = R.randbytes(16), R.randbytes(16)
        gs.equal(centre.post(c.hello(first, 'a'), *blocks(first, 2, 3))[1], {first: 3}, 'with a good disk')
        disk.set('hold')
        waits = Post(centre, *blocks(first, 4, 6))
        disk.wait_held()
        gs.equal(centre.ask('GET', '/healthz')[0], 200, 'healthz')
        gs.equal(centre.ask('GET', '/v1/runs', **beta)[0], 200, 'the runs of another team')
        more = Post(centre, c.hello(second, 'b'), *blocks(second, 2, 9), **beta)
        same = Post(centre, *blocks(first, 7, 8))
        c.wait_for(lambda: size_of(centre.path('b', second, 'beta')) > 40000, 'what another team sends is taken', PATIENCE)
        c.wait_for(lambda: size_of(centre.path('a', first)) > 35000, 'and more of the same stream', PATIENCE)
        gs.equal((waits.got, more.got, same.got), (None, None, None), 'answers before the disk has')
        disk.unset('hold')
        gs.equal(waits.answer()[:2], (200, {first: 6}), 'what the first round has, and no more')
        gs.equal(more.answer()[:2], (200, {second: 9}), 'the other team')
        gs.equal(same.answer()[:2], (200, {first: 8}), 'the second round')
        gs.equal(centre.stop(), 0, 'the end')
        gs.equal(centre.seqs('a', first), list(range(1, 9)), 'each once')


def test_node_goes_on():
    """The same of a node's collector, whose clients close their connection meanwhile."""
    with tempfile.TemporaryDirectory() as root, Disk(root) as disk, c.Collector(BIN, root=root) as node:
        one, two, three = (R.randbytes(16) for _ in range(3))
        disk.set('hold')
        first, second, gone = (node.client(timeout=PATIENCE) for _ in range(3))
        first.send(c.hello(one, 'run'), *blocks(one, 2, 5))
        disk.wait_held()
        second.send(c.hello(two, 'run'), *blocks(two, 2, 5))
        gone.send(c.hello(three, 'run'), *blocks(three, 2, 5), c.frame(three, 6, c.BYE))
        gone.half_close()
        first.send(*blocks(one, 6, 7))
        for stream, bytes_ in (one, 30000), (two, 20000), (three, 20000):
            c.wait_for(lambda: size_of(node.path('run', stream)) > bytes_, 'what comes is taken', PATIENCE)
        for client in first, second, gone:
            client.poll()
            gs.equal(max((seq for _, seq in client.acks), default=0), 0, 'acknowledged before the disk has')
        disk.unset('hold')
        first.wait_ack(one, 7)
        second.wait_ack(two, 5)
        gone.wait_ack(three, 6)
        gone.wait_closed()
        gs.equal(node.stop(), 0, 'the end')
        for stream, last in (one, 7), (two, 5), (three, 6):
            gs.equal([f.seq for f in node.frames('run', stream)], list(range(1, last + 1)), 'each once')


def test_disk_fails():
    """What could not be made durable is not acknowledged, and gone; sent again it is there, once."""
    with tempfile.TemporaryDirectory() as root, Disk(root) as disk, \
            central.Centre(BIN, root, https=False, options=['--unix', os.path.join(root, 'socket')]) as centre:
        stream, other = R.randbytes(16), R.randbytes(16)
        gs.equal(centre.post(c.hello(stream, 'a'), *blocks(stream, 2, 3))[1], {stream: 3}, 'with a good disk')
        was = size_of(centre.path('a', stream))
        client = c.Client(os.path.join(root, 'socket'), PATIENCE)
        client.send(c.hello(other, 'c'))
        client.wait_ack(other, 1)
        disk.set('hold')
        lost, again = blocks(stream, 4, 6), blocks(other, 2, 3)
        post = Post(centre, *lost)
        client.send(*again)
        disk.wait_held()
        behind = Post(centre, *blocks(stream, 7, 7))
        c.wait_for(lambda: size_of(centre.path('a', stream)) > was + 20000, 'all of it comes', PATIENCE)
        disk.set('fail')
        disk.unset('hold')
        gs.equal(post.answer()[0], 503, 'a post that is not durable')
        gs.equal(behind.answer()[0], 503, 'what came behind it')
        client.wait_closed()
        gs.equal(client.acked(other), 1, 'what a node was told')
        gs.equal(size_of(centre.path('a', stream)), was, 'back to what is durable')
        disk.unset('fail')
        gs.equal(centre.post(*lost)[1], {stream: 6}, 'sent again')
        client = c.Client(os.path.join(root, 'socket'), PATIENCE)
        client.send(c.hello(other, 'c'), *again)
        client.wait_ack(other, 3)
        gs.equal(centre.stop(), 0, 'the end')
        gs.equal(centre.seqs('a', stream), list(range(1, 7)), 'each once')


def test_end():
    """Told to end while the disk hangs it waits, and answers who waited."""
    with tempfile.TemporaryDirectory() as root, Disk(root) as disk, \
            central.Centre(BIN, root, https=False, options=['--unix', os.path.join(root, 'socket')]) as centre:
        stream, other = R.randbytes(16), R.randbytes(16)
        disk.set('hold')
        client = c.Client(os.path.join(root, 'socket'), PATIENCE)
        client.send(c.hello(other, 'c'), *blocks(other, 2, 3))
        post = Post(centre, c.hello(stream, 'a'), *blocks(stream, 2, 3))
        disk.wait_held()
        c.wait_for(lambda: size_of(centre.path('a', stream)) > 10000, 'it is taken', PATIENCE)
        centre.process.terminate()
        c.wait_for(lambda: not os.path.exists(os.path.join(root, 'socket')), 'it begins to end', PATIENCE)
        gs.equal((centre.process.poll(), post.got), (None, None), 'it waits')
        disk.unset('hold')
        gs.equal(post.answer()[:2], (200, {stream: 3}), 'the answer')
        client.wait_ack(other, 3)
        gs.equal(centre.process.wait(PATIENCE), 0, 'the end')
        gs.equal(centre.seqs('a', stream), [1, 2, 3], 'each once')


if __name__ == '__main__':
    gs.run_tests(globals())
