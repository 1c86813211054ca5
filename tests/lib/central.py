# SPDX-License-Identifier: Apache-2.0
"""A central collector under test, with real TLS, and who talks to it.

Everything is on loopback with ports that the system chooses. Certificates are made by openssl, once
per test."""
import http.client
import os
import ssl
import subprocess
import time
import urllib.parse

import collector as c
import gs
from daemon import Daemon

TOKENS = {'alpha': 'alpha-writes-and-reads', 'beta': 'beta-writes-and-reads-1',
          'reader': 'alpha-only-reads-this'}
TOKEN_FILE = f'''# tokens of the tests
{TOKENS["alpha"]} alpha read,write
{TOKENS["beta"]}  beta  read,write
{TOKENS["reader"]} alpha read
'''


def _openssl(where, *args, **env):
    done = subprocess.run(['openssl', *args], cwd=where, capture_output=True, text=True,
                          env={**os.environ, **env})
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def certificates(where, names='IP:127.0.0.1,DNS:localhost', days=2, **env):
    """ca.pem; server.pem for these names; client.pem, of the same authority; stranger.pem, of another
    one. Keys beside them."""
    new = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
           '-days', str(days)]
    _openssl(where, *new, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=test authority', **env)
    _openssl(where, *new, '-keyout', 'stranger.key', '-out', 'stranger.pem', '-subj', '/CN=stranger', **env)
    for name, extra in ('server', f'subjectAltName={names}'), ('client', None):
        _openssl(where, *new, '-keyout', f'{name}.key', '-out', f'{name}.pem', '-subj',
                 f'/CN={name}', '-CA', 'ca.pem', '-CAkey', 'ca.key',
                 *(['-addext', extra] if extra else []), **env)


def fingerprint(where, name):
    return _openssl(where, 'x509', '-in', f'{name}.pem', '-noout', '-fingerprint',
                    '-sha256').strip().split('=')[1]


def write(path, text, mode=0o600):
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def grow_old(path, seconds=600):
    """As if nothing had changed there for so long."""
    then = time.time() - seconds
    os.utime(path, (then, then))


class Centre(Daemon):
    """A collector that listens on HTTP; a context manager. Started again, it keeps its port."""

    def __init__(self, bin_dir, root, https=True, options=(), tokens=TOKEN_FILE, base=None):
        super().__init__(root, 'centre.log')
        self.program, self.https = os.path.join(bin_dir, 'gpustarve-collector'), https
        self.base = base or os.path.join(root, 'centre')
        self.options, self.port = list(options), gs.free_ports(1)[0]
        if tokens:
            self.options += ['--token-file', write(os.path.join(root, 'tokens'), tokens)]
        if https:
            if not os.path.exists(os.path.join(root, 'server.pem')):
                certificates(root)
            self.options += ['--cert', os.path.join(root, 'server.pem'),
                             '--key', os.path.join(root, 'server.key')]
        self.start()

    def start(self):
        listen = f'{"https" if self.https else "http"}://127.0.0.1:{self.port}'
        line = self.launch([self.program, '--dir', self.base, '--listen', listen, '--verbose',
                            *self.options])
        self.url = line.split()[1]
        self.port = urllib.parse.urlsplit(self.url).port

    def counters(self):
        """Those that are not 0, as it prints them at its end."""
        return {w[2]: int(w[3]) for w in (line.split() for line in self.log().splitlines())
                if len(w) > 4 and w[3].isdigit()}

    def context(self, cert=None):
        context = ssl.create_default_context(cafile=os.path.join(self.root, 'ca.pem'))
        if cert:
            context.load_cert_chain(os.path.join(self.root, cert + '.pem'),
                                    os.path.join(self.root, cert + '.key'))
        return context

    def connect(self, cert=None, timeout=120):
        if not self.https:
            return http.client.HTTPConnection('127.0.0.1', self.port, timeout=timeout)
        return http.client.HTTPSConnection('127.0.0.1', self.port, timeout=timeout,
                                           context=self.context(cert))

    def ask(self, method, path, body=None, token=TOKENS['alpha'], cert=None, headers=None):
        """Status, headers (lower case) and body of the answer, on a connection of its own."""
        k = self.connect(cert)
        try:
            sent = {'Authorization': 'Bearer ' + token} if token else {}
            k.request(method, path, body, {**sent, **(headers or {})})
            a = k.getresponse()
            return a.status, {n.lower(): v for n, v in a.getheaders()}, a.read()
        finally:
            k.close()

    def post(self, *frames, **kw):
        """Status, and {stream: acknowledged number}, or the text of a refusal."""
        status, headers, body = self.ask('POST', '/v1/frames', b''.join(frames), **kw)
        if status != 200:
            return status, body.decode(), headers
        acks = [c.Frame(body[i:i + 64], 0) for i in range(0, len(body), 64)]
        assert all(a.kind == c.ACK and a.bytes == 64 for a in acks)
        return status, {a.stream: a.seq for a in acks}, headers

    def names(self, team='alpha'):
        """What lies in a team's folder, but for what is the collector's own."""
        return sorted(n for n in os.listdir(os.path.join(self.base, team)) if n[0] != '.')

    def path(self, run, stream, team='alpha'):
        return os.path.join(self.base, team, run + '.gst', stream.hex() + '.gst')

    def frames(self, run, stream, team='alpha'):
        return c.read_stream(self.path(run, stream, team))

    def seqs(self, run, stream, team='alpha'):
        """The numbers that are stored, in order of the file; of a file that is not there: none."""
        try:
            return [f.seq for f in self.frames(run, stream, team)]
        except (FileNotFoundError, ValueError):
            return []


def roll_back(store, backup):
    """Back to what @backup is a copy of, in its place, as a snapshot of the file system does: every file is the
    one that it was."""
    for at, _, names in os.walk(store):
        for name in names:
            path = os.path.join(at, name)
            old = os.path.join(backup, os.path.relpath(path, store))
            if not os.path.exists(old):
                os.remove(path)
                continue
            with open(old, 'rb') as f, open(path, 'r+b') as g:
                g.write(f.read())
                g.truncate()


def upstream(centre, token=TOKENS['alpha'], cert=None):
    """A node collector's options for @centre."""
    path = write(os.path.join(centre.root, 'upstream-token'), token + '\n')
    options = ['--upstream', centre.url, '--upstream-token-file', path]
    if centre.https:
        options += ['--upstream-ca', os.path.join(centre.root, 'ca.pem')]
    if cert:
        options += ['--upstream-cert', os.path.join(centre.root, cert + '.pem'),
                    '--upstream-key', os.path.join(centre.root, cert + '.key')]
    return options
