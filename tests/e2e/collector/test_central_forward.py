#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits
"""Forwarding from a node's collector to a central one: a real run's report is the same on both sides,
and nothing is lost or doubled while either side is killed, refuses, forgets or is away."""
import glob
import json
import os
import shutil
import sys
import tempfile
import time

sys.path[:0] = [sys.path[0] + '/../../lib', sys.path[0] + '/../..']
import central
import collector as c
import gs

from faulty import spaces, wire  # noqa: E402

BIN = c.bin_dir()
R = c.seeded()
ROUNDS = int(os.environ.get('GS_ROUNDS', 8))
MIXLOOP = [os.path.join(gs.BUILD, 'workloads', 'mixloop'), '--ops=400', '--devices=1', '--processes=2']
PATIENCE = 120  # others compute here, too
TO_THE_END = ['--linger', '100']  # of what is to be there when the node has ended


def folder():
    return tempfile.TemporaryDirectory(prefix='gpustarve-central-')


class Sender:
    """A process as libprof is one: keeps what is not acknowledged, and sends it again."""

    def __init__(self, run):
        self.stream, self.run = R.randbytes(16), run
        self.sent = [c.hello(self.stream, run)]
        self.acked, self.client = 0, None

    def make(self, count, size=20000):
        for _ in range(count):
            self.sent.append(c.frame(self.stream, len(self.sent) + 1, body=R.randbytes(R.randrange(size))))

    def push(self, node):
        """Connects if need be, and sends what is not acknowledged; False: the collector went away."""
        try:
            if not self.client:
                self.client = node.client(timeout=PATIENCE)
                self.next = self.acked
            self.client.send(self.sent[0], *self.sent[self.next:])
            self.next = len(self.sent)
            return self.hear()
        except OSError:
            return self.lose()

    def hear(self, timeout=0):
        alive = self.client.poll(timeout)
        self.acked = max(self.acked, self.client.acked(self.stream))
        return alive or self.lose()

    def lose(self):
        if self.client:
            self.client.close()
        self.client = None
        return False

    def finish(self, node):
        """Until all is acknowledged."""
        deadline = time.monotonic() + PATIENCE
        while self.acked < len(self.sent):
            if time.monotonic() > deadline:
                raise TimeoutError(f'{self.acked} of {len(self.sent)} frames acknowledged')
            if not self.client or self.next < len(self.sent):
                self.push(node)
            elif not self.hear(0.2):
                continue


def arrived(centre, sender, team='alpha'):
    return centre.seqs(sender.run, sender.stream, team) and \
        sorted(centre.seqs(sender.run, sender.stream, team)) == list(range(1, len(sender.sent) + 1))


def same(centre, sender):
    """Each frame is there once, as it was sent."""
    data = open(centre.path(sender.run, sender.stream), 'rb').read()
    frames = c.read_stream(centre.path(sender.run, sender.stream))
    gs.equal(len(frames), len(sender.sent), 'len(frames)')
    for f in frames:
        gs.equal(data[f.offset:f.offset + f.bytes], sender.sent[f.seq - 1], 'data[f.offset:f.offset + f.bytes]')


