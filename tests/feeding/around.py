# SPDX-License-Identifier: Apache-2.0
"""What the programs of tests/workloads/feeds find around them: a folder of files that are quick or slow to
read, servers that belong to nobody's run, clients of servers, somebody who types, and other load. As
planted/stage.py, on which it stands: everything is undone when it closes."""
import contextlib
import gzip
import http.server
import io
import os
import pty
import random
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy
from PIL import Image

from planted import stage

Missing = stage.Missing
PAGE = 4096  # the slow file system is asked for a page at a time


def jpeg(edge, seed):
    noise = numpy.random.RandomState(seed).randint(0, 255, (edge // 2, edge // 2, 3)).astype('uint8')
    data = io.BytesIO()
    Image.fromarray(noise).resize((edge, edge), Image.BICUBIC).save(data, 'JPEG', quality=85)
    return data.getvalue()


def packed(size, seed):
    """So many bytes that pack to some two fifths of that."""
    words = [random.Random(seed + n).randbytes(6) for n in range(64)]
    rng = random.Random(seed)
    return gzip.compress(b''.join(rng.choice(words) + bytes([rng.randrange(9)]) for _ in range(size // 7)), 6)


class Around(stage.Stage):
    # ---- files ----

    def folder(self, content, ms=0, files=64):
        """A folder of f0, f1, ... with that content. Reading one takes ms, if that is not 0."""
        path = self.path('content')
        with open(path, 'wb') as f:
            f.write(content)
        if ms:
            return self.fuse(content=path, read=ms / max(1, -(-len(content) // PAGE)))
        folder = self.path('files')
        os.mkdir(folder)
        for n in range(files):
            os.link(path, os.path.join(folder, f'f{n}'))
        return folder

    def file(self, content, page_ms=0):
        """The path of one such file; each page takes so long."""
        return os.path.join(self.folder(content, page_ms * -(-len(content) // PAGE)), 'f0')

    def hdf5(self, pack, seed):
        """Spectra, a chunk each; packed as tightly as it goes, or not at all."""
        import h5py
        path = self.path('stars')
        flux = numpy.random.RandomState(seed).randint(0, 40, (400, 65536 if pack else 1024)).astype('uint16')
        with h5py.File(path, 'w') as f:
            f.create_dataset('flux', data=flux, chunks=(1, flux.shape[1]), **(
                dict(compression='gzip', compression_opts=9, shuffle=True) if pack else {}))
        with open(path, 'rb') as f:
            return f.read()

    def orders(self, seed):
        """A database with a row of some 4 KB for each of 2,000 customers."""
        import sqlite3
        path = self.path('orders')
        rng = numpy.random.RandomState(seed)
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute('CREATE TABLE orders (customer INTEGER PRIMARY KEY, items BLOB)')
            db.executemany('INSERT INTO orders VALUES (?, ?)',
                           ((n + 1, rng.randint(0, 40, 3600).astype('uint8').tobytes()) for n in range(2000)))
        with open(path, 'rb') as f:
            return f.read()

    def film(self, edge, slow):
        """A film of noise, in a codec whose frames stand alone."""
        path = self.path('film') + '.avi'
        made = subprocess.run(['ffmpeg', '-v', 'error', '-f', 'lavfi', '-i',
                               f'testsrc2=size={edge}x{edge}:rate=25,noise=alls=30', '-frames:v', '130', '-c:v',
                               'mjpeg', '-q:v', '4' if not slow else '24', path], stdin=subprocess.DEVNULL)
        if made.returncode:
            raise Missing('no ffmpeg')
        if not slow:
            return path
        with open(path, 'rb') as f:
            content = f.read()
        return self.file(content, 12 * 130 / -(-len(content) // PAGE))

    # ---- other load ----

    def crowd(self, core, n):
        """Processes of other sessions that keep a core busy: the kernel may share a core by sessions."""
        for _ in range(n):
            hog = subprocess.Popen([sys.executable, '-c', stage.HOG], start_new_session=True)
            os.sched_setaffinity(hog.pid, {core})
            self.callback(self.end, hog)

    # ---- servers of nobody's run ----

    def listener(self, talk):
        """A port; talk(peer) in a thread for each who comes."""
        server = socket.create_server(('127.0.0.1', 0))
        self.callback(server.close)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = server.accept()
                    threading.Thread(target=quietly, args=(talk, peer), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        return server.getsockname()[1]

    def answers(self, ms, content):
        """`NUMBER\\n` is answered after ms with a length (4 bytes) and the content."""
        def talk(peer):
            with peer.makefile('r') as lines:
                for _ in lines:
                    time.sleep(ms / 1000)
                    peer.sendall(struct.pack('<I', len(content)) + content)
        return self.listener(talk)

    def streams(self, ms, content):
        """The content, again and again, ms between two of them, to whoever is there."""
        def talk(peer):
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            while True:
                time.sleep(ms / 1000)
                peer.sendall(content)
        return self.listener(talk)

    def site(self, ms, content):
        """An HTTP server that takes its time."""
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            disable_nagle_algorithm, wbufsize = True, -1

            def do_GET(self):
                time.sleep(ms / 1000)
                self.send_response(200)
                self.send_header('Content-Length', str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.callback(server.server_close)
        self.callback(server.shutdown)
        return server.server_address[1]

    # ---- clients of nobody's run ----

    def asks(self, port, ms, times, talk):
        """From when somebody listens there, talk(connect, n) so often, ms between two of them."""
        done = threading.Event()
        self.callback(done.set)

        def connect():
            while not done.is_set():
                with contextlib.suppress(OSError):
                    return socket.create_connection(('127.0.0.1', port), timeout=60)
                time.sleep(0.02)
            raise ConnectionError

        def client():
            for n in range(times):
                if done.wait(ms / 1000):
                    return
                talk(connect, n)
        threading.Thread(target=quietly, args=(client,), daemon=True).start()

    # ---- a person ----

    def typist(self, lines, ms):
        """A terminal at which somebody types these lines, ms before each, once the program reads. Its end for
        the program."""
        master, slave = pty.openpty()
        done = threading.Event()
        self.callback(os.close, slave)
        self.callback(done.set)

        def drain():
            while os.read(master, 65536):
                pass

        def write():
            for line in lines:
                if done.wait(ms / 1000):
                    return
                os.write(master, line.encode() + b'\n')
        for work in (drain, write):
            threading.Thread(target=quietly, args=(work,), daemon=True).start()
        return slave

    # ---- tasks of others ----

    def later(self, path, ms, times):
        """Files path.0, path.1, ... appear, each ms after the one before was taken away."""
        done = threading.Event()
        self.callback(done.set)

        def scheduler():
            for n in range(times):
                while n and os.path.exists(f'{path}.{n - 1}') and not done.is_set():
                    time.sleep(0.001)
                if done.wait(ms / 1000):
                    return
                stage.write(f'{path}.{n}.new', 'go')
                os.rename(f'{path}.{n}.new', f'{path}.{n}')
        threading.Thread(target=quietly, args=(scheduler,), daemon=True).start()


def quietly(work, *args):
    with contextlib.suppress(OSError):
        work(*args)
