# SPDX-License-Identifier: Apache-2.0
"""The way from a node to the centre: a TCP relay that reads the HTTP which it passes on, and does on
request what networks do: delay, trickle, reset, fall silent, flip bits, keep a post back and deliver
it later, deliver it again, lose an answer. Requests are plain HTTP/1.1, one at a time per connection.
Or TLS, of which it understands nothing: the same is done to its bytes (Blind).

Everything but do() and the plain members runs in the relay's own thread, in the centre's network."""
import asyncio
import collections
import random
import re
import socket
import struct
import threading

from . import spaces

RST = struct.pack('ii', 1, 0)
PIECE = 65536
HEAD_MAX = 64 << 10
SEEN_BYTES = 1 << 20
AGAIN_S = 20
RENAME = -2
DAMAGED = {'frames': 'posts damaged', 'side': 'side files damaged'}


class Cut(Exception):
    """This connection ends now."""


class Post:
    """A request on its way: its head without Expect, and its body as it came."""

    def __init__(self, head):
        lines = head.decode('latin-1').split('\r\n')
        fields = dict(line.lower().split(': ', 1) for line in lines[1:] if ': ' in line)
        self.name = ' '.join(lines[0].split()[:2])
        self.left = int(fields.get('content-length', 0))
        self.expects = 'expect' in fields
        self.head = re.sub(rb'(?i)\r\nexpect: [^\r]*', b'', head)
        self.body, self.flipped = bytearray(), False

    @property
    def kind(self):
        """'frames', 'side' (a side file) or None."""
        if self.name == 'POST /v1/frames' and self.left + len(self.body) > 0:
            return 'frames'
        return 'side' if self.name.startswith('PUT ') else None


class Link:
    """One connection through the relay."""

    def __init__(self, wire, near):
        self.wire, self.near, self.far = wire, near, None
        self.silent = False
        self.whole = None  # the request that has gone through and is not answered yet

    def streams(self):
        return [w for _, w in (self.near, self.far) if w] if self.far else [self.near[1]]

    def abort(self):
        """Both ends learn it by a reset."""
        for w in self.streams():
            sock = w.get_extra_info('socket')
            if sock is not None and sock.fileno() >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RST)
            w.transport.abort()

    async def awake(self):
        while self.silent or self.wire.swallow:
            await asyncio.sleep(0.02)

    async def give(self, writer, data):
        """Passes @data on, as slowly as the wire is now."""
        wire, at = self.wire, 0
        while at < len(data):
            piece = data[at:at + (wire.trickle or PIECE)]
            if wire.delay:
                await asyncio.sleep(wire.delay)
            await self.awake()
            writer.write(piece)
            await writer.drain()
            at += len(piece)

    async def run(self):
        await self.awake()
        self.far = await asyncio.open_connection('127.0.0.1', self.wire.to)
        both = [asyncio.create_task(self.requests()), asyncio.create_task(self.answers())]
        try:
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    async def requests(self):
        while True:
            head = await self.near[0].readuntil(b'\r\n\r\n')
            await self.awake()
            post = Post(head)
            if self.wire.take('hold', post.kind):
                await self.keep(post)
            flip = self.flips(post)
            await self.give(self.far[1], self.renamed(post, head) if flip == RENAME else head)
            await self.body(post, flip)
            self.whole = post
            if post.kind and not post.flipped and len(post.body) <= SEEN_BYTES:
                self.wire.seen.append(post)

    def flips(self, post):
        """Which byte of the body is to be damaged; RENAME: one of the file's name; -1: none."""
        if not self.wire.take('flip', post.kind):
            return -1
        if post.kind == 'side' and (not post.left or self.wire.r.random() < 0.25):
            return RENAME
        return self.wire.r.randrange(post.left)

    def renamed(self, post, head):
        end = head.index(b' HTTP/1.1\r\n')
        at = self.wire.r.randrange(head.rindex(b'/', 0, end) + 1, end)
        post.flipped = True
        self.wire.count['side files damaged'] += 1
        return head[:at] + bytes([head[at] ^ 1 << self.wire.r.randrange(5)]) + head[at + 1:]

    async def body(self, post, flip):
        while post.left:
            data = await self.near[0].read(min(post.left, PIECE))
            if not data:
                raise Cut
            at = len(post.body)
            post.body += data
            post.left -= len(data)
            if at <= flip < at + len(data):
                data = bytearray(data)
                data[flip - at] ^= 1 << self.wire.r.randrange(8)
                post.flipped = True
                self.wire.count[DAMAGED[post.kind]] += 1
            await self.give(self.far[1], bytes(data))

    async def keep(self, post):
        """The node hears nothing of it and makes it again; this copy arrives later."""
        if post.expects:
            self.near[1].write(b'HTTP/1.1 100 Continue\r\n\r\n')
        post.body += await self.near[0].readexactly(post.left)
        post.left = 0
        self.wire.held.append(post)
        self.wire.count['posts held'] += 1
        raise Cut

    async def answers(self):
        while True:
            data = await self.far[0].read(PIECE)
            if not data:
                raise Cut
            await self.awake()
            post = self.whole
            if post and not data.startswith(b'HTTP/1.1 100'):
                self.whole = None
                self.wire.answered(post, data)
                if self.wire.take_cut():
                    self.wire.count['answers cut'] += 1
                    await self.give(self.near[1], data[:self.wire.r.randrange(len(data))])
                    raise Cut
            await self.give(self.near[1], data)


