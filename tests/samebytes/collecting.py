# SPDX-License-Identifier: Apache-2.0
"""The collector's part of tests/same: usage errors, sweeps of a store whose files have told ages, and sessions
with scripted clients over HTTP and its Unix socket."""
import glob
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time

from playing import NOW_S

TOKENS = '''alpha-writes-and-reads alpha read,write
beta-writes-and-reads-1 beta read,write
alpha-only-reads-this alpha read
'''
MASKS = [
    (rb'(?mi)^(date|etag|last-modified|content-length): .*$', rb'\1: *', 'HTTP: date, tag and length of what has masks'),
    (rb'(?m)^((?:process_resident|process_cpu)\S*|gpustarve_collector_\S*(?:seconds|bytes|cpu|memory|resident|disk|free|opens|commits|wakes)\S*) \S+$', rb'\1 *',
     'metrics: seconds, memory, disk, how often'),
    (rb'("?(?:last_write|first_write|seen|now)_unix_ns"?: ?)"?\d+"?', rb'\1*', 'when files were written'),
    (rb'("(?:\w*_ago|quiet_ns)": ?)\d+', rb'\1*', 'how long ago something was heard'),
    (rb'(after=|"next":")\d+', rb'\1*', 'pages: where the next begins, a time'),
    (rb'(?m)^.* refused: .*\n', b'', 'the collector: refusals, of which it tells one a second'),
    (rb'peak memory \d+ KiB, cpu \S+ s', b'peak memory *', 'the collector, of itself: memory and CPU'),
    (rb'(commits|wakes|reads|bytes_stored|opens|polls)\s+\d+', rb'\1 *', 'counters of how often'),
    (rb'\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?', b'DATE', 'when files were written'),
]


def usage(world, case, options_of):
    """Each option wrong in every way; where it is taken after all, the collector ends by itself."""
    program = ['gpustarve-collector']
    here = ['--dir', '{tmp}/d', '--unix', '{tmp}/s/c', '--idle-exit', '1']
    for option in options_of(world, *program):
        if option in ('--foreground', '--verbose', '--dry-run', '--no-token'):
            yield case(f'usage-collector{option}', [*program, option], [*program, option + '=x'], [*program, option, 'x'])
            continue
        if option in ('--unix', '--listen'):
            yield case(f'usage-collector{option}', [*program, option], [*program, option, ''], [*program, option, '/'])
            continue
        yield case(f'usage-collector{option}', [*program, option], [*program, option, 'xyzzy'], [*program, option + 'e', 'x'],
                   [*program, *here, option])
        if option not in ('--until-eof', '--ready-fd', '--idle-exit', '--help', '--version', '--dir', '--unix', '--listen', '--sweep'):
            yield case(f'usage-collector-served{option}', [*program, *here, option, '-1'], [*program, *here, option, '1.5x'],
                       quick=False)
    served = [*program, '--idle-exit', '1', '--unix', '{tmp}/x']
    yield case('collector-odd', [*program, '--help'], [*program, '-h'], [*program, '--unix', '/' + 'x' * 200],
               [*program, '--listen', 'ftp://x'], [*program, '--listen', 'http://0.0.0.0:0', '--no-token'],
               [*program, '--listen', 'https://127.0.0.1:0'], [*program, '--listen', 'http://127.0.0.1:0'],
               [*program, '--listen', 'http://127.0.0.1:0', '--token-file', '{tmp}/none'],
               [*served, '--dir', '/proc/none'],
               [*served, '--alert', 'usd>1'], [*served, '--alert', 'x>1'],
               [*served, '--alert', 'idle_for>1'], [*served, '--exec', 'x'],
               [*served, '--budget', 'run=1'], [*program, '--sweep'], [*program, '--dry-run'],
               [*served, '--upstream', 'http://example.com'],
               [*served, '--limit', 'quota=x'], [*served, '--limit', 'x=1'],
               [*served, '--forwarded', 'keep'], [*served, '--cert', 'x'])


