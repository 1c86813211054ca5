# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=300
"""Full disks, directories that vanish, strangers, garbage and crowds."""
import contextlib
import fcntl
import multiprocessing
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
from collector import BYE, Client, Collector, bin_dir, frame, hello, read_stream, seeded, wait_for
from gst_writer import MAGIC, seal

BIN = bin_dir()
rng = seeded()


def mount_tmpfs(path, size):
    os.makedirs(path, exist_ok=True)
    return os.getuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path],
        stderr=subprocess.DEVNULL).returncode == 0


def test_full_disk():
    s = rng.randbytes(16)
    with Collector(BIN, options=["--limit", "free-floor=0"]) as c:  # full, not nearly full
        if not mount_tmpfs(c.base, "256k"):
            print("  skipped: only root may mount a file system")
            return
        try:
            full_disk(c, s)
        finally:
            subprocess.run(["umount", "-l", c.base], check=True)


def fill(path):
    with open(path, "wb", buffering=0) as f, contextlib.suppress(OSError):
        while True:
            f.write(bytes(4096))


def full_disk(c, s):
    sent = {1: hello(s, "full")}
    client = c.client()
    client.send(sent[1])
    seq, acked = 1, 0
    try:
        while seq < 2000:
            seq += 1
            sent[seq] = frame(s, seq, body=rng.randbytes(3000))
            client.send(sent[seq])
            if not client.poll():
                break
    except (BrokenPipeError, ConnectionResetError):
        pass
    client.poll(0.5)
    acked = client.acked(s)
    frames = read_stream(c.path("full", s))  # only whole frames, in spite of the half write
    gs.equal(acked, len(frames), 'acked')
    gs.check(40 < acked < 90, ('40 < acked < 90', acked))
    # What could not be stored may have been many frames at once, and leave room for some of them: none
    # now, but for the end of the file's last page.
    fill(os.path.join(c.base, "filler"))
    for i in range(acked + 1, max(seq, acked + 2) + 1):
        sent[i] = frame(s, i, body=rng.randbytes(5000))
    seq = max(sent)
    # While the disk is full each connection hears what is stored, and is closed.
    for _ in range(20):
        client = c.client()
        try:
            client.send(sent[acked], sent[acked + 1], sent[acked + 2])
        except (BrokenPipeError, ConnectionResetError):
            pass
        client.wait_closed()
        gs.equal(client.acked(s), acked, 'client.acked(s)')
    said = [line for line in c.errors().splitlines() if "cannot store" in line]
    gs.check(len(said) == 1 and "No space left" in said[0], ('len(said) == 1 and "No space left" in said[0]', said))
    # Room again: it goes on where it was.
    subprocess.run(["mount", "-o", "remount,size=64m", c.base], check=True)
    client = c.client()
    client.send(*[sent[i] for i in range(acked, seq + 1)])
    client.wait_ack(s, seq)
    gs.equal([f.seq for f in read_stream(c.path("full", s))], list(range(1, seq + 1)),
             '[f.seq for f in read_stream(c.path("full", s))]')


def test_file_size_limit():
    """EFBIG, and SIGXFSZ must not kill."""
    s = rng.randbytes(16)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    with Collector(BIN, preexec_fn=limit) as c:
        client = c.client()
        try:
            client.send(hello(s, "limit"),
                        *[frame(s, i, body=rng.randbytes(1000)) for i in range(2, 200)])
        except (BrokenPipeError, ConnectionResetError):
            pass
        client.wait_closed()
        frames = read_stream(c.path("limit", s))
        gs.equal(client.acked(s), len(frames), 'client.acked(s)')
        gs.equal(c.stop(), 0, 'c.stop()')


def test_unwritable():
    with Collector(BIN) as c:
        pass
    blocked = os.path.join("/proc", "gpustarve-test")
    p = subprocess.run([os.path.join(BIN, "gpustarve-collector"), "--dir", blocked, "--unix",
                        "/tmp/gpustarve-test-none/s"], stderr=subprocess.PIPE, text=True)
    gs.equal(p.returncode, 1, 'p.returncode')
    gs.check(p.stderr.count("\n") == 1 and blocked in p.stderr,
             ('p.stderr.count("\\n") == 1 and blocked in p.stderr', p.stderr))
    gs.check(not os.path.exists("/tmp/gpustarve-test-none"), 'not os.path.exists("/tmp/gpustarve-test-none")')


