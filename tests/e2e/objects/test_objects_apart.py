#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""A node, two gateways, the object store, a worker and ClickHouse, each in a network of its own, while the cables between them
are cut: unplugged, or packets of one direction or both vanish and nobody is told. Besides, all that tests/gateways does, and
workers are killed. In the end each frame is in the store once, reports are a faultless collector's, and each run has one row
in the store of digests, which is what `gpustarve digest` says of it.

GS_BIG=1 plays 200 rounds, one GS_ROUNDS."""
import json
import os
import shutil
import signal
import sys
import time
import urllib.request

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(0, sys.path[0] + '/..')
import bucketruns as br
import clickhouse
import gateways
import gs
import network
import objectstore
from collector import Collector, seeded

ROUNDS = int(os.environ.get('GS_ROUNDS', 200 if gs.BIG else 1))
EACH = 10  # rounds of one world
gateways.PATIENCE_S = 400  # a wait in silence is given up after half a minute, and tried again after as long


class Gateway(gateways.Gateway):
    """On a machine, whose loopback alone it listens on."""

    def __init__(self, machine, *words):
        self.machine, self.door = machine, None
        super().__init__(*words)

    def start(self):
        self.machine.do(super().start)
        self.door = self.door or self.machine.do(apart.Door, self.port)


class Balancer(gateways.Balancer):
    @staticmethod
    def reach(gateway):
        return gateway.machine.address, gateway.door.at


class Node(Collector):
    def __init__(self, machine, *words, **kw):
        self.machine = machine
        super().__init__(*words, **kw)

    def start(self, ready=True):
        self.machine.do(super().start, ready)


class Worker(br.Worker):
    def __init__(self, machine, store, where, digests):
        self.machine, self.digests = machine, digests
        super().__init__(store, where, url=f's3://{gateways.BUCKET}/{gateways.PREFIX}', work_lease='5s', work_tries='0')

    def start(self):
        self.argv[self.argv.index('--store') + 1] = self.digests
        self.machine.do(super().start)


class World(gateways.World):
    """@digests: the ClickHouse of the worker, at the machine's door."""

    def __init__(self, root, seed, conditional, machines, server, digests):
        self.machines, self.server, self.links, self.asked_s = machines, server, [], 0
        super().__init__(root, seed, conditional)
        m = machines
        self.links = [apart.Link(m[a], m[b]) for a, b in (('node', 'a'), ('node', 'b'), ('a', 'store'), ('b', 'store'),
                                                          ('worker', 'store'), ('worker', 'digests'))]
        self.direct = apart.Link(m['here'], m['store'])
        self.worker = Worker(m['worker'], self.store, root, digests)

    def make_store(self, conditional):
        m = self.machines['store']
        store = m.do(objectstore.Checked, conditional=conditional)
        self.door = m.do(apart.Door, store.server_address[1])
        store.url = f'http://{m.address}:{self.door.at}'
        return store

    def make_gateway(self, number, ahead_s):
        return Gateway(self.machines['ab'[number]], self.root, f'gateway{number}', self.store, ahead_s)

    def make_balancer(self):
        return self.machines['node'].do(Balancer, self.gateways, self.r)

    def make_node(self, options):
        return Node(self.machines['node'], gateways.BIN, base=os.path.join(self.root, 'node'), root=self.folder('n'), options=options)

    def cut_link(self, link, kind):
        def go():
            self.note(f'cut of {link.ends[0].name} from {link.ends[1].name}, {kind}')
            link.cut(kind)
        return go

    def faults(self, span):
        r, out = self.r, super().faults(span)
        for link in r.sample(self.links, r.randrange(1, 4)):
            at = r.uniform(0, span)
            out += [(at, self.cut_link(link, r.choice(apart.KINDS))), (at + r.uniform(.5, 2 * span), link.mend)]
        if r.random() < .5:
            out.append((r.uniform(0, span), self.kill_worker))
        return out

    def kill_worker(self):
        self.note('worker killed')
        self.worker.kill()
        self.worker.start()

    def mend(self):
        super().mend()
        for link in self.links:
            link.mend()

    def all_there(self):
        """Asked again and again, of two stores that have other things to do."""
        if time.monotonic() < self.asked_s + .5:
            return False
        self.asked_s = time.monotonic()
        return super().all_there() and set(self.sent) <= set(self.rows())

    def rows(self):
        """{run: [its digests]}, of ClickHouse."""
        out, ask = {}, lambda sql: self.machines['digests'].do(self.server.ask, sql)
        if ask('EXISTS TABLE fleet.gpustarve_runs') == '1':
            for line in ask('SELECT run, digest FROM fleet.gpustarve_runs FINAL FORMAT JSONEachRow').splitlines():
                row = json.loads(line)
                out.setdefault(row['run'], []).append(br.plain(row['digest']))
        return out

    def judge(self):
        wrong, rows = super().judge(), self.rows()
        for run in () if wrong else self.sent:
            env = gs.environment(HOME='/nowhere', **self.store.environment())
            done = gs.command([gs.CLI, 'digest', f's3://{gateways.BUCKET}/{gateways.PREFIX}/{gateways.TEAM}/{run}', '--team', gateways.TEAM],
                              env=env)
            want = [br.plain(done.stdout.decode())] if done.returncode == 0 else done.stderr
            if rows.get(run) != want:
                wrong.append(f'{run}: rows {rows.get(run)}, its digest says {want}')
        return wrong

    def close(self):
        statuses = super().close()
        self.worker.process.send_signal(signal.SIGCONT)
        statuses.append(self.worker.stop())
        for link in (*self.links, self.direct):
            link.remove()
        for door in (self.door, *(g.door for g in self.gateways)):
            door.close()
        return statuses