def test_real_run():
    """TLS, a token and a client certificate: the centre's report is the node's, to the byte."""
    with folder() as root:
        central.certificates(root)
        with central.Centre(BIN, root, options=['--client-ca', os.path.join(root, 'ca.pem')]) as centre:
            with c.Collector(BIN, root=root, options=[*central.upstream(centre, cert='client'), *TO_THE_END]) as node:
                done = gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', node.base, '--label', 'team=vision',
                                   '--collector', 'unix:' + node.socket, '--', *MIXLOOP],
                                  cwd=root, env=gs.environment())
                gs.equal(done.returncode, 0, 'done.returncode')
                (run,) = gs.runs(node.base)
                gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')
            there = os.path.join(centre.base, 'alpha', os.path.basename(run))
            ours = {n for n in os.listdir(run) if n.endswith('.gst') or n.startswith('exit-')} | {'run.json'}
            gs.equal(len([n for n in ours if n.endswith('.gst')]), 2, "len([n for n in ours if n.endswith('.gst')])")
            for name in ours:
                gs.equal(open(os.path.join(run, name), 'rb').read(), open(os.path.join(there, name), 'rb').read(),
                         "open(os.path.join(run, name), 'rb').read()")
            a, b = (gs.gpustarve('report', where, '--format', 'json') for where in (run, there))
            gs.check(a.returncode == b.returncode == 0, ('a.returncode == b.returncode == 0', b.stderr))
            gs.equal(a.stdout, b.stdout, 'a.stdout')
            summary = json.loads(b.stdout)
            gs.check(summary['run']['labels'] == {'team': 'vision'} and summary['gpus'],
                     ("summary['run']['labels'] == {'team': 'vision'} and summary['gpus']", summary['run']))
            (clock,) = [n for n in os.listdir(there) if n.startswith('clock-')]
            reading = json.load(open(os.path.join(there, clock)))['readings'][0]
            gs.check(abs(reading['offset_ns']) <= reading['error_ns'],
                     ("abs(reading['offset_ns']) <= reading['error_ns']", reading))  # one machine, one clock


def test_files_that_are_missing():
    """Of a token or a certificate: it does not start, and one line names the option and the file."""
    with folder() as root:
        central.certificates(root)
        good = central.write(os.path.join(root, 'good'), central.TOKENS['alpha'])
        empty = central.write(os.path.join(root, 'empty'), '\n')
        nowhere = os.path.join(root, 'nowhere')
        ways = [(['--upstream-token-file', nowhere], 'No such file'), (['--upstream-token-file', empty], 'no token'),
                (['--upstream-token-file', root], ''), (['--upstream-token-file', good, '--upstream-ca', nowhere], 'No such file'),
                (['--upstream-cert', nowhere, '--upstream-key', os.path.join(root, 'client.key')], 'No such file'),
                (['--upstream-cert', os.path.join(root, 'client.pem'), '--upstream-key', nowhere], 'No such file')]
        for options, why in ways:
            bad = next(n for n in options if n in (nowhere, empty, root))
            done = gs.command([os.path.join(BIN, 'gpustarve-collector'), '--unix', os.path.join(root, 'sock'), '--dir',
                               os.path.join(root, 'runs'), '--upstream', 'https://127.0.0.1:1', *options], timeout=60)
            gs.check(done.returncode == 1 and done.stderr.count(b'\n') == 1, f'{options}: {done.returncode}, {done.stderr}')
            gs.check(f'{options[options.index(bad) - 1]} {bad}: '.encode() in done.stderr and why.encode() in done.stderr,
                     f'{options}: {done.stderr}')
        done = gs.command([os.path.join(BIN, 'gpustarve-collector'), '--listen', 'http://127.0.0.1:0', '--dir',
                           os.path.join(root, 'runs'), '--token-file', nowhere], timeout=60)
        gs.check(done.returncode == 1 and done.stderr.count(b'\n') == 1 and nowhere.encode() in done.stderr, done.stderr)


def test_an_unknown_authority_is_told():
    with folder() as root, central.Centre(BIN, root) as centre:
        token = central.write(os.path.join(root, 'up'), central.TOKENS['alpha'])
        with c.Collector(BIN, options=['--upstream', centre.url, '--upstream-token-file', token]) as node:
            client = node.client()
            client.send(c.hello(bytes(16), 'r'))
            c.wait_for(lambda: 'cannot reach' in node.log(), 'it says so', PATIENCE)
            (line,) = [n for n in node.log().splitlines() if 'cannot reach' in n]
            gs.check('certificate' in line and '--upstream-ca' in line, line)
            client.close()


