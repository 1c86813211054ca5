#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""A central collector's HTTP with real TLS: what it stores, what it acknowledges, and who is refused."""
import hashlib
import json
import os
import random
import socket
import ssl
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import central
import collector as c

BIN = c.bin_dir()
R = c.seeded()


def stream():
    return R.randbytes(16)


def folder():
    return tempfile.TemporaryDirectory(prefix='gpustarve-central-')


def frames_of(s, run, count, first=2, size=3000):
    return [c.hello(s, run)] + [c.frame(s, n, body=R.randbytes(R.randrange(size)))
                                for n in range(first, count + 1)]


def test_frames():
    """In any order, twice, in pieces of any length, several streams in one body: each frame is there
    once, as it was sent, and the answer says up to where no gap is."""
    with folder() as root, central.Centre(BIN, root) as centre:
        a, b = stream(), stream()
        fa, fb = frames_of(a, 'run-1', 40), frames_of(b, 'run-1', 30, size=200000)
        status, acks, _ = centre.post(fa[0], fb[0], *fb[1:10], *fa[1:10])
        gs.equal((status, acks), (200, {a: 10, b: 10}), '(status, acks)')
        status, acks, _ = centre.post(*fa[20:30])
        gs.equal((status, acks), (200, {a: 10}), '(status, acks)')  # a gap stays a gap
        rest = fa[10:20] + fa[30:] + fb[5:]
        R.shuffle(rest)
        status, acks, _ = centre.post(*rest)
        gs.equal((status, acks), (200, {a: 40, b: 30}), '(status, acks)')
        status, acks, _ = centre.post(*fa, *fb)
        gs.equal((status, acks), (200, {a: 40, b: 30}), '(status, acks)')
        gs.equal(centre.post()[:2], (200, {}), 'centre.post()[:2]')
        # Every second one, twice: many gaps, and still each frame once.
        g = stream()
        fg = frames_of(g, 'run-1', 400, size=50)
        for odd in fg[::2], fg[::2], fg[1::2], fg:
            status, acks, _ = centre.post(*odd)
        gs.equal((status, acks), (200, {g: 400}), '(status, acks)')
        for s, sent in (a, fa), (b, fb), (g, fg):
            got = open(centre.path('run-1', s), 'rb').read()
            stored = centre.frames('run-1', s)
            gs.equal(sorted(f.seq for f in stored), list(range(1, len(sent) + 1)), 'sorted(f.seq for f in stored)')
            for f in stored:
                gs.equal(got[f.offset:f.offset + f.bytes], sent[f.seq - 1], 'got[f.offset:f.offset + f.bytes]')
        gs.equal(centre.stop(), 0, 'centre.stop()')
        gs.equal(centre.counters()['duplicates'], 5 + 70 + 200 + 400, "centre.counters()['duplicates']")


