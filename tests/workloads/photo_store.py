#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A store of photographs as far away as object stores are: an HTTP server on loopback that answers each
request after --latency-ms, however many come at once. Prints its address; ends with its standard input."""
import argparse
import http.server
import io
import sys
import threading
import time


def photograph(pixels):
    import numpy
    from PIL import Image
    field = numpy.random.RandomState(1).randint(0, 255, (pixels // 8, pixels // 8, 3)).astype('uint8')
    data = io.BytesIO()
    Image.fromarray(field).resize((pixels, pixels)).save(data, 'JPEG', quality=85)
    return data.getvalue()


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


def handler(seconds, photo):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            time.sleep(seconds)
            self.send_response(200)
            self.send_header('Content-Type', 'image/jpeg')
            self.send_header('Content-Length', str(len(photo)))
            self.end_headers()
            self.wfile.write(photo)

        def log_message(self, *_):
            pass
    return Handler


def main():
    p = argparse.ArgumentParser(description=__doc__.split(':')[0])
    p.add_argument('--latency-ms', type=float, default=15)
    p.add_argument('--pixels', type=int, default=224)
    args = p.parse_args()
    server = Server(('127.0.0.1', 0), handler(args.latency_ms / 1000, photograph(args.pixels)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f'http://127.0.0.1:{server.server_port}', flush=True)
    sys.stdin.buffer.read()


if __name__ == '__main__':
    main()
