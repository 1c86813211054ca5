#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits
"""A centre that goes back in time, or is another one: restored from a copy, rolled back in its place, two
that answer in turn. Nodes find out, send again what is missing, and every frame is there once."""
import http.client
import os
import re
import select
import shutil
import socket
import sys
import tempfile
import threading
import time

sys.path[:0] = [sys.path[0] + '/../../lib']
import central
import collector as c
import gs
from gst_reader import HEADER

BIN = c.bin_dir()
R = c.seeded()
PATIENCE = 120  # others compute here, too
AHEAD, BEHIND = 60, 25  # frames


def side_by_side(*cases):
    """They share nothing and wait most of the time."""
    gs.side_by_side(cases, len(cases))


def folder():
    return tempfile.TemporaryDirectory(prefix='gpustarve-epochs-')


class Sender:
    """A process of which every frame is acknowledged by its node, each as soon as it is sent."""

    def __init__(self, run):
        self.stream, self.run = R.randbytes(16), run
        self.sent = [c.hello(self.stream, run)]

    def send(self, node, count, size=20000):
        for _ in range(count):
            self.sent.append(c.frame(self.stream, len(self.sent) + 1, body=R.randbytes(R.randrange(size))))
        client = node.client(timeout=PATIENCE)
        client.send(*self.sent)
        client.wait_ack(self.stream, len(self.sent), PATIENCE)
        client.close()

    def is_at(self, centre, team='alpha'):
        return self.wrong(centre, team) is None

    def wrong(self, centre, team='alpha'):
        """What of it is not there once, as it was sent; None: nothing. Bytes are compared with what was sent,
        which is as strict as their sums and a hundred times faster: this is asked every 20 ms."""
        try:
            with open(centre.path(self.run, self.stream, team), 'rb') as f:
                data = f.read()
        except FileNotFoundError:
            return 'no file'
        if len(data) != sum(map(len, self.sent)):
            return f'{len(data)} bytes for {sum(map(len, self.sent))}'
        at, seen = 0, set()
        while at < len(data):
            seq = HEADER.unpack_from(data, at)[6]
            frame = self.sent[seq - 1] if 0 < seq <= len(self.sent) else b''
            if not frame or seq in seen or data[at:at + len(frame)] != frame:
                return f'at byte {at} is frame {seq}, again or another one'
            seen.add(seq)
            at += len(frame)
        return None


class Switch:
    """Stands before centres as a balancer does: a connection goes to the one that is chosen when it comes."""

    def __init__(self, centres, strip=False):
        self.centres, self.chosen, self.strip, self.open = centres, 0, strip, []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self.listener.getsockname()[1]}'
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(('127.0.0.1', self.centres[self.chosen].port))
            except OSError:
                near.close()
                continue
            self.open += [near, far]
            threading.Thread(target=self.relay, args=(near, far), daemon=True).start()

    def relay(self, near, far):
        try:
            while True:
                for side in select.select([near, far], [], [])[0]:
                    data = side.recv(1 << 16)
                    if self.strip:  # as if neither side had ever heard of epochs
                        data = data.replace(b'Gpustarve-Epoch', b'Header-Of-Nobody')
                    if not data:
                        return
                    (far if side is near else near).sendall(data)
        except (OSError, ValueError):
            pass
        finally:
            near.close()
            far.close()

    def choose(self, chosen):
        """New connections go there; those that are open end."""
        self.chosen, gone = chosen, self.open
        self.open = []
        for side in gone:
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()
        self.choose(self.chosen)


def node_of(root, centre, options=(), url=None):
    way = central.upstream(centre)
    if url:
        way[1] = url
    return c.Collector(BIN, root=root, options=[*way, *options])


def copy(store, to):
    """As an operator's cp -a."""
    shutil.copytree(store, to, symlinks=True)


def restore(store, backup):
    shutil.rmtree(store)
    copy(backup, store)


def until_there(centre, *senders):
    for s in senders:
        c.wait_for(lambda s=s: s.is_at(centre), f'{s.run} at the centre: {s.wrong(centre)}', PATIENCE)


def hook(told):
    return ['--upstream-exec', f'echo "$GPUSTARVE_ALERT_CONDITION $GPUSTARVE_ALERT_VALUE" > {told}']