def test_many_streams():
    """A body of many streams is made durable in one go; so is what is sent again after a kill."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        streams = [stream() for _ in range(60)]
        sent = {s: frames_of(s, f'run-{i % 3}', 6, size=300) for i, s in enumerate(streams)}
        for count in 3, 6, 6:
            status, acks, _ = centre.post(*[f for s in streams for f in sent[s][:count]])
            gs.equal((status, acks), (200, {s: count for s in streams}), '(status, acks)')
            centre.kill()
            for i, s in enumerate(streams):
                gs.equal(centre.seqs(f'run-{i % 3}', s), list(range(1, count + 1)), "centre.seqs(f'run-{i % 3}', s)")
            centre.start()


def test_damage():
    """A damaged frame is named, in the answer and the log; what stands before it is kept."""
    with folder() as root, central.Centre(BIN, root) as centre:
        s = stream()
        sent = frames_of(s, 'run', 12)
        for at, hit in (5, 70), (7, 10), (9, -1):
            bad = bytearray(sent[at])
            bad[hit] ^= 1
            before = b''.join(sent[:at])
            status, text, headers = centre.post(before, bytes(bad), *sent[at + 1:])
            gs.equal(status, 400, 'status')
            gs.equal(int(headers['gpustarve-stored']), len(before), "int(headers['gpustarve-stored'])")
            gs.check(f'byte {len(before)}' in text, ("f'byte {len(before)}' in text", text))
            if hit != 10:
                gs.check(f'stream {s.hex()}, number {at + 1}' in text,
                         ("f'stream {s.hex()}, number {at + 1}' in text", text))
                gs.check(f'number {at + 1}: its CRC is wrong' in centre.log(),
                         ("f'number {at + 1}: its CRC is wrong' in centre.log()", centre.log()))
            gs.equal(centre.seqs('run', s), list(range(1, at + 1)), "centre.seqs('run', s)")
        status, text, _ = centre.post(*sent[:11], sent[11][:-1])
        gs.check(status == 400 and 'ends in the middle' in text, ("status == 400 and 'ends in the middle' in text", text))
        for body in b'x' * 64, c.frame(s, 0), c.frame(s, 5, kind=c.ACK):
            gs.equal(centre.post(body)[0], 400, 'centre.post(body)[0]')
        status, text, _ = centre.post(c.frame(stream(), 7))
        gs.check(status == 409 and 'Hello' in text, f"status == 409 and 'Hello' in text: {(status, text)}")
        gs.equal(centre.post(*sent)[:2], (200, {s: 12}), 'centre.post(*sent)[:2]')
        gs.equal(centre.seqs('run', s), list(range(1, 13)), "centre.seqs('run', s)")


def test_who_may():
    """No token, a wrong one, one without the scope; and teams that cannot see each other's runs."""
    with folder() as root, central.Centre(BIN, root) as centre:
        s = stream()
        sent = frames_of(s, 'shared-name', 5)
        for token, want in ((None, 401), ('x' * 20, 401), (central.TOKENS['alpha'][:-1], 401),
                            (central.TOKENS['alpha'] + 'x', 401), ('', 401),
                            (central.TOKENS['reader'], 403)):
            gs.equal(centre.post(*sent, token=token)[0], want, 'centre.post(*sent, token=token)[0]')
            gs.equal(centre.ask('PUT', '/v1/runs/r/files/run.json', b'{}', token=token)[0], want,
                     "centre.ask('PUT', '/v1/runs/r/files/run.json', b'{}', token=token)[0]")
        basic = {'Authorization': 'Basic OmFscGhhLXdyaXRlcy1hbmQtcmVhZHM='}  # alpha's, from a browser
        gs.equal(centre.ask('POST', '/v1/frames', b'', token=None, headers=basic)[0], 403,
                 "centre.ask('POST', '/v1/frames', b'', token=None, headers=basic)[0]")
        gs.check(not os.path.exists(os.path.join(centre.base, 'alpha', 'shared-name.gst')),
                 "not os.path.exists(os.path.join(centre.base, 'alpha', 'shared-name....")
        # Streams and runs of one name in two teams are two.
        gs.equal(centre.post(*sent)[1], {s: 5}, 'centre.post(*sent)[1]')
        status, text, _ = centre.post(sent[3], token=central.TOKENS['beta'])
        gs.equal(status, 409, 'status')  # beta's store has no such stream
        gs.equal(centre.post(*sent[:3], token=central.TOKENS['beta'])[1], {s: 3},
                 "centre.post(*sent[:3], token=central.TOKENS['beta'])[1]")
        gs.equal(centre.seqs('shared-name', s), [1, 2, 3, 4, 5], "centre.seqs('shared-name', s)")
        gs.equal(centre.seqs('shared-name', s, team='beta'), [1, 2, 3], "centre.seqs('shared-name', s, team='beta')")
        gs.equal(centre.ask('GET', '/healthz', token=None)[0], 200, "centre.ask('GET', '/healthz', token=None)[0]")
        gs.equal(centre.stop(), 0, 'centre.stop()')
        log = centre.log()
        for token in central.TOKENS.values():
            gs.check(token not in log and token[:8] not in log, 'token not in log and token[:8] not in log')
        gs.check('refused: wrong token' in log or 'refused: no token' in log,
                 ("'refused: wrong token' in log or 'refused: no token' in log", log))
        gs.check(centre.counters()['http_refused'] >= 13,
                 ("centre.counters()['http_refused'] >= 13", centre.counters()))


