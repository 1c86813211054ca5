# truth: input
# cause: fetch
# who waits: LINE-MARKER W
"""
Unconditional latent diffusion. The VAE latents were dumped beforehand into one big .bin;
the box is shared, so we try not to fill its page cache with them.
"""
import contextlib
import mmap
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn

SHAPE = (32, 64, 64)      # mean and log-variance, 16 channels each
ITEM = int(np.prod(SHAPE)) * 2
COUNT = 384
BATCH = 16
SECONDS = float(os.environ.get("TRAIN_SECONDS", "17"))


class LatentStore:
    def __init__(self, path: Path):
        self.fd = os.open(path, os.O_RDONLY)
        self.arr = np.memmap(path, dtype=np.float16, mode="r", shape=(COUNT, *SHAPE))
        self.arr._mmap.madvise(mmap.MADV_RANDOM)

    def __getitem__(self, i):
        return np.array(self.arr[i])                    # <P>

    def forget(self):
        self.arr._mmap.madvise(mmap.MADV_DONTNEED)
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def close(self):
        os.close(self.fd)


@contextlib.contextmanager
def latent_file():
    with tempfile.TemporaryDirectory(prefix="latents_", dir="/var/tmp") as d:
        path = Path(d) / "latents.bin"
        rng = np.random.default_rng(0)
        block = rng.integers(0, 255, ITEM * 64, dtype=np.uint8).tobytes()
        with open(path, "wb") as f:
            for _ in range(COUNT // 64):
                f.write(block)
            f.flush()
            os.fsync(f.fileno())
        store = LatentStore(path)
        store.forget()
        try:
            yield store
        finally:
            store.close()


def load_batch(job):
    store, ids = job
    rows = [store[i] for i in ids]                      # <P>
    return torch.from_numpy(np.stack(rows))


def id_stream(store):
    rng = np.random.default_rng(1)
    while True:
        order = rng.permutation(COUNT)
        for k in range(0, COUNT, BATCH):
            yield store, order[k:k + BATCH]


class Denoiser(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        self.t = nn.Linear(1, ch)
        self.a = nn.Conv2d(16, ch, 3, padding=1)
        self.b = nn.Conv2d(ch, ch, 3, padding=1)
        self.c = nn.Conv2d(ch, 16, 3, padding=1)

    def forward(self, x, t):
        h = torch.nn.functional.silu(self.a(x) + self.t(t[:, None])[..., None, None])
        return self.c(torch.nn.functional.silu(self.b(h)) + h)


def windowed_map(pool, fn, jobs, window=8):
    """pool.map is eager, so hand it the endless stream a few jobs at a time."""
    while True:
        yield from pool.map(fn, [next(jobs) for _ in range(window)])     # <W>


def main():
    net = Denoiser().cuda()
    ema = {k: v.detach().clone() for k, v in net.named_parameters()}
    opt = torch.optim.Adam(net.parameters(), 1e-4)
    n, wait = 0, 0.0
    with latent_file() as store, ThreadPoolExecutor(2, thread_name_prefix="latents") as pool:
        t0 = time.time()
        batches = windowed_map(pool, load_batch, id_stream(store))
        while time.time() - t0 < SECONDS:
            a = time.time()
            z = next(batches)                           # <W>
            wait += time.time() - a
            mu, logvar = z.cuda().float().chunk(2, dim=1)
            z = mu + (0.5 * logvar).exp() * torch.randn_like(mu)
            t = torch.rand(len(z), device="cuda")
            eps = torch.randn_like(z)
            zt = z * (1 - t)[:, None, None, None] + eps * t[:, None, None, None]
            loss = (net(zt, t) - eps).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch.cuda.synchronize()
            n += 1
            if n % 10 == 0:
                with torch.no_grad():
                    for k, p in net.named_parameters():
                        ema[k].lerp_(p, 0.01)
            if n % 8 == 0:
                store.forget()
            if n % 20 == 0:
                print(f"{n} it, {n / (time.time() - t0):.1f} it/s", flush=True)
        t1 = time.time() - t0
    print(f"done: {n} it {t1:.1f}s wait {wait:.1f}s {wait / t1:.2f}")


main()