def store(base, frames):
    """Six runs, each a day older than the one before it."""
    for i in range(6):
        run = os.path.join(base, f'run-{i}.gst')
        os.makedirs(run)
        shutil.copy(os.path.join(frames, 'first.bin'), os.path.join(run, 'a0' * 16 + '.gst'))
        with open(os.path.join(run, 'run.json'), 'w', encoding='utf-8') as f:
            json.dump({'id': f'run-{i}', 'exit_status': 0, 'labels': {'keep': 'long' if i % 2 else 'no'}}, f)
        for name in os.listdir(run):
            os.utime(os.path.join(run, name), (NOW_S - i * 86400 - 3600,) * 2)


def sweep(*options):
    def act(world, own):
        base = os.path.join(own, 'tmp', 'base')
        store(base, os.path.join(world.root, 'in', 'frames'))
        told = {}
        for more in ['--dry-run'], []:
            got = world.command(['gpustarve-collector', '--sweep', '--dir', base, *options, *more])
            told.update((f'{more} {w}', d) for w, d in zip(('status', 'stdout', 'stderr'), got))
            told[f'{more} left'] = '\n'.join(sorted(os.listdir(base))).encode()
        return told
    return act


class Served:
    """A collector of @world; what it told so far is in .told."""

    def __init__(self, world, own, *options):
        self.world, self.told, self.count = world, {}, 0
        self.base, self.unix = os.path.join(own, 'tmp', 'base'), os.path.join(own, 's')
        tokens = os.path.join(own, 'tmp', 'tokens')
        os.makedirs(os.path.join(own, 'tmp'), exist_ok=True)
        with open(tokens, 'w', encoding='ascii') as f:
            f.write(TOKENS)
        os.chmod(tokens, 0o600)
        read, write = os.pipe()
        argv = [world.program('gpustarve-collector'), '--dir', self.base, '--listen', 'http://127.0.0.1:0', '--verbose',
                '--token-file', tokens, '--unix', self.unix, '--ready-fd', str(write), *options]
        self.log = open(os.path.join(own, 'tmp', 'log'), 'w+b')
        self.process = subprocess.Popen(argv, cwd=world.root, env=world.env, pass_fds=[write], stderr=self.log,
                                        stdout=self.log, start_new_session=True)
        os.close(write)
        line = os.read(read, 512).decode()
        os.close(read)
        self.port = int(line.split()[1].rsplit(':', 1)[1]) if 'http' in line else 0
        self.note('ready', line.encode())

    def note(self, what, data):
        self.count += 1
        self.told[f'{self.count:03} {what}'] = data

    def ask(self, method, path, body=None, token='alpha-writes-and-reads', **headers):
        k = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        try:
            k.request(method, path, body, {**({'Authorization': 'Bearer ' + token} if token else {}), **headers})
            a = k.getresponse()
            head = '\n'.join(sorted(f'{n.lower()}: {v}' for n, v in a.getheaders()))
            self.note(f'{method} {path} {token}', f'{a.status}\n{head}\n\n'.encode() + a.read())
        finally:
            k.close()

    def send(self, *files):
        """Through the Unix socket; notes the last acknowledgement of each stream."""
        k = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        k.settimeout(30)
        k.connect(self.unix)
        k.sendall(b''.join(files))
        k.shutdown(socket.SHUT_WR)
        got = b''
        while True:
            piece = k.recv(65536)
            if not piece:
                break
            got += piece
        last = {got[i + 16:i + 32].hex(): int.from_bytes(got[i + 32:i + 40], 'little') for i in range(0, len(got) - 63, 64)}
        self.note('acks', json.dumps(last, sort_keys=True).encode())
        k.close()

    def until(self, text, seconds=30):
        """Waits for a word in its log."""
        end = time.monotonic() + seconds
        while text not in self.said() and time.monotonic() < end:
            time.sleep(.02)

    def said(self):
        with open(self.log.name, 'rb') as f:
            return f.read()

    def end(self, counters=True):
        if counters:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(.3)
        self.process.terminate()
        try:
            self.note('status', str(self.process.wait(30)).encode())
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.note('status', b'did not end')
        for left in glob.glob(f'/dev/shm/*faketime_*_{self.process.pid}'):
            os.unlink(left)
        self.log.close()
        self.note('log', b'\n'.join(sorted(self.said().splitlines())))
        for name, data in self.world.files(self.base).items():
            self.told['stored ' + name] = data
        return self.told


def frames(world, *names):
    out = []
    for name in names:
        with open(os.path.join(world.root, 'in', 'frames', name + '.bin'), 'rb') as f:
            out.append(f.read())
    return out


