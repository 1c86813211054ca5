#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of each kind, for short: kindloop.py WHAT [SEED]. What torch does on the CPU is real (optimizers, loaders,
sockets); kernels are named as libraries name theirs and last as long as told, on the simulated GPU, a model.

    sgd adam adamw fused scheduler amp accumulate    training: an optimizer of torch.optim, one way or the other
    hidden                                           training without torch's optimizers: backward kernels alone
    eval validate metrics                            evaluation: batches of a loader, forward kernels, no gradients
    serve threaded                                   inference: waits for requests over HTTP, answers each
    generate paged                                   inference: a cache of keys and values
    xla                                              kernels whose names tell nothing
    moves                                            batches of a loader, and kernels of no model of torch's"""
import http.server
import os
import random
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
CACHE = {'generate': ('fmha_kvcache_kernel',), 'paged': ('paged_attention_v1_kernel', 'reshape_and_cache_kernel')}


class Samples(Dataset):
    def __init__(self, n, seconds):
        self.n, self.seconds = n, seconds

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        time.sleep(self.seconds)
        return torch.full((8,), float(i))


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.dev = Device(0)
        self.stream = Stream(self.dev)
        self.model = torch.nn.Linear(8, 8)
        self.steps = self.rng.randint(30, 60)

    def loader(self):
        return DataLoader(Samples(self.steps * 2, .001), batch_size=2, num_workers=self.rng.choice((0, 1, 2)))

    def forward(self):
        for _ in range(self.rng.randint(2, 6)):
            self.stream.kernel(self.rng.randint(100_000, 900_000), name=self.rng.choice(FORWARD))

    def backward(self):
        for _ in range(self.rng.randint(2, 4)):
            self.stream.kernel(self.rng.randint(200_000, 900_000), name=self.rng.choice(BACKWARD))

    def train(self, what):
        by = {'sgd': torch.optim.SGD, 'adam': torch.optim.Adam, 'adamw': torch.optim.AdamW}
        optimizer = by.get(what, torch.optim.SGD)(self.model.parameters(), lr=1e-3)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10) if what == 'scheduler' else None
        for i, batch in enumerate(self.loader()):
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

    def evaluate(self, what):
        right = 0.
        self.model.eval()
        with torch.no_grad():
            for batch in self.loader():
                self.forward()
                self.stream.synchronize()
                right += float(self.model(batch).sum())
                if what == 'metrics':
                    sorted(self.rng.random() for _ in range(20000))
        if what == 'validate':
            print(right / self.steps)

    def serve(self, threaded):
        """HTTP, as most servers speak it; the clients are another process."""
        program = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                program.dev.use()
                program.forward()
                program.stream.synchronize()
                self.send_response(200)
                self.send_header('Content-Length', '4')
                self.end_headers()
                self.wfile.write(b'done')

            def log_message(self, *_):
                pass

        kind = http.server.ThreadingHTTPServer if threaded else http.server.HTTPServer
        server = kind(('127.0.0.1', 0), Handler)
        pause, requests = self.rng.uniform(.02, .06), self.rng.randint(60, 90)
        client = 'import sys, time, urllib.request\n' \
                 f'for _ in range({requests}):\n    time.sleep({pause})\n' \
                 f'    urllib.request.urlopen("http://127.0.0.1:{server.server_port}/").read()\n'
        child = subprocess.Popen([sys.executable, '-c', client], env=dict(os.environ, GPUSTARVE='0'))
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

    def moves(self):
        for _ in self.loader():
            self.stream.kernel(400_000, name='vectorized_elementwise_kernel')
            self.stream.synchronize()


def main():
    what = sys.argv[1]
    program = Program(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    if what in ('eval', 'validate', 'metrics'):
        program.evaluate(what)
    elif what in ('serve', 'threaded'):
        program.serve(what == 'threaded')
    elif what in CACHE:
        program.generate(what)
    elif what in ('xla', 'moves', 'hidden'):
        getattr(program, what)()
    else:
        program.train(what)


if __name__ == '__main__':
    main()
