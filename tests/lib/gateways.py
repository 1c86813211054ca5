# SPDX-License-Identifier: Apache-2.0
"""Gateways under test: two of them behind a load balancer, an object store that misbehaves, and a node that forwards what
made-up processes send to it. A round has some runs and some faults; after it all is mended and judged: what is in the store
is each frame that was sent, once for whoever reads it, and no run looked ended before its frames were there."""
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import struct
import threading
import time

import central
import collector as c
import gs
import objectstore
from daemon import Daemon
from faulty import senders
from pumping import pump

RECORDED = os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', 'h100-cnn.gst')
BUCKET, PREFIX, TEAM = 'traces', 'site', 'alpha'
CLOCKSTEP = os.path.join(gs.plain(gs.BUILD), 'tests', 'libclockstep.so')
BIN = os.path.join(gs.BUILD, 'bin')
PATIENCE_S = 120


class Gateway(Daemon):
    """One, on a port that it keeps. @ahead_s: by so much its wall clock is wrong."""

    def __init__(self, root, name, store, ahead_s=0, options=()):
        super().__init__(root, name + '.log')
        self.store, self.ahead_s, self.port = store, ahead_s, gs.free_ports(1)[0]
        self.tokens = central.write(os.path.join(root, 'tokens'), central.TOKEN_FILE)
        self.clock = os.path.join(root, name + '.clock')
        with open(self.clock, 'wb') as f:
            f.write(struct.pack('<q', int(ahead_s * 1e9)))
        self.options = list(options)
        self.start()

    def start(self):
        env = gs.environment(HOME='/nowhere', LD_PRELOAD=CLOCKSTEP, GS_CLOCK_STEP=self.clock, **self.store.environment())
        line = self.launch(['/usr/bin/env', *(f'{k}={v}' for k, v in env.items()),
                            os.path.join(BIN, 'gpustarve-collector'),
                            '--gateway', f's3://{BUCKET}/{PREFIX}', '--listen', f'http://127.0.0.1:{self.port}',
                            '--token-file', self.tokens, '--gather', '1', '--verbose', *self.options])
        self.port = int(line.rsplit(':', 1)[1])

    @property
    def alive(self):
        return self.process.poll() is None


class Balancer:
    """Hands each connection to the next gateway that takes it. cut: the share of connections that break after some bytes."""

    @staticmethod
    def reach(gateway):
        return '127.0.0.1', gateway.port

    def __init__(self, gateways, r):
        self.gateways, self.r, self.cut, self.turn = gateways, r, 0, 0
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=64)
        self.url = f'http://127.0.0.1:{self.listener.getsockname()[1]}'
        self.pairs, self.ended = [], False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            far = self.connect()
            if not far:
                near.close()
                continue
            left = self.r.randrange(1, 200000) if self.r.random() < self.cut else None
            self.pairs = [p for p in self.pairs if p[0].fileno() >= 0] + [(near, far)]
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=pump, args=(a, b, left), daemon=True).start()

    def connect(self):
        for _ in self.gateways:
            self.turn += 1
            with contextlib.suppress(OSError):
                return socket.create_connection(self.reach(self.gateways[self.turn % len(self.gateways)]), 2)
        return None

    def break_all(self):
        """All connections: those that come next may be to other gateways."""
        for pair in self.pairs:
            for s in pair:
                with contextlib.suppress(OSError):
                    s.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
        self.break_all()


class Mood:
    """What the store does to a request, by chance: the kinds that are on, each with its share."""

    def __init__(self, r):
        self.r, self.shares, self.came = r, {}, {}

    def __call__(self, method, path):
        for kind, share in list(self.shares.items()):
            if self.r.random() < share:
                how = self.of(kind, method, path)
                if how is not None:
                    self.came[kind] = self.came.get(kind, 0) + 1
                    return how
        return None

    def of(self, kind, method, path):
        if kind == 'storm':
            return self.r.choice((503, 500))
        if kind == 'full':
            return 507 if method == 'PUT' else None
        if kind == 'slow':
            return 'slow', self.r.uniform(.1, 1.5)
        if kind in ('late', 'twice') and method == 'PUT':
            return kind, self.r.uniform(.1, 2)
        return kind if kind == 'drop' or (kind == 'lost' and method == 'PUT') else None


