# SPDX-License-Identifier: Apache-2.0
"""Programs that stay beside each other and play blocks of steps by turns, one at a time: a block of
each mode lies within a second of the others, and a start-up is paid once per mode instead of once per
block. The programs take a line, do as it says and answer one line of JSON (tests/workloads/stepper.c,
torch_stepper.py)."""
import glob
import json
import os
import selectors
import shutil
import signal
import subprocess
import time

import base


class Lost(Exception):
    """The program died, hangs or answers nonsense."""


def around(mode, program, where):
    """The command that runs a program in a mode: off*, prof: as it is; L0, L1, L2: recorded with no
    cap; L1g: with the default one. What follows a colon is the caller's."""
    if not mode.startswith('L'):
        return program
    cap = '1' if mode.split(':')[0].endswith('g') else '0'
    return [base.CLI, 'run', '-o', where, '--quiet', '--level', mode[1], '--max-overhead', cap, '--', *program]


class Player:
    def __init__(self, name, argv, where, **env):
        shutil.rmtree(where, ignore_errors=True)  # an earlier check's
        os.makedirs(where)
        self.name, self.where, self.text = name, where, b''
        self.err = open(os.path.join(where, 'stderr.log'), 'wb')
        self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.err,
                                        env=base.environment(**env), start_new_session=True)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.pid = None

    def line(self, seconds):
        end = time.monotonic() + seconds
        while b'\n' not in self.text:
            if not self.selector.select(max(0, end - time.monotonic())):
                raise Lost(f'{self.name} said nothing for {seconds:.0f} s')
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                raise Lost(f'{self.name} ended: {self.last_words()}')
            self.text += more
        line, self.text = self.text.split(b'\n', 1)
        return line

    def answer(self, seconds):
        """Lines that are no JSON object are the program's own talk."""
        end = time.monotonic() + seconds
        while True:
            line = self.line(max(0, end - time.monotonic()))
            try:
                got = json.loads(line)
            except ValueError:
                continue
            if isinstance(got, dict):
                break
        if 'error' in got:
            raise Lost(f'{self.name}: {got["error"]}')
        return got

    def hello(self, seconds):
        got = self.answer(seconds)
        self.pid = got['pid']
        return got

    def ask(self, line, seconds):
        try:
            self.process.stdin.write(line.encode() + b'\n')
            self.process.stdin.flush()
        except OSError:
            raise Lost(f'{self.name} ended: {self.last_words()}') from None
        return self.answer(seconds)

    def block(self, loop, ms, seconds):
        got = self.ask(f'block {ms} {loop}', seconds)
        if not got.get('total') or len(got['total']) != len(got.get('enqueue', ())):
            raise Lost(f'{self.name}: a block without steps')
        return got

    def last_words(self):
        self.err.flush()
        with open(self.err.name, 'rb') as f:
            lines = f.read()[-2000:].decode(errors='replace').split('\n')
        return ([line.strip() for line in lines if line.strip()] or ['silently'])[-1][-300:]

    def leave(self):
        """Tells it to end; others may be told before one waits for it."""
        try:
            self.process.stdin.write(b'quit\n')
            self.process.stdin.close()
        except OSError:
            pass

    def ended(self, seconds):
        """Its exit status, or 'timeout'."""
        try:
            rc = self.process.wait(max(1, seconds))
        except subprocess.TimeoutExpired:
            rc = 'timeout'
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # whatever is left of it
        except OSError:
            pass
        self.process.wait()
        self.process.stdout.close()
        self.selector.close()
        self.err.close()
        return rc

    def summary(self):
        """Of a recorded program that has ended; None if there is none."""
        for path in sorted(glob.glob(os.path.join(self.where, '*.gst', 'summary.json'))):
            try:
                with open(path) as f:
                    return json.load(f)
            except (OSError, ValueError):
                pass
        return None


class Troupe:
    """The players of one cast: begun together, played by turns, ended together."""

    def __init__(self, modes, program, out, tag, seconds=90, env=None):
        """program: argv, or a function of the mode that gives it; env: what a mode needs in its
        environment, {mode: {name: value}}."""
        self.tag, self.lost, self.players = tag, {}, {}
        base.say(f'    {tag}: begins {" ".join(modes)}')
        for mode in modes:
            where = os.path.join(out, 'runs', f'{tag}-{mode}'.replace(':', '-'))
            argv = program(mode) if callable(program) else program
            self.players[mode] = Player(mode, around(mode, argv, where), where, **(env or {}).get(mode, {}))
        self.hello = {}
        end = time.monotonic() + seconds
        for mode in list(self.players):
            self.guarded(mode, lambda p: self.hello.update({mode: p.hello(max(1, end - time.monotonic()))}))
        base.say(f'    {tag}: {len(self.players)} are ready')

    def guarded(self, mode, what):
        """what(player), or None: who is lost plays no more."""
        player = self.players.get(mode)
        if not player:
            return None
        try:
            return what(player)
        except Lost as error:
            self.lost[mode] = str(error)
            base.say(f'    {self.tag}: lost {error}')
            del self.players[mode]
            player.leave()
            player.ended(1)
            return None

    def round(self, number, loops, ms):
        """{loop: {mode: block}}; loops: {name: (command, modes)}. Each round another mode comes first,
        and every second goes backwards, so that nobody always follows the same one."""
        got = {}
        for name, (command, modes) in loops.items():
            turn = number % len(modes)
            order = modes[turn:] + modes[:turn]
            for mode in order if number % 2 == 0 else order[::-1]:
                block = self.guarded(mode, lambda p: p.block(command, ms, 20 + ms / 100))
                if block:
                    got.setdefault(name, {})[mode] = block
        return got

    def play(self, loops, ms, rounds, deadline, begin=0):
        """{loop: [round]}: as many rounds as asked for, or as fit until the deadline (time.time())."""
        got = {name: [] for name in loops}
        longest = 0
        for i in range(rounds):
            t = time.time()
            if i and t + longest > deadline or t > deadline:
                break
            for name, blocks in self.round(begin + i, loops, ms).items():
                got[name].append(blocks)
            longest = max(longest, time.time() - t)
        return got

    def end(self, seconds=20):
        """{mode: player}: all that played to the end, ended."""
        until = time.monotonic() + seconds
        for p in self.players.values():
            p.leave()
        statuses = [p.ended(until - time.monotonic()) for p in self.players.values()]
        base.say(f'    {self.tag}: ended with {statuses}')
        return self.players


def threads(pid):
    """CPU ns of a process' threads by name: {'gpustarve-send': ns, ...}; what has no name of ours is
    'program' (the first thread) or 'others'."""
    sums = {}
    for task in glob.glob(f'/proc/{pid}/task/*'):
        try:
            with open(task + '/comm') as f:
                name = f.read().strip()
            ns = cpu_of(task)
        except OSError:
            continue
        if not name.startswith(('gpustarve', 'gs-')):
            name = 'program' if os.path.basename(task) == str(pid) else 'others'
        sums[name] = sums.get(name, 0) + ns
    return sums


def cpu_of(task):
    """From schedstat, in ns, or from stat, in ticks, where the kernel has no such file."""
    try:
        with open(task + '/schedstat') as f:
            return int(f.read().split()[0])
    except (OSError, IndexError, ValueError):
        with open(task + '/stat') as f:
            fields = f.read().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000_000_000 // os.sysconf('SC_CLK_TCK')


def ours(sums):
    return sum(ns for name, ns in sums.items() if name not in ('program', 'others'))
