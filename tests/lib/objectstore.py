# SPDX-License-Identifier: Apache-2.0
"""Object stores for tests, on loopback: OpenStack Swift with its S3 layer, as Debian has it, in a folder of the
test's; and a store of a few lines that checks each signature with botocore, Amazon's own code, and misbehaves
when it is told to. Both end with the test, whatever ends it."""
import collections
import contextlib
import hashlib
import http.server
import os
import pwd
import signal
import ssl
import subprocess
import threading
import time
import urllib.parse
import urllib.request
import xml.sax.saxutils

import gs
from clickhouse import dies_with_us

PATIENCE_S = 60
PARTS = 'account', 'container', 'object'
KEY, SECRET = 'test:tester', 'testing'

PART = '''[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
devices = {where}/devices
mount_check = false
swift_dir = {where}
user = {user}
workers = 0
disable_fallocate = true
log_address = {where}/no-log
[pipeline:main]
pipeline = {part}-server
[app:{part}-server]
use = egg:swift#{part}
'''
PROXY = '''[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {where}
user = {user}
workers = 0
log_address = {where}/no-log
[pipeline:main]
pipeline = catch_errors cache s3api tempauth bulk slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
error_suppression_interval = 2
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
'''
# Rings of one device each; with a Python that has swift, which need not be the one that tests run in.
RINGS = '''
import sys
from swift.common.ring import RingBuilder
for word in sys.argv[2:]:
    part, port = word.split('=')
    ring = RingBuilder(2, 1, 0)
    ring.add_dev(dict(id=0, region=1, zone=1, ip='127.0.0.1', port=int(port), device='one', weight=1, meta='',
                      replication_ip='127.0.0.1', replication_port=int(port)))
    ring.rebalance()
    ring.get_ring().save(sys.argv[1] + '/' + part + '.ring.gz')
'''


def there():
    """Whether this machine has a Swift to be started."""
    return all(os.path.exists(f'/usr/bin/swift-{part}-server') for part in PARTS + ('proxy',))


class Swift:
    """A Swift of one device. url: of its S3 layer."""

    def __init__(self, where):
        self.where = where
        os.makedirs(os.path.join(where, 'devices', 'one'))
        ports = dict(zip(PARTS + ('proxy',), gs.free_ports(4)))
        self.port = ports['proxy']
        self.url = f'http://127.0.0.1:{self.port}'
        subprocess.run(['/usr/bin/python3', '-c', RINGS, where] + [f'{p}={ports[p]}' for p in PARTS], check=True)
        self.write('swift.conf', '[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n'
                                 '[storage-policy:0]\nname = one\ndefault = yes\n')
        for part, port in ports.items():
            text = PROXY if part == 'proxy' else PART
            self.write(part + '.conf', text.format(where=where, part=part, port=port, user=pwd.getpwuid(os.getuid()).pw_name))
        self.processes = {part: self.start(part) for part in ports}

    def write(self, name, text):
        with open(os.path.join(self.where, name), 'w', encoding='utf-8') as f:
            f.write(text)

    def start(self, part):
        with open(os.path.join(self.where, part + '.out'), 'ab') as out:
            return subprocess.Popen([f'/usr/bin/swift-{part}-server', os.path.join(self.where, part + '.conf'), '-v'],
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=dies_with_us,
                                    env=dict(os.environ, SWIFT_DIR=self.where))

    def wait(self):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(self.url + '/info', timeout=5).read()
                return
            if any(p.poll() is not None for p in self.processes.values()):
                break
            time.sleep(.1)
        raise RuntimeError('no Swift: ' + self.why())

    def why(self):
        words = []
        for part in PARTS + ('proxy',):
            with open(os.path.join(self.where, part + '.out'), encoding='utf-8', errors='replace') as f:
                words += f.read().splitlines()[-1:]
        return '; '.join(words)[:400]

    def environment(self):
        return dict(AWS_ENDPOINT_URL=self.url, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET, AWS_REGION='us-east-1')

    def kill_part(self, part):
        self.processes[part].kill()
        self.processes[part].wait()

    def mend(self):
        """What stands still goes on, what was killed is there again."""
        for part, process in self.processes.items():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
            else:
                self.processes[part] = self.start(part)

    def kill(self):
        for part in self.processes:
            self.kill_part(part)


@contextlib.contextmanager
def swift(where):
    store = Swift(where)
    try:
        store.wait()
        yield store
    finally:
        store.kill()


