# SPDX-License-Identifier: Apache-2.0
"""A centre with two nodes, and the rounds that are played in it. In each round processes send while
some faults happen; then all is mended, and what must hold is looked at. The world goes on with what
the round has left: stores, cursors, clocks, old posts that can come again."""
import collections
import os
import random
import time

from . import daemons, diary, disks, judge, kinds, senders, spaces, trainers, wire

NODES = 2
SPAN_S = 2.0
PATIENCE_S = 180  # others compute here, too; a node waits up to 30 s between attempts
PER_ROUND = 3


def plan(seed, number, long):
    """Which faults a round has, and when each begins: [(seconds, name, seed)]. Kinds are dealt like
    cards, so that each comes as often as any other."""
    span, names = SPAN_S, []
    for at in range(PER_ROUND * number, PER_ROUND * (number + 1)):
        deck = list(kinds.KINDS)
        random.Random(f'{seed} deck {at // len(deck)}').shuffle(deck)
        names.append(deck[at % len(deck)])
    r = random.Random(f'{seed} round {number}')
    if long:
        names = [n for n in names if n not in kinds.LONG]
        span = long
    out = [(r.uniform(0, span * 0.7), n, r.random()) for n in dict.fromkeys(names)]
    if long:
        out += [(r.uniform(0, 2), n, r.random()) for n in kinds.LONG]
    return sorted(out)


class Round:
    """What came of one."""

    def __init__(self, number, names, long, clean=False):
        self.number, self.names, self.long, self.clean = number, names, long, clean
        self.injected, self.problems, self.steps = [], [], []
        self.sent = self.acked = self.bytes = self.hang_ups = self.twice = 0
        self.entries = 0  # of diaries
        self.seconds = self.healed = 0