def back_in_time(way, more, end=None):
    """A copy is made when BEHIND frames are there, and takes the place of the store when there are AHEAD.
    @more frames come after; @end(root, centre, node) is something that happens then."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        store, backup = os.path.join(centre.base, 'alpha'), os.path.join(root, 'backup')
        told = os.path.join(root, 'told')
        with node_of(root, centre, hook(told)) as node:
            s, quiet = Sender('back'), Sender('quiet')
            for sender in s, quiet:
                sender.send(node, BEHIND)
            until_there(centre, s, quiet)
            copy(store, backup)
            for sender in s, quiet:
                sender.send(node, AHEAD - BEHIND)
            side = os.path.join(node.base, 'quiet.gst', 'exit-late.json')
            with open(side, 'w') as f:
                f.write('{"exits": []}')
            until_there(centre, s, quiet)
            there = os.path.join(store, 'quiet.gst', 'exit-late.json')
            c.wait_for(lambda: os.path.exists(there), 'the side file')
            centre.kill()
            way(store, backup)
            gs.check(len(centre.seqs('back', s.stream)) < AHEAD, 'it went back')
            centre.start()
            if more:
                s.send(node, more)
            if end:
                end(root, centre, node)
            until_there(centre, s, quiet)
            c.wait_for(lambda: os.path.exists(there), 'the side file again')
            if not end:  # no one killed the node before it had told
                c.wait_for(lambda: os.path.exists(told), 'the command is started')
            gs.equal(node.stop(timeout=PATIENCE), 0, 'the node ended')
            gs.check('sent again' in node.log(), 'it is said')
            if not end:
                gs.until('the command was told', lambda: re.fullmatch('upstream_behind [12]\n', open(told).read()))
            until_there(centre, s, quiet)


def test_restored_copy():
    back_in_time(restore, 20)


def test_rolled_back():
    back_in_time(central.roll_back, 20)


def test_nothing_more_comes():
    """The node finds out although it has nothing to send, when it asks for the centre's clock next."""
    side_by_side(lambda: back_in_time(restore, 0), lambda: back_in_time(central.roll_back, 0))


def test_killed_between():
    """The node is killed while it finds out and sends again, the centre too."""
    def kills(_, centre, node):
        for _ in range(4):
            time.sleep(R.uniform(0, 0.8))
            node.kill()
            if R.random() < 0.5:
                centre.kill()
                centre.start()
            node.start()
    side_by_side(lambda: back_in_time(restore, 10, kills),
                 lambda: back_in_time(central.roll_back, 10, kills))


def test_over_and_forwarded():
    """Of a run that is over the node has nothing in its memory any more, and finds out all the same."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        store, backup = os.path.join(centre.base, 'alpha'), os.path.join(root, 'backup')
        with node_of(root, centre) as node:
            s = Sender('over')
            s.send(node, BEHIND)
            until_there(centre, s)
            copy(store, backup)
            s.send(node, AHEAD)
            until_there(centre, s)
            gs.equal(node.stop(timeout=PATIENCE), 0, 'the node ended')
            cursor = os.path.join(node.base, 'over.gst', '.upstream')
            with open(cursor, 'a') as f:  # as after a minute in which nothing came
                f.write('forwarded\n')
            centre.kill()
            restore(store, backup)
            centre.start()
            node.start()
            until_there(centre, s)


def test_removed_on_purpose():
    """What the centre has removed by age is not sent again when it is started anew."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        store = os.path.join(centre.base, 'alpha')
        with node_of(root, centre) as node:
            old, young = Sender('old'), Sender('young')
            for s in old, young:
                s.send(node, BEHIND)
            until_there(centre, old, young)
            centre.kill()
            at = os.path.join(store, 'old.gst')
            for name in os.listdir(at):
                central.grow_old(os.path.join(at, name), 3600)
            done = gs.command([centre.program, '--dir', centre.base, '--sweep', '--keep', '30m'])
            gs.equal((done.returncode, os.path.exists(at)), (0, False), done.stdout + done.stderr)
            central.roll_back(os.path.join(store, 'young.gst'), '/nonexistent')
            centre.start()
            until_there(centre, young)
            time.sleep(3)
            gs.check(not os.path.exists(at), 'it was sent again')
            shutil.rmtree(os.path.join(store, '.removed'))  # as in a copy from before it was removed
            centre.kill()
            centre.start()
            until_there(centre, old)


def health(port):
    k = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
    try:
        k.request('GET', '/healthz')
        answer = k.getresponse()
        return answer.status, answer.read()
    finally:
        k.close()


def grow_old(run):
    """With what is known of its side files."""
    path = os.path.join(run, '.upstream')
    with open(path) as f:
        lines = f.read().splitlines()
    for name in os.listdir(run):
        central.grow_old(os.path.join(run, name), 3600)
        mtime = os.stat(os.path.join(run, name)).st_mtime_ns
        lines = [re.sub(r'^side \d+', f'side {mtime}', line) if line.endswith(' ' + name) else line
                 for line in lines]
    with open(path, 'w') as f:
        f.write('\n'.join([*lines, '']))


