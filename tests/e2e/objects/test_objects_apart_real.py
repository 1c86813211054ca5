#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse
"""The same as test_objects_apart.py with engines that people run: OpenStack's Swift with its S3 layer for the store, and two
shards of two replicas of ClickHouse over ZooKeeper for the digests. Parts of Swift are killed and stand still, and so are
ClickHouse's servers, one of each shard at most.

GS_BIG=1 plays 40 rounds, or GS_ROUNDS; else it is left out."""
import os
import shutil
import signal
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(0, sys.path[0] + '/..')
import clickhouse
import gateways
import gs
import network
import objectstore
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from collector import seeded

ROUNDS = int(os.environ.get('GS_ROUNDS', 40))
EACH = 10
gateways.PATIENCE_S = 400


class Store:
    """Swift, at a machine's door. objects: bytes by (bucket, key)."""
    weather = put = None  # nothing is done to single requests

    def __init__(self, machine, where):
        self.swift = machine.do(objectstore.Swift, where)
        machine.do(self.swift.wait)
        self.door = machine.do(apart.Door, self.swift.port)
        self.url, self.known = f'http://{machine.address}:{self.door.at}', {}

    def __enter__(self):
        self.ask('PUT')  # the bucket
        return self

    def __exit__(self, *ended):
        self.swift.kill()

    def environment(self):
        return dict(self.swift.environment(), AWS_ENDPOINT_URL=self.url)

    def ask(self, method, what=''):
        """Again and again: parts of it come up one after the other, and one that stood still is left alone for a while."""
        url, until = f'{self.url}/{gateways.BUCKET}{what}', time.monotonic() + 120
        while True:
            request = AWSRequest(method, url, headers={'x-amz-content-sha256': 'UNSIGNED-PAYLOAD'})
            S3SigV4Auth(Credentials(objectstore.KEY, objectstore.SECRET), 's3', 'us-east-1').add_auth(request)
            try:
                with urllib.request.urlopen(urllib.request.Request(url, headers=dict(request.headers), method=method), timeout=20) as r:
                    return r.read()
            except urllib.error.HTTPError as e:
                if e.code == 404 or time.monotonic() > until:
                    raise
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(.2)

    def listed(self):
        """(key, its body's hash) of all."""
        more, key = 'true', ''
        while more == 'true':
            page = xml.etree.ElementTree.fromstring(self.ask('GET', '?marker=' + urllib.parse.quote(key, safe='')))
            for entry in page.iterfind('{*}Contents'):
                key = entry.findtext('{*}Key')
                yield key, entry.findtext('{*}ETag')
            more = page.findtext('{*}IsTruncated')

    def body(self, key, etag):
        """None: it is listed and yet not there, as what was removed by a server that was killed before it told the list, and
        whose updater, which would tell it, is not run here."""
        if (key, etag) not in self.known:
            try:
                self.known[key, etag] = self.ask('GET', '/' + urllib.parse.quote(key))
            except urllib.error.HTTPError as e:
                if e.code != 404:
                    raise
                print(f'listed and not there: {key}', flush=True)
                return None
        return self.known[key, etag]

    @property
    def objects(self):
        found = {(gateways.BUCKET, key): self.body(key, etag) for key, etag in self.listed()}
        return {at: body for at, body in found.items() if body is not None}


def shards_of(base):
    class Shards(base):
        """Two shards of two replicas."""

        @staticmethod
        def begin(where):
            return clickhouse.replicated(where)

        @staticmethod
        def listed(servers):
            return [s for shard in servers for s in shard]

        def prepare(self):
            """The program makes the database on all of them."""

        def url(self, root):
            return super().url(root) + '&cluster=fleet'

        def rows(self):
            out, held = {}, [self.of('gpustarve_runs_local', s) for s in self.servers]
            if held[0] != held[1] or held[2] != held[3]:
                return None
            for shard in held[0], held[2]:
                for run, rows in shard.items():
                    out[run] = out.get(run, []) + rows
            return out
    return Shards


def world_of(base):
    class RealWorld(base):
        def make_store(self, conditional):
            store = Store(self.machines['store'], self.folder('swift'))
            self.door = store.door
            return store

        def make_gateway(self, number, ahead_s):
            """Who is more than a quarter of an hour ahead is let in nowhere."""
            return super().make_gateway(number, min(ahead_s, 600))

        def faults(self, span):
            r, out = self.r, super().faults(span)
            swift, parts = self.store.swift, r.sample(('proxy', 'object'), r.randrange(0, 3))
            servers = self.digests.servers
            for part in parts:
                at, how = r.uniform(0, span), r.choice(('killed', 'stands still'))
                out += [(at, self.hit(f'swift {part} {how}', lambda p=part, h=how: self.hit_part(swift, p, h))),
                        (at + r.uniform(.5, span), self.mend_swift)]
            for shard in r.sample((0, 1), r.randrange(0, 3)):
                at, server, how = r.uniform(0, span), servers[2 * shard + r.randrange(2)], r.choice(('killed', 'stands still'))
                out += [(at, self.hit(f'a replica {how}', lambda s=server, h=how: self.hit_server(s, h))),
                        (at + r.uniform(.5, span), lambda s=server: self.raise_server(s))]
            return out

        def hit(self, what, do):
            def go():
                self.note(what)
                do()
            return go

        @staticmethod
        def hit_part(swift, part, how):
            if how == 'killed':
                swift.kill_part(part)
            else:
                swift.processes[part].send_signal(signal.SIGSTOP)

        @staticmethod
        def hit_server(server, how):
            if how == 'killed':
                server.kill()
            else:
                server.process.send_signal(signal.SIGSTOP)

        def mend_swift(self):
            self.machines['store'].do(self.store.swift.mend)

        def raise_server(self, server):
            if server.process:
                server.process.send_signal(signal.SIGCONT)
            elif not self.machines['digests'].do(server.start):
                raise RuntimeError(f'a replica does not come back: {server.why()}')

        def mend(self):
            super().mend()
            self.mend_swift()
            for server in self.digests.servers:
                self.raise_server(server)
    return RealWorld


def main():
    seed, machines = seeded().randrange(1 << 30), worldapart.machines()
    make_world = world_of(worldapart.World)
    with gs.scratch() as where:
        digests = shards_of(worldapart.Digests)(machines['digests'], where)
        try:
            worldapart.play_all(ROUNDS, EACH, lambda number, root: make_world(root, f'{seed}-{number}', True, machines, digests), where)
        finally:
            digests.close()
            for m in machines.values():
                m.close()


if not gs.BIG:
    gs.skip('a campaign: GS_BIG=1')
if not objectstore.there():
    gs.skip('no Swift (scripts/setup)')
if not shutil.which('ip') or not network.be_alone():
    gs.skip('no network of its own (iproute2)')
import apart  # noqa: E402: it makes networks in ours
import worldapart  # noqa: E402

main()
gs.finish()