class World:
    def __init__(self, folder, seed, long_s, recorded, tls=False):
        self.folder, self.seed, self.long_s, self.tls = folder, seed, long_s, tls
        try:
            spaces.own_mounts()
            mounts = True
        except spaces.Missing:
            mounts = False
        self.network = spaces.network(NODES)
        self.disks = [disks.disk(os.path.join(folder, name), mounts)
                      for name in ('store', 'outbox0', 'outbox1')]
        addresses = [self.network.address(i) for i in range(NODES)]
        if tls:
            daemons.certificates(folder, addresses)
        self.centre = daemons.Centre(folder, self.network.centre, self.disks[0], tls)
        self.wires = [wire.Wire(self.network.centre, addresses[i], self.centre.port, f'{seed} wire {i}', tls=tls)
                      for i in range(NODES)]
        self.network.wires = self.wires
        self.nodes = [daemons.Node(i, folder, self.network.nodes[i], self.disks[1 + i], self.wires[i])
                      for i in range(NODES)]
        place = os.path.join(folder, 'faultless')
        os.mkdir(place)
        self.second = None  # while there are two centres
        self.faultless = daemons.Faultless(place, spaces.Space(), disks.Capped(place))
        self.archive = os.path.join(folder, 'archive')  # what the centre was some rounds ago
        self.made_up = senders.MadeUp(seed)
        self.recorded = [senders.Recorded(path) for path in recorded]
        self.known, self.runs, self.diaries = [], set(), []
        self.full, self.was_full, self.to_revive = set(), set(), []
        self.long, self.problems, self.now = False, [], None

    def went_back(self):
        """The centre has files of before: what it had is not to be had against it."""
        for d in self.diaries:
            d.seen = 0

    def problem(self, text):
        self.now.problems.append(text)

    # One round.

    def cast(self, name, r, killed):
        """Who takes part. Runs: r of recorded traces on both nodes, x of made-up frames, j of a real job
        and k of a process to be killed; the last two with a sender beside it, so that the node's
        collector knows the run whatever happens to the process."""
        span = SPAN_S if not self.long else self.long_s
        at = r.randrange(NODES)
        self.played, self.expendable = [], []

        def add(node, run, source, count=0):
            stream, run = r.randbytes(16), run + name
            sent = source.frames(stream, run, f'node{node.index}', count, r)
            s = senders.Sender(node, run, stream, sent, r.random(), span * r.uniform(0.5, 1))
            self.played.append(s)
            return s
        for node in self.nodes:
            add(node, 'r', self.recorded[0])
            add(node, 'r', self.recorded[1])
            self.expendable += [add(node, 'x', self.made_up, r.randrange(40, 100)) for _ in range(3)]
        self.stayers = [add(self.nodes[at], 'j', self.recorded[0])]
        self.diaries = [diary.Diary(self, n, 'x' + name) for n in self.nodes]
        self.job_node = self.nodes[at]
        self.drive(lambda: all(s.acked for s in self.stayers), 'the first acknowledgement')
        if killed:
            self.stayers.append(add(self.nodes[1 - at], 'k', self.recorded[1]))
        self.drive(lambda: all(s.acked for s in self.stayers), 'the first acknowledgement')
        self.job = trainers.Job(self.job_node, 'j' + name, self.folder)
        self.trainer = trainers.mixed(self.nodes[1 - at], 'k' + name, self.folder) if killed else None

    def turn(self):
        for s in self.played:
            s.turn()
        for d in self.diaries:
            d.turn()
        for daemon in list(self.to_revive):
            if daemon.start():
                self.to_revive.remove(daemon)
        time.sleep(0.004)

    def drive(self, until, what, pause=0):
        """Turns until that holds, asked each time or with a pause; False, and a problem, where it does not
        come."""
        deadline = time.monotonic() + PATIENCE_S
        while not until():
            if time.monotonic() > deadline:
                self.problem(f'in vain waited for: {what}')
                return False
            self.turn()
            time.sleep(pause)
        return True

    def acknowledged(self, node):
        return all(s.dead or s.acked == s.made for s in self.played if s.node is node)

    def harm(self, faults):
        """Injects what is planned, each at its time; returns when all is mended."""
        begin, going = time.monotonic(), []
        faults = collections.deque(faults)
        while faults or going:
            now = time.monotonic() - begin
            while faults and faults[0][0] <= now:
                _, name, seed = faults.popleft()
                going.append([now, name, kinds.KINDS[name](self, random.Random(seed)), False])
            for g in [g for g in going if g[0] <= now]:
                try:
                    g[0] = now + next(g[2])
                    if not g[3]:
                        self.now.injected.append(g[1])
                    g[3] = True
                except StopIteration:
                    going.remove(g)
            self.turn()

    def play(self, number, long=False, clean=False):
        """A round, with its faults or (@clean) without."""
        faults = plan(self.seed, number, self.long_s if long else 0)
        names = [n for _, n, _ in faults]
        self.now = Round(number, names, long, clean)
        self.long, begin = long, time.monotonic()
        self.was_full.clear()
        if not os.path.exists(self.archive) and self.centre.alive:
            kinds.copy_centre(self, self.archive)
        name = f'{number}' + ('c' if clean else '')
        r = random.Random(f'{self.seed} cast {name}')
        try:
            self.cast(name, r, 'trainers killed' in names)
            self.harm([] if clean else faults)
            self.heal()
            self.now.healed = time.monotonic() - begin
            judge.settle(self, name)
        finally:
            for t in (self.job, self.trainer):
                if t:
                    t.close()
        self.now.seconds = time.monotonic() - begin
        return self.now

    def heal(self):
        """All processes finish; what was sent is acknowledged by the nodes."""
        if self.drive(lambda: not self.to_revive and all(s.done for s in self.played),
                      'acknowledgements of the nodes'):
            self.drive(lambda: self.job.done and (not self.trainer or self.trainer.done),
                       'the end of the job')
        for d in self.diaries:
            self.now.problems += d.wrong
            self.now.entries += d.number
        self.diaries = []
        for s in self.played:
            self.now.problems += [f'{s.run}/{s.stream.hex()}: {w}' for w in s.wrong]
            self.now.sent += s.made
            self.now.acked += s.acked
            self.now.bytes += sum(map(len, s.sent[:s.acked]))
            self.now.hang_ups += s.losses
            self.now.twice += s.twice
            s.lose()
        if self.job.done:
            self.now.problems += self.job.wrong()
            if not self.job.wrong():
                self.now.steps = self.job.steps()

    def finish(self):
        """Ends all, in order, and judges all that is there once more. What is wrong."""
        self.now = Round(-1, [], False)
        self.played = []
        for wire_ in self.wires:  # what is still on its way arrives, late as it may be
            wire_.do(wire_.release)
        for daemon in [*self.nodes, self.centre, self.faultless]:
            status = daemon.stop()
            if status:
                self.problem(f'{daemon.name} ended with {status}: {daemon.log()[-1500:]}')
        judge.everything(self)
        return self.now.problems

    def close(self):
        """Nothing of it remains, however far it came."""
        for daemon in [*self.nodes, self.centre, self.faultless, *([self.second] if self.second else [])]:
            daemon.kill()
        for disk in self.disks:
            disk.close()
        self.network.close()