def test_gone_for_good():
    """What the node has removed, for the centre had it, and the centre has lost since: it is said and
    counted, once, and /healthz says so. What the centre itself has removed is nothing to say."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        store, backup = os.path.join(centre.base, 'alpha'), os.path.join(root, 'backup')
        port = gs.free_ports(1)[0]
        listen = ['--listen', f'http://127.0.0.1:{port}', '--no-token']
        told = os.path.join(root, 'told')
        with node_of(root, centre, listen + hook(told)) as node:
            kept, lost, spared = Sender('kept'), Sender('lost'), Sender('spared')
            for s in kept, spared:
                s.send(node, BEHIND)
            until_there(centre, kept, spared)
            copy(store, backup)
            lost.send(node, BEHIND)
            until_there(centre, lost)
            gs.equal(health(port), (200, b'ok\n'), 'before')
            gs.equal(node.stop(timeout=PATIENCE), 0, 'the node ended')
            for s in lost, spared:
                grow_old(os.path.join(node.base, s.run + '.gst'))
            done = gs.command([centre.program, '--dir', node.base, '--sweep', '--keep', '30m'])
            gs.equal(sorted(n for n in os.listdir(node.base) if n.endswith('.gst')), ['kept.gst'], done.stdout)
            with open(os.path.join(node.base, '.upstream-gone')) as f:
                gs.equal(sorted(line.split()[3] for line in f), ['lost', 'spared'], 'what is gone')
            centre.kill()
            restore(store, backup)
            centre.start()
            node.start()
            said = f'lost: {centre.url} has 0 of'
            c.wait_for(lambda: said in node.log(), 'it is said')
            c.wait_for(lambda: os.path.exists(told) and open(told).read() == 'upstream_lost 1\n', 'the command')
            gs.equal(health(port), (503, b'traces are lost\n'), 'after')
            gs.check('spared: ' not in node.log(), 'what is there')
            c.wait_for(lambda: 'lost' not in open(os.path.join(node.base, '.upstream-gone')).read(), 'taken out')
            node.stop(timeout=PATIENCE)
            node.start()
            centre.kill()
            shutil.rmtree(os.path.join(store, 'spared.gst'))
            os.mkdir(os.path.join(store, '.removed'))
            open(os.path.join(store, '.removed', 'spared.gst'), 'w').close()
            centre.start()
            kept.send(node, 5)
            until_there(centre, kept)
            node.stop(timeout=PATIENCE)
            gs.equal((node.log().count(said), 'spared: ' in node.log()), (1, False), 'said once')
            gs.check('up_lost' in node.log(), 'counted')


def two_centres(make_second):
    """One is ahead, one behind; the way leads to them in turn while frames come. Both get all of it."""
    with folder() as root:
        other = os.path.join(root, 'other')
        os.mkdir(other)
        with central.Centre(BIN, root, https=False) as first:
            switch = Switch([first])
            with node_of(root, first, url=switch.url) as node:
                s = Sender('twice')
                s.send(node, BEHIND)
                until_there(first, s)
                if make_second == 'copy':
                    copy(first.base, os.path.join(other, 'centre'))
                s.send(node, AHEAD - BEHIND)
                until_there(first, s)
                with central.Centre(BIN, other, https=False) as second:
                    switch.centres.append(second)
                    for turn in range(5):
                        switch.choose(1 - turn % 2)
                        s.send(node, R.randrange(1, 10))
                        time.sleep(R.uniform(0, 1.5))
                    for at, centre in enumerate(switch.centres):
                        switch.choose(at)
                        until_there(centre, s)
                    switch.close()
                    for centre in switch.centres:
                        gs.equal(s.wrong(centre), None, 'wrong')


def test_two_in_turn():
    side_by_side(lambda: two_centres('copy'), lambda: two_centres('empty'))


def first_version(node, run, acknowledged):
    """The run's cursor as the first version wrote it."""
    lines = [f'frames {acknowledged} {n}' for n in os.listdir(run) if re.fullmatch('[0-9a-f]{32}.gst', n)]
    with open(os.path.join(run, '.upstream')) as f:
        to = f.read().splitlines()[1]
    with open(os.path.join(run, '.upstream'), 'w') as f:
        f.write('\n'.join(['gpustarve upstream 1', to, *lines, '']))
    path = os.path.join(node.base, '.upstream-centre')
    if os.path.exists(path):
        os.remove(path)


def cursor_of_before(lost):
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        with node_of(root, centre) as node:
            s = Sender('old')
            s.send(node, 300, 60000)
            until_there(centre, s)
            node.stop(timeout=PATIENCE)
            # In vain it is as long there as what was acknowledged: it took what came after it had gone back.
            first_version(node, os.path.join(node.base, 'old.gst'),
                          sum(map(len, s.sent[:150] if lost else s.sent)))
            centre.kill()
            if lost:
                path = centre.path('old', s.stream)
                with open(path, 'wb') as f:
                    f.write(b''.join(s.sent[:100] + s.sent[200:]))
            before = os.path.getsize(centre.log_path)
            centre.start()
            node.start()
            s.send(node, 5)
            until_there(centre, s)
            centre.stop()
            with open(centre.log_path) as f:
                f.seek(before)
                twice = [int(w.split()[3]) for w in f if ' duplicates ' in w]
            gs.check(sum(twice) < 200, f'frames that came twice: {twice}')


