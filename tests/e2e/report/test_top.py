#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=600
"""gpustarve top: the screen on a pseudo-terminal (keys, sizes, colours, 64 ranks, hostile names, a run
that goes on in the simulator), lines where there is none, and the same of a run directory, a folder,
a collector's socket and a collector's HTTP."""
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import alerting
import gs
import pulsing
from central import Centre, upstream
from collector import Collector
from pulsing import Trainer
from terminal import Screen, Terminal

EVIL = 'GPU\x1b]0;owned\x07\x1b[2J\u202e\udcff'.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')
# What ncurses sends to a vt100 besides what the screen of terminal.py knows.
MORE = re.compile(r'\x1b[()][AB0]|\x1b[=>]|\x0e|\x0f|\x1b\[\?\d+[hl]|\x1bH')


class Vt100(Screen):
    def control(self, numbers, letter):
        n = [int(x) for x in numbers.split(';') if x.isdigit()]
        by = n[0] if n else 1
        if letter == 'J':
            self.line[self.row] = self.line[self.row][:self.column]
            first = 0 if n and n[0] == 2 else self.row + 1
            self.line[first:] = [''] * (self.rows - first)
        elif letter in 'BCD':
            self.full = False
            self.row = min(self.row + (by if letter == 'B' else 0), self.rows - 1)
            self.column += {'B': 0, 'C': by, 'D': -by}[letter]
            self.column = max(0, min(self.column, self.columns - 1))
        elif letter == 'A':
            self.row = max(0, self.row - by)
        elif letter == 'K' and n and n[0] == 1:
            self.line[self.row] = ' ' * (self.column + 1) + self.line[self.row][self.column + 1:]
        else:
            super().control(numbers, letter)

    def feed(self, text):
        pieces = re.split(r'(\x1bM|\x08)', MORE.sub('', text))
        for piece in pieces:
            if piece == '\x1bM':  # up, scrolling down at the top
                if self.row == self.top:
                    self.line.pop(self.bottom)
                    self.line.insert(self.top, '')
                else:
                    self.row = max(0, self.row - 1)
            elif piece == '\x08':
                self.column, self.full = max(0, self.column - 1), False
            else:
                super().feed(piece)


class Top:
    """The program on a terminal; what the screen shows since its last size."""

    def __init__(self, *args, rows=24, columns=80, **env):
        self.term = Terminal([gs.CLI, 'top', *args], rows, columns,
                             gs.environment(**{'TERM': 'vt100', 'NO_COLOR': None, **env}))
        self.since = 0

    def screen(self):
        s = Vt100(self.term.screen.rows, self.term.screen.columns)
        s.feed(self.term.raw[self.since:])
        gs.equal(s.unknown, [], 'only known sequences')
        return [l.rstrip() for l in s.line]

    def until(self, condition, what, timeout=120):
        end = time.monotonic() + timeout * gs.PATIENCE
        while not condition(self.screen()):
            if time.monotonic() > end or not self.term.read(1):
                return gs.check(False, f'{what}: {self.screen()}')
        return True

    def resize(self, rows, columns):
        while self.term.read(0.2) and not self.term.raw:
            pass
        self.since = len(self.term.raw)
        self.term.resize(rows, columns)

    def quit(self, what):
        self.term.key(b'q')
        gs.equal(self.term.finish(), 0, f'{what}: exit status')


def table(screen):
    """The rows below the table's head."""
    for i, line in enumerate(screen):
        if line.startswith(' RANK'):
            return [l for l in screen[i + 1:-1] if l]
    return []


def ranks(screen):
    return [int(l.split()[0]) for l in table(screen)]