def recorded():
    return senders.Recorded(os.path.join(RECORDED, next(n for n in os.listdir(RECORDED) if n.endswith('.gst'))))


def end_of(body):
    """Whether a run.json says that its command has ended."""
    return json.loads(body).get('exit_status') is not None


def frames_of(objects, run, count=None):
    """(stream's hex, number) to the bytes of the frames of a run, by the segments in the store; what is wrong with them.
    count: of frames that are in several of them."""
    there, wrong, below = {}, [], f'{PREFIX}/{TEAM}/{run}/'
    for (bucket, key), body in objects.items():
        if bucket != BUCKET or not key.startswith(below) or key.count('/') != below.count('/') + 1:
            continue
        first, last = (int(n) for n in key.rsplit('/', 1)[1].split('-'))
        piece, = struct.unpack('<Q', body[-8:])
        numbers, at = [], 0
        while at < piece:
            f = c.Frame(body, at)
            data = body[at:at + f.bytes]
            if count is not None and (f.stream.hex(), f.seq) in there:
                count['frames in two segments'] = count.get('frames in two segments', 0) + 1
            if there.setdefault((f.stream.hex(), f.seq), data) != data:
                wrong.append(f'{key}: frame {f.seq} differs from that of another segment')
            numbers.append(f.seq)
            at += f.bytes
        if not numbers or (numbers[0], numbers[-1]) != (first, last) or numbers != sorted(set(numbers)):
            wrong.append(f'{key}: holds {numbers[:3]}...{numbers[-3:]}')
        if '.g' not in key and numbers != list(range(first, last + 1)):
            wrong.append(f'{key}: numbers are missing')
    return there, wrong