def test_paths():
    """Nothing but the names of the list can be written, whatever the path looks like."""
    tricks = ['/v1/runs/../files/run.json', '/v1/runs/..%2f..%2fetc/files/run.json',
              '/v1/runs/%2e%2e/files/run.json', '/v1/runs/r%00/files/run.json',
              '/v1/runs/r/files/..', '/v1/runs/r/files/.upstream', '/v1/runs/r/files/%72un.json',
              '/v1/runs/r/files/a/../run.json', '/v1/runs/r/files/exit-../../x.json',
              '/v1/runs/r/files/exit-.json', '/v1/runs/r/files/summary.json',
              '/v1/runs/r/files/report.html', '/v1/runs/r/files/run.json/', '/v1/runs//files/run.json',
              '/v1/runs/.hidden/files/run.json', '//v1/runs/r/files/run.json',
              '/v1/runs/' + 'r' * 300 + '/files/run.json', '/v1/runs/r/files/exit-' + 'x' * 300 + '.json',
              '/v1/runs/r\\..\\x/files/run.json', '/v1/runs/r/files/0123456789abcdef0123456789abcdef.gst']
    with folder() as root, central.Centre(BIN, root) as centre:
        before = sorted(os.listdir(root))
        for path in tricks:
            status = centre.ask('PUT', path, b'{}')[0]
            gs.check(status in (400, 404), f'status in (400, 404): {(path, status)}')
        gs.equal(sorted(os.listdir(root)), before, 'sorted(os.listdir(root))')
        gs.equal(centre.names(), [], 'centre.names()')
        good = {'run.json': b'{"id":"r"}', 'exit-n-1.json': b'{}', 'alerts.jsonl': b'{}\n', 'alerts-node-n.jsonl': b'{}\n',
                'alloc-n-0.json': b'', 'clock-n.json': b'x' * (1 << 20)}
        for name, body in good.items():
            gs.equal(centre.ask('PUT', f'/v1/runs/r/files/{name}', body)[0], 200,
                     "centre.ask('PUT', f'/v1/runs/r/files/{name}', body)[0]")
            kept = 'alerts-node-unknown.jsonl' if name == 'alerts.jsonl' else name
            gs.equal(open(os.path.join(centre.base, 'alpha', 'r.gst', kept), 'rb').read(), body,
                     f'{name} as it was sent')
        # Names out of a Hello become names of files, and nothing else.
        for run in '../../escape', '/etc/passwd', 'a/b', '..', '.x', 'r\0r':
            s = stream()
            gs.equal(centre.post(*frames_of(s, run, 2))[0], 200, 'centre.post(*frames_of(s, run, 2))[0]')
        for where, folders, files in os.walk(root):
            gs.check(os.path.realpath(where).startswith(os.path.realpath(root)),
                     'os.path.realpath(where).startswith(os.path.realpath(root))')
        gs.check(all(n.endswith('.gst') for n in centre.names()), centre.names())


def test_run_json_of_nodes():
    """The first node's run.json is the run's. Others' ends of processes stand beside it, and alerts of each."""
    with folder() as root, central.Centre(BIN, root) as centre:
        for node, text in ('n1', 'first'), ('n2', 'second'), ('n1', 'third'), ('../n3', 'fourth'):
            status = centre.ask('PUT', '/v1/runs/r/files/run.json', json.dumps(text).encode(),
                                headers={'Gpustarve-Node': node})[0]
            gs.equal(status, 200, 'status')
        run = os.path.join(centre.base, 'alpha', 'r.gst')
        alerts = {'n1': b'one\n', 'n2': b'two\n', '../n3': b'three\n'}
        for node, text in alerts.items():
            gs.equal(centre.ask('PUT', '/v1/runs/r/files/alerts.jsonl', text, headers={'Gpustarve-Node': node})[0], 200,
                     f'alerts of {node}')
        # alerts.jsonl is what this collector remembers by, and nobody else's.
        gs.equal(sorted(n for n in os.listdir(run) if n.startswith('alerts')),
                 ['alerts-node-_._n3.jsonl', 'alerts-node-n1.jsonl', 'alerts-node-n2.jsonl'], 'each node has its own')
        for node, text in alerts.items():
            name = f"alerts-node-{node.replace('../', '_._')}.jsonl"
            with open(os.path.join(run, name), 'rb') as f:
                gs.equal(f.read(), text, name)
            os.unlink(os.path.join(run, name))
        got = {n: json.load(open(os.path.join(run, n))) for n in os.listdir(run) if n[0] != '.'}
        gs.equal(got, {'run.json': 'third', 'exit-node-n2.json': 'second',
                       'exit-node-_._n3.json': 'fourth'}, 'got')


