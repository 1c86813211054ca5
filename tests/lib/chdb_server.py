#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A current ClickHouse, embedded (PyPI's chdb), behind as much of ClickHouse's HTTP interface as gpustarve uses, so that
it is asked the very bytes that a server is. Run by the Python that has chdb (tests/lib/clickhouse.py):

    chdb_server.py PORT FOLDER

One statement at a time. A statement that fails is answered as a server answers it: its text, with an error's status."""
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from chdb import session

PORT, FOLDER = int(sys.argv[1]), sys.argv[2]
engine = session.Session(FOLDER)
one_at_a_time = threading.Lock()
NO_SETTINGS = 'database', 'wait_end_of_query', 'insert_distributed_sync'  # of HTTP, or of clusters alone


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, b'Ok.\n')

    def do_POST(self):
        asked = parse_qs(urlsplit(self.path).query)
        sql = self.rfile.read(int(self.headers.get('Content-Length', 0))).decode()
        settings = {k: v[0] for k, v in asked.items() if k not in NO_SETTINGS}
        try:
            with one_at_a_time:
                engine.query('USE ' + asked.get('database', ['default'])[0])
                if settings:
                    engine.query('SET ' + ', '.join(f'{k} = {v}' for k, v in settings.items()))
                try:
                    said = engine.query(sql, 'TabSeparated').bytes()
                finally:
                    if settings:
                        engine.query('SET ' + ', '.join(f'{k} = DEFAULT' for k in settings))
            self.answer(200, said)
        except Exception as e:
            self.answer(404 if 'Code: 60.' in str(e) or 'Code: 81.' in str(e) else 500, str(e).encode() + b'\n')


ThreadingHTTPServer(('127.0.0.1', PORT), Handler).serve_forever()