def test_base_removed():
    """What was acknowledged is written again, from the file that has no name any more."""
    s, t = rng.randbytes(16), rng.randbytes(16)
    with Collector(BIN) as c:
        client = c.client()
        sent = [hello(s, "gone"), frame(s, 2, body=b"before"), frame(s, 3, body=b"after")]
        client.send(*sent[:2])
        client.wait_ack(s, 2)
        shutil.rmtree(c.base)
        client.send(sent[2])
        client.wait_ack(s, 3)
        with open(c.path("gone", s), "rb") as f:
            gs.equal(f.read(), b"".join(sent), 'f.read()')
        other = c.client()
        other.send(hello(t, "new"), frame(t, 2, BYE))
        other.wait_ack(t, 2)
        client.close()
        client = c.client()
        client.send(frame(s, 4))
        client.wait_ack(s, 4)
        gs.equal(len(c.frames("gone", s)), 4, 'len(c.frames("gone", s))')


def test_socket_removed():
    s = rng.randbytes(16)
    with Collector(BIN) as c:
        shutil.rmtree(os.path.dirname(c.socket))
        client = c.client()
        client.send(hello(s, "again"), frame(s, 2, BYE))
        client.wait_ack(s, 2)
        gs.equal(c.stop(), 0, 'c.stop()')
        gs.equal(os.listdir(os.path.dirname(c.socket)), [], 'os.listdir(os.path.dirname(c.socket))')


def test_wrong_user():
    if os.getuid() != 0 or not shutil.which("setpriv"):
        print("  skipped: only root can become somebody else")
        return
    with Collector(BIN) as c:
        os.chmod(c.root, 0o755)
        os.chmod(os.path.dirname(c.socket), 0o755)
        os.chmod(c.socket, 0o666)  # as if somebody had opened the doors
        code = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(60); "
                f"s.connect({c.socket!r}); sys.exit(0 if s.recv(1) == b'' else 5)")
        p = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                            "/usr/bin/python3", "-c", code])
        gs.equal(p.returncode, 0, 'p.returncode')
        gs.check("turned away" in c.errors(), '"turned away" in c.errors()')


def test_other_user_may_not_even_connect():
    if os.getuid() != 0 or not shutil.which("setpriv"):
        print("  skipped: only root can become somebody else")
        return
    with Collector(BIN) as c:
        code = f"import socket; socket.socket(socket.AF_UNIX).connect({c.socket!r})"
        p = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                            "/usr/bin/python3", "-c", code], stderr=subprocess.PIPE, text=True)
        gs.check("PermissionError" in p.stderr, '"PermissionError" in p.stderr')