def test_cursor_of_before():
    """It knows no stores. What is missing there, also before what came last, is found and sent; what is
    there is not sent again, but for a little."""
    side_by_side(lambda: cursor_of_before(True), lambda: cursor_of_before(False))


def test_without_epochs():
    """A node of now and a centre of before: all goes as ever."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        switch = Switch([centre], strip=True)
        with node_of(root, centre, url=switch.url) as node:
            s = Sender('mute')
            s.send(node, AHEAD)
            until_there(centre, s)
            centre.kill()
            centre.start()
            s.send(node, AHEAD)
            until_there(centre, s)
            with open(os.path.join(node.base, 'mute.gst', '.upstream')) as f:
                gs.check('centre - 0' in f.read(), 'the cursor is of a centre that does not say')
            # It is brought to a version that does say: what it had acknowledged is asked for.
            switch.strip = False
            switch.choose(0)
            s.send(node, 5)
            until_there(centre, s)
            node.stop(timeout=PATIENCE)
        switch.close()


def test_protocol():
    """What a node of before sees is as before; who says which store he means learns more, and another
    store takes nothing of it."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        stream = R.randbytes(16)
        hello = c.hello(stream, 'p')
        status, _, body = centre.ask('POST', '/v1/frames', hello)
        gs.equal((status, len(body)), (200, 64), 'an Ack without a head')
        _, headers, _ = centre.ask('GET', '/v1/clock')
        epoch = headers['gpustarve-epoch']
        gs.check(re.fullmatch('[0-9a-f]{32}-[0-9a-f]{16}', epoch), epoch)
        frame = c.frame(stream, 2, body=b'x')
        asked = {'Gpustarve-Epoch': '-'}
        status, headers, _ = centre.ask('POST', '/v1/frames', frame, headers=asked)
        gs.equal((status, headers['gpustarve-epoch']), (412, epoch), 'another store is meant')
        gs.equal(centre.seqs('p', stream), [1], 'nothing is stored')
        asked = {'Gpustarve-Epoch': epoch}
        status, _, body = centre.ask('POST', '/v1/frames', frame, headers=asked)
        gs.equal((status, len(body)), (200, 80), 'an Ack with a head')
        ack = c.Frame(body, 0)
        gs.equal((ack.seq, ack.payload), (2, len(hello).to_bytes(8, 'little') +
                                          len(hello + frame).to_bytes(8, 'little')), 'what it says')
        path = f'p {stream.hex()}.gst\nnone {stream.hex()}.gst\np run.json\n'.encode()
        status, headers, body = centre.ask('POST', '/v1/held', path)
        gs.equal((status, body.decode().split('\n'), headers['gpustarve-epoch']),
                 (200, [str(len(hello + frame)), '-', '-', ''], epoch), 'what is held')
        for bad in (b'p\n', b'../p run.json\n', b'p ../x\n', b'p .epoch\n', b'p x y\n', b'\0\n',
                    b'p run.json\0\n', b'p run.json\n' * 300):
            gs.equal(centre.ask('POST', '/v1/held', bad)[0], 400, bad[:20])
        gs.equal(centre.ask('POST', '/v1/held', path, token=central.TOKENS['reader'])[0], 403, 'who may ask')
        status, _, body = centre.ask('POST', '/v1/held', path, token=central.TOKENS['beta'])
        gs.equal(body, b'-\n-\n-\n', "another team's store")
        centre.kill()
        centre.start()
        again = centre.ask('GET', '/v1/clock')[1]['gpustarve-epoch']
        gs.equal(again[:33], epoch[:33], 'the same store')
        gs.check(again != epoch, 'another start')
        with open(os.path.join(centre.base, 'alpha', '.epoch'), 'r+b') as f:
            f.write(b'x')
        centre.kill()
        centre.start()
        gs.check(centre.ask('GET', '/v1/clock')[1]['gpustarve-epoch'][:33] != epoch[:33], 'damaged: a new one')


LONG = test_nothing_more_comes, test_removed_on_purpose, test_two_in_turn

if __name__ == '__main__':
    # Those that wait for the node to ask, which it does each half minute, go first.
    cases = {n: f for n, f in globals().items() if n.startswith('test_')}
    gs.side_by_side(sorted(cases.values(), key=lambda f: f not in LONG), 6)
    gs.finish()
