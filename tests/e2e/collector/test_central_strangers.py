#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=1200
"""What a node believes of answers: those of a collector, and only as far as they go. Nothing is given
up for what something else on the way says, and one run that the centre cannot take keeps no other back."""
import http.client
import http.server
import os
import resource
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import central
import collector as c
import gs
import network

BIN = c.bin_dir()
R = c.seeded()
PATIENCE = 120  # others compute here, too
PAGE = b'<html><body>Welcome. Please log in.</body></html>'


class Front(http.server.ThreadingHTTPServer):
    """Stands before a centre as a proxy does, and may answer for it."""
    daemon_threads = True

    def __init__(self, centre):
        super().__init__(('127.0.0.1', 0), Answer)
        self.centre = centre
        self.say(None)
        self.url = f'http://127.0.0.1:{self.server_port}'
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def say(self, says):
        """says(method, path, body) -> (status, headers, body), or None: the centre's own answer."""
        self.says, self.asked = says, set()

    def wait_asked(self, *methods):
        c.wait_for(lambda: self.asked >= set(methods), f'all of {methods}', PATIENCE)


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        length = int(self.headers.get('Content-Length', 0))
        body = self.rfile.read(length)
        front = self.server
        got = front.says and front.says(self.command, self.path, body)
        if not got:
            k = http.client.HTTPConnection('127.0.0.1', front.centre.port, timeout=PATIENCE)
            keep = {n: v for n, v in self.headers.items()
                    if n.lower() in ('authorization', 'gpustarve-node', 'content-type')}
            k.request(self.command, self.path, body if length else None, keep)
            answer = k.getresponse()
            got = answer.status, dict(answer.getheaders()), answer.read()
            k.close()
        front.asked.add(self.command)
        status, headers, body = got
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() in ('gpustarve-stored', 'retry-after'):
                self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST = do_GET

    def log_message(self, *_):
        pass


def send(node, run, count, size=20000):
    """A process's stream of so many frames, all of them acknowledged by the node."""
    stream = R.randbytes(16)
    sent = [c.hello(stream, run)]
    sent += [c.frame(stream, n, body=R.randbytes(size)) for n in range(2, count + 1)]
    client = node.client(timeout=PATIENCE)
    client.send(*sent)
    client.wait_ack(stream, count)
    client.close()
    return stream


def put_record(node, run):
    path = os.path.join(node.base, run + '.gst')
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, 'run.json'), 'w') as f:
        f.write('{"exit_status": 0}')


def cursor(node, run):
    """The streams' lines of the cursor, of all stores that it knows."""
    with open(os.path.join(node.base, run + '.gst', '.upstream')) as f:
        return [line for line in f.read().splitlines()[2:] if not line.startswith('centre ')]


def is_there(centre, run, stream, count):
    return centre.seqs(run, stream) == list(range(1, count + 1))


def test_strangers():
    """A login page, a proxy's 400, 404 and 413, all in place of the centre's: nothing goes missing."""
    with tempfile.TemporaryDirectory() as root, central.Centre(BIN, root, https=False) as centre:
        front = Front(centre)
        options = central.upstream(centre)
        options[1] = front.url
        front.say(lambda *_: (200, {}, PAGE))
        with c.Collector(BIN, root=root, options=options) as node:
            put_record(node, 'run')
            stream = send(node, 'run', 30)
            c.wait_for(lambda: 'not a gpustarve collector' in node.errors(), 'says so', PATIENCE)
            clock = b'{"received_ns":1,"answered_ns":2}\n'
            for status, headers, body in ((200, {}, PAGE), (400, {}, b'bad request\n'), (404, {}, PAGE),
                                          (409, {}, b'conflict\n'), (413, {}, PAGE),
                                          (400, {'Gpustarve-Stored': '20001'}, b'not between\n')):
                node.stop(timeout=PATIENCE)  # it would wait longer and longer
                front.say(lambda method, *_, says=(status, headers, body):
                          (200, {}, clock) if method == 'GET' else says)
                node.start()
                front.wait_asked('PUT', 'POST')
            node.stop(timeout=PATIENCE)
            gs.check(all(line.split()[1] == '0' for line in cursor(node, 'run')),
                     ("all(line.split()[1] == '0' for line in cursor(node, 'run'))", cursor(node, 'run')))
            front.say(lambda method, path, body: (413, {}, PAGE) if len(body) > 300000 else None)
            node.start()
            c.wait_for(lambda: is_there(centre, 'run', stream, 30), 'all of it arrives', PATIENCE)
            record = os.path.join(centre.base, 'alpha', 'run.gst', 'run.json')
            c.wait_for(lambda: os.path.exists(record), 'so does its record', PATIENCE)
            front.say(None)
            gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')
            gs.check('will be missing' not in node.errors(), ("'will be missing' not in node.errors()", node.errors()))
        front.shutdown()
        front.server_close()


