#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of each kind, for short: kindloop.py WHAT [SEED]. What torch does on the CPU is real (optimizers, loaders,
sockets); kernels are named as libraries name theirs and last as long as told, on the simulated GPU, a model.

    sgd adam adamw fused scheduler amp accumulate    training: an optimizer of torch.optim, one way or the other
    hidden                                           training without torch's optimizers: backward kernels alone
    byhand                                           the same with backward() and kernels that bear no such names, and a
                                                     loader that validates
    tiny                                             the same of a model whose passes take next to no time
    scraped logs prefetch                            training: beside it a server of metrics that is asked all the
                                                     time; a thread per step that writes; one that copies the batch
    eval validate metrics                            evaluation: batches of a loader, forward kernels, no gradients
    scraped_eval threads_eval fresh_eval             evaluation: beside a server of metrics; by threads of a pool; by
                                                     a thread of its own for each batch, and beside such a server
    alike                                            evaluation that keeps what gradients would need, and calls functions
                                                     of its own that are named as backward passes are
    brief                                            evaluation that ends before much is known of it
    serve threaded background                        inference: waits for requests over HTTP, answers each, in its one
                                                     thread, in one of its own each, in such of a server in a thread
    raw loop executor                                the same by sockets alone, and in loops of asyncio
    generate paged                                   inference: a cache of keys and values
    xla fresh fresh_other                            kernels whose names tell nothing; such by a thread of its own for
                                                     each step, which the main thread starts or another one, beside a
                                                     server of metrics
    moves                                            batches of a loader, and kernels of no model of torch's"""
import asyncio
import concurrent.futures
import http.server
import os
import random
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

from gpudev import Device, Stream  # noqa: E402

FORWARD = ('ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn', 'vectorized_layer_norm_kernel',
           'vectorized_elementwise_kernel', 'softmax_warp_forward', 'flash_fwd_kernel')
BACKWARD = ('softmax_warp_backward', 'cutlass_wgrad_kernel', 'flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel',
            'layer_norm_grad_input_backward_kernel')
LASTS = 12, 15  # seconds of an evaluation: of a short one nobody knows what was not seen
CACHE = {'generate': ('fmha_kvcache_kernel',), 'paged': ('paged_attention_v1_kernel', 'reshape_and_cache_kernel')}


class Samples(Dataset):
    def __init__(self, n, seconds):
        self.n, self.seconds = n, seconds

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        time.sleep(self.seconds)
        return torch.full((8,), float(i))


