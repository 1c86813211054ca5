# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""How a collector starts, shares a socket's path with others, and ends."""
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
from collector import (BYE, Collector, bin_dir, frame, hello, read_stream, seeded, wait_for)

BIN = bin_dir()
PROGRAM = os.path.join(BIN, "gpustarve-collector")
rng = seeded()


def run(*args, **kw):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=120, **kw)


def test_usage():
    p = run("--help")
    gs.check(p.returncode == 0 and p.stdout.startswith("usage:") and not p.stderr,
             'p.returncode == 0 and p.stdout.startswith("usage:") and not p.stderr')
    gs.check(run("--version").stdout.startswith("gpustarve-collector "),
             'run("--version").stdout.startswith("gpustarve-collector ")')
    with tempfile.TemporaryDirectory() as d:
        usage_errors(d)


def usage_errors(d):
    for args in ([], ["--unix"], ["--unix", ""], ["--nonsense"], ["--unix", "/x", "extra"],
                 ["--unix", "/tmp/x", "--grace", "-1"], ["--unix", "/tmp/x", "--grace", "1s"],
                 ["--unix", "/tmp/x", "--until-eof", "99"], ["--unix", "/tmp/" + "x" * 120]):
        p = run(*args, cwd=d)
        gs.check(p.returncode == 1 and len(p.stderr.splitlines()) == 1,
                 f'p.returncode == 1 and len(p.stderr.splitlines()) == 1: {(args, p)}')


def test_manual():
    """The manual and --help name the same options."""
    import re
    manual = os.path.join(gs.SOURCE, "docs", "gpustarve-collector.md")
    with open(manual) as f:
        options = f.read().split("# OPTIONS")[1].split("# SIGNALS")[0]
    told = set(re.findall(r"^\*\*(--[a-z-]+)", options, re.M)) | {"--version"}
    helped = set(re.findall(r"(--[a-z-]+)", run("--help").stdout)) - {"--collector"}
    gs.equal(told, helped, 'told')


def test_started_twice():
    with Collector(BIN) as c:
        p = run("--dir", c.base, "--unix", c.socket)
        gs.check(p.returncode == 3 and "another collector" in p.stderr,
                 ('p.returncode == 3 and "another collector" in p.stderr', p))
        s = rng.randbytes(16)
        client = c.client()
        client.send(hello(s, "one"), frame(s, 2, BYE))
        client.wait_ack(s, 2)


def test_race():
    """Of many started at once exactly one serves, over a dead one's socket."""
    for _ in range(5):
        with Collector(BIN) as c:
            c.kill()
            gs.check(os.path.exists(c.socket), 'os.path.exists(c.socket)')
            crowd = [subprocess.Popen([PROGRAM, "--dir", c.base, "--unix", c.socket],
                                      stderr=subprocess.DEVNULL) for _ in range(12)]
            wait_for(lambda: sum(p.poll() is None for p in crowd) == 1, "not exactly one is left")
            (winner,) = [p for p in crowd if p.poll() is None]
            gs.check(all(p.returncode == 3 for p in crowd if p is not winner),
                     'all(p.returncode == 3 for p in crowd if p is not winner)')
            s = rng.randbytes(16)
            client = c.client()
            client.send(hello(s, "race"), frame(s, 2, BYE))
            client.wait_ack(s, 2)
            winner.terminate()
            gs.equal(winner.wait(60), 0, 'winner.wait(60)')


def test_foreign_files():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "s")
        with open(path, "w") as f:
            f.write("precious")
        p = run("--dir", d + "/runs", "--unix", path)
        gs.check(p.returncode == 1 and "not a socket" in p.stderr, 'p.returncode == 1 and "not a socket" in p.stderr')
        gs.equal(open(path).read(), "precious", 'open(path).read()')
        os.unlink(path)
        other = socket.socket(socket.AF_UNIX)
        other.bind(path)
        other.listen()
        p = run("--dir", d + "/runs", "--unix", path)
        gs.check(p.returncode == 1 and "another program" in p.stderr,
                 'p.returncode == 1 and "another program" in p.stderr')
        gs.check(os.path.exists(path), 'os.path.exists(path)')


def test_until_eof():
    read, write = os.pipe()
    s, t = rng.randbytes(16), rng.randbytes(16)
    with Collector(BIN, options=["--until-eof", str(read), "--grace", "600"]) as c:
        os.close(read)
        client, second = c.client(), c.client()
        client.send(hello(s, "eof"), frame(s, 2))
        client.wait_ack(s, 2)
        os.close(write)
        time.sleep(0.4)
        gs.check(c.process.poll() is None, "a client is connected and alive")
        second.send(hello(t, "eof"), frame(t, 2))
        client.send(frame(s, 3))
        client.wait_ack(s, 3)
        client.send(frame(s, 4, BYE))
        client.close()
        time.sleep(0.4)
        gs.check(c.process.poll() is None, "the second one is")
        second.send(frame(t, 3))
        second.close()
        gs.equal(c.process.wait(60), 0, 'c.process.wait(60)')  # long before the grace time
        gs.check(len(c.frames("eof", s)) == 4 and len(c.frames("eof", t)) == 3,
                 'len(c.frames("eof", s)) == 4 and len(c.frames("eof", t)) == 3')


def test_until_eof_at_once():
    read, write = os.pipe()
    with Collector(BIN, options=["--until-eof", str(read), "--grace", "600"]) as c:
        os.close(read)
        os.close(write)
        gs.equal(c.process.wait(60), 0, 'c.process.wait(60)')