def test_run_forwards():
    """`gpustarve run --collector https://...`: while it is away the run is as ever, and goes later."""
    with folder() as root, central.Centre(BIN, root) as centre:
        central.upstream(centre)
        env = gs.environment(GPUSTARVE_UPSTREAM_TOKEN_FILE=os.path.join(root, 'upstream-token'),
                             GPUSTARVE_UPSTREAM_CA=os.path.join(root, 'ca.pem'))
        argv = [gs.WITH_GPUSIM, gs.CLI, 'run', '-o', 'out', '--collector', centre.url, '--', *MIXLOOP]
        centre.kill()
        done = gs.command(argv, cwd=root, env=env)
        gs.check(done.returncode == 0 and b'report: ' in done.stderr,
                 ("done.returncode == 0 and b'report: ' in done.stderr", done.stderr))
        gs.check(b'not forwarded yet' in done.stderr and b'cannot reach' in done.stderr,
                 ("b'not forwarded yet' in done.stderr and b'cannot reach' in done.stderr", done.stderr))
        centre.start()
        done = gs.command(argv, cwd=root, env=env)
        gs.check(done.returncode == 0 and b'not forwarded' not in done.stderr,
                 ("done.returncode == 0 and b'not forwarded' not in done.stderr", done.stderr))
        runs = gs.runs(os.path.join(root, 'out'))
        gs.equal(len(runs), 2, 'len(runs)')
        for run in runs:
            there = os.path.join(centre.base, 'alpha', os.path.basename(run))
            a, b = (gs.gpustarve('report', where, '--format', 'json') for where in (run, there))
            gs.check(a.returncode == 0 and a.stdout == b.stdout,
                     ('a.returncode == 0 and a.stdout == b.stdout', b.stderr))
        for address in 'ftp://x', 'http://192.0.2.1:1':
            done = gs.command([gs.CLI, 'run', '-o', 'out', '--collector', address, '--', 'true'], cwd=root,
                              env=env)
            gs.check(b'insecure' in done.stderr or done.returncode == 1,
                     f"b'insecure' in done.stderr or done.returncode == 1: {(address, done.stderr)}")


def test_kills():
    """Node collector and centre are killed at random moments, again and again."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        with c.Collector(BIN, root=root, options=central.upstream(centre)) as node:
            senders = [Sender(f'run-{i % 2}') for i in range(4)]
            for _ in range(ROUNDS):
                for s in senders:
                    s.make(R.randrange(1, 25))
                    s.push(node)
                time.sleep(R.random() * 0.4)
                who = R.choice(['node', 'centre', 'both', 'nobody'])
                if who in ('node', 'both'):
                    node.kill()
                if who in ('centre', 'both'):
                    centre.kill()
                if who in ('centre', 'both'):
                    centre.start()
                if who in ('node', 'both'):
                    node.start()
            for s in senders:
                s.finish(node)
            for s in senders:
                c.wait_for(lambda: arrived(centre, s), f'{s.stream.hex()} arrives', PATIENCE)
                same(centre, s)
                s.lose()
            gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')
        gs.equal(centre.stop(), 0, 'centre.stop()')


def test_centre_forgets():
    """A centre that lost its disk gets all of it again; one with a wrong token gets it later."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        with c.Collector(BIN, root=root, options=central.upstream(centre)) as node:
            s = Sender('run')
            s.make(20)
            s.push(node)
            s.finish(node)
            c.wait_for(lambda: arrived(centre, s), 'arrives', PATIENCE)
            centre.kill()
            shutil.rmtree(os.path.join(centre.base, 'alpha'))
            centre.start()
            s.make(5)
            s.push(node)
            s.finish(node)
            c.wait_for(lambda: arrived(centre, s), 'all of it arrives again', PATIENCE)
            same(centre, s)
            central.upstream(centre, token='not-a-token-of-them')
            s.make(5)
            s.push(node)
            s.finish(node)  # the process notices nothing
            c.wait_for(lambda: 'answers 401' in node.errors(), 'says why', PATIENCE)
            gs.check('not-a-token' not in node.errors(), "'not-a-token' not in node.errors()")
            central.upstream(centre)
            c.wait_for(lambda: arrived(centre, s), 'arrives with the right token', PATIENCE)
            s.lose()


