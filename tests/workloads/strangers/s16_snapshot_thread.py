# truth: not input
# cause: checkpoint
# who waits: LINE-MARKER W
import io
import os
import subprocess
import sys
import tempfile
import threading
import time

import torch
from torch import nn

# Stands for the storage gateway of the cluster: takes the file off a pipe at its own rate.
GATEWAY = """
import os, sys, time
path, rate = sys.argv[1], float(sys.argv[2])
while True:
    fd = os.open(path, os.O_RDONLY)
    while True:
        b = os.read(fd, 65536)
        if not b:
            break
        time.sleep(len(b) / rate)  # <P>
    os.close(fd)
"""


class SnapshotWriter:
    def __init__(self, target):
        self.target = target
        self.thread = None
        self.joined = 0.0
        self.count = 0

    def finish(self):
        if self.thread is not None:
            t = time.perf_counter()
            self.thread.join()  # <W>
            self.joined += time.perf_counter() - t
            self.thread = None

    def save(self, step, model, opt):
        self.finish()
        state = {"step": step,
                 "model": {k: v.detach().cpu() for k, v in model.state_dict().items()},
                 "opt": opt.state_dict()["param_groups"]}
        self.thread = threading.Thread(target=self._write, args=(state,), name=f"snapshot-{step}")
        self.thread.start()

    def _write(self, state):
        buf = io.BytesIO()
        torch.save(state, buf)
        view = buf.getbuffer()
        with open(self.target, "wb", buffering=0) as f:
            for lo in range(0, len(view), 1 << 20):
                piece = view[lo:lo + (1 << 20)]
                while piece:
                    piece = piece[f.write(piece):]  # <P>
        self.count += 1


def batches(n):
    bank = torch.randn(16, 48, 256).cuda()
    lab = torch.randint(0, 20, (16, 48)).cuda()
    for i in range(n):
        yield i, bank[i % 16], lab[i % 16]


tmp = tempfile.mkdtemp(prefix="snap_")
fifo = os.path.join(tmp, "gateway")
os.mkfifo(fifo)
gateway = subprocess.Popen([sys.executable, "-c", GATEWAY, fifo, "4.5e6"])
try:
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 20)).cuda()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    crit = nn.CrossEntropyLoss()
    writer = SnapshotWriter(fifo)
    t0 = time.perf_counter()
    for i, xb, yb in batches(12 * 25):
        opt.zero_grad()
        crit(model(xb), yb).backward()
        opt.step()
        if (i + 1) % 25 == 0:
            writer.save(i + 1, model, opt)
            print(f"step {i + 1}: snapshot started, {time.perf_counter() - t0:.1f}s", flush=True)
    torch.cuda.synchronize()
    writer.finish()
    span = time.perf_counter() - t0
    print(f"{writer.count} snapshots, {span:.1f}s, in finish() {writer.joined:.1f}s ({writer.joined / span:.0%})")
finally:
    gateway.terminate()
    gateway.wait()
    os.unlink(fifo)
    os.rmdir(tmp)