class Twice(torch.autograd.Function):
    """With a backward pass of its own, which nobody runs."""
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.dev = Device(0)
        self.stream = Stream(self.dev)
        self.model = torch.nn.Linear(8, 8)
        self.steps = self.rng.randint(30, 60)
        self.seconds = self.rng.uniform(*LASTS)

    def loader(self, times=1):
        return DataLoader(Samples(self.steps * 2 * times, .001), batch_size=2, num_workers=self.rng.choice((0, 1, 2)))

    def batches(self):
        """As many as come until it is time, of one loader, in long passes."""
        end, loader = time.monotonic() + self.seconds, self.loader(20)
        while True:
            for batch in loader:
                yield batch
                if time.monotonic() > end:
                    return

    def moment(self):
        """The batches of a moment, which a busy machine does not make longer."""
        end = None
        for batch in self.loader():
            yield batch
            end = end or time.monotonic() + .15
            if time.monotonic() > end:
                return

    def forward(self):
        for _ in range(self.rng.randint(2, 6)):
            self.stream.kernel(self.rng.randint(100_000, 900_000), name=self.rng.choice(FORWARD))

    def backward(self):
        for _ in range(self.rng.randint(2, 4)):
            self.stream.kernel(self.rng.randint(200_000, 900_000), name=self.rng.choice(BACKWARD))

    def metrics(self):
        """As exporters of metrics do: a server in a thread, asked by another process for as long as we live."""
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header('Content-Length', '4')
                self.end_headers()
                self.wfile.write(b'loss')

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = 'import sys, time, urllib.request\nwhile True:\n    time.sleep(.02)\n    try:\n        urllib.request' \
                 f'.urlopen("http://127.0.0.1:{server.server_port}/").read()\n    except OSError:\n        sys.exit()\n'
        subprocess.Popen([sys.executable, '-c', client], env=dict(os.environ, GPUSTARVE='0'))

    @staticmethod
    def write(path):
        with open(path, 'w') as f:
            f.write('step\n' * 20000)

    def beside(self, what, i):
        """What a loop does in a thread of its own each step."""
        if what == 'logs':
            threading.Thread(target=self.write, args=(f'log{i % 4}',)).start()
        elif what == 'prefetch':
            thread = threading.Thread(target=lambda: (self.dev.use(), self.stream.kernel(50_000, name='copy')))
            thread.start()
            thread.join()

    def train(self, what):
        by = {'sgd': torch.optim.SGD, 'adam': torch.optim.Adam, 'adamw': torch.optim.AdamW}
        optimizer = by.get(what, torch.optim.SGD)(self.model.parameters(), lr=1e-3)
        if what == 'scraped':
            self.metrics()
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10) if what == 'scheduler' else None
        for i, batch in enumerate(self.loader()):
            self.beside(what, i)
            self.forward()
            self.model(batch).sum().backward()
            self.backward() if what != 'fused' else self.stream.kernel(500_000, name='multi_tensor_apply_kernel')
            if what != 'accumulate' or i % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()
            if schedule:
                schedule.step()
            self.stream.synchronize()

    def hidden(self):
        for _ in self.loader():
            self.forward()
            self.backward()
            self.stream.synchronize()

    def byhand(self, size=512):
        model = torch.nn.Linear(size, size)
        held_out = DataLoader(Samples(8, .001), batch_size=2)
        for i, batch in enumerate(self.batches()):
            self.forward()
            model(batch.repeat(size // 32 or 1, size // 8)).sum().backward()
            self.forward()
            with torch.no_grad():
                for p in model.parameters():
                    p -= 1e-3 * p.grad
                    p.grad = None
            self.stream.synchronize()
            if i % 100 == 99:
                with torch.no_grad():
                    for _ in held_out:
                        self.forward()
                        self.stream.synchronize()

    def tiny(self):
        self.byhand(8)

    def grad(self, batch):
        return Twice.apply(self.model(batch)).sum()

    def alike(self):
        """Named as passes are; none runs."""
        def backward(batch):
            return float(self.grad(batch))

        self.model.eval()
        for batch in self.batches():
            self.forward()
            self.stream.synchronize()
            for _ in range(20):
                backward(batch)

    def evaluate(self, what):
        right = 0.
        self.model.eval()
        with torch.no_grad():
            for batch in self.moment() if what == 'brief' else self.batches():
                self.forward()
                self.stream.synchronize()
                right += float(self.model(batch).sum())
                if what == 'metrics':
                    sorted(self.rng.random() for _ in range(20000))
        if what == 'validate':
            print(right / self.steps)

    def forward_alone(self, batch):
        self.dev.use()
        with torch.no_grad():
            self.forward()
            self.stream.synchronize()
            return float(self.model(batch).sum())

    def evaluate_in_threads(self, what):
        self.model.eval()
        if what == 'threads_eval':
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                sum(pool.map(self.forward_alone, self.batches()))
            return
        self.metrics()
        for batch in self.batches():
            if what == 'scraped_eval':
                self.forward_alone(batch)
                continue
            thread = threading.Thread(target=self.forward_alone, args=(batch,))
            thread.start()
            thread.join()
            sorted(self.rng.random() for _ in range(5000))

    def ask(self, port):
        """Requests of another process, which is returned."""
        pause, requests = self.rng.uniform(.02, .06), self.rng.randint(60, 90)
        client = 'import sys, time, urllib.request\n' \
                 f'for _ in range({requests}):\n    time.sleep({pause})\n' \
                 f'    urllib.request.urlopen("http://127.0.0.1:{port}/").read()\n'
        return subprocess.Popen([sys.executable, '-c', client], env=dict(os.environ, GPUSTARVE='0'))

    ANSWER = b'HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ndone'

    def answer(self, connection):
        with connection:
            connection.recv(4096)
            self.infer()
            connection.sendall(self.ANSWER)

    def infer(self):
        self.dev.use()
        self.forward()
        self.stream.synchronize()

    def serve_raw(self):
        with socket.create_server(('127.0.0.1', 0)) as server:
            child = self.ask(server.getsockname()[1])
            server.settimeout(1)
            while child.poll() is None:
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                threading.Thread(target=self.answer, args=(connection,)).start()

    def serve_loop(self, what):
        async def answer(reader, writer):
            await reader.readuntil(b'\r\n\r\n')
            if what == 'executor':
                await asyncio.get_running_loop().run_in_executor(None, self.infer)
            else:
                self.infer()
            writer.write(self.ANSWER)
            await writer.drain()
            writer.close()

        async def serve():
            server = await asyncio.start_server(answer, '127.0.0.1', 0)
            child = self.ask(server.sockets[0].getsockname()[1])
            while child.poll() is None:
                await asyncio.sleep(1)

        asyncio.run(serve())

    def serve(self, what):
        """HTTP, as most servers speak it; the clients are another process."""
        program = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                program.infer()
                self.send_response(200)
                self.send_header('Content-Length', '4')
                self.end_headers()
                self.wfile.write(b'done')

            def log_message(self, *_):
                pass

        kind = http.server.HTTPServer if what == 'serve' else http.server.ThreadingHTTPServer
        server = kind(('127.0.0.1', 0), Handler)
        child = self.ask(server.server_port)
        if what == 'background':
            threading.Thread(target=server.serve_forever, daemon=True).start()
            child.wait()
            return
        threading.Thread(target=lambda: (child.wait(), server.shutdown())).start()
        server.serve_forever(poll_interval=.02)

    def generate(self, what):
        for _ in range(self.steps * 4):
            self.forward()
            self.stream.kernel(200_000, name=self.rng.choice(CACHE[what]))
            if self.rng.random() < .2:
                self.stream.synchronize()
        self.stream.synchronize()

    def xla(self):
        for _ in range(self.steps):
            for i in range(6):
                self.stream.kernel(400_000, name=f'fusion_{i}')
            self.stream.synchronize()

    def fresh(self, other):
        def step():
            self.dev.use()
            for i in range(6):
                self.stream.kernel(400_000, name=f'fusion_{i}')
            self.stream.synchronize()

        def steps():
            for _ in range(self.steps):
                time.sleep(.03)
                thread = threading.Thread(target=step)
                thread.start()
                thread.join()

        self.metrics()
        if not other:
            steps()
            return
        thread = threading.Thread(target=steps)
        thread.start()
        thread.join()

    def moves(self):
        for _ in self.loader():
            self.stream.kernel(400_000, name='vectorized_elementwise_kernel')
            self.stream.synchronize()


def main():
    what = sys.argv[1]
    program = Program(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    if what in ('eval', 'validate', 'metrics', 'brief'):
        program.evaluate(what)
    elif what in ('scraped_eval', 'threads_eval', 'fresh_eval'):
        program.evaluate_in_threads(what)
    elif what in ('serve', 'threaded', 'background'):
        program.serve(what)
    elif what in ('fresh', 'fresh_other'):
        program.fresh(what == 'fresh_other')
    elif what == 'raw':
        program.serve_raw()
    elif what in ('loop', 'executor'):
        program.serve_loop(what)
    elif what in CACHE:
        program.generate(what)
    elif what in ('xla', 'moves', 'hidden', 'byhand', 'tiny', 'alike'):
        getattr(program, what)()
    else:
        program.train(what)


if __name__ == '__main__':
    main()
