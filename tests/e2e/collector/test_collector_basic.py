# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""What one client can count on: frames stored as sent, acknowledgements, refusals, files."""
import json
import os
import signal
import stat
import struct
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
from collector import ACK, BYE, PULSE, Collector, bin_dir, block, frame, hello, seeded, wait_for
from gst_reader import crc32c
from gst_writer import MAGIC, seal

BIN = bin_dir()
rng = seeded()


def new_stream():
    return bytes(rng.randrange(256) for _ in range(16))


def test_stored_as_sent():
    s = new_stream()
    sent = [hello(s, "run-1")] + [frame(s, i, body=rng.randbytes(i * 7)) for i in range(2, 40)]
    with Collector(BIN) as c:
        client = c.client()
        client.send(*sent)
        client.wait_ack(s, 39)
        gs.equal(client.acks[0], (s, 0), "the first acknowledgement tells what was there before")
        with open(c.path("run-1", s), "rb") as f:
            gs.equal(f.read(), b"".join(sent), 'f.read()')
        gs.equal(c.stop(), 0, 'c.stop()')
        gs.check(not os.path.exists(c.socket) and not os.path.exists(c.socket + ".pid"),
                 'not os.path.exists(c.socket) and not os.path.exists(c.socket + ".pid")')


def test_byte_by_byte():
    s = new_stream()
    sent = b"".join([hello(s, "slow")] + [frame(s, i, body=rng.randbytes(50)) for i in (2, 3)])
    with Collector(BIN) as c:
        client = c.client()
        for i in range(len(sent)):
            client.send(sent[i:i + 1])
        client.wait_ack(s, 3)
        gs.equal([f.seq for f in c.frames("slow", s)], [1, 2, 3], '[f.seq for f in c.frames("slow", s)]')


def test_large_frames():
    s = new_stream()
    with Collector(BIN) as c:
        client = c.client()
        sent = [hello(s, "large"), frame(s, 2, body=rng.randbytes(1_200_000)),
                frame(s, 3, body=b"x"), frame(s, 4, body=rng.randbytes(300_000))]
        client.send(*sent)
        client.wait_ack(s, 4)
        with open(c.path("large", s), "rb") as f:
            gs.equal(f.read(), b"".join(sent), 'f.read()')


def test_modes():
    with Collector(BIN) as c:
        gs.equal(stat.S_IMODE(os.stat(c.socket).st_mode), 0o600, 'stat.S_IMODE(os.stat(c.socket).st_mode)')
        gs.equal(stat.S_IMODE(os.stat(os.path.dirname(c.socket)).st_mode), 0o700,
                 'stat.S_IMODE(os.stat(os.path.dirname(c.socket)).st_mode)')


def test_duplicates_and_gaps():
    s = new_stream()
    f = {i: frame(s, i, body=bytes([i])) for i in range(2, 12)}
    with Collector(BIN) as c:
        client = c.client()
        client.send(hello(s, "gaps"), f[2], f[3], f[3], f[2], f[6], f[7], f[6])
        client.wait_ack(s, 7)  # it jumped over 4 and 5: it keeps them elsewhere
        client.close()
        c.kill()
        c.start()
        again = c.client()
        again.send(f[2])
        again.wait_ack(s, 3)  # what is known without the client: 1 to 3 are there
        gs.equal(again.acked(s), 3, 'again.acked(s)')
        again.send(f[4], f[5], f[7], f[8])
        again.wait_ack(s, 8)
        gs.equal([x.seq for x in c.frames("gaps", s)], [1, 2, 3, 6, 7, 4, 5, 8], '[x.seq for x in c.frames("gaps", s)]')


def test_spool_in_between():
    """What libprof does after a time without a collector: Hello and strings again, then on."""
    s = new_stream()
    with Collector(BIN) as c:
        client = c.client()
        client.send(hello(s, "spool"), *[frame(s, i) for i in range(2, 11)])
        client.wait_ack(s, 10)
        client.close()
        client = c.client()
        client.send(hello(s, "spool"), frame(s, 2), frame(s, 50), frame(s, 51))
        client.wait_ack(s, 51)
        client.send(frame(s, 52))
        client.wait_ack(s, 52)
        gs.equal([x.seq for x in c.frames("spool", s)], [*range(1, 11), 50, 51, 52],
                 '[x.seq for x in c.frames("spool", s)]')