class Checked(http.server.ThreadingHTTPServer):
    """A store that believes no signature but one that botocore makes of the same request. objects: bytes by
    (bucket, key). next: what it does to the next requests: a status, 'cut' (half an answer), 'drop' (none),
    'lost' (does it, and says nothing), or bytes (an answer of 200). asked: (method, path, headers) of all. refused: as
    one of next, for GETs of blocks. keeps: whether it has what it says that it took. pause_s: before a GET of a block.
    weather(method, path): called for what it does to a request where next is empty; besides what stands there ('slow', s): does
    it after so long, ('late', s): says nothing, and does it after so long, ('twice', s): does it, and once more after so long.
    put(bucket, key, body): is told of what is there now. ahead_s: its clock before this machine's. changed: when objects were
    put, by its clock; else when it was started. tls: a folder with server.pem and server.key, for HTTPS."""
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, key=KEY, secret=SECRET, token=None, region='us-east-1', page=1000, conditional=True,
                 tls=None):
        super().__init__(('127.0.0.1', 0), Asked)
        self.who = key, secret, token, region
        self.page, self.conditional = page, conditional
        self.objects, self.next, self.asked = {}, collections.deque(), []
        self.refused, self.keeps, self.pause_s = None, True, 0
        self.weather, self.put = (lambda method, path: None), (lambda bucket, key, body: None)
        self.ahead_s, self.changed, self.began = 0, {}, time.time()
        self.lock = threading.Lock()
        self.url = f'http{"s" if tls else ""}://127.0.0.1:{self.server_address[1]}'
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(f'{tls}/server.pem', f'{tls}/server.key')
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request, client_address):
        pass  # a peer that has gone is part of some tests

    def now(self):
        return time.time() + self.ahead_s

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *ended):
        self.shutdown()
        self.server_close()

    def environment(self):
        key, secret, token, region = self.who
        env = dict(AWS_ENDPOINT_URL=self.url, AWS_ACCESS_KEY_ID=key, AWS_SECRET_ACCESS_KEY=secret, AWS_REGION=region)
        return dict(env, AWS_SESSION_TOKEN=token) if token else env

    def signature(self, method, url, headers, body):
        """What botocore would send."""
        import botocore.auth
        import botocore.awsrequest
        import botocore.credentials
        import hashlib
        key, secret, token, region = self.who
        signed = headers['Authorization'].split('SignedHeaders=')[1].split(',')[0].split(';')
        given = {h: headers[h] for h in signed if h not in ('host', 'x-amz-security-token', 'x-amz-date')}
        if headers.get('x-amz-content-sha256') != hashlib.sha256(body).hexdigest():
            return 'another body'
        request = botocore.awsrequest.AWSRequest(method, url, headers=given, data=body)
        request.context['timestamp'] = headers['x-amz-date']
        auth = botocore.auth.S3SigV4Auth(botocore.credentials.Credentials(key, secret, token), 's3', region)
        with_time(auth, request, headers['x-amz-date'])
        return request.headers['Authorization']


SIGNING = threading.Lock()  # the time is the module's


def with_time(auth, request, stamp):
    """add_auth, as of the time that the request was signed at."""
    import datetime
    import botocore.auth

    class Then(datetime.datetime):
        @classmethod
        def utcnow(cls):
            return datetime.datetime.strptime(stamp, '%Y%m%dT%H%M%SZ')
    with SIGNING:
        module, botocore.auth.datetime = botocore.auth.datetime, type('then', (), {'datetime': Then})
        try:
            auth.add_auth(request)
        finally:
            botocore.auth.datetime = module


