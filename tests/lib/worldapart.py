# SPDX-License-Identifier: Apache-2.0
"""The world of gateways (gateways.py) in networks of its own (apart.py): node, two gateways, store, worker and ClickHouse on a
machine each, with the cables between them cut while all goes on. Of a test that is in a network of its own already."""
import json
import os
import signal
import time

import apart
import bucketruns as br
import clickhouse
import gateways
import gs
import objectstore
from collector import Collector

MACHINES = 'node', 'a', 'b', 'store', 'worker', 'digests'


def machines():
    """By name, with `here`, the test's own."""
    found = {'here': apart.Here()}
    for i, name in enumerate(MACHINES):
        found[name] = apart.Machine(name, f'10.9.0.{i + 2}')
    return found


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


class Digests:
    """ClickHouse on a machine, at its doors: one server."""

    def __init__(self, machine, where):
        self.machine, self.engine = machine, self.begin(where)
        self.servers = self.listed(machine.do(self.engine.__enter__))
        self.doors = [machine.do(apart.Door, s.http) for s in self.servers]
        self.prepare()

    @staticmethod
    def begin(where):
        return clickhouse.servers(where, 1)

    @staticmethod
    def listed(servers):
        return servers

    def prepare(self):
        self.ask('CREATE DATABASE fleet')

    def url(self, root):
        hosts = ','.join(f'{self.machine.address}:{door.at}' for door in self.doors)
        return f'clickhouse://{hosts}/fleet?outbox={root}/outbox.sqlite'

    def ask(self, sql, server=None):
        return self.machine.do((server or self.servers[0]).ask, sql)

    def of(self, table, server=None):
        """{run: [its digests]}"""
        out = {}
        if self.ask(f'EXISTS TABLE fleet.{table}', server) == '1':
            for line in self.ask(f'SELECT run, digest FROM fleet.{table} FINAL FORMAT JSONEachRow', server).splitlines():
                row = json.loads(line)
                out.setdefault(row['run'], []).append(br.plain(row['digest']))
        return out

    def rows(self):
        """The same of all; None: they do not agree yet."""
        return self.of('gpustarve_runs')

    def close(self):
        for door in self.doors:
            door.close()
        self.engine.__exit__(None, None, None)


class World(gateways.World):
    """@digests: the worker's store of them."""

    def __init__(self, root, seed, conditional, machines, digests):
        m = self.machines = machines
        self.digests, self.links, self.asked_s = digests, [], 0
        self.direct = apart.Link(m['here'], m['store'])
        super().__init__(root, seed, conditional)
        self.links = [apart.Link(m[a], m[b]) for a, b in (('node', 'a'), ('node', 'b'), ('a', 'store'), ('b', 'store'),
                                                          ('worker', 'store'), ('worker', 'digests'))]
        self.worker = Worker(m['worker'], self.store, root, digests.url(root))

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
        return super().all_there() and set(self.sent) <= set(self.digests.rows() or ())

    def judge(self):
        wrong, rows = super().judge(), gs.until('digests agree', self.digests.rows)
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


def play(make, root, rounds):
    """Of the world that @make makes; what happened, by kind."""
    world, wrong = make(root), []
    try:
        for _ in range(rounds):
            wrong += world.play(runs=2)
    finally:
        gs.equal(world.close(), [0, 0, 0], 'gateways and the worker end well')
    gs.equal([w[:300] for w in wrong], [], root)
    if wrong:
        print(world.worker.log()[-4000:])
    return world.count


def play_all(rounds, each, make, where):
    """So many rounds, @each of a world; @make(number, root) makes it. Prints what happened."""
    count = {}
    for number in range((rounds + each - 1) // each):
        root = os.path.join(where, f'world{number}')
        os.mkdir(root)
        for what, n in play(lambda at, number=number: make(number, at), root, min(each, rounds - each * number)).items():
            count[what] = count.get(what, 0) + n
    for what, n in sorted(count.items()):
        print(f'{n:>12,} {what}')
    gs.check(any(what.startswith('cut of') for what in count), 'cables were cut')