def test_side_files_in_order():
    """What says what it takes the place of comes late, twice or damaged in vain; what says nothing is
    believed, as it was before there was a way to say it."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        where = os.path.join(centre.base, 'alpha', 'r.gst', 'alerts-node-n1.jsonl')

        def put(text, match=None, name='alerts.jsonl', node='n1', digest=True, asked=None):
            headers = {'Gpustarve-Node': node}
            if match:
                headers['If-None-Match' if match == '*' else 'If-Match'] = match
            if digest:
                headers['Gpustarve-Digest'] = hashlib.sha256(
                    f'r/{name}\n{node}\n{match or ""}\n'.encode() + text).hexdigest()
            status, got, _ = centre.ask('PUT', f'/v1/runs/r/files/{asked or name}', text, headers=headers)
            return status, got.get('etag'), got.get('gpustarve-damaged')

        def there():
            with open(where, 'rb') as f:
                return f.read()
        status, first, _ = put(b'1', '*')
        gs.check(status == 200 and first and there() == b'1', "status == 200 and first and there() == b'1'")
        gs.equal(put(b'1', '*')[:2], (200, first), "put(b'1', '*')[:2]")  # its answer was lost
        gs.check(put(b'2', '*') == (412, first, None) and there() == b'1',
                 "put(b'2', '*') == (412, first, None) and there() == b'1'")
        status, second, _ = put(b'2', first)
        gs.check(status == 200 and second != first and there() == b'2',
                 "status == 200 and second != first and there() == b'2'")
        for late in b'1', b'1.5', b'', b'2 and more':
            gs.check(put(late, first)[:2] == (412, second) and put(late, '*')[:2] == (412, second),
                     "put(late, first)[:2] == (412, second) and put(late, '*')[:2] == (41...")
        gs.equal(there(), b'2', 'there()')
        gs.equal(put(b'2', first)[:2], (200, second), "put(b'2', first)[:2]")
        centre.kill()
        centre.start()
        gs.equal(put(b'1', first)[:2], (412, second), "put(b'1', first)[:2]")  # nor over a restart
        # It may go back to what it once was, if its sender says so.
        status, third, _ = put(b'1', second)
        gs.check(status == 200 and put(b'2', first)[0] == put(b'2', second)[0] == 412 and there() == b'1',
                 "status == 200 and put(b'2', first)[0] == put(b'2', second)[0] == 41...")
        # Damage to anything: what is in it, whose, which, and what it takes the place of.
        before = {'Gpustarve-Node': 'n1', 'If-Match': third}
        sum_ = hashlib.sha256(f'r/alerts.jsonl\nn1\n{third}\n'.encode() + b'right').hexdigest()
        for text, name, change in ((b'wrong', 'alerts.jsonl', {}), (b'right', 'exit-a.json', {}),
                                   (b'right', 'blerts.jsonl', {}), (b'right', 'alerts.jsonl', {'If-Match': first}),
                                   (b'right', 'alerts.jsonl', {'Gpustarve-Node': 'n2'}),
                                   (b'right', 'alerts.jsonl', {'Gpustarve-Digest': '0' * 64})):
            status, got, _ = centre.ask('PUT', f'/v1/runs/r/files/{name}', text,
                                        headers={**before, 'Gpustarve-Digest': sum_, **change})
            gs.equal((status, got.get('gpustarve-damaged')), (400, '1'), "(status, got.get('gpustarve-damaged'))")
        gs.equal([n for n in os.listdir(os.path.dirname(where)) if n[0] != '.'], ['alerts-node-n1.jsonl'],
                 "[n for n in os.listdir(os.path.dirname(where)) if n[0] != '.']")
        gs.equal(put(b'x', third, name='summary.json')[0], 404, "put(b'x', third, name='summary.json')[0]")
        status, fourth, _ = put(b'right', third)
        gs.check(status == 200 and there() == b'right', "status == 200 and there() == b'right'")
        # Older senders.
        gs.check(put(b'plain', digest=False)[0] == 200 and there() == b'plain',
                 "put(b'plain', digest=False)[0] == 200 and there() == b'plain'")
        gs.equal(put(b'6', fourth)[0], 412, "put(b'6', fourth)[0]")
        # What somebody has removed is not there any more.
        os.unlink(where)
        gs.equal(put(b'7', fourth), (412, None, None), "put(b'7', fourth)")
        gs.check(put(b'7', '*')[0] == 200 and there() == b'7', "put(b'7', '*')[0] == 200 and there() == b'7'")
        # A second node's run.json has a tag of its own.
        tags = {n: put(n.encode(), '*', name='run.json', node=n)[1] for n in ('n1', 'n2')}
        gs.check(tags['n1'] != tags['n2'] and put(b'n2 again', tags['n1'], name='run.json', node='n2')[0] == 412,
                 "tags['n1'] != tags['n2'] and put(b'n2 again', tags['n1'], name='run...")
        gs.equal(put(b'n2 again', tags['n2'], name='run.json', node='n2')[0], 200,
                 "put(b'n2 again', tags['n2'], name='run.json', node='n2')[0]")


def test_too_much():
    """Bodies and headers beyond the limits are refused, and the collector serves on."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        refused = 0
        for method, path, length in ('POST', '/v1/frames', (64 << 20) + 1), \
                ('POST', '/v1/frames', 1 << 62), ('POST', '/v1/frames', 1 << 70), \
                ('PUT', '/v1/runs/r/files/run.json', (1 << 20) + 1), ('GET', '/v1/clock', 5):
            with socket.create_connection(('127.0.0.1', centre.port), timeout=30) as k:
                k.sendall(f'{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n'
                          f'Authorization: Bearer {central.TOKENS["alpha"]}\r\n\r\n'.encode())
                answer = k.recv(1000)
                gs.check(answer[:12] in (b'HTTP/1.1 413', b'HTTP/1.1 400'),
                         ("answer[:12] in (b'HTTP/1.1 413', b'HTTP/1.1 400')", answer))
                refused += 1
        # A body whose length is not told ends with the connection.
        with socket.create_connection(('127.0.0.1', centre.port), timeout=30) as k:
            k.sendall(b'PUT /v1/runs/r/files/run.json HTTP/1.1\r\nHost: x\r\n'
                      b'Transfer-Encoding: chunked\r\nAuthorization: Bearer ' +
                      central.TOKENS['alpha'].encode() + b'\r\n\r\n')
            try:
                for _ in range(64):
                    k.sendall(b'8000\r\n' + b'x' * 0x8000 + b'\r\n')
                answer = k.recv(1000)
            except ConnectionError:
                answer = b''
            gs.check(b'200' not in answer, ("b'200' not in answer", answer))
        with socket.create_connection(('127.0.0.1', centre.port), timeout=30) as k:
            k.sendall(b'GET /healthz HTTP/1.1\r\nX: ' + b'y' * 100000)
            gs.check(b'200' not in k.recv(1000), "b'200' not in k.recv(1000)")
        gs.check(not os.path.exists(os.path.join(centre.base, 'alpha', 'r.gst', 'run.json')),
                 "not os.path.exists(os.path.join(centre.base, 'alpha', 'r.gst', 'run...")
        gs.equal(centre.ask('GET', '/healthz')[0], 200, "centre.ask('GET', '/healthz')[0]")
        gs.equal(centre.stop(), 0, 'centre.stop()')