def test_damage_here():
    """What is damaged on the node's disk is left out and counted; the rest arrives."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        with c.Collector(BIN, root=root, options=central.upstream(centre)) as node:
            centre.kill()
            s = Sender('run')
            s.make(9)
            s.sent.append(c.frame(s.stream, 11, body=R.randbytes(1000)))  # that one is hit, and no other
            s.make(20)
            s.push(node)
            s.finish(node)
            s.lose()
            node.stop()
            where = node.frames('run', s.stream)
            with open(node.path('run', s.stream), 'r+b') as f:
                f.seek(where[10].offset + 70)
                f.write(b'damage' * 3)
            centre.start()
            node.start()
            want = [n for n in range(1, 32) if n != 11]
            c.wait_for(lambda: centre.seqs('run', s.stream) == want, 'the rest arrives', PATIENCE)
            gs.check(f'{where[10].bytes} damaged bytes' in node.errors(),
                     ("f'{where[10].bytes} damaged bytes' in node.errors()", node.errors()))
            gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')


def test_damage_on_the_way():
    """A frame that is damaged on its way is refused, named, and sent again: all arrive as they were sent."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        way = wire.Wire(spaces.Space(), '127.0.0.1', centre.port, R.random())
        way.flip['frames'] = 3
        options = [way.url if o == centre.url else o for o in central.upstream(centre)]
        with c.Collector(BIN, root=root, options=options) as node:
            s = Sender('run')
            s.make(3, size=100)  # few: they are hit one after the other
            s.push(node)
            s.finish(node)
            c.wait_for(lambda: arrived(centre, s), 'arrives', PATIENCE)
            same(centre, s)
            gs.check(not way.wrong and way.count['posts damaged'] == way.count['POST answered 400'] == 3,
                     ("not way.wrong and way.count['posts damaged'] == way.count['POST ans...", way.count))
            gs.check('answers 400' in node.errors() and 'missing there' not in node.errors(),
                     ("'answers 400' in node.errors() and 'missing there' not in node.erro...", node.errors()))
            s.lose()
            gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')


def test_side_files_that_grow():
    """One that grows all the time goes once for each look at it, not as often as it can."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        way = wire.Wire(spaces.Space(), '127.0.0.1', centre.port, 1)
        options = [way.url if o == centre.url else o for o in central.upstream(centre)]
        with c.Collector(BIN, root=root, options=options) as node:
            s = Sender('run')
            s.push(node)
            s.finish(node)
            begin, here = time.monotonic(), os.path.join(node.base, 'run.gst', 'alerts.jsonl')
            while way.count['PUT answered 200'] < 4:
                with open(here, 'a') as f:
                    f.write('{}\n')
                time.sleep(0.001)
                if time.monotonic() > begin + PATIENCE:
                    raise TimeoutError('side files are not sent')
            time.sleep(1)
            looks = time.monotonic() - begin + 2  # one a second; there are two side files
            gs.check(way.count['PUT answered 200'] <= 3 * looks,
                     ("way.count['PUT answered 200'] <= 3 * looks", way.count))
            there = os.path.join(centre.base, 'alpha', 'run.gst', 'alerts-node-*.jsonl')
            c.wait_for(lambda: [open(here).read()] == [open(p).read() for p in glob.glob(there)],
                       'all of it arrives', PATIENCE)
            s.lose()
            gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')


def test_side_files_on_the_way():
    """A side file that changes while copies of it are damaged, kept back and sent again: the centre never
    has an older one after a newer one, and ends with the last."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        way = wire.Wire(spaces.Space(), '127.0.0.1', centre.port, R.random())
        options = [way.url if o == centre.url else o for o in central.upstream(centre)]
        with c.Collector(BIN, root=root, options=options) as node:
            s = Sender('run')
            s.push(node)
            s.finish(node)
            there, seen = os.path.join(centre.base, 'alpha', 'run.gst', 'exit-n.json'), []

            def now():
                if os.path.exists(there):
                    seen.append(json.load(open(there))['n'])
                return seen[-1:]
            for n in range(1, 7):
                way.hold['side'], way.flip['side'] = n % 2, 2 * (n % 3 == 0)
                central.write(os.path.join(root, 'new'), json.dumps({'exits': [], 'n': n}))
                os.rename(os.path.join(root, 'new'), os.path.join(node.base, 'run.gst', 'exit-n.json'))
                if n == 4:
                    node.kill()  # it does not know any more what it sent
                    node.start()
                c.wait_for(lambda: now() == [n], f'{n} arrives', PATIENCE)
                way.do(way.release)
                way.do(way.replay, [p for p in way.seen if p.kind == 'side'])
            c.wait_for(lambda: not way.held and way.count['again 412'] > 6, 'late ones come', PATIENCE)
            gs.check(now() == [6] and seen == sorted(seen), ('now() == [6] and seen == sorted(seen)', seen))
            gs.check(way.count['side files damaged'] >= 4 and way.count['posts held'] >= 3,
                     ("way.count['side files damaged'] >= 4 and way.count['posts held'] >= 3", way.count))
            refused = way.count['PUT answered 400'] + way.count['PUT answered 404']  # of no path at all
            gs.equal(refused, way.count['side files damaged'], 'refused')
            gs.check(not way.wrong and len(os.listdir(os.path.dirname(there))) < 8,
                     ('not way.wrong and len(os.listdir(os.path.dirname(there))) < 8', os.listdir(os.path.dirname(there))))
            gs.check('does not take it' not in node.errors(),
                     ("'does not take it' not in node.errors()", node.errors()))
            s.lose()
            gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')