def made(folder, name='many'):
    """64 ranks on 8 hosts for a minute; rank 7 waits for its loader most, rank 9 is idle, 11 is gone."""
    for rank in range(64):
        t = Trainer(name, ago=60, rank=rank, host=f'host{rank // 8}', pid=1000 + rank,
                    name=EVIL if rank == 3 else 'NVIDIA H100 80GB HBM3')
        busy, wait = {7: (0.1, 0.85), 9: (0.0, 0.0)}.get(rank, (0.9, 0.05 + rank / 10000))
        frames = [t.hello()]
        for s in range(1, 61):
            share = 0 if rank == 9 and s > 1 else busy
            frames.append(t.pulse(s, 1 if rank == 9 else s * share, s * wait, launches=9 if rank == 9 else s))
        if rank == 11:
            frames.append(t.bye(61, 50))
        path = t.write(folder, *frames)
    return path


def many_ranks(folder):
    path = made(folder)
    once = gs.gpustarve('top', '--once', path, '--price', '36')
    text = once.stdout.decode()
    gs.equal((once.returncode, once.stderr), (0, b''), 'once')
    gs.check('\x1b' not in text and '\x07' not in text, 'no control characters in lines')
    rows = [l.split() for l in text.splitlines() if re.match(r' +\d+ +0 ', l)]
    gs.equal(len(rows), 64, 'a line per rank')
    gs.equal([r[0] for r in rows][:2], ['7', '63'], 'who wastes most comes first')
    gs.equal(rows[0][2:5], ['10.0', '~85.0', 'input'], 'rank 7')
    gs.check('$30.60' in rows[0], f'its waste per hour: {rows[0]}')
    by = {int(r[0]): r for r in rows}
    gs.equal(by[9][4], 'host', 'rank 9 launches nothing')
    gs.equal(by[11][4], 'ended', 'rank 11 has said goodbye')
    gs.check(re.search(r'^many  63 of 64 GPUs, 64 processes, 8 hosts$', text, re.M), text[:300])

    top = Top(path, '--price', '36')
    top.until(lambda s: len(table(s)) == 19 and s[-1].startswith('q quit  s sort: waste  p pause  rows 1-'), '24 rows of terminal')
    first = top.screen()
    gs.equal(ranks(first)[:3], [7, 63, 62], 'sorted by waste')
    gs.check(all(len(l) <= 80 for l in first), 'no line is longer than the terminal')
    top.term.key(b'\x1bOB ')
    top.until(lambda s: 'rows 1-' not in s[-1] and ranks(s)[:1] != [7], 'an arrow and a page down scroll')
    top.term.key(b'    ')
    top.until(lambda s: re.search(r'-64 of 64', s[-1]), 'to the end')
    top.term.key(b's')
    top.until(lambda s: 'sort: rank' in s[-1] and ranks(s) == list(range(45, 64)), 'sorted by rank')
    top.term.key(b'kkk')
    top.until(lambda s: ranks(s)[:1] == [42], 'up by three')
    top.term.key(b'p')
    top.until(lambda s: 'paused' in s[-1], 'paused')
    for rows, columns in ((50, 140), (10, 40), (3, 12), (1, 3), (24, 80)):
        top.resize(rows, columns)
        top.until(lambda s: any(s) and (columns < 40 or len(table(s)) == rows - 5), f'{rows}x{columns}')
        gs.check(all(len(l) <= columns for l in top.screen()), f'{rows}x{columns}: nothing is wider')
    gs.check('\x07' not in top.term.raw and '\x1b]' not in top.term.raw, 'nothing of a name reaches the terminal')
    gs.check(not re.search(r'\x1b\[[0-9;]*3\dm', top.term.raw), 'a vt100 gets no colour')
    top.quit('64 ranks')

    for colour, env in ((True, {}), (False, {'NO_COLOR': '1'})):
        top = Top(path, rows=24, columns=100, TERM='xterm', **env)
        top.term.until(r'q quit')
        top.term.key(b'q')
        top.term.finish()
        gs.equal(bool(re.search(r'\x1b\[[0-9;]*3\dm', top.term.raw)), colour, f'colour with {env}')
    top = Top(path, TERM='dumb-and-unheard-of')
    gs.equal(bool(top.term.until(r'of 64 GPUs')), True, 'a terminal that nobody knows gets lines')
    os.kill(top.term.pid, signal.SIGTERM)
    top.term.finish()