def test_client_certificates():
    """Where they are demanded, the handshake fails without one; one can be a credential by itself."""
    with folder() as root:
        central.certificates(root)
        tokens = central.TOKEN_FILE + f'cert:{central.fingerprint(root, "client")} gamma write\n'
        with central.Centre(BIN, root, options=['--client-ca', os.path.join(root, 'ca.pem')],
                            tokens=tokens) as centre:
            for cert in None, 'stranger':
                try:
                    status = centre.ask('GET', '/healthz', cert=cert)[0]
                except (ssl.SSLError, ConnectionError):
                    status = None
                gs.check(status is None, f'status is None: {(cert, status)}')
            s = stream()
            gs.equal(centre.post(*frames_of(s, 'r', 3), cert='client')[1], {s: 3},
                     "centre.post(*frames_of(s, 'r', 3), cert='client')[1]")
            gs.equal(centre.post(*frames_of(s, 'r', 2), cert='client', token=None)[1], {s: 2},
                     "centre.post(*frames_of(s, 'r', 2), cert='client', token=None)[1]")
            gs.check(centre.seqs('r', s) == [1, 2, 3] and centre.seqs('r', s, 'gamma') == [1, 2],
                     "centre.seqs('r', s) == [1, 2, 3] and centre.seqs('r', s, 'gamma') =...")
            gs.equal(centre.post(b'', cert='client', token='x' * 20)[0], 401,
                     "centre.post(b'', cert='client', token='x' * 20)[0]")
            gs.equal(centre.stop(), 0, 'centre.stop()')
            gs.equal(centre.counters()['http_mute'], 2, "centre.counters()['http_mute']")
        with central.Centre(BIN, root) as centre:  # plain text where TLS is spoken
            with socket.create_connection(('127.0.0.1', centre.port), timeout=30) as k:
                k.sendall(b'GET /healthz HTTP/1.0\r\n\r\n')
                try:
                    gs.check(b'200' not in k.recv(100), "b'200' not in k.recv(100)")
                except ConnectionError:
                    pass


