# truth: input
# cause: fetch
# who waits: LINE-MARKER W
"""Two-tower recommender; the row groups live in an object store (a stand-in on 127.0.0.1)."""
import io
import multiprocessing as mp
import struct
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

COLUMNS = ("user", "item", "country", "hour", "label")
ROWS = 8192
N_GROUPS = 60
BATCH = 512


# ---------------------------------------------------------------- object store
def build_group(seed):
    r = np.random.default_rng(seed)
    cols = {
        "user": r.integers(0, 50_000, ROWS).astype("<i4"),
        "item": r.integers(0, 20_000, ROWS).astype("<i4"),
        "country": r.integers(0, 60, ROWS).astype("<i4"),
        "hour": r.integers(0, 24, ROWS).astype("<i4"),
        "label": r.integers(0, 2, ROWS).astype("<f4"),
    }
    body = io.BytesIO()
    footer = []
    for name in COLUMNS:
        raw = cols[name].tobytes()
        footer.append((body.tell(), len(raw)))
        body.write(raw)
    for off, n in footer:
        body.write(struct.pack("<II", off, n))
    return body.getvalue()


class Store(BaseHTTPRequestHandler):
    groups = {}

    def log_message(self, *a):
        pass

    def do_GET(self):
        k = int(self.path.rsplit("/", 1)[1]) % 4
        if k not in self.groups:
            self.groups[k] = build_group(k)
        blob = self.groups[k]
        lo, hi = (int(v) for v in self.headers["Range"].split("=")[1].split("-"))
        part = blob[lo:hi + 1] if lo >= 0 else blob
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        for i in range(0, len(part), 4096):
            self.wfile.write(part[i:i + 4096])
            time.sleep(0.035)  # <P>


def store_main(port):
    srv = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    srv.daemon_threads = True
    port.send(srv.server_address[1])
    srv.serve_forever()


# ---------------------------------------------------------------- readers
def get_range(url, lo, hi):
    req = urllib.request.Request(url, headers={"Range": f"bytes={lo}-{hi}"})
    with urllib.request.urlopen(req) as resp:  # <P>
        return resp.read()  # <P>


def load_row_group(url):
    data = {}
    for i, name in enumerate(COLUMNS):
        lo = i * ROWS * 4
        raw = get_range(url, lo, lo + ROWS * 4 - 1)  # <P>
        data[name] = np.frombuffer(raw, "<f4" if name == "label" else "<i4")
    return data


def main():
    here, there = mp.Pipe()
    store = mp.Process(target=store_main, args=(there,), daemon=True)
    store.start()
    base = f"http://127.0.0.1:{here.recv()}/clicks/part"
    pool = mp.Pool(3)

    import torch
    import torch.nn as nn

    class Towers(nn.Module):
        def __init__(self, d=32):
            super().__init__()
            self.u = nn.Embedding(50_000, d)
            self.i = nn.Embedding(20_000, d)
            self.c = nn.Embedding(60, d)
            self.h = nn.Embedding(24, d)
            self.left = nn.Sequential(nn.Linear(3 * d, 64), nn.ReLU(), nn.Linear(64, d))
            self.right = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, d))

        def forward(self, b):
            a = self.left(torch.cat([self.u(b["user"]), self.c(b["country"]), self.h(b["hour"])], -1))
            return (a * self.right(self.i(b["item"]))).sum(-1)

    net = Towers().cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    t0, waiting, rows = time.monotonic(), 0.0, 0
    groups = pool.imap(load_row_group, [f"{base}/{g}" for g in range(N_GROUPS)])
    try:
        while True:
            s = time.monotonic()
            group = next(groups, None)  # <W>
            waiting += time.monotonic() - s
            if group is None or time.monotonic() - t0 > 14:
                break
            for at in range(0, ROWS, BATCH):
                b = {k: torch.tensor(v[at:at + BATCH]).cuda() for k, v in group.items()}
                loss = nn.functional.binary_cross_entropy_with_logits(net(b), b["label"])
                opt.zero_grad()
                loss.backward()
                opt.step()
                rows += BATCH
            print(f"{rows:>8} rows", flush=True)
    finally:
        dt = time.monotonic() - t0
        print(f"wall {dt:.1f}s waiting {waiting:.1f}s = {waiting / dt:.0%}")
        pool.terminate()
        pool.join()
        store.terminate()
        store.join()


if __name__ == "__main__":
    main()