def test_until_eof_grace():
    """A client that said Bye, but whose socket somebody holds, is waited for for the grace time."""
    read, write = os.pipe()
    s = rng.randbytes(16)
    with Collector(BIN, options=["--until-eof", str(read), "--grace", "1"]) as c:
        os.close(read)
        client, mute = c.client(), c.client()
        client.send(hello(s, "grace"), frame(s, 2, BYE))
        client.wait_ack(s, 2)
        begin = time.monotonic()
        os.close(write)
        gs.equal(c.process.wait(60), 0, 'c.process.wait(60)')
        gs.check(time.monotonic() - begin > 0.9, 'it waits')
        mute.close()


def test_until_eof_client_killed():
    """The trainer is killed while a worker of it holds the socket: no reason to stay."""
    read, write = os.pipe()
    with Collector(BIN, options=["--until-eof", str(read)]) as c:
        os.close(read)
        code = (f"import os, sys, time; sys.path.insert(0, {sys.path[0]!r})\n"
                "from collector import Client, hello\n"
                f"client = Client({c.socket!r}); client.send(hello(b'k' * 16, 'k'))\n"
                "print('up', flush=True)\n"
                "os.fork()\ntime.sleep(300)\n")
        p = subprocess.Popen(["/usr/bin/python3", "-c", code], stdout=subprocess.PIPE,
                             start_new_session=True)
        gs.equal(p.stdout.readline(), b"up\n", 'p.stdout.readline()')
        time.sleep(0.2)
        os.close(write)
        time.sleep(0.3)
        gs.check(c.process.poll() is None, 'c.process.poll() is None')
        p.kill()
        gs.equal(c.process.wait(60), 0, 'c.process.wait(60)')
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        gs.check(os.path.exists(os.path.join(c.base, "k.gst", f"exit-coll-{(b'k' * 16).hex()}.json")),
                 'os.path.exists(os.path.join(c.base, "k.gst", f"exit-coll-{(b\'k\' * 1...')


def test_idle_exit():
    with Collector(BIN, options=["--idle-exit", "3"]) as c:
        client = c.client()
        time.sleep(4)
        gs.check(c.process.poll() is None, 'c.process.poll() is None')
        begin = time.monotonic()
        client.close()
        gs.equal(c.process.wait(60), 0, 'c.process.wait(60)')
        gs.check(time.monotonic() - begin > 2.8, 'it waits')
        gs.check(not os.path.exists(c.socket), 'not os.path.exists(c.socket)')


def test_signals():
    for sig in (signal.SIGTERM, signal.SIGINT):
        s = rng.randbytes(16)
        with Collector(BIN) as c:
            client = c.client()
            client.send(hello(s, "signal"))
            client.wait_ack(s, 1)
            client.send(*[frame(s, i, body=b"y" * 500) for i in range(2, 100)])
            c.process.send_signal(signal.SIGUSR1)
            gs.equal(c.stop(sig), 0, 'c.stop(sig)')
            client.wait_ack(s, 99)
            client.wait_closed()
            gs.equal(len(c.frames("signal", s)), 99, 'len(c.frames("signal", s))')
            gs.check("status: 1 clients, 1 streams" in c.errors(), '"status: 1 clients, 1 streams" in c.errors()')


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80))


def test_too_many_clients():
    """Who finds no place is turned away, and the log says for which bound: a limit, or descriptors."""
    for options, limit, places, said in (
            (["--limit", "clients=3"], None, 3, "limit clients is reached (3)"),
            ([], few_descriptors, 4, "4 clients are connected, as many as there are descriptors for")):
        with Collector(BIN, options=options, preexec_fn=limit) as c:
            s = rng.randbytes(16)
            client = c.client()
            client.send(hello(s, "one"))
            client.wait_ack(s, 1)
            others = [c.client() for _ in range(places + 1)]
            for late in others[places - 1:]:
                late.wait_closed()
            gs.equal(c.errors().count(said), 1, f"said once: {c.errors()}")
            gs.equal(c.errors().count("too many clients; turned away"), 2, "told each")
            client.send(frame(s, 2, BYE))
            client.wait_ack(s, 2)
            gs.equal(c.stop(), 0, "c.stop()")


def test_stderr_that_nobody_reads():
    """Its log never holds a collector up: not a full pipe, not a closed one."""
    with tempfile.TemporaryDirectory() as d:
        read, write = os.pipe()
        path = os.path.join(d, "s")
        p = subprocess.Popen([PROGRAM, "--dir", d + "/runs", "--unix", path], stderr=write)
        os.close(write)
        wait_for(lambda: os.path.exists(path), "not up")
        for _ in range(300):
            p.send_signal(signal.SIGUSR1)
            time.sleep(0.002)
        os.close(read)
        p.send_signal(signal.SIGUSR1)
        p.terminate()
        gs.equal(p.wait(60), 0, 'p.wait(60)')


def test_no_stdio():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "s")
        p = subprocess.Popen([PROGRAM, "--dir", d + "/runs", "--unix", path, "--verbose"],
                             preexec_fn=lambda: os.closerange(0, 3))
        wait_for(lambda: os.path.exists(path), "not up")
        from collector import Client
        client, s = Client(path), rng.randbytes(16)
        client.send(hello(s, "x"), frame(s, 2, BYE))
        client.wait_ack(s, 2)
        p.terminate()
        gs.equal(p.wait(60), 0, 'p.wait(60)')
        gs.equal(len(read_stream(os.path.join(d, "runs", "x.gst", s.hex() + ".gst"))), 2,
                 'len(read_stream(os.path.join(d, "runs", "x.gst", s.hex() + ".gst")))')


if __name__ == "__main__":
    gs.run_tests(globals())