def test_one_run():
    """The centre can store nothing of one run, nor more of a stream: all others arrive."""
    with tempfile.TemporaryDirectory() as root, \
            central.Centre(BIN, root, https=False, options=['--limit', 'stream-size=200K']) as centre:
        os.makedirs(os.path.join(centre.base, 'alpha'))
        bad = central.write(os.path.join(centre.base, 'alpha', 'bad.gst'), 'no folder')
        with c.Collector(BIN, root=root, options=central.upstream(centre)) as node:
            for run in 'bad', 'long', 'good':
                put_record(node, run)
            worst = send(node, 'bad', 5)
            longest = send(node, 'long', 20)
            good = send(node, 'good', 5)
            c.wait_for(lambda: is_there(centre, 'good', good, 5), 'the good one arrives', PATIENCE)
            c.wait_for(lambda: is_there(centre, 'long', longest, 11), 'what there is room for', PATIENCE)
            later = send(node, 'later', 5)
            c.wait_for(lambda: is_there(centre, 'later', later, 5), 'later ones arrive', PATIENCE)
            os.unlink(bad)
            c.wait_for(lambda: is_there(centre, 'bad', worst, 5), 'the bad one, once it can', PATIENCE)
            c.wait_for(lambda: 'the greatest length allowed' in node.errors(), 'says what is missing', PATIENCE)
            node.stop(timeout=PATIENCE)
        gs.equal(centre.stop(), 0, 'centre.stop()')


class Crowd:
    """Sockets that say nothing, or stop amid a handshake; and bodies that come a byte a second, of who may write and of
    who may not."""

    def __init__(self, centre, silent, slow):
        self.centre, self.sockets, self.bodies, self.told = centre, [], [], threading.Event()
        self.teller = threading.Thread(target=self.trickle, daemon=True)
        for i in range(silent):
            self.silent(i)
        for i in range(slow):
            self.body(central.TOKENS['beta'] if i % 3 else 'nobody-has-this-token-1')
        self.teller.start()

    def socket(self, i):
        s = socket.socket()
        s.settimeout(PATIENCE)
        self.sockets.append(s)
        s.bind(('127.0.0.2' if i % 2 else '127.0.0.1', 0))
        s.connect(('127.0.0.1', self.centre.port))
        return s

    def silent(self, i):
        hello = bytes.fromhex('160301020001000020')  # a handshake's first bytes
        s = self.socket(i)
        if i % 4 == 0:
            s.send(hello)

    def body(self, token):
        """A post that has begun. Nobody has to take it."""
        s = self.socket(0)
        try:
            if self.centre.https:
                s = self.centre.context().wrap_socket(s, server_hostname='127.0.0.1')
            s.sendall(f'POST /v1/frames HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n'
                      'Content-Length: 100000\r\n\r\n'.encode())
        except OSError:
            return
        self.sockets.append(s)
        self.bodies.append(s)

    def idle(self, token):
        """A connection that was of use once."""
        s = self.socket(0)
        s.sendall(f'GET /v1/runs HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n\r\n'.encode())
        s.recv(65536)

    def trickle(self):
        while not self.told.wait(1):
            for s in self.bodies:
                try:
                    s.send(b'G')
                except OSError:
                    pass

    def close(self):
        self.told.set()
        self.teller.join()
        for s in self.sockets:
            s.close()


