# truth: not input
# cause: network
# who waits: LINE-MARKER W
# Two-site averaging: this process trains on the GPU, the other site joins over TCP and
# both must have reported a step before either goes on.
import os
import socket
import struct
import subprocess
import sys
import time

import numpy as np

BUDGET = 15.0
HDR = struct.Struct("!If")


def read_exact(s, n):
    buf = b""
    while len(buf) < n:
        got = s.recv(n - len(buf))  # <W> <P>
        if not got:
            raise ConnectionError("other side has gone")
        buf += got
    return buf


def site_b(port):
    """The other site: a shard of its own, a plain numpy MLP on CPU."""
    rng = np.random.default_rng(1)
    w1 = rng.standard_normal((96, 700)).astype(np.float64) * 0.05
    w2 = rng.standard_normal((700, 8)) * 0.05
    x = rng.standard_normal((1500, 96))
    y = rng.standard_normal((1500, 8))
    s = socket.create_connection(("127.0.0.1", port))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with s:
        step = 0
        while True:
            err = 0.0
            for _ in range(4):
                h = np.tanh(x @ w1)  # <P>
                d = h @ w2 - y
                g2 = h.T @ d / len(x)
                g1 = x.T @ ((d @ w2.T) * (1 - h * h)) / len(x)  # <P>
                w2 -= 0.01 * g2
                w1 -= 0.01 * g1
                err = float((d * d).mean())
            s.sendall(HDR.pack(step, err))
            _, last = HDR.unpack(read_exact(s, HDR.size))
            if last:
                break
            step += 1


def site_a():
    import torch
    from torch import nn

    lst = socket.socket()
    lst.bind(("127.0.0.1", 0))
    lst.listen(1)
    kid = subprocess.Popen([sys.executable, __file__, "site-b", str(lst.getsockname()[1])],
                           env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    try:
        lst.settimeout(30)
        conn, _ = lst.accept()
        conn.settimeout(60)
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        net = nn.Sequential(nn.Linear(96, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 8)).cuda()
        sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        xs = torch.randn(32, 64, 96).cuda()
        ys = torch.randn(32, 64, 8).cuda()
        begun = time.time()
        in_meet = 0.0
        step, last = -1, False
        while not last:
            step += 1
            last = time.time() - begun > BUDGET
            for k in range(4):
                i = (step * 4 + k) % 32
                sgd.zero_grad()
                ((net(xs[i]) - ys[i]) ** 2).mean().backward()
                sgd.step()
            torch.cuda.synchronize()
            t = time.time()
            conn.sendall(HDR.pack(step, float(last)))
            their_step, their_err = HDR.unpack(read_exact(conn, HDR.size))  # <W>
            in_meet += time.time() - t
            assert their_step == step
            if step % 10 == 0:
                print("step", step, "site b err %.4f" % their_err, flush=True)
        total = time.time() - begun
        conn.close()
        print("%d steps %.1fs meet %.1fs (%.0f%%)" % (step + 1, total, in_meet, 100 * in_meet / total))
    finally:
        lst.close()
        try:
            kid.wait(5)
        except subprocess.TimeoutExpired:
            kid.kill()
            kid.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["site-b"]:
        site_b(int(sys.argv[2]))
    else:
        site_a()
