# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=300
"""kill -9 of the collector, of clients, and of both, at random moments of numbered streams.

A client keeps what is not acknowledged and sends it again to the next collector. Whatever happens:
every acknowledged frame is in the file exactly as sent, none is there twice, and the file has
nothing between its frames.
"""
import multiprocessing
import os
import random
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
from collector import Client, Collector, bin_dir, frame, hello, read_stream, seeded, wait_for

BIN = bin_dir()
rng = seeded()


class Sender:
    """Sends a stream with all that a client must do to lose nothing."""

    def __init__(self, collector, run, seed):
        self.seed = seed
        self.rng = random.Random(seed)
        self.stream = self.rng.randbytes(16)
        self.collector, self.run = collector, run
        self.sent = {1: hello(self.stream, run)}  # by number; all, to compare in the end
        self.acked = 0
        self.client = None

    def make(self):
        seq = len(self.sent) + 1
        own = random.Random(f"{self.seed} {seq}")  # the same at every run of the same seed
        self.sent[seq] = frame(self.stream, seq, body=own.randbytes(own.randrange(1500)))
        return self.sent[seq]

    def connect(self):
        """All that is not acknowledged again; the collector says what it has."""
        self.client = self.collector.client()
        # Any of its frames makes the collector speak; what it has already it will drop.
        self.client.send(self.sent[max(1, self.acked)])
        while self.client.acked(self.stream) < 0:
            if not self.client.poll(0.05) and self.client.acked(self.stream) < 0:
                raise ConnectionError("closed")
        first = self.client.acked(self.stream) + 1
        gs.check(first > self.acked, f'first > self.acked: {(first, self.acked)}')
        self.client.send(*[self.sent[i] for i in range(first, len(self.sent) + 1)])

    def step(self):
        try:
            if not self.client:
                self.connect()
            self.client.send(*[self.make() for _ in range(self.rng.randrange(1, 8))])
            alive = self.client.poll()
            self.acked = max(self.acked, self.client.acked(self.stream))
            if not alive:
                raise ConnectionError("closed")
        except (ConnectionError, TimeoutError, FileNotFoundError):
            if self.client:
                self.acked = max(self.acked, self.client.acked(self.stream))
                self.client.close()
            self.client = None

    def finish(self):
        while self.acked < len(self.sent):
            try:
                if not self.client:
                    self.connect()
                self.client.wait_ack(self.stream, len(self.sent))
                self.acked = self.client.acked(self.stream)
            except ConnectionError:
                self.client = None

    def check(self, acked=None):
        with open(self.collector.path(self.run, self.stream), "rb") as f:
            data = f.read()
        seen = set()
        for f in read_stream(self.collector.path(self.run, self.stream)):
            gs.check(f.seq not in seen, f"{f.seq} is there twice")
            seen.add(f.seq)
            gs.equal(data[f.offset:f.offset + f.bytes], self.sent[f.seq], 'data[f.offset:f.offset + f.bytes]')
        acked = self.acked if acked is None else acked
        lost = set(range(1, acked + 1)) - seen
        gs.check(not lost, f"acknowledged and lost: {sorted(lost)[:5]}")
        return len(seen)


def test_kill_the_collector():
    with Collector(BIN) as c:
        senders = [Sender(c, f"run-{i}", rng.randrange(1 << 30)) for i in range(3)]
        kills = 0
        end = time.monotonic() + 10
        next_kill = time.monotonic() + rng.uniform(0.02, 1.3)
        while time.monotonic() < end or kills <= 3 and time.monotonic() < end + 110:  # a busy machine takes longer for each
            for s in senders:
                s.step()
            time.sleep(0.002)
            if time.monotonic() > next_kill:
                c.kill()
                for s in senders:
                    if s.client:
                        s.client.poll()
                        s.acked = max(s.acked, s.client.acked(s.stream))
                rng.choice(senders).check()
                c.start()
                kills += 1
                next_kill = time.monotonic() + rng.uniform(0.02, 1.3)
        for s in senders:
            s.finish()
            gs.equal(s.check(), len(s.sent), 's.check()')
        print("  killed", kills, "times;", sum(len(s.sent) for s in senders), "frames")
        gs.check(kills > 3, 'kills > 3')
        gs.equal(c.stop(), 0, 'c.stop()')


