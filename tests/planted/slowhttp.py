#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on loopback that takes its time: the files of a folder, whole or a range of one, each answer
late by so much and then at so many bytes a second.

    slowhttp.py FOLDER --late-ms 5 --mb-s 4

Says its port on stdout, ends when stdin does."""
import argparse
import functools
import http.server
import os
import re
import sys
import threading
import time
import urllib.parse

PIECE = 16384


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def __init__(self, args, *given):
        self.args = args
        super().__init__(*given)

    def log_message(self, *_):
        pass

    def path_of(self):
        name = urllib.parse.unquote(self.path.split('?')[0]).lstrip('/')
        path = os.path.realpath(os.path.join(self.args.folder, name))
        inside = path.startswith(os.path.realpath(self.args.folder) + os.sep)
        return path if inside and os.path.isfile(path) else None

    def head(self):
        """(path, begin, end) of what is asked for; its headers are sent."""
        path = self.path_of()
        if not path:
            self.send_error(404)
            return None
        size = os.path.getsize(path)
        asked = re.fullmatch(r'bytes=(\d+)-(\d*)', self.headers.get('Range') or '')
        begin, end = (int(asked[1]), min(size, int(asked[2] or size) + 1)) if asked else (0, size)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header('Content-Range', f'bytes {begin}-{end - 1}/{size}')
        self.send_header('Accept-Ranges', 'bytes')
        self.send_header('Content-Type', 'application/octet-stream')
        self.send_header('Content-Length', str(end - begin))
        self.end_headers()
        return path, begin, end

    def do_HEAD(self):
        self.head()

    def do_GET(self):
        time.sleep(self.args.late_ms / 1000)
        found = self.head()
        if not found:
            return
        path, at, end = found
        with open(path, 'rb') as file:
            while at < end:
                data = os.pread(file.fileno(), min(PIECE, end - at), at)
                time.sleep(len(data) / self.args.mb_s / 1e6)
                try:
                    self.wfile.write(data)
                except OSError:
                    self.close_connection = True
                    return
                at += len(data)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('folder')
    p.add_argument('--late-ms', type=float, default=0)
    p.add_argument('--mb-s', type=float, default=10)
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Handler, p.parse_args()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == '__main__':
    main()