def test_bye_and_half_close_are_prompt():
    """Of several tries that follow each other one is quick. Were they synced with all others once a
    second, the second half of each would begin right after a sync, and take a second."""
    took = []
    with Collector(BIN) as c:
        while len(took) < 6 or min(took) >= 0.5 and len(took) < 60:  # a busy machine needs more of them
            s, t = new_stream(), new_stream()
            begin = time.monotonic()
            client = c.client()
            client.send(hello(s, "bye"), frame(s, 2, BYE))
            client.wait_ack(s, 2)
            client = c.client()
            client.send(hello(t, "bye"), frame(t, 2))
            client.half_close()
            client.wait_ack(t, 2)
            client.wait_closed()
            took.append(time.monotonic() - begin)
    gs.check(min(took) < 0.5, ('min(took) < 0.5', took))


def test_refusals():
    s = new_stream()
    good = hello(s, "bad")
    flipped = bytearray(frame(s, 2, body=b"payload"))
    flipped[-1] ^= 1
    torn = bytearray(frame(s, 2))
    torn[20] ^= 1
    huge = seal(MAGIC, 1, PULSE, 0, 0, s, 2, 0, 0xFFFFFFF0, 0, 0)
    cases = {
        "no hello": [frame(s, 2)],
        "bad payload": [good, bytes(flipped)],
        "bad header": [good, bytes(torn)],
        "garbage": [b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: somebody\r\n" + b"\r\n" * 20],
        "absurd length": [good, huge],
        "number 0": [good, frame(s, 0)],
        "acknowledgement": [good, frame(s, 2, ACK)],
        "no run": [hello(new_stream(), "")],
        "no protobuf": [frame(new_stream(), 1, 1, body=b"\xff" * 9)],
        "bad zstd": [frame(new_stream(), 1, 1, body=b"\xff" * 9, flags=1, raw_len=100)],
        "bomb": [frame(new_stream(), 1, 1, body=b"\xff" * 9, flags=1, raw_len=60 << 20)],
    }
    with Collector(BIN) as c:
        for what, data in cases.items():
            client = c.client()
            try:
                client.send(*data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            client.wait_closed()
            print("  refused:", what)
        gs.equal([x.seq for x in c.frames("bad", s)], [1], '[x.seq for x in c.frames("bad", s)]')
        gs.equal(os.listdir(c.base), ["bad.gst"], 'os.listdir(c.base)')
        client = c.client()
        client.send(good, frame(s, 2))
        client.wait_ack(s, 2)
        gs.equal(c.stop(), 0, 'c.stop()')


def hashed(text):
    """FNV-1a, the lower 32 bits."""
    h = 0xcbf29ce484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001b3 % (1 << 64)
    return f'-{h % (1 << 32):08x}'


def test_run_names():
    """What no name may be is made one; two that differ there are two runs."""
    made = {"../../etc/passwd": "_._.._etc_passwd", ".hidden": "_hidden", "a b/c": "a_b_c", "a/b c": "a_b_c", "αβ": "____",
            "γδ": "____", "..": "_."}
    cases = {run: name + hashed(run) for run, name in made.items()}
    cases.update({"x" * 251 + end: "x" * 242 + hashed("x" * 251 + end) for end in ("y", "z" * 40)})
    cases.update({name: name for name in ("job-1.2_3+a=b@c", "x" * 251)})
    with Collector(BIN) as c:
        for run, name in cases.items():
            s = new_stream()
            client = c.client()
            client.send(hello(s, run), frame(s, 2, BYE))
            client.wait_ack(s, 2)
            gs.check(os.path.exists(c.path(name, s)), f'os.path.exists(c.path(name, s)): {(run, os.listdir(c.base))}')
        gs.equal(sorted(os.listdir(c.root)), ["runs", "sock", "stderr"], 'sorted(os.listdir(c.root))')


def test_index():
    s = new_stream()
    sent = [hello(s, "index"), block(s, 2, 100, 200), frame(s, 3, body=b"p"),
            block(s, 4, 150, 300, count=7)]
    with Collector(BIN) as c:
        client = c.client()
        client.send(*sent)
        client.wait_ack(s, 4)

        def check():
            with open(c.path("index", s, ".idx"), "rb") as f:
                data = f.read()
            gs.check(data[:8] == b"GSTI" + struct.pack("<HH", 1, 48) and data[16:32] == s,
                     'data[:8] == b"GSTI" + struct.pack("<HH", 1, 48) and data[16:32] == s')
            records = [struct.unpack_from("<QQqqIIHBBI", data, at)
                       for at in range(32, len(data), 48)]
            for i, r in enumerate(records):
                gs.equal(r[9], crc32c(data[32 + 48 * i:32 + 48 * i + 44]), 'r[9]')
            at2, at4 = len(sent[0]), sum(map(len, sent[:3]))
            gs.equal([r[:9] for r in records], [(at2, 2, 100, 200, len(sent[1]), 5, 3, 1, 0),
                                                (at4, 4, 150, 300, len(sent[3]), 7, 3, 1, 0)], '[r[:9] for r in records]')

        check()
        c.kill()
        os.unlink(c.path("index", s, ".idx"))
        c.start()
        client = c.client()
        client.send(sent[3])
        client.wait_ack(s, 4)
        check()


def test_end_of_a_process():
    """A killed process is noted, also while a forked child of it holds the socket open."""
    s = new_stream()
    with Collector(BIN) as c:
        code = f"""
import os, sys, time
sys.path.insert(0, {sys.path[0]!r})
from collector import Client, hello, frame
s = bytes.fromhex({s.hex()!r})
client = Client({c.socket!r})
if os.fork() == 0:
    time.sleep(60)
    os._exit(0)
client.send(hello(s, "killed", host="node \\"7\\"", pid=4321, start_ns=99), frame(s, 2, body=b"last words"))
print("sent", flush=True)
time.sleep(60)
"""
        p = subprocess.Popen(["/usr/bin/python3", "-c", code], stdout=subprocess.PIPE,
                             start_new_session=True)
        gs.equal(p.stdout.readline(), b"sent\n", 'p.stdout.readline()')
        before = time.time_ns()
        p.kill()
        path = os.path.join(c.base, "killed.gst", f"exit-coll-{s.hex()}.json")
        wait_for(lambda: os.path.exists(path), "no note of the end")
        after = time.time_ns()
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        with open(path) as f:
            (end,) = json.load(f)["exits"]
        gs.check(before <= end.pop("end_ns") <= after, 'before <= end.pop("end_ns") <= after')
        gs.equal(end, {"host": 'node "7"', "pid": 4321, "start_ns": 99, "status": None}, 'end')
        gs.equal([x.seq for x in c.frames("killed", s)], [1, 2], '[x.seq for x in c.frames("killed", s)]')


def test_lost_connection_is_no_end():
    s = new_stream()
    with Collector(BIN) as c:
        client = c.client()
        client.send(hello(s, "alive"), frame(s, 2))
        client.wait_ack(s, 2)
        client.close()
        time.sleep(0.3)
        path = os.path.join(c.base, "alive.gst", f"exit-coll-{s.hex()}.json")
        gs.check(not os.path.exists(path), "this process lives")
        client = c.client()
        client.send(frame(s, 3))
        client.wait_ack(s, 3)


def test_two_streams_on_one_connection():
    s, t = new_stream(), new_stream()
    with Collector(BIN) as c:
        client = c.client()
        client.send(hello(s, "two"), hello(t, "two"), frame(s, 2), frame(t, 2), frame(t, 3))
        client.wait_ack(s, 2)
        client.wait_ack(t, 3)
        gs.equal([x.seq for x in c.frames("two", s)], [1, 2], '[x.seq for x in c.frames("two", s)]')
        gs.equal([x.seq for x in c.frames("two", t)], [1, 2, 3], '[x.seq for x in c.frames("two", t)]')


def test_stream_moves_to_the_newest_connection():
    s = new_stream()
    with Collector(BIN) as c:
        old, new = c.client(), c.client()
        old.send(hello(s, "moves"), frame(s, 2))
        old.wait_ack(s, 2)
        new.send(frame(s, 3))
        new.wait_ack(s, 3)
        old.close()
        new.send(frame(s, 4))
        new.wait_ack(s, 4)
        gs.equal([x.seq for x in c.frames("moves", s)], [1, 2, 3, 4], '[x.seq for x in c.frames("moves", s)]')


if __name__ == "__main__":
    gs.run_tests(globals())
