# truth: input
# cause: prep
# who waits: LINE-MARKER W
# Mass-spectra autoencoder.  file -> [reader] -> q_raw -> [decoder] -> q_arr -> [collator] -> q_batch -> GPU
import lzma
import os
import queue
import struct
import tempfile
import threading
import time

import numpy as np
import torch

BINS = 8192
stop = threading.Event()


def offer(q, item):
    while not stop.is_set():
        try:
            return q.put(item, timeout=0.2)
        except queue.Full:
            pass


def take(q):
    while not stop.is_set():
        try:
            return q.get(timeout=0.2)
        except queue.Empty:
            pass
    return None


def make_file(path, n=24):
    rng = np.random.default_rng(5)
    with open(path, "wb") as f:
        for _ in range(n):
            peaks = rng.poisson(40, BINS * 2).astype(np.uint32) ** 2
            blob = lzma.compress(peaks.tobytes(), preset=0)
            f.write(struct.pack("<I", len(blob)) + blob)


def reader(path, q_raw):
    while not stop.is_set():
        with open(path, "rb") as f:
            while (h := f.read(4)) and not stop.is_set():
                offer(q_raw, f.read(struct.unpack("<I", h)[0]))


def decoder(q_raw, q_arr):
    while (blob := take(q_raw)) is not None:
        raw = lzma.decompress(blob)  # <P>
        spec = np.frombuffer(raw, np.uint32).reshape(2, BINS).sum(0)
        offer(q_arr, np.log1p(spec).astype(np.float32))


def collator(q_arr, q_batch, size):
    rows = []
    while (a := take(q_arr)) is not None:
        rows.append(a)
        if len(rows) == size:
            offer(q_batch, torch.from_numpy(np.stack(rows)))
            rows = []


def main():
    fd, path = tempfile.mkstemp(suffix=".spx")
    os.close(fd)
    make_file(path)
    q_raw, q_arr, q_batch = queue.Queue(64), queue.Queue(64), queue.Queue(4)
    crew = [threading.Thread(target=reader, args=(path, q_raw), name="reader"),
            threading.Thread(target=decoder, args=(q_raw, q_arr), name="decoder"),
            threading.Thread(target=collator, args=(q_arr, q_batch, 32), name="collator")]
    for t in crew:
        t.start()
    try:
        enc = torch.nn.Linear(BINS, 128).cuda()
        dec = torch.nn.Linear(128, BINS).cuda()
        opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], 1e-3)
        t0, asleep, k = time.time(), 0.0, 0
        while time.time() - t0 < 15:
            t = time.time()
            batch = q_batch.get()  # <W>
            asleep += time.time() - t
            batch = batch.cuda()
            loss = (dec(torch.relu(enc(batch))) - batch).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch.cuda.synchronize()
            k += 1
            if not k % 10:
                print(f"{k:4d} batches | raw {q_raw.qsize():2d} arr {q_arr.qsize():2d} batch {q_batch.qsize()}", flush=True)
        total = time.time() - t0
        print(f"total {total:.1f}s, get() {asleep:.1f}s -> {asleep / total:.2f}")
    finally:
        stop.set()
        for t in crew:
            t.join()
        os.unlink(path)


main()