def posts_beside(centre, count, what):
    """How long so many take, each on a connection of its own."""
    took = []
    for i in range(count):
        began = time.monotonic()
        status = centre.post(c.hello(R.randbytes(16), f'run-{i}'))[0]
        took.append(time.monotonic() - began)
        gs.equal(status, 200, f'post {i}')
    took.sort()
    print(f'{count} posts beside {what}: median {took[count // 2] * 1000:.0f} ms, p99 {took[count * 99 // 100] * 1000:.0f} ms, '
          f'longest {took[-1] * 1000:.0f} ms')


def test_crowd():
    """One host opens more sockets than the centre has, and says nothing, or stops amid a handshake, or posts a byte a
    second: others post as ever, from the same address too."""
    slow = 900 if gs.BIG else 90
    with tempfile.TemporaryDirectory(prefix='gpustarve-crowd-') as root, \
            central.Centre(BIN, root, options=['--silence', '300']) as centre:  # else a busy machine opens them for longer than that
        stays, stream = centre.connect(), R.randbytes(16)  # it has authenticated, and stays
        asked = {'Authorization': 'Bearer ' + central.TOKENS['alpha']}
        stays.request('POST', '/v1/frames', c.hello(stream, 'stays'), asked)
        gs.equal(stays.getresponse().read() != b'', True, 'before the crowd')
        crowd = Crowd(centre, 4200, slow)
        try:
            stays.request('POST', '/v1/frames', c.frame(stream, 2), asked)
            gs.equal(stays.getresponse().status, 200, 'the connection of before')
            posts_beside(centre, 1000 if gs.BIG else 40, f'4,200 silent sockets and {slow} slow bodies')
        finally:
            crowd.close()
        gs.equal(centre.stop(), 0, 'the end')
        gs.check(centre.counters()['http_crowded'] > 3000, centre.counters())
        print({name: n for name, n in centre.counters().items() if name.startswith('http')})


def test_slow_team():
    """A team whose bodies come a byte a second takes no other's place, though it may write and has more connections than
    there are."""
    with tempfile.TemporaryDirectory() as root, central.Centre(BIN, root, https=False, options=['--silence', '300']) as centre:
        crowd = Crowd(centre, 0, 0)
        try:
            for _ in range(4300):
                crowd.body(central.TOKENS['beta'])
            posts_beside(centre, 100 if gs.BIG else 20, f'{len(crowd.bodies)} slow bodies of a team')
        finally:
            crowd.close()
        gs.equal(centre.stop(), 0, 'the end')
        gs.check(centre.counters()['http_idlest'] > 1200, centre.counters())


def test_idle_team():
    """The same of connections that a team keeps and does nothing with; who has few keeps them. The log names the team."""
    with tempfile.TemporaryDirectory() as root, central.Centre(BIN, root, https=False, options=['--silence', '300']) as centre:
        stays, asked = centre.connect(), {'Authorization': 'Bearer ' + central.TOKENS['alpha']}
        stays.request('GET', '/v1/runs', None, asked)
        gs.equal(stays.getresponse().read() != b'', True, 'before the crowd')
        crowd, was, began = Crowd(centre, 0, 0), stays.sock, time.monotonic()
        try:
            for _ in range(4300):
                crowd.idle(central.TOKENS['beta'])
            posts_beside(centre, 100 if gs.BIG else 20, f'{len(crowd.sockets)} idle connections of a team')
            stays.request('GET', '/v1/runs', None, asked)
            gs.equal(stays.getresponse().status, 200, 'the connection of before')
            gs.check(stays.sock is was, 'it was not closed')
        finally:
            crowd.close()
        gs.equal(centre.stop(), 0, 'the end')
        gs.check(centre.counters()['http_idlest'] > 1200, centre.counters())
        said = sum('team beta has 3' in line for line in centre.log().splitlines())
        gs.check(1 <= said <= 1 + (time.monotonic() - began) // 60, f'once a minute: {centre.log()[-2000:]}')


if __name__ == '__main__':
    network.be_alone()  # what others look at is not to hold thousands of sockets of ours
    resource.setrlimit(resource.RLIMIT_NOFILE, [resource.getrlimit(resource.RLIMIT_NOFILE)[1]] * 2)
    gs.run_tests(globals())