def sender_process(collector, run, seed, stream_of):
    s = Sender(collector, run, seed)
    stream_of.send(s.stream)
    while True:
        s.step()
        stream_of.send((len(s.sent), s.acked))


def heard_of(collector, run, stream):
    """Until the collector has a file of it: of who is killed before that there is nothing to tell."""
    wait_for(lambda: os.path.exists(collector.path(run, stream)), f"{run} is heard of")


def test_kill_clients():
    """All that a client's kernel took whole is stored, acknowledged or not."""
    with Collector(BIN) as c:
        for round_ in range(5):
            here, there = multiprocessing.Pipe(duplex=False)
            seed = rng.randrange(1 << 30)
            p = multiprocessing.Process(target=sender_process, args=(c, f"k{round_}", seed, there))
            p.start()
            there.close()
            stream = here.recv()
            heard_of(c, f"k{round_}", stream)
            time.sleep(rng.uniform(0.05, 0.5))
            p.kill()
            p.join()
            done = 0
            try:
                while True:
                    done, _ = here.recv()
            except (EOFError, OSError):
                pass
            path = os.path.join(c.base, f"k{round_}.gst", f"exit-coll-{stream.hex()}.json")
            gs.until("the end is noted", lambda: os.path.exists(path))
            again = Sender(c, f"k{round_}", seed)  # makes the same frames, but for their times
            frames = read_stream(c.path(f"k{round_}", stream))
            gs.equal([f.seq for f in frames], list(range(1, len(frames) + 1)), '[f.seq for f in frames]')
            gs.check(len(frames) >= done, f'len(frames) >= done: {(len(frames), done)}')
            for f in frames[1:]:
                made = again.make()
                gs.equal(made[64:], f.payload, 'made[64:]')
        gs.equal(c.stop(), 0, 'c.stop()')


def test_kill_both():
    with Collector(BIN) as c:
        for round_ in range(4):
            here, there = multiprocessing.Pipe(duplex=False)
            seed = rng.randrange(1 << 30)
            p = multiprocessing.Process(target=sender_process, args=(c, f"b{round_}", seed, there))
            p.start()
            there.close()
            stream = here.recv()
            heard_of(c, f"b{round_}", stream)
            time.sleep(rng.uniform(0.3, 1.6))
            for kill in rng.sample([p.kill, c.kill], 2):
                kill()
            p.join()
            acked = 0
            try:
                while True:
                    _, acked = here.recv()
            except (EOFError, OSError):
                pass
            frames = read_whole(c.path(f"b{round_}", stream))
            gs.equal([f.seq for f in frames], list(range(1, len(frames) + 1)), '[f.seq for f in frames]')
            gs.check(len(frames) >= acked, 'len(frames) >= acked')
            c.start()


def read_whole(path):
    """The frames of a file whose end may be torn."""
    from collector import Frame
    with open(path, "rb") as f:
        data = f.read()
    at, out = 0, []
    while at < len(data):
        try:
            out.append(Frame(data, at))
        except Exception:
            gs.check(len(data) - at < 70_000, 'len(data) - at < 70_000')
            break
        at += out[-1].bytes
    return out


def test_torn_end():
    """A file that ends in half a frame, or in bytes never written, is cut and continued."""
    with Collector(BIN) as c:
        for i, tail in enumerate([b"GST", frame(b"s" * 16, 4, body=b"z" * 100)[:90], bytes(5000),
                                  os.urandom(200)]):
            s = Sender(c, f"torn{i}", i)
            s.connect()
            for _ in range(3):
                s.make()
            s.client.send(*[s.sent[k] for k in (2, 3, 4)])
            s.client.wait_ack(s.stream, 4)
            c.kill()
            whole = os.path.getsize(c.path(s.run, s.stream))
            with open(c.path(s.run, s.stream), "ab") as f:
                f.write(tail)
            c.start()
            s.acked, s.client = 4, None
            s.make()
            s.finish()
            gs.equal(s.check(), 5, 's.check()')
            gs.equal(os.path.getsize(c.path(s.run, s.stream)), whole + len(s.sent[5]),
                     'os.path.getsize(c.path(s.run, s.stream))')


if __name__ == "__main__":
    gs.run_tests(globals())
