# SPDX-License-Identifier: Apache-2.0
"""A trainer that waits for what others make, in ways that are easily told apart by eye and hard by samples.

    fedby.py uncopied   a thread makes items for a queue, and nothing is copied to the GPU
    fedby.py server     a child of this process, which the preloads are taken from, answers each request after some time,
                        at the very line at which it waits for the next one; a thread asks it and gives to a queue

Prints, as JSON, the share of the time for which the queue was waited for."""
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time

import gpudev

MAKE_S, LIFE_S = 0.03, 6
SERVER = """
import socket, threading, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(4); print(s.getsockname()[1], flush=True)
def serve(c):
    while c.recv(1): time.sleep(0.03); c.sendall(bytes(4096))
while True:
    c, _ = s.accept(); threading.Thread(target=serve, args=(c,), daemon=True).start()
"""


def make(q):
    until = time.monotonic() + LIFE_S
    while time.monotonic() < until:
        time.sleep(MAKE_S)  # <made>
        q.put(bytes(64))
    q.put(None)


def ask(q, port):
    c, until = socket.create_connection(('127.0.0.1', port)), time.monotonic() + LIFE_S
    while time.monotonic() < until:
        c.sendall(b'x')
        q.put(c.recv(4096, socket.MSG_WAITALL))  # <asked>
    q.put(None)


def main():
    device = gpudev.Device(0)
    stream, q, server = gpudev.Stream(device), queue.Queue(8), None
    if sys.argv[1] == 'server':
        env = {k: v for k, v in os.environ.items() if 'PRELOAD' not in k and 'INJECT' not in k}
        server = subprocess.Popen([sys.executable, '-c', SERVER], stdout=subprocess.PIPE, env=env)
        made = threading.Thread(target=ask, args=(q, int(server.stdout.readline())))
        to, pinned = device.malloc(1 << 20), device.host_alloc(1 << 20)
    else:
        made = threading.Thread(target=make, args=(q,))
    made.start()
    begin, waited = time.monotonic(), 0.0
    while True:
        since = time.monotonic()
        item = q.get()  # <waits>
        waited += time.monotonic() - since
        if item is None:
            break
        if server:
            device.h2d(to, pinned, 1 << 16, stream)
        stream.kernel(4_000_000)
        stream.synchronize()
    print(json.dumps({'waited': waited / (time.monotonic() - begin)}))
    if server:
        server.kill()


main()
