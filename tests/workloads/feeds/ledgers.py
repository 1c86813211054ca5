#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ledgers. Each step is entered into books that a process of this very job keeps, behind HTTP."""
import http.client
import http.server
import json
import multiprocessing
import time

from held import training
from kit import Card, cfg, note, settle


class Books(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_PUT(self):
        entry = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        time.sleep(cfg.nap)
        total = 0
        for n in range(cfg.rounds * 1000):
            total += n * entry['step']
        self.send_response(201)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')

    def log_message(self, *args):
        pass


def keep(told):
    settle()
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Books)
    told.put(server.server_address[1])
    server.serve_forever()


def main():
    told = multiprocessing.SimpleQueue()
    keeper = multiprocessing.Process(target=keep, args=(told,), daemon=True)
    keeper.start()
    books = http.client.HTTPConnection('127.0.0.1', told.get())
    card = Card()
    for k, batch in training():
        card.step(batch)
        with note('hold', k):
            books.request('PUT', '/entry', json.dumps(dict(step=k, loss=1 / (k + 1))))
            books.getresponse().read()
    books.close()
    keeper.terminate()


if __name__ == '__main__':
    main()