def test_outbox_full():
    """Beyond --outbox-max frames are dropped, not the job's time: all is acknowledged, what is left
    arrives, and the missing numbers show."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        options = central.upstream(centre) + ['--outbox-max', '1M']
        with c.Collector(BIN, root=root, options=options) as node:
            centre.kill()
            s = Sender('run')
            s.make(800, size=40000)  # about 16 MB, and more than once between two looks
            s.push(node)
            s.finish(node)
            c.wait_for(lambda: 'frames are dropped' in node.errors(), 'says that it drops', PATIENCE)
            size = os.path.getsize(node.path('run', s.stream))
            gs.check((1 << 20) * 7 // 8 - 40100 < size <= 1 << 20, f'{size} bytes of 1 MiB at most')
            kept = len(node.frames('run', s.stream))
            s.make(50)
            s.sent.append(c.frame(s.stream, len(s.sent) + 1, kind=c.BYE))
            s.push(node)
            s.finish(node)
            centre.start()
            want = [*range(1, kept + 1), len(s.sent)]
            c.wait_for(lambda: centre.seqs('run', s.stream) == want, 'what is left arrives', PATIENCE)
            c.wait_for(lambda: 'catches up' in node.errors(), 'says that it keeps again', PATIENCE)
            s.make(3)
            s.push(node)
            s.finish(node)
            want += range(len(s.sent) - 2, len(s.sent) + 1)
            c.wait_for(lambda: centre.seqs('run', s.stream) == want, 'later ones arrive', PATIENCE)
            s.lose()
            gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')
            dropped = [line for line in node.errors().splitlines() if 'up_dropped' in line]
            gs.check(dropped and int(dropped[-1].split()[3]) == 851 - kept,
                     ('dropped and int(dropped[-1].split()[3]) == 851 - kept', dropped))


def test_nodes_and_spools():
    """Two nodes of one run make one run directory; spool files go, too; runs from before do not."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        options = [*central.upstream(centre), *TO_THE_END]
        old = os.path.join(root, 'n0', 'runs', 'old.gst')
        os.makedirs(old)
        senders = [Sender('one'), Sender('one')]
        shutil.copy(__file__, os.path.join(old, 'run.json'))
        for i, s in enumerate(senders):
            where = os.path.join(root, f'n{i}')
            os.makedirs(where, exist_ok=True)
            with c.Collector(BIN, root=where, options=options) as node:
                s.make(10)
                s.push(node)
                s.finish(node)
                spool = R.randbytes(16)
                frames = [c.hello(spool, 'one')] + [c.frame(spool, n) for n in range(2, 9)]
                central.write(node.path('one', spool, '.1.spool'), '')
                with open(node.path('one', spool, '.1.spool'), 'wb') as f:
                    f.write(b''.join(frames) + frames[0][:40])  # its end is torn
                s.lose()
                gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')
            gs.check(arrived(centre, s), 'arrived(centre, s)')
            gs.equal(centre.seqs('one', spool), list(range(1, 9)), "centre.seqs('one', spool)")
        gs.equal(len([n for n in os.listdir(os.path.join(centre.base, 'alpha', 'one.gst'))
                    if n.endswith('.gst')]), 4, "len([n for n in os.listdir(os.path.join(centre.base, 'alpha', 'one....")
        gs.equal(centre.names(), ['one.gst'], 'centre.names()')


