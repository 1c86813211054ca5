# SPDX-License-Identifier: Apache-2.0
"""Throw-away ClickHouse servers on loopback: each with its own folder, all of them one cluster `fleet`
of as many shards, and one shard `mirrored` of as many replicas; such whose shards have two replicas over Debian's
ZooKeeper; and a current one, PyPI's chdb behind tests/lib/chdb_server.py. They end with the test, whatever ends it."""
import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

import gs

PR_SET_PDEATHSIG = 1
PATIENCE_S = 120
ZOOKEEPER = '/usr/share/zookeeper/bin/zkServer.sh'
VENV = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'gpustarve', 'clickhouse')

CONFIG = '''<yandex>
<logger><level>warning</level><log>{0}/log</log><errorlog>{0}/err</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{inter}</interserver_http_port>
<listen_host>127.0.0.1</listen_host><path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path>
<users_config>{0}/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>50000000</mark_cache_size>
<remote_servers><fleet>{shards}</fleet><mirrored><shard>{replicas}</shard></mirrored></remote_servers>{more}
</yandex>
'''
USERS = '''<yandex><profiles><default/></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
<bill><password>s3cret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></bill></users>
<quotas><default/></quotas></yandex>
'''


def dies_with_us():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Engine:
    """A process that speaks ClickHouse's HTTP at a port."""
    http = process = where = None

    def begin(self, command):
        """True once it answers; False: it ended, or says nothing."""
        self.process = subprocess.Popen(command, cwd=self.where, stdin=subprocess.DEVNULL,
                                        stdout=open(os.path.join(self.where, 'out'), 'ab'),
                                        stderr=subprocess.STDOUT, preexec_fn=dies_with_us)
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if urllib.request.urlopen(f'http://127.0.0.1:{self.http}/ping', timeout=5).read() == b'Ok.\n':
                    return True
            time.sleep(0.1)
        return False

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def ask(self, sql, patience_s=60):
        with urllib.request.urlopen(f'http://127.0.0.1:{self.http}/', sql.encode(), timeout=patience_s) as r:
            return r.read().decode().strip()

    def why(self):
        for name in 'err', 'log', 'out':
            path = os.path.join(self.where, name)
            if os.path.exists(path) and os.path.getsize(path):
                with open(path, encoding='utf-8', errors='replace') as f:
                    return f.read().splitlines()[-1][:200]
        return 'it said nothing'


class Server(Engine):
    def __init__(self, where, ports, shards, more=''):
        self.where, self.http, self.process = where, ports[0], None
        for d in 'data', 'tmp':
            os.makedirs(os.path.join(where, d))
        with open(os.path.join(where, 'config.xml'), 'w', encoding='utf-8') as f:
            f.write(CONFIG.format(where, http=ports[0], tcp=ports[1], inter=ports[2], shards=shards,
                                  replicas=shards.replace('<shard>', '').replace('</shard>', ''), more=more))
        with open(os.path.join(where, 'users.xml'), 'w', encoding='utf-8') as f:
            f.write(USERS)

    def start(self):
        return self.begin(['clickhouse-server', '--config-file=' + os.path.join(self.where, 'config.xml')])


class ZooKeeper:
    """What servers agree by on who has copied what."""

    def __init__(self, where):
        self.port, self.process = gs.free_ports(1)[0], None
        self.config = os.path.join(where, 'zoo.cfg')
        self.env = dict(os.environ, ZOO_LOG_DIR=where, ZOO_LOG4J_PROP='WARN,CONSOLE')
        with open(self.config, 'w', encoding='utf-8') as f:
            f.write(f'tickTime=1000\ndataDir={where}/zoo\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n'
                    'admin.enableServer=false\n4lw.commands.whitelist=ruok\n')

    def is_there(self):
        with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', self.port), 2) as s:
            s.sendall(b'ruok')
            return s.recv(4) == b'imok'
        return False

    def start(self):
        self.process = subprocess.Popen([ZOOKEEPER, 'start-foreground', self.config], env=self.env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=dies_with_us)
        return gs.until('ZooKeeper', self.is_there, PATIENCE_S)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class Current(Engine):
    def __init__(self, where):
        self.where, self.http = where, gs.free_ports(1)[0]

    def start(self):
        return self.begin([os.path.join(VENV, 'bin', 'python'), os.path.join(os.path.dirname(__file__), 'chdb_server.py'),
                           str(self.http), os.path.join(self.where, 'data')])


@contextlib.contextmanager
def servers(where, n):
    """Skips the test where there is no server, or it does not start here."""
    if not shutil.which('clickhouse-server'):
        gs.skip('no clickhouse-server')
    ports = gs.free_ports(3 * n)
    shards = ''.join(f'<shard><replica><host>127.0.0.1</host><port>{ports[3 * i + 1]}</port></replica></shard>'
                     for i in range(n))
    found = []
    try:
        for i in range(n):
            folder = os.path.join(where, f'shard{i}')
            os.makedirs(folder)
            found.append(Server(folder, ports[3 * i:3 * i + 3], shards))
            if not found[-1].start():
                gs.skip(f'clickhouse-server does not start here: {found[-1].why()}')
        yield found
    finally:
        for s in found:
            s.kill()


@contextlib.contextmanager
def replicated(where):
    """[[server, server], [server, server]]: of two shards the replicas, as cluster `fleet`. Skips as servers() does."""
    if not shutil.which('clickhouse-server') or not os.path.exists(ZOOKEEPER):
        gs.skip('no clickhouse-server, or no zookeeper')
    keeper, ports = ZooKeeper(where), gs.free_ports(12)
    shards = ''.join('<shard><internal_replication>true</internal_replication>' + ''.join(
        f'<replica><host>127.0.0.1</host><port>{ports[3 * (2 * s + r) + 1]}</port></replica>' for r in range(2)) + '</shard>'
        for s in range(2))
    found = []
    try:
        keeper.start()
        for i in range(4):
            folder = os.path.join(where, f'replica{i}')
            os.makedirs(folder)
            more = f'<zookeeper><node><host>127.0.0.1</host><port>{keeper.port}</port></node></zookeeper>' \
                   f'<macros><shard>{i // 2}</shard><replica>{i % 2}</replica></macros>' \
                   '<interserver_http_host>127.0.0.1</interserver_http_host>'
            found.append(Server(folder, ports[3 * i:3 * i + 3], shards, more))
            if not found[-1].start():
                gs.skip(f'clickhouse-server does not start here: {found[-1].why()}')
        yield [found[:2], found[2:]]
    finally:
        for s in found:
            s.kill()
        keeper.kill()


@contextlib.contextmanager
def current(where):
    """Skips the test where scripts/clickhouse-venv was not run."""
    if not os.path.exists(os.path.join(VENV, 'requirements')):
        gs.skip('no chdb: scripts/clickhouse-venv')
    engine = Current(where)
    try:
        gs.check(engine.start(), f'chdb starts: {engine.why()}')
        yield engine
    finally:
        engine.kill()