def over_https(centre, folder):
    """The same run at the centre that it is forwarded to, by a certificate that we trust and a token."""
    token, name = os.path.join(centre.root, 'upstream-token'), os.path.basename(gs.runs(folder)[0])[:-4]
    trust = ['--ca-file', os.path.join(centre.root, 'ca.pem'), '--token-file', token]
    text = ''

    def told():
        nonlocal text
        text = gs.gpustarve('top', '--once', '--price', '36', *trust, centre.url).stdout.decode()
        return text.startswith(f'{name}  1 GPU') and '$36.00/h' in text

    gs.check(gs.until('it comes in time', told), f'over https: {text}')
    for options, want in ((trust[2:], b'ertificate'), (trust[:2], b'HTTP 401')):
        done = gs.gpustarve('top', '--once', *options, centre.url)
        gs.check(done.returncode == 1 and want in done.stderr and not done.stdout, f'{options}: {done}')
    top = Top('--interval', '0.2', '--price', '36', *trust, f'{centre.url}/runs/{name}')
    top.until(lambda s: s[0].startswith(name) and '$36.00/h' in s[1] and len(table(s)) == 1 and
              any('alert ' in l and 'usd>0.02' in l for l in s), 'its screen over https')
    top.quit('over https')


def trainer_of(run):
    """The process that the wrapper started."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/stat') as f:
                name, rest = f.read().split('(', 1)[1].rsplit(')', 1)
        except OSError:
            continue
        if name == 'mixloop' and int(rest.split()[1]) == run.pid:
            return int(pid)
    raise AssertionError('no process of the run')


def killed_over_https(centre, folder):
    """The centre tells what the collector of the node and the wrapper have seen: it does not go on, and why."""
    name = os.path.basename(gs.runs(folder)[0])[:-4]
    ask = ['top', '--once', '--ca-file', os.path.join(centre.root, 'ca.pem'), '--token-file',
           os.path.join(centre.root, 'upstream-token'), f'{centre.url}/runs/{name}']
    want, text = f'{name}  0 of 1 GPU  ended by signal 9\n', ''

    def told():  # the wrapper tells the one, the collector the other, and not at once
        nonlocal text
        text = gs.gpustarve(*ask).stdout.decode()
        return text.startswith(want) and ' killed ' in text.splitlines()[-1]

    gs.check(gs.until('it comes in time', told), f'killed: {text}')
    gs.check('/h' not in text.splitlines()[1] and 'no sign' not in text, f'killed: {text}')


def goes_on(folder):
    """A run in the simulator, with an alert; in the newest run of a folder, and at a centre."""
    with gs.scratch() as root, Centre(os.path.join(gs.BUILD, 'bin'), root) as centre:
        upstream(centre)
        watched(folder, centre)


def watched(folder, centre):
    root = centre.root
    run = subprocess.Popen([gs.WITH_GPUSIM, gs.CLI, 'run', '-q', '-o', folder, '--no-report', '--price', '36',
                            '--collector', centre.url, '--alert', 'usd>0.02', '--', alerting.MIXLOOP,
                            '--ops=1000000000', '--pause-every=20', '--pause-us=100000'],
                           env=gs.environment(GPUSTARVE_UPSTREAM_TOKEN_FILE=os.path.join(root, 'upstream-token'),
                                              GPUSTARVE_UPSTREAM_CA=os.path.join(root, 'ca.pem')),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = 0
        while not gs.runs(folder) or 'GPU' not in gs.gpustarve('top', '--once', folder).stdout.decode():
            end += 1
            if not gs.check(end < 1200 and run.poll() is None, 'the run begins'):
                return
            subprocess.run(['sleep', '0.1'])
        top = Top('--interval', '0.2', folder)
        top.until(lambda s: '$36.00/h' in s[1] and any('alert ' in l and 'usd>0.02' in l for l in s),
                  'price, and the alert that fired')
        top.until(lambda s: len(table(s)) == 1 and ' - ' in table(s)[0], 'one process without a rank')
        top.until(lambda s: re.search(r'known up to .* ago  own cost [\d.]+ % of a core  nothing lost', s[2]), 'what is known')
        over_https(centre, folder)
        os.kill(trainer_of(run), signal.SIGKILL)
        run.wait(120)
        top.until(lambda s: s[0].endswith('ended by signal 9'), 'it sees the end')
        killed_over_https(centre, folder)
        top.quit('a run that goes on')
        gs.equal(top.term.status, 0, 'exit status')
        lines = gs.gpustarve('top', folder)
        gs.check(lines.returncode == 0 and b' 0 of 1 GPUs ' in lines.stdout and b'alert ' in lines.stdout,
                 f'lines of a run that is over: {lines}')
        unjudged(folder, lines.stdout.decode())
        judged(folder)
    finally:
        if run.poll() is None:
            run.kill()
            run.wait()


def unjudged(folder, lines):
    """A run that was over before, and has no summary: the share that its report would tell, not one of pulses."""
    [run] = gs.runs(folder)
    gs.check(not os.path.exists(os.path.join(run, 'summary.json')), 'there is no summary')
    said = json.loads(gs.gpustarve('report', run, '--price', '36', '--format', 'json').stdout)
    gs.check(f' {said["verdict"]}' in lines and 'of the training time' in lines and '~' not in lines,
             f'{said["verdict"]}: {lines}')


def judged(folder):
    """A run that is over is what its report says: the same shares and dollars, and nothing by the hour."""
    [run] = gs.runs(folder)
    done = gs.gpustarve('report', run, '--price', '36', '--format', 'json', '-o', os.path.join(run, 'summary.json'))
    gs.equal(done.returncode, 0, f'report: {done.stderr.decode()}')
    with open(os.path.join(run, 'summary.json'), encoding='utf-8') as f:
        said = json.load(f)
    lines = gs.gpustarve('top', '--once', run).stdout.decode().splitlines()
    # On a busy machine the program may have lacked a CPU for longer: that leads, and input stands beside it.
    gs.check(re.match(f'(host-bound and )?{said["verdict"]}', lines[1]), f'{said["verdict"]}: {lines[1]}')
    if lines[1].startswith('input-bound'):
        shown = float(re.search(r'waited for input for ([\d.]+) % of the training time', lines[1])[1])
        gs.check(abs(shown - said['ledger']['starved_of_working_pct']) < 0.051, f'{shown}, {said["ledger"]}')
    gs.check(re.search(r'[\d.]+ % of the training time', lines[1]), f'one share leads: {lines[1]}')
    gs.check('/h' not in lines[1] and ' in all' in lines[1], f'no rates: {lines[1]}')
    gs.check('~' not in ''.join(lines), f'no estimate: {lines}')


def of_collectors():
    with Collector(os.path.join(gs.BUILD, 'bin'), options=[]) as c:
        c.stop()
        c.options = ['--listen', 'http://127.0.0.1:0', '--token-file', os.path.join(c.root, 'tokens'),
                     '--alert', 'idle_for>20s']
        with open(os.path.join(c.root, 'tokens'), 'w') as f:
            f.write('reader-of-team-one-0001 one read\nwriter-of-team-one-0001 one write\n'
                    'reader-of-team-two-0001 two read\n')
        c.start(ready=False)
        gs.until('it comes in time', lambda: 'listening on ' in c.errors())
        url = re.search(r'listening on (\S+)', c.errors()).group(1)
        a = Trainer('of-socket', ago=40, rank=5, name=EVIL)
        client = c.client()
        client.send(a.hello(), *[a.pulse(s, s / 2, s / 4, launches=s) for s in range(1, 20)])
        client.wait_ack(a.id, a.seq, 60)
        b = Trainer('of-team', ago=40, rank=2, host='h"<\\')
        body = b''.join([b.hello(), b.pulse(1, 1), b.pulse(2, 2), b.pulse(30, 2)])
        post(url, body, 'writer-of-team-one-0001')
        # The socket: its folder is found, as a run directory is read.
        done = gs.gpustarve('top', '--once', 'unix:' + c.socket, '--price', '36')
        gs.check(b'of-socket  1 GPU' in done.stdout and b' 5 ' in done.stdout, f'of a socket: {done}')
        # HTTP: of the team whose token it is, and nobody else's.
        token = os.path.join(c.root, 'token')
        with open(token, 'w') as f:
            f.write('reader-of-team-one-0001\n')
        os.chmod(token, 0o600)
        gs.until('it comes in time', lambda: b'idle_for' in gs.gpustarve('top', '--once', '--token-file', token, url).stdout)
        done = gs.gpustarve('top', '--once', '--token-file', token, '--price', '36', url)
        text = done.stdout.decode()
        gs.check(text.startswith('of-team  1 GPU\n') and '$36.00/h' in text and 'alert ' in text, f'of HTTP: {done}')
        gs.check('h"<\\' in text and '\x1b' not in text, f'names as they are: {text}')
        for path in '/v1/runs/of-team/live', '/runs/of-team':
            again = gs.gpustarve('top', '--once', url + path, env=gs.environment(GPUSTARVE_TOKEN='reader-of-team-one-0001'))
            gs.check(again.stdout.startswith(b'of-team'), f'{path}: {again}')
        for token_text, path, want in (('reader-of-team-two-0001', '/runs/of-team', b'HTTP 404'),
                                       ('reader-of-team-two-0001', '', b'no run is going on there'),
                                       ('writer-of-team-one-0001', '/runs/of-team', b'HTTP 403'),
                                       ('nobody-has-this-token', '', b'HTTP 401'), ('', '', b'HTTP 401')):
            done = gs.gpustarve('top', '--once', url + path, env=gs.environment(GPUSTARVE_TOKEN=token_text))
            gs.check(done.returncode == 1 and want in done.stderr, f'{token_text!r} {path}: {done}')
            gs.check(not token_text or token_text.encode() not in done.stderr, 'the token is not told')
        c.stop()
        done = gs.gpustarve('top', '--once', '--token-file', token, url)
        gs.check(done.returncode == 1 and done.stderr, f'nobody there: {done}')


def post(url, body, token):
    import urllib.request
    request = urllib.request.Request(url + '/v1/frames', data=body, method='POST',
                                     headers={'Authorization': 'Bearer ' + token})
    with urllib.request.urlopen(request, timeout=60) as answer:
        gs.equal(answer.status, 200, 'frames are taken')


def refused():
    for args, want in ((['/nonexistent'], 'no run with a trace is there'), (['--sort', 'x'], 'no such order'),
                       (['--interval', '0'], 'not a time'), (['a', 'b'], 'more than one run'),
                       (['unix:/nonexistent'], 'no collector'), (['--token-file', '/nonexistent', 'http://127.0.0.1:9'],
                                                                 'No such file')):
        done = gs.gpustarve('top', '--once', *args)
        gs.check(done.returncode == 1 and want in done.stderr.decode(), f'{args}: {done}')
    # One that is not sent whole is not sent at all.
    done = gs.gpustarve('top', '--once', 'http://127.0.0.1:9', env=gs.environment(GPUSTARVE_TOKEN='t' * 513))
    gs.check(done.returncode == 1 and b'more than 512 characters' in done.stderr, f'a long token: {done}')


with gs.scratch() as where:
    refused()
    many_ranks(where)
    goes_on(os.path.join(where, 'live'))
    of_collectors()
gs.finish()