class Asked(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *words):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(self.server.now() if timestamp is None else timestamp)

    def answer(self, status, body=b'', **headers):
        self.send_response(status)
        self.send_header('Content-Length', headers.pop('length', len(body)))
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def refuse(self, status, code):
        self.answer(status, f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>no &lt;{code}&gt;</Message></Error>'.encode())

    def do(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        server = self.server
        with server.lock:
            server.asked.append((self.command, self.path, dict(self.headers)))
            how = server.next.popleft() if server.next else server.weather(self.command, self.path)
        if self.headers.get('Range', '').startswith('bytes=0-') and '/0' in self.path:
            time.sleep(server.pause_s)
            how = server.refused if how is None else how
        if how == 'drop':
            self.close_connection = True
            return
        if isinstance(how, int):
            self.refuse(how, 'SlowDown' if how == 503 else 'Other')
            return
        if isinstance(how, bytes):
            self.answer(200, how)
            return
        how, later_s = how if isinstance(how, tuple) else (how, 0)
        if how == 'slow':
            time.sleep(later_s)
        # Names of headers in any case, as HTTP has them.
        with server.lock:
            wanted = server.signature(self.command, server.url + self.path, self.headers, body)
        if self.headers.get('Authorization') != wanted:
            self.refuse(403, 'SignatureDoesNotMatch')
            return
        where = urllib.parse.urlsplit(self.path)
        bucket, _, key = urllib.parse.unquote(where.path[1:]).partition('/')
        if how in ('late', 'twice') and self.command == 'PUT':
            threading.Timer(later_s, self.keep_later, (bucket, key, body)).start()
            if how == 'late':
                self.close_connection = True
                return
        with server.lock:
            self.act(bucket, key, urllib.parse.parse_qs(where.query, keep_blank_values=True), body, how)

    def keep_later(self, bucket, key, body):
        with self.server.lock:
            self.keep(bucket, key, body)

    def keep(self, bucket, key, body):
        """False: something is there, and it was to be new."""
        if self.headers.get('If-None-Match') and self.server.conditional and (bucket, key) in self.server.objects:
            return False
        if self.server.keeps:
            self.server.objects[bucket, key] = body
            self.server.changed[bucket, key] = self.server.now()
            self.server.put(bucket, key, body)
        return True

    do_GET = do_HEAD = do_PUT = do_DELETE = do

    def act(self, bucket, key, query, body, how):
        objects = self.server.objects
        if self.command == 'PUT':
            if not self.keep(bucket, key, body):
                self.refuse(412, 'PreconditionFailed')
                return
        elif self.command == 'DELETE':
            objects.pop((bucket, key), None)
        if how == 'lost':
            self.close_connection = True
        elif self.command in ('PUT', 'DELETE'):
            self.answer(204 if self.command == 'DELETE' else 200)
        elif not key:
            self.list(bucket, query)
        elif (bucket, key) not in objects:
            self.refuse(404, 'NoSuchKey')
        else:
            self.give(objects[bucket, key], how)

    def give(self, body, how):
        span = self.headers.get('Range')
        if not span:
            self.answer(200, body)
            return
        first, last = (int(n) for n in span[len('bytes='):].split('-'))
        if first >= len(body):
            self.refuse(416, 'InvalidRange')
            return
        part = body[first:last + 1]
        if how == 'cut':
            self.answer(206, part[:len(part) // 2], length=len(part))
            self.close_connection = True
            return
        self.answer(206, part)

    def entry(self, bucket, key):
        if key.endswith('/') and (bucket, key) not in self.server.objects:
            return f'<CommonPrefixes><Prefix>{xml.sax.saxutils.escape(key)}</Prefix></CommonPrefixes>'
        data, at = self.server.objects[bucket, key], self.server.changed.get((bucket, key), self.server.began + self.server.ahead_s)
        return (f'<Contents><Key>{xml.sax.saxutils.escape(key)}</Key><ETag>"{hashlib.md5(data).hexdigest()}"</ETag>'
                f'<LastModified>{time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))}</LastModified><Size>{len(data)}</Size></Contents>')

    def list(self, bucket, query):
        prefix, after, slash = query['prefix'][0], query.get('continuation-token', [''])[0], query.get('delimiter', [''])[0]
        names = {k for b, k in self.server.objects if b == bucket and k.startswith(prefix)}
        if slash:
            names = {k if slash not in k[len(prefix):] else prefix + k[len(prefix):].split(slash)[0] + slash for k in names}
        keys = sorted(k for k in names if k > after)
        page = keys[:min(self.server.page, int(query.get('max-keys', [1000])[0]))]
        text = ''.join(sorted((self.entry(bucket, k) for k in page), key=lambda t: t.startswith('<CommonPrefixes')))
        more = f'<NextContinuationToken>{xml.sax.saxutils.escape(page[-1])}</NextContinuationToken>' \
            if len(keys) > len(page) else ''
        self.answer(200, ('<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                          f'<Name>{bucket}</Name><IsTruncated>{str(bool(more)).lower()}</IsTruncated>{text}{more}'
                          '</ListBucketResult>').encode())
