#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""Gateways: what is answered is in the object store, whichever of them answered. Besides, some rounds of tests/gateways: two
of them behind a load balancer put what a node forwards into a store that misbehaves, and die amid it."""
import contextlib
import http.client
import json
import os
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(0, sys.path[0] + '/..')
import central
import collector as c
import gateways
import gs
import jobsmade
import objectstore
from gst_writer import block, frame, hello

S, T = bytes(range(16)), bytes(range(16, 32))
AT = f'{gateways.PREFIX}/{gateways.TEAM}'


@contextlib.contextmanager
def two(**kw):
    with gs.scratch() as root, objectstore.Checked(**kw) as store:
        with gateways.Gateway(root, 'a', store) as a, gateways.Gateway(root, 'b', store) as b:
            yield store, a, b
            gs.equal([g.stop() for g in (a, b)], [0, 0], 'they end well')


def ask(g, method, path, body=None, token=central.TOKENS['alpha'], **headers):
    k = http.client.HTTPConnection('127.0.0.1', g.port, timeout=90)
    with contextlib.closing(k):
        sent = {'Authorization': 'Bearer ' + token} if token else {}
        k.request(method, path, body, {**sent, **{n.replace('_', '-'): v for n, v in headers.items()}})
        a = k.getresponse()
        return a.status, {n.lower(): v for n, v in a.getheaders()}, a.read()


def post(g, *frames, **kw):
    """Status, what was acknowledged by stream, and how many bytes are stored, as the answer says."""
    status, headers, body = ask(g, 'POST', '/v1/frames', b''.join(frames), **kw)
    if status != 200:
        return status, body.decode(), int(headers.get('gpustarve-stored', -1))
    acks = [c.Frame(body[i:i + 64], 0) for i in range(0, len(body), 64)]
    gs.check(all(a.kind == c.ACK and a.bytes == 64 for a in acks), 'acknowledgements and nothing else')
    return status, {a.stream: a.seq for a in acks}, -1


def keys(store, below=AT):
    return sorted(k[len(below) + 1:] for _, k in list(store.objects) if k.startswith(below + '/'))


def segment(stream, first, last, gaps=''):
    return f'{stream.hex()}{gaps}/{first:020d}-{last:020d}'


def test_either_knows_what_the_other_has():
    with two() as (store, a, b):
        first, more = [hello(S, 'r')] + [frame(S, n) for n in (2, 3)], [frame(S, n) for n in (4, 5, 6)]
        gs.equal(post(b, *more)[::2], (409, 0), 'nobody knows the stream')
        gs.equal(store.objects, {}, 'nothing is stored of it')
        gs.equal(post(a, *first), (200, {S: 3}, -1), 'its beginning')
        gs.equal(post(b, *more), (200, {S: 0}, -1), 'the rest at the other one')
        gs.equal(post(b, *first, *more), (200, {S: 6}, -1), 'all of it once more')
        gs.equal(post(a, *more[:1], *more), (200, {S: 0}, -1), 'some of it, one twice')
        gs.equal(keys(store), ['r/' + segment(S, *n) for n in ((1, 3), (1, 6), (4, 6))], 'segments')
        there, wrong = gateways.frames_of(store.objects, 'r')
        gs.equal((there, wrong), ({(S.hex(), n + 1): f for n, f in enumerate(first + more)}, []), 'frames')
        gs.equal(store.objects[gateways.BUCKET, f'{gateways.PREFIX}/.streams/alpha/{S.hex()}'], b'r\n', 'who is whose')


def test_numbers_that_are_missing():
    """Other numbers have another key, though first and last be the same."""
    with two() as (store, a, b):
        frames = [hello(S, 'r')] + [frame(S, n) for n in range(2, 9)]
        for g, body in (a, [0, 1, 3, 7]), (b, [7, 3, 1, 0]), (a, [0, 2, 7]), (b, range(8)):
            gs.equal(post(g, *(frames[n] for n in body))[0], 200, f'{list(body)}')
        gs.equal(len(keys(store)), 3, keys(store))
        gs.equal(keys(store)[-1], 'r/' + segment(S, 1, 8), 'that with all')
        gs.equal(len({k.split('/')[1] for k in keys(store)}), 3, 'three names')
        there, wrong = gateways.frames_of(store.objects, 'r')
        gs.equal((len(there), wrong), (8, []), 'frames')


def test_what_is_refused():
    with two() as (store, a, _):
        one, two_, bad = hello(S, 'r'), frame(S, 2), bytearray(frame(S, 3))
        bad[-1 if len(bad) > 64 else 20] ^= 1
        got = post(a, one, two_, bytes(bad), frame(S, 4))
        gs.equal(got[::2], (400, len(one + two_)), got)
        gs.equal(keys(store), ['r/' + segment(S, 1, 2)], 'what stands before it')
        got = post(a, frame(S, 3), hello(T, 'r')[:-1])
        gs.equal(got[::2], (400, 64), got)
        for kind in c.ACK, 13, 14:
            gs.equal(post(a, frame(S, 4, kind))[::2], (400, 0), f'a frame of type {kind}')
        gs.equal(post(a, frame(S, 0))[::2], (400, 0), 'number 0')
        gs.equal(post(a, frame(T, 1, 1, body=b'\xff\xff'))[::2], (400, 0), 'a bad Hello')
        gs.equal(post(a), (200, {}, -1), 'nothing')
        gs.equal(post(a, frame(S, 4), token='no-such-token-at-all')[0], 401, 'a stranger')
        gs.equal(post(a, frame(S, 4), token=central.TOKENS['reader'])[0], 403, 'who may only read')
        gs.equal(post(a, frame(S, 4), token=central.TOKENS['beta'])[::2], (409, 0), "another team's stream")
        gs.equal(post(a, hello(S, '../x'), token=central.TOKENS['beta'])[0], 200, 'a name that leads elsewhere')
        gs.equal(keys(store, gateways.PREFIX + '/beta'), ['_._x-838c62fa/' + segment(S, 1, 1)], 'it does not')
        gs.equal(ask(a, 'GET', '/runs')[0], 404, 'it has no runs')
        gs.equal(ask(a, 'GET', '/healthz', token=None)[::2], (200, b'ok\n'), 'well')


def test_a_store_that_takes_nothing():
    """Neither is it acknowledged, nor is a stream called unknown because the bucket is not there."""
    with two() as (store, a, b):
        gs.equal(post(a, hello(S, 'r'))[0], 200, 'it begins')
        store.weather = lambda method, path: 503 if method == 'PUT' else None
        gs.equal(post(a, frame(S, 2))[::2], (503, -1), 'busy')
        gs.equal(ask(a, 'PUT', '/v1/runs/r/files/run.json', b'{}')[0], 503, 'and a file')
        gs.equal(ask(a, 'GET', '/healthz', token=None)[0], 503, 'not well')
        store.weather = lambda method, path: 404
        gs.equal(post(b, frame(S, 2))[::2], (503, -1), 'no bucket')
        store.weather = lambda method, path: None
        gs.equal(post(b, frame(S, 2)), (200, {S: 0}, -1), 'back')
        gs.check('test:tester' not in a.log() and 'testing' not in a.log(), 'no secret in the log')
        gs.check(b'gpustarve_collector_gateway_errors_total 2' in
                 ask(a, 'GET', '/metrics', token=central.TOKENS['reader'])[2], 'counted')


def test_a_store_that_is_silent():
    """It is told though nobody sends anything, and after a start, until it answers."""
    with two() as (store, a, b):
        gs.equal(post(a, hello(S, 'r'))[0], 200, 'it begins')

        def well(g):
            return ask(g, 'GET', '/healthz', token=None)[::2]
        gs.equal([well(g) for g in (a, b)], [(200, b'ok\n')] * 2, 'well')
        store.weather = lambda method, path: ('slow', 25)
        for g in a, b:
            status, said = gs.until('it is told', lambda: [w for w in (well(g),) if w[0] == 503], 60)[0]
            gs.check(re.fullmatch(rb'the object store has not answered for \d+ s\n', said), (status, said))
        store.weather = lambda method, path: None
        for g in a, b:
            gs.until('it is back', lambda: well(g) == (200, b'ok\n'), 60)
        gs.equal(b.stop(), 0, 'it ends')
        store.weather = lambda method, path: 'drop'
        b.start()
        gs.check(re.fullmatch(rb'the object store has not answered for \d+ s\n', well(b)[1]), well(b))
        store.weather = lambda method, path: None
        gs.until('it is back', lambda: well(b) == (200, b'ok\n'), 45)
        gs.check('cannot put into' in b.log(), b.log())


def test_side_files():
    """A run that goes on has no run.json; what is late takes the place of nothing newer."""
    with two() as (store, a, b):
        def put(g, name, body, node='n1', **headers):
            return ask(g, 'PUT', f'/v1/runs/r/files/{name}', body, Gpustarve_Node=node, **headers)

        began, ended = b'{"exit_status": null}', b'{"exit_status": 0}'
        status, headers, said = put(a, 'run.json', began, If_None_Match='*')
        gs.equal((status, said), (200, b'stored\n'), 'a run that begins')
        gs.equal(keys(store), ['r/.run-node', 'r/run-begun.json'], 'it has no end')
        gs.equal(put(b, 'run.json', ended, If_None_Match='*')[0], 412, 'not in place of what is there')
        gs.equal(put(b, 'run.json', ended, If_Match=headers['etag'])[0], 200, 'ended')
        gs.equal(put(a, 'run.json', began, If_Match=headers['etag'])[0], 412, 'late')
        gs.equal(put(a, 'run.json', began)[0], 200, 'late, and who says nothing is believed')
        gs.equal(put(b, 'run.json', ended, node='n2')[0], 200, "another node's")
        gs.equal(put(b, 'run.json', began, node='n3')[0], 200, 'and one that goes on')
        for name in 'clock-n1.json', 'exit-9.json', 'alerts.jsonl':
            gs.equal(put(a, name, b'{}')[0], 200, name)
        gs.equal(put(a, 'summary.json', b'{}')[0], 404, 'no other names')
        gs.equal(ask(a, 'PUT', '/v1/runs/c-7.job/files/alloc-n1.json', b'{}')[0], 200, 'of a job')
        gs.equal(keys(store), ['c-7.job/begun-n1.json', 'r/.run-begun-n3.json', 'r/.run-node', 'r/alerts-node-n1.jsonl', 'r/clock-n1.json',
                               'r/exit-9.json', 'r/exit-node-n2.json', 'r/run-begun.json', 'r/run.json'], 'files')
        gs.equal(store.objects[gateways.BUCKET, AT + '/r/run.json'], ended, 'ended it stays')


def work(root, store, *options):
    """A worker over all that is in the store; the bill by run."""
    done = gs.command([os.path.join(gateways.BIN, 'gpustarve-collector'), '--work', f's3://{gateways.BUCKET}/{gateways.PREFIX}', '--once',
                       '--store', f'sqlite:{root}/fleet', '--dir', os.path.join(root, 'work'), *options],
                      env=gs.environment(HOME='/nowhere', **store.environment()))
    gs.equal(done.returncode, 0, f'a worker {done.stderr}')
    return gs.gpustarve('fleet', '--store', f'sqlite:{root}/fleet', '--by', 'run', '--format', 'csv').stdout.decode().splitlines()[1:]


def test_a_run_that_goes_on():
    """Who reads it, and a worker that finds that it was lost, know what its run.json says."""
    with two() as (store, a, b), gs.scratch() as root:
        frames = gateways.recorded().frames(S, 'r', 'h', None, random.Random(1))
        gs.equal(post(a, *frames)[0], 200, 'frames')
        with open(os.path.join(gateways.RECORDED, 'run.json'), encoding='utf-8') as f:
            said = json.dumps(dict(json.load(f), id='r', exit_status=None))
        gs.equal(ask(b, 'PUT', '/v1/runs/r/files/run.json', said, Gpustarve_Node='n')[0], 200, 'it has begun')
        near = os.path.join(root, 'r.gst')
        os.mkdir(near)
        for name, data in ('run.json', said.encode()), (S.hex() + '.gst', b''.join(frames)):
            with open(os.path.join(near, name), 'wb') as f:
                f.write(data)
        env = gs.environment(HOME='/nowhere', **store.environment())
        far, near = (gs.command([gs.CLI, 'report', at, '--format', 'json'], env=env)
                     for at in (f's3://{gateways.BUCKET}/{AT}/r', near))
        gs.equal((far.returncode, far.stdout), (0, near.stdout), f'the report {far.stderr}')
        gs.equal(work(root, store, '--limit', 'digest-after=0s'), [], 'it may go on')
        bill = work(root, store, '--limit', 'digest-after=0s', '--limit', 'lost-after=0s')
        gs.equal([line.split(',')[0:7:6] for line in bill], [['r', str(json.loads(said)['start_unix_ns'])]], 'it was lost')


def test_nodes_gather():
    """What a node has goes at once, then in ten minutes, or when the run has ended, or its job: then all of it, and the end behind
    it."""
    with gs.scratch() as root, objectstore.Checked() as store, gateways.Gateway(root, 'a', store, options=['--gather', '600']) as a:
        token = central.write(os.path.join(root, 'token'), central.TOKENS['alpha'] + '\n')
        with c.Collector(gateways.BIN, options=['--upstream', f'http://127.0.0.1:{a.port}', '--upstream-token-file', token]) as node:
            sender = c.Client(node.socket)
            sender.send(hello(S, 'r'))
            gs.until('the first of it', lambda: keys(store).count('r/' + segment(S, 1, 1)))
            for n in range(2, 30):
                sender.send(frame(S, n))
                time.sleep(.1)
            sender.wait_ack(S, 29)
            time.sleep(1.5)  # it looks once a second what there is
            gs.equal([k for k in keys(store) if S.hex() in k], ['r/' + segment(S, 1, 1)], 'the rest waits')
            order = []
            store.put = lambda bucket, key, body: order.append(key[len(AT) + 1:])
            path = os.path.join(node.base, 'r.gst', 'run.json')
            central.write(path + '.new', '{"id": "r", "exit_status": 0}')
            os.rename(path + '.new', path)
            gs.until('all of it', lambda: 'r/run.json' in order)
            gs.equal([k for k in order if 'clock' not in k and '.run-node' not in k], ['r/' + segment(S, 2, 29), 'r/run.json'], 'in order')
            sender.send(hello(T, 'slurm-c1-9.0-0'), *(frame(T, n) for n in range(2, 9)))
            sender.wait_ack(T, 8)
            jobsmade.alloc(node.base)
            gs.until('all of the job', lambda: 'c1-9.job/alloc-n1-0.json' in order)
            gs.equal([k for k in order if 'c1-9' in k and 'clock' not in k and 'begun' not in k],
                     ['slurm-c1-9.0-0/' + segment(T, 1, 8), 'c1-9.job/alloc-n1-0.json'], 'its end behind the frames of its runs')
            sender.close()


def announced(g, size, token):
    """A connection on which so long a body is announced, and nothing of it comes."""
    k = http.client.HTTPConnection('127.0.0.1', g.port, timeout=60)
    k.putrequest('POST', '/v1/frames')
    k.putheader('Authorization', 'Bearer ' + central.TOKENS[token])
    k.putheader('Content-Length', str(size))
    k.endheaders()
    return k


def test_memory_is_bounded():
    """Bodies for which there is no room are to come again; one is always let in, and a team leaves some to others."""
    with gs.scratch() as root, objectstore.Checked() as store, \
            gateways.Gateway(root, 'a', store, options=['--gateway-memory', '64M']) as a:
        first = announced(a, 20 << 20, 'alpha')  # with what is made of it 40 MB
        gs.until('the first is let in', lambda: b'gateway_held_bytes 41943040' in
                 ask(a, 'GET', '/metrics', token=central.TOKENS['reader'])[2])
        gs.equal(announced(a, 5 << 20, 'alpha').getresponse().status, 503, 'beyond three quarters, for one team')
        gs.equal(post(a, hello(S, 'r'), token=central.TOKENS['beta'])[0], 200, 'a small one of another team')
        first.close()
        big = block(S, 2, 1, 2, body=os.urandom(5 << 20))
        gs.until('it is let in', lambda: post(a, hello(S, 'r'), big)[0] == 200)
        with open(f'/proc/{a.process.pid}/status', encoding='utf-8') as f:
            peak = next(int(line.split()[1]) for line in f if line.startswith('VmHWM'))
        gs.check(peak < 64 << 10, f'{peak} KiB at most')


def test_on_a_real_swift():
    if not objectstore.there():
        gs.left_out('Swift (scripts/setup)')
        return
    with gs.scratch() as root, objectstore.swift(os.path.join(root, 'swift')) as store:
        env = gs.environment(HOME='/nowhere', **store.environment())
        with open(os.path.join(root, 'cfg'), 'w', encoding='utf-8') as f:
            f.write(f'[default]\naccess_key={objectstore.KEY}\nsecret_key={objectstore.SECRET}\nuse_https=False\n'
                    f'host_base=127.0.0.1:{store.port}\nhost_bucket=127.0.0.1:{store.port}\n')
        subprocess.run(['s3cmd', '-c', os.path.join(root, 'cfg'), 'mb', f's3://{gateways.BUCKET}'], check=True,
                       stdout=subprocess.DEVNULL)
        with gateways.Gateway(root, 'a', store) as a, gateways.Gateway(root, 'b', store) as b:
            frames = gateways.recorded().frames(S, 'r', 'h', None, random.Random(1))
            gs.equal(post(a, *frames[:40])[0], 200, 'a half')
            gs.equal(post(b, *frames[20:])[0], 200, 'the other, and some of the first')
            with open(os.path.join(gateways.RECORDED, 'run.json'), 'rb') as f:
                end = f.read()
            gs.equal(ask(b, 'PUT', '/v1/runs/r/files/run.json', end, Gpustarve_Node='n')[0], 200, 'its end')
            near = os.path.join(root, 'r.gst')
            os.mkdir(near)
            for name, data in ('run.json', end), (S.hex() + '.gst', b''.join(frames)):
                with open(os.path.join(near, name), 'wb') as f:
                    f.write(data)
            far, near = (gs.command([gs.CLI, 'report', at, '--format', 'json'], env=env)
                         for at in (f's3://{gateways.BUCKET}/{AT}/r', near))
            gs.equal((far.returncode, far.stdout), (0, near.stdout), f'the report {far.stderr}')
            gs.equal([g.stop() for g in (a, b)], [0, 0], 'they end well')


def test_rounds():
    with gs.scratch() as root:
        w = gateways.World(root, 1)
        try:
            gs.equal(w.play(runs=2), [], 'a round')
            bill = work(root, w.store, '--limit', 'digest-after=0s')
            gs.equal(sorted(line.split(',')[0] for line in bill), sorted(w.sent), 'each is billed once')
        finally:
            statuses = w.close()
        gs.equal(statuses, [0, 0], 'gateways end well')


def test_a_token_file_that_is_missing():
    with objectstore.Checked() as store:
        done = gs.command([os.path.join(gateways.BIN, 'gpustarve-collector'), '--gateway', 's3://traces/site', '--listen',
                           'http://127.0.0.1:0', '--token-file', '/nowhere/tokens'], timeout=60,
                          env=gs.environment(HOME='/nowhere', **store.environment()))
        gs.check(done.returncode == 1 and b'/nowhere/tokens: No such file' in done.stderr and done.stderr.count(b'\n') == 1,
                 done.stderr)


def test_wrong_options():
    for options, why in (([], b'--listen'), (['--listen', 'http://127.0.0.1:0', '--no-token', '--unix', '/nowhere/s'], b'--unix'),
                         (['--listen', 'http://127.0.0.1:0', '--no-token', '--alert', 'idle_for>1m'], b'--store'),
                         (['--listen', 'http://127.0.0.1:0', '--no-token', '--store', 'sqlite:x', '--gather', '600'], b'--gather')):
        done = gs.command([os.path.join(gateways.BIN, 'gpustarve-collector'), '--gateway', 's3://traces', *options])
        gs.check(done.returncode == 1 and why in done.stderr and done.stderr.count(b'\n') == 1, f'{options}: {done.stderr}')
    listen = ['--gateway', 's3://traces', '--listen', 'http://127.0.0.1:0', '--no-token']
    for name, value in (('dir', '/nowhere'), ('dir', 'gpustarve-runs'), ('quota', '1G'), ('keep', '1d'), ('keep-label', 'a=b:1d'),
                        ('limit', 'keep=1d'), ('grace', '10'), ('idle-exit', '5'), ('linger', '10'), ('any-user', None)):
        done = gs.command([os.path.join(gateways.BIN, 'gpustarve-collector'), *listen, f'--{name}', *([value] if value else [])])
        gs.check(done.returncode == 1 and f'--{name} '.encode() in done.stderr and done.stderr.count(b'\n') == 1,
                 f'--{name}: {done.stderr}')
        gs.check(b'AWS_' not in done.stderr, f'--{name}: {done.stderr}')
    done = gs.command([os.path.join(gateways.BIN, 'gpustarve-collector'), '--gateway', 'http://x', '--listen', 'http://127.0.0.1:0'])
    gs.check(done.returncode == 1 and b's3://BUCKET' in done.stderr, f'{done.stderr}')
    done = gs.command([os.path.join(gateways.BIN, 'gpustarve-collector'), '--unix', '/nowhere/s', '--gather', '5'])
    gs.check(done.returncode == 1 and b'--gateway' in done.stderr, f'{done.stderr}')


if __name__ == '__main__':
    gs.run_tests(globals())