class World:
    """@real: a store of its own, as objectstore.swift gives one; else one that misbehaves."""

    def __init__(self, root, seed, conditional=True):
        self.root, self.r = root, random.Random(seed)
        self.mood = Mood(self.r)
        self.store = self.make_store(conditional)
        self.store.weather, self.store.put = self.mood, self.is_put
        self.store.__enter__()
        self.gateways = [self.make_gateway(0, ahead_s=0), self.make_gateway(1, ahead_s=3 * 3600)]
        self.balancer = self.make_balancer()
        self.node = self.make_node(['--upstream', self.balancer.url, '--upstream-token-file',
                                    central.write(os.path.join(root, 'token'), central.TOKENS[TEAM] + '\n')])
        self.faultless = c.Collector(BIN, base=os.path.join(root, 'faultless'), root=self.folder('f'))
        self.recorded = recorded()
        self.number, self.sent, self.early, self.count, self.dying = 0, {}, [], {}, False

    def make_store(self, conditional):
        return objectstore.Checked(conditional=conditional)

    def make_gateway(self, number, ahead_s):
        return Gateway(self.root, f'gateway{number}', self.store, ahead_s)

    def make_balancer(self):
        return Balancer(self.gateways, self.r)

    def make_node(self, options):
        return c.Collector(BIN, base=os.path.join(self.root, 'node'), root=self.folder('n'), options=options)

    def folder(self, name):
        path = os.path.join(self.root, name)
        os.makedirs(path)
        return path

    def is_put(self, bucket, key, body):
        """Told by the store: a run that looks ended has all its frames."""
        if self.dying and '-' in key.rsplit('/', 1)[1]:
            self.dying = False
            self.note('killed amid a put')
            for g in self.gateways:
                g.process.kill()
        if not key.endswith('/run.json') or not end_of(body):
            return
        run = key.split('/')[-2]
        there, _ = frames_of(dict(self.store.objects), run)
        missing = [s.stream.hex() for s in self.sent.get(run, ()) for n in range(1, len(s.sent) + 1)
                   if (s.stream.hex(), n) not in there]
        if missing:
            self.early.append(f'{run}: looked ended before {len(missing)} of its frames were there')

    def write_run(self, base, run, status):
        path = os.path.join(base, run + '.gst')
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(RECORDED, 'run.json'), encoding='utf-8') as f:
            said = json.load(f)
        said.update(id=run, exit_status=status)
        with open(os.path.join(path, 'run.json.new'), 'w', encoding='utf-8') as f:
            json.dump(said, f)
        os.rename(os.path.join(path, 'run.json.new'), os.path.join(path, 'run.json'))

    def begin(self, runs, span):
        """Processes of some runs, which send over @span seconds."""
        self.number += 1
        self.sent = {}
        for i in range(runs):
            run = f'r{self.number}-{i}'
            self.sent[run] = []
            for k in range(1 + i % 2):
                stream = self.r.randbytes(16)
                frames = self.recorded.frames(stream, run, f'host{k}', None, random.Random(self.number * 100 + i * 10 + k))
                self.sent[run].append(senders.Sender(self.node, run, stream, frames, self.r.random(), span * self.r.uniform(.5, 1)))
            self.write_run(self.node.base, run, None)

    def drive(self, until, what, faults=()):
        """Sends, and does each (when, what) of @faults when it is due."""
        began, left = time.monotonic(), sorted(faults, key=lambda f: f[0])
        ended = set()
        while True:
            now = time.monotonic() - began
            while left and left[0][0] <= now:
                left.pop(0)[1]()
            for run, streams in self.sent.items():
                for s in streams:
                    s.turn()
                if run not in ended and all(s.done for s in streams):
                    self.write_run(self.node.base, run, 0)
                    ended.add(run)
            if not left and len(ended) == len(self.sent) and until():
                return []
            if now > PATIENCE_S:
                return [f'{what}: not within {PATIENCE_S} s']
            time.sleep(.02)

    def all_there(self):
        objects = dict(self.store.objects)
        for run, streams in self.sent.items():
            said = objects.get((BUCKET, f'{PREFIX}/{TEAM}/{run}/run.json'))
            if not said or not end_of(said):
                return False
            there, _ = frames_of(objects, run)
            if any((s.stream.hex(), n) not in there for s in streams for n in range(1, len(s.sent) + 1)):
                return False
        return True

    # Faults, each with its end.

    def on(self, kind, share):
        return lambda: self.mood.shares.__setitem__(kind, share)

    def off(self, kind):
        return lambda: self.mood.shares.pop(kind, None)

    def kill(self, g):
        def go():
            self.note('killed')
            g.kill()
        return go

    def revive(self, g):
        return lambda: g.alive or g.start()

    def signal(self, g, number):
        return lambda: g.alive and g.process.send_signal(number)

    def cut(self, share):
        def go():
            self.balancer.cut = share
            self.balancer.break_all()
        return go

    def note(self, kind):
        self.count[kind] = self.count.get(kind, 0) + 1

    def die_with_next_put(self):
        """Gateways that are killed once something is in the store and nobody was told."""
        self.dying = True

    def kill_node(self):
        self.node.kill()
        self.node.start()

    def faults(self, span):
        """Some of a round, by chance: [(when, what)]."""
        out, r = [], self.r
        for kind in r.sample(('die', 'node', 'storm', 'full', 'slow', 'late', 'twice', 'lost', 'drop', 'kill', 'stop', 'cut'), r.randrange(2, 6)):
            at, long = r.uniform(0, span), r.uniform(.3, span / 2)
            self.note('round with ' + kind)
            if kind in ('kill', 'stop'):
                for g in r.sample(self.gateways, r.randrange(1, 3)):
                    out += [(at, self.kill(g)), (at + long, self.revive(g))] if kind == 'kill' else \
                        [(at, self.signal(g, signal.SIGSTOP)), (at + long, self.signal(g, signal.SIGCONT))]
            elif kind == 'die':
                out += [(at, self.die_with_next_put), *((at + long, self.revive(g)) for g in self.gateways)]
            elif kind == 'node':  # it knows no more what it had sent
                out.append((at, self.kill_node))
            elif kind == 'cut':
                out += [(at, self.cut(r.uniform(.3, 1))), (at + long, self.cut(0))]
            else:
                # What is tried again passes a short storm, and not one that lasts.
                lasts = kind in ('storm', 'full') and r.random() < .5
                out += [(at, self.on(kind, 1 if lasts else r.uniform(.3, 1))), (at + (5 if lasts else long), self.off(kind))]
        return out

    def mend(self):
        self.mood.shares.clear()
        self.dying = False
        self.balancer.cut = 0
        for g in self.gateways:
            if g.alive:
                g.process.send_signal(signal.SIGCONT)
            else:
                g.start()

    def play(self, runs=3, span=2.0, faults=None):
        """A round; what was wrong with it."""
        self.begin(runs, span)
        faults = self.faults(3 * span) if faults is None else faults
        last = max([when for when, _ in faults], default=0)
        wrong = self.drive(self.all_there, 'all of it in the store', faults + [(last + .1, self.mend)])
        return wrong + self.judge()

    # Judging.

    def judge(self):
        wrong, self.early = self.early, []
        objects = dict(self.store.objects)
        for run, streams in self.sent.items():
            there, bad = frames_of(objects, run, self.count)
            wrong += bad
            want = {(s.stream.hex(), n + 1): data for s in streams for n, data in enumerate(s.sent)}
            wrong += [f'{run}: {sorted(k for k in set(there) | set(want) if there.get(k) != want.get(k))[:4]} differ'] \
                if there != want else []
            wrong += [w for s in streams for w in s.wrong]
            self.count['frames'] = self.count.get('frames', 0) + len(want)
            self.count['bytes'] = self.count.get('bytes', 0) + sum(map(len, want.values()))
            for (_, key), body in objects.items():
                if f'/{run}/' in key and '-' in key.rsplit('/', 1)[1] and key.count('/') == 4:
                    self.note('segments')
                    self.count['segment bytes'] = self.count.get('segment bytes', 0) + len(body)
            if not wrong:
                wrong += self.reports(run, objects)
        wrong += [f'{g.log_path}: {line}' for g in self.gateways for line in g.log().splitlines()
                  if 'ERROR: ' in line or 'runtime error' in line]
        return wrong

    def reports(self, run, objects):
        """That of the store is that of a collector to which nothing happened. How far clocks were apart is measured on the
        way and cannot come out the same: those files are taken over."""
        twins = [senders.Sender(self.faultless, run, s.stream, s.sent, 0, .001) for s in self.sent[run]]
        until = time.monotonic() + PATIENCE_S
        while not all(s.done for s in twins) and time.monotonic() < until:
            for s in twins:
                s.turn()
            time.sleep(.002)
        for s in twins:
            s.lose()
        self.write_run(self.faultless.base, run, 0)
        near = os.path.join(self.faultless.base, run + '.gst')
        for (_, key), body in objects.items():
            if key.startswith(f'{PREFIX}/{TEAM}/{run}/clock-'):
                with open(os.path.join(near, key.rsplit('/', 1)[1]), 'wb') as f:
                    f.write(body)
        env = gs.environment(HOME='/nowhere', **self.store.environment())
        a, b = (gs.command([gs.CLI, 'report', at, '--format', 'json'], env=env) for at in (f's3://{BUCKET}/{PREFIX}/{TEAM}/{run}', near))
        shutil.rmtree(near)
        if a.returncode or b.returncode:
            return [f'{run}: no report: {(a.stderr + b.stderr).decode()[-400:]}']
        return [] if a.stdout == b.stdout else [f'{run}: the report differs from that of a faultless collector']

    def close(self):
        self.mend()
        statuses = [g.stop() for g in self.gateways]
        for s in (s for streams in self.sent.values() for s in streams):
            s.lose()
        for daemon in (*self.gateways, self.node, self.faultless):
            daemon.__exit__(None, None, None)
        self.balancer.close()
        self.store.__exit__()
        return statuses