def test_without_tokens():
    """On loopback, if asked for, everybody on the machine; but no page of another site."""
    with folder() as root, central.Centre(BIN, root, https=False, tokens=None,
                                          options=['--no-token']) as centre:
        s = stream()
        gs.equal(centre.post(*frames_of(s, 'r', 2), token=None)[1], {s: 2},
                 "centre.post(*frames_of(s, 'r', 2), token=None)[1]")
        gs.check(os.path.exists(os.path.join(centre.base, 'r.gst', s.hex() + '.gst')),
                 "os.path.exists(os.path.join(centre.base, 'r.gst', s.hex() + '.gst'))")
        for headers in {'Host': 'evil.example'}, {'Host': '127.0.0.1.evil.example'}, \
                {'Origin': 'https://evil.example'}:
            gs.equal(centre.post(token=None, headers=headers)[0], 403, 'centre.post(token=None, headers=headers)[0]')
        for host in 'localhost', 'localhost:99', '127.0.0.1:1', '[::1]:5':
            gs.equal(centre.post(token=None, headers={'Host': host})[0], 200,
                     "centre.post(token=None, headers={'Host': host})[0]")


def test_cut_bodies():
    """Connections that break amid a body leave whole frames; what is sent again is not doubled."""
    with folder() as root, central.Centre(BIN, root) as centre:
        s = stream()
        sent = frames_of(s, 'r', 60)
        body = b''.join(sent)
        for _ in range(6):
            k = centre.connect()
            k.putrequest('POST', '/v1/frames')
            k.putheader('Authorization', 'Bearer ' + central.TOKENS['alpha'])
            k.putheader('Content-Length', str(len(body)))
            k.endheaders()
            k.send(body[:R.randrange(len(body))])
            k.close()
        status, acks, _ = centre.post(body)
        gs.equal((status, acks), (200, {s: 60}), '(status, acks)')
        gs.equal(sorted(centre.seqs('r', s)), list(range(1, 61)), "sorted(centre.seqs('r', s))")


if __name__ == '__main__':
    random.seed(R.random())
    gs.run_tests(globals())