class Said:
    """What a node has said on a connection so far, to be said again on another."""
    kind = 'frames'  # among other things

    def __init__(self):
        self.head, self.body = b'', bytearray()


class Blind(Link):
    """TLS: a post cannot be told from another, nor from a handshake."""

    async def requests(self):
        said = Said()
        self.wire.seen.append(said)
        while True:
            data = await self.piece(self.near[0])
            if len(said.body) < SEEN_BYTES:
                said.body += data
            if self.wire.take('hold', 'frames'):
                self.wire.held.append(said)
                self.wire.count['TLS connections held'] += 1
                raise Cut
            await self.give(self.far[1], self.harmed(data))

    async def answers(self):
        while True:
            data = await self.piece(self.far[0])
            if self.wire.take_cut():
                self.wire.count['answers cut'] += 1
                await self.give(self.near[1], data[:self.wire.r.randrange(len(data))])
                raise Cut
            await self.give(self.near[1], self.harmed(data))

    async def piece(self, reader):
        data = await reader.read(PIECE)
        if not data:
            raise Cut
        await self.awake()
        return data

    def harmed(self, data):
        """In either direction, one time in two."""
        if self.wire.r.random() < 0.5 or not self.wire.take('flip', 'frames'):
            return data
        at = self.wire.r.randrange(len(data))
        self.wire.count['TLS pieces damaged'] += 1
        return data[:at] + bytes([data[at] ^ 1 << self.wire.r.randrange(8)]) + data[at + 1:]


class Wire:
    """Between one node and the centre's port @to; it listens on @port, 0: a free one."""

    def __init__(self, space, address, to, seed, port=0, tls=False):
        self.to, self.r, self.tls = to, random.Random(seed), tls
        self.delay, self.trickle, self.swallow = 0, 0, False
        # So many more posts of frames and of side files, ...
        self.flip, self.hold = collections.Counter(), collections.Counter()
        self.cut = 0  # ... and answers
        self.seen, self.held = collections.deque(maxlen=24), collections.deque()
        self.count = collections.Counter()
        self.wrong = []  # what must not happen
        self.links = set()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.main, args=(space, address, port), daemon=True)
        self.thread.start()
        self.ready.wait(30)
        self.url = f'http{"s" if tls else ""}://{address}:{self.port}'

    def main(self, space, address, port):
        spaces.enter_net(space)
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(lambda *_: None)  # of connections that were aborted
        sock = socket.create_server((address, port), backlog=64)
        self.port = sock.getsockname()[1]
        self.loop.run_until_complete(asyncio.start_server(self.serve, sock=sock, limit=HEAD_MAX))
        self.loop.call_soon(self.ready.set)
        self.loop.run_forever()

    def take(self, what, kind):
        """Whether it is to be done to a post of that kind now."""
        left = getattr(self, what)
        if left[kind] <= 0:
            return False
        left[kind] -= 1
        return True

    def take_cut(self):
        left, self.cut = self.cut, max(0, self.cut - 1)
        return left > 0

    async def serve(self, *near):
        link = Blind(self, near) if self.tls else Link(self, near)
        self.links.add(link)
        try:
            await link.run()
        except (Cut, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self.links.discard(link)
            link.abort()

    def answered(self, post, data):
        status = data[9:12].decode('latin-1')
        self.count[f'{post.name.split()[0]} answered {status}'] += 1
        if post.flipped and status == '200':
            self.wrong.append(f'a damaged post was taken: {data[:200]!r}')

    async def deliver(self, post):
        """Once more, on a connection of its own."""
        writer = None
        try:
            reader, writer = await asyncio.open_connection('127.0.0.1', self.to)
            writer.write(post.head + bytes(post.body))
            await writer.drain()
            if self.tls:  # it breaks off where the handshake is not its own
                await asyncio.wait_for(reader.read(-1), AGAIN_S)
                self.count['again over TLS'] += 1
                return
            head = await reader.readuntil(b'\r\n\r\n')
            self.count['again ' + head[9:12].decode('latin-1')] += 1
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            self.count['again, in vain'] += 1
        finally:
            if writer:
                writer.transport.abort()

    def do(self, fn, *args):
        """Calls @fn in the relay's thread and waits for it."""
        done = threading.Event()

        def call():
            try:
                fn(*args)
            finally:
                done.set()
        self.loop.call_soon_threadsafe(call)
        done.wait(30)

    # What follows is called by do().

    def reset(self):
        for link in list(self.links):
            link.abort()
            self.count['connections reset'] += 1

    def hush(self):
        """Connections that are there fall silent: no bytes, no end. New ones work."""
        for link in self.links:
            link.silent = True
            self.count['connections half open'] += 1

    def drop_silent(self):
        for link in list(self.links):
            if link.silent:
                link.abort()

    def replay(self, posts):
        for post in posts:
            self.loop.create_task(self.deliver(post))

    def release(self):
        """What was held arrives, the newest first."""
        while self.held:
            self.loop.create_task(self.deliver(self.held.pop()))