class Spool:
    """A process that finds no collector: its file grows by pieces of any length."""

    def __init__(self, base, run, count):
        self.run, self.stream = run, R.randbytes(16)
        self.sent = [c.hello(self.stream, run)] + [c.frame(self.stream, n, body=R.randbytes(R.randrange(20000)))
                                                   for n in range(2, count + 1)]
        self.left = b''.join(self.sent)
        self.path = os.path.join(base, run + '.gst', self.stream.hex() + '.1.spool')
        os.makedirs(os.path.dirname(self.path), exist_ok=True)

    def write(self, most):
        with open(self.path, 'ab') as f:
            f.write(self.left[:most])
        self.left = self.left[most:]


def test_no_collector_there():
    """Runs whose processes never found the node's collector: it takes them up when it is there, of dead
    processes and of those that go on, killed in the middle as often as it likes."""
    with folder() as root, central.Centre(BIN, root, https=False) as centre:
        base = os.path.join(root, 'runs')
        before = Spool(base, 'before', 3)
        before.write(10**6)
        central.grow_old(os.path.join(base, 'before.gst'))
        with c.Collector(BIN, root=root, base=base, options=central.upstream(centre)) as node:
            node.kill()
            env = gs.environment(LD_PRELOAD=gs.LIBPROF, GPUSTARVE_OUT=base, GPUSTARVE_RUN_ID='real',
                                 GPUSTARVE_SOCKET=node.socket)
            done = gs.command([gs.WITH_GPUSIM, *MIXLOOP], env=env, cwd=root)
            gs.equal(done.returncode, 0, 'done.returncode')
            real = os.path.join(base, 'real.gst')
            gs.equal(len([n for n in os.listdir(real) if n.endswith('.spool')]), 2,
                     "len([n for n in os.listdir(real) if n.endswith('.spool')])")
            central.write(os.path.join(real, 'run.json'), '{"id": "real", "exit_status": 0, "exits": []}')
            spools = [Spool(base, f'stray-{i % 2}', 70) for i in range(4)]
            spools[0].write(10**9)  # it has ended
            node.start()
            while any(s.left for s in spools):
                for s in spools:
                    s.write(R.randrange(200000))
                time.sleep(R.random() * 0.2)
                if R.random() < 0.4:
                    node.kill()
                    node.start()
            for s in spools:
                c.wait_for(lambda: arrived(centre, s), f'{s.stream.hex()} arrives', PATIENCE)
                same(centre, s)
            there = os.path.join(centre.base, 'alpha', 'real.gst')
            c.wait_for(lambda: os.path.exists(os.path.join(there, 'run.json')), 'run.json arrives', PATIENCE)

            def reports():
                return [gs.gpustarve('report', where, '--format', 'json').stdout for where in (real, there)]
            c.wait_for(lambda: len(set(reports())) == 1, 'the real run arrives', PATIENCE)
            gpus = json.loads(reports()[0])['gpus']
            gs.check(gpus, ('gpus', gpus))
            late = Spool(base, 'late', 5)  # while it serves
            late.write(10**6)
            c.wait_for(lambda: arrived(centre, late), 'the late one arrives', PATIENCE)
            with open(os.path.join(base, '.upstream-not')) as f:
                gs.equal(f.read().splitlines()[1:], ['before.gst'], 'f.read().splitlines()[1:]')
            gs.check(not os.path.exists(os.path.join(base, 'before.gst', '.upstream')),
                     "not os.path.exists(os.path.join(base, 'before.gst', '.upstream'))")
            gs.equal(node.stop(timeout=PATIENCE), 0, 'node.stop(timeout=PATIENCE)')
        gs.equal(centre.names(), ['late.gst', 'real.gst', 'stray-0.gst', 'stray-1.gst'], 'centre.names()')


if __name__ == '__main__':
    gs.run_tests(globals())