def asked(c):
    """Everything that can be asked, and who may not."""
    time.sleep(2)  # what goes on and alerts are looked at each second
    for path in ('/', '/runs', '/metrics', '/v1/runs', '/v1/live', '/healthz', '/v1/runs/first/live', '/v1/runs/none/live',
                 '/runs/none', '/v1/runs/none/summary', '/v1/runs?limit=1', '/runs?limit=1', '/v1/runs?limit=0', '/v1/runs?after=x',
                 '/v1/runs?limit=x', '/runs/../x', '/runs/%2e%2e', '/runs/', '//', '/x', '/v1/runs/first/files/run.json',
                 '/v1/runs/first/files/x', '/runs/' + 'a' * 300):
        for token in 'alpha-writes-and-reads', 'beta-writes-and-reads-1', None:
            c.ask('GET', path, token=token)
    for method in 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH':
        for path in '/metrics', '/v1/frames', '/v1/runs', '/':
            c.ask(method, path)
    c.ask('GET', '/', token='not-one-of-these')
    c.ask('POST', '/v1/frames', b'', token='alpha-only-reads-this')


def http_session(world, own):
    c = Served(world, own, '--alert', 'busy_pct>=0', '--usd-per-gpu-hour', '2.5', '--alert', 'usd>0')
    c.ask('GET', '/v1/runs')
    c.ask('POST', '/v1/frames', frames(world, 'first')[0])
    c.ask('POST', '/v1/frames', frames(world, 'second')[0], token='beta-writes-and-reads-1')  # of two teams: no order
    c.ask('POST', '/v1/frames', frames(world, 'bad')[0])
    c.ask('POST', '/v1/frames', b'')
    labels = {'team': 'vision', 'a': '<script>x</script>', "d'": "'); DROP TABLE", 'e': '\u202edesrever', 'f': '%s', 'g': 'x' * 500}
    for path, body in (('run.json', json.dumps({'id': 'first', 'labels': labels, 'command': ['python', 'x.py']})), ('run.json', '{'),
                       ('run.json', '[' * 1000), ('summary.json', '{"a": 1}'), ('other.json', '{}'), ('..%2fx', '{}'),
                       ('alerts.jsonl', '{}')):
        c.ask('PUT', '/v1/runs/first/files/' + path, body)
    c.ask('PUT', '/v1/runs/none/files/run.json', '{}')
    asked(c)
    c.ask('POST', '/v1/frames', frames(world, 'first-end')[0])
    c.ask('POST', '/v1/frames', frames(world, 'second-end')[0])
    time.sleep(1.5)
    c.ask('GET', '/v1/runs')
    c.ask('GET', '/v1/live')
    c.ask('GET', '/metrics')
    return c.end()


def unix_session(world, own):
    c = Served(world, own)
    c.send(*frames(world, 'first'))
    c.send(*frames(world, 'second', 'second-end'))
    c.send(*frames(world, 'first'))
    c.send(*frames(world, 'bad'))
    c.ask('GET', '/v1/runs')
    c.process.send_signal(signal.SIGHUP)
    time.sleep(.3)
    c.send(*frames(world, 'first-end'))
    return c.end()


def report_session(world, own):
    """Pages of a run that is a trace, made by the program beside the collector."""
    c = Served(world, own)
    for name in 'tiny', 'made-classes':
        shutil.copytree(os.path.join(world.root, 'in', 'runs', name + '.gst'), os.path.join(c.base, 'alpha', name + '.gst'))
    for path in '/v1/runs/tiny/summary', '/runs/tiny', '/v1/runs/made-classes/summary', '/runs/made-classes', '/v1/runs/tiny/summary':
        c.ask('GET', path)
    told = c.end(False)
    return {k: v for k, v in told.items() if not k.startswith('stored ')}


def sessions(played, case):
    yield played('collector-http', http_session, masks=MASKS)
    yield played('collector-unix', unix_session, masks=MASKS)
    yield played('collector-reports', report_session, masks=MASKS, quick=False)
    for i, options in enumerate((['--keep', '2d'], ['--quota', '5K'], ['--keep', '1d', '--keep-label', 'keep=long:forever'],
                                 ['--keep', 'forever', '--quota', '1'], [])):
        yield played(f'collector-sweep-{i}', sweep(*options), masks=MASKS)