def test_any_user():
    """--any-user lets in who the two above do not, in whatever folder the socket is made."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        print("  skipped: only root can become somebody else")
        return
    s = rng.randbytes(16)
    sent = hello(s, "theirs") + frame(s, 2, BYE)
    with Collector(BIN, options=["--any-user"]) as c:
        os.chmod(c.root, 0o755)
        code = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(60); "
                f"s.connect({c.socket!r}); s.sendall(bytes.fromhex({sent.hex()!r})); "
                "sys.exit(0 if len(s.recv(64)) == 64 else 5)")
        p = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                            "/usr/bin/python3", "-c", code])
        gs.equal(p.returncode, 0, 'p.returncode')
        gs.equal(c.stop(), 0, 'c.stop()')
        gs.equal([f.seq for f in c.frames("theirs", s)], [1, 2], 'what is stored')


def test_silent_and_stalled():
    s = rng.randbytes(16)
    with Collector(BIN, options=["--silence", "1"]) as c:
        t = rng.randbytes(16)
        first, part = hello(t, "quiet"), hello(s, "half") + frame(s, 2, body=b"x" * 1000)[:700]
        quiet = c.client()
        quiet.send(first)  # at once: it is silent, too, until it has said something
        half = c.client()
        half.send(part)
        silent = c.client()
        silent.wait_closed()
        half.wait_closed()
        gs.equal(half.acked(s), 1, 'half.acked(s)')
        time.sleep(1.5)
        quiet.send(frame(t, 2))
        quiet.wait_ack(t, 2)
        gs.equal(len(c.frames("half", s)), 1, 'len(c.frames("half", s))')


def unread(client):
    """Bytes that the collector has not read yet."""
    return struct.unpack("i", fcntl.ioctl(client.sock, termios.TIOCOUTQ, bytes(4)))[0]


def test_own_absence_is_no_silence():
    """A collector that was away itself reads what came meanwhile before it calls anybody silent."""
    s = rng.randbytes(16)
    whole = frame(s, 2, body=b"x" * 1000)
    with Collector(BIN, options=["--silence", "3"]) as c:
        client = c.client()
        client.send(hello(s, "away"))
        client.wait_ack(s, 1)
        client.send(whole[:700])
        wait_for(lambda: not unread(client), "it has read that")
        c.process.send_signal(signal.SIGSTOP)
        time.sleep(4)  # its clock strikes before the rest comes
        client.send(whole[700:])
        c.process.send_signal(signal.SIGCONT)
        client.wait_ack(s, 2)
        gs.check("silent for too long" not in c.errors(), c.errors())


def test_claims_without_bytes():
    """Headers that promise 16 MiB each and send little: memory follows what was sent."""
    with Collector(BIN) as c:
        clients = []
        for _ in range(100):
            s = rng.randbytes(16)
            head = seal(MAGIC, 1, 3, 0, 0, s, 2, 0, 16 << 20, 16 << 20, 0)
            client = c.client()
            client.send(hello(s, "claims"), head, b"x" * 1000)
            clients.append(client)
        good, s = c.client(), rng.randbytes(16)
        good.send(hello(s, "good"), frame(s, 2, BYE))
        good.wait_ack(s, 2)
        gs.check(c.rss_kib() < 64 << 10, ('c.rss_kib() < 64 << 10', c.rss_kib()))


def test_garbage():
    s = rng.randbytes(16)
    good = hello(s, "fuzz") + b"".join(frame(s, i, body=rng.randbytes(60)) for i in range(2, 30))
    with Collector(BIN) as c:
        for i in range(400):
            data = bytearray(good)
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(data))
                what = rng.randrange(4)
                if what == 0:
                    data[at] ^= 1 << rng.randrange(8)
                elif what == 1:
                    del data[at:at + rng.randrange(200)]
                elif what == 2:
                    data[at:at] = rng.randbytes(rng.randrange(100))
                else:
                    data[at:at + 1] = data[at:at + rng.randrange(300)]
            client = c.client()
            try:
                client.send(bytes(data))
                client.half_close()
            except (BrokenPipeError, ConnectionResetError):
                pass
            client.wait_closed()
        stored = {f.seq: f for f in c.frames("fuzz", s)}  # raises unless all is whole
        gs.equal(len(stored), len(c.frames("fuzz", s)), 'len(stored)')
        gs.equal(c.stop(), 0, 'c.stop()')


def test_thousands_of_connects():
    with Collector(BIN) as c:
        begin = time.monotonic()
        for i in range(3000):
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(c.socket)
            sock.close()
        s = rng.randbytes(16)
        client = c.client()
        client.send(hello(s, "after"), frame(s, 2, BYE))
        client.wait_ack(s, 2)
        print(f"  3000 connects in {time.monotonic() - begin:.1f} s")


def test_out_of_descriptors():
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    with Collector(BIN, preexec_fn=limit) as c:
        clients = []
        for i in range(60):
            try:
                clients.append(c.client(timeout=2))
                clients[-1].send(hello(rng.randbytes(16), "many"))
            except OSError:
                pass
        time.sleep(0.5)
        for client in clients:
            client.close()
        s = rng.randbytes(16)

        def works():
            try:
                client = c.client()
                client.send(hello(s, "later"), frame(s, 2, BYE))
                client.wait_ack(s, 2, 10)
                return True
            except (ConnectionError, TimeoutError):
                return False

        wait_for(works, "no service after the crowd left")


def feed(collector, i, count, report):
    client = collector.client(timeout=240)
    s = bytes([i]) * 16
    body = os.urandom(20_000)
    data = frame(s, 2, body=body)
    client.send(hello(s, f"crowd{i % 4}"))
    for seq in range(2, count + 2):
        client.send(frame(s, seq, body=body[:(seq * 37) % 2000]))
        if seq % 16 == 0:
            client.poll()
    client.send(frame(s, count + 2, BYE))
    client.wait_ack(s, count + 2, 240)
    report.put(i)
    time.sleep(0.2)
    del data


def test_64_clients_at_once():
    with Collector(BIN) as c:
        report = multiprocessing.Queue()
        crowd = [multiprocessing.Process(target=feed, args=(c, i, 150, report)) for i in range(64)]
        for p in crowd:
            p.start()
        for p in crowd:
            p.join(300)
            gs.equal(p.exitcode, 0, 'p.exitcode')
        for i in range(64):
            frames = c.frames(f"crowd{i % 4}", bytes([i]) * 16)
            gs.equal([f.seq for f in frames], list(range(1, 153)), '[f.seq for f in frames]')
        print(f"  peak memory {c.rss_kib()} KiB")
        gs.check(c.rss_kib() < 64 << 10, 'c.rss_kib() < 64 << 10')
        gs.equal(c.stop(), 0, 'c.stop()')


if __name__ == "__main__":
    gs.run_tests(globals())