def answers(machine, port):
    try:
        return urllib.request.urlopen(f'http://{machine.address}:{port}/ping', timeout=2).read() == b'Ok.\n'
    except OSError:
        return False


def cuts_cut(here, machine, port):
    """Each kind of a cut, before anything is concluded from a world that went on."""
    link = apart.Link(here, machine)
    gs.check(answers(machine, port), 'a cable')
    for kind in apart.KINDS:
        link.cut(kind)
        gs.check(not answers(machine, port), f'{kind}: nobody hears')
        link.mend()
        gs.check(answers(machine, port), f'{kind}: mended')
    link.remove()


def play(root, seed, number, rounds, machines, server, digests):
    w, wrong = World(root, f'{seed}-{number}', number % 2 == 0, machines, server, digests), []
    try:
        for _ in range(rounds):
            wrong += w.play(runs=2)
    finally:
        gs.equal(w.close(), [0, 0, 0], 'gateways and the worker end well')
    gs.equal([w[:300] for w in wrong], [], f'seed {seed}, world {number}')
    if wrong:
        print(w.worker.log()[-4000:])
    return w.count


def main():
    seed, count = seeded().randrange(1 << 30), {}
    machines = {'here': apart.Here()}
    for i, name in enumerate(('node', 'a', 'b', 'store', 'worker', 'digests')):
        machines[name] = apart.Machine(name, f'10.9.0.{i + 2}')
    with gs.scratch() as where:
        ch = machines['digests']
        started = clickhouse.servers(where, 1)
        server, = ch.do(started.__enter__)
        try:
            door = ch.do(apart.Door, server.http)
            cuts_cut(machines['here'], ch, door.at)
            ch.do(server.ask, 'CREATE DATABASE fleet')
            for number in range((ROUNDS + EACH - 1) // EACH):
                root = os.path.join(where, f'world{number}')
                os.mkdir(root)
                digests = f'clickhouse://{ch.address}:{door.at}/fleet?outbox={root}/outbox.sqlite'
                for what, n in play(root, seed, number, min(EACH, ROUNDS - EACH * number), machines, server, digests).items():
                    count[what] = count.get(what, 0) + n
        finally:
            started.__exit__(None, None, None)
            for m in machines.values():
                m.close()
    for what, n in sorted(count.items()):
        print(f'{n:>12,} {what}')
    gs.check(any(what.startswith('cut of') for what in count), 'cables were cut')


if not shutil.which('ip') or not network.be_alone():
    gs.skip('no network of its own (iproute2)')
import apart  # noqa: E402: it makes networks in ours

main()
gs.finish()
