# truth: input
# cause: prep
# who waits: LINE-MARKER W
"""Image trainer fed through a shared-memory ring by a producer process."""
import contextlib
import multiprocessing as mp
import time
from multiprocessing import shared_memory

import numpy as np

SLOTS, BATCH, C, H, W = 4, 24, 3, 96, 96
SLOT_FLOATS = BATCH * C * H * W


def views(shm):
    ctl = np.ndarray((3,), np.int64, shm.buf)  # written, consumed, stop
    ring = np.ndarray((SLOTS, BATCH, C, H, W), np.float32, shm.buf, offset=64)
    return ctl, ring


def augment(img, rng):
    ang = rng.uniform(-0.4, 0.4)
    yy, xx = np.mgrid[0:H, 0:W]
    cy, cx = H / 2, W / 2
    sy = (yy - cy) * np.cos(ang) - (xx - cx) * np.sin(ang) + cy
    sx = (yy - cy) * np.sin(ang) + (xx - cx) * np.cos(ang) + cx
    y0 = np.clip(sy.astype(np.int32), 0, H - 2)
    x0 = np.clip(sx.astype(np.int32), 0, W - 2)
    fy, fx = np.clip(sy - y0, 0, 1), np.clip(sx - x0, 0, 1)
    out = (img[:, y0, x0] * (1 - fy) * (1 - fx) + img[:, y0 + 1, x0] * fy * (1 - fx)  # <P>
           + img[:, y0, x0 + 1] * (1 - fy) * fx + img[:, y0 + 1, x0 + 1] * fy * fx)  # <P>
    k = np.exp(-np.arange(-4, 5) ** 2 / (2 * rng.uniform(0.5, 2.0) ** 2))
    k /= k.sum()
    out = sum(w * np.roll(out, s, 1) for s, w in zip(range(-4, 5), k))  # <P>
    out = sum(w * np.roll(out, s, 2) for s, w in zip(range(-4, 5), k))  # <P>
    out = np.sign(out) * np.abs(out) ** rng.uniform(0.8, 1.2)  # <P>
    return out + rng.normal(0, 0.05, out.shape)  # <P>


def producer(name):
    shm = shared_memory.SharedMemory(name=name)
    ctl, ring = views(shm)
    rng = np.random.default_rng(3)
    base = rng.standard_normal((64, C, H, W)).astype(np.float32)
    while not ctl[2]:
        if ctl[0] - ctl[1] >= SLOTS:
            time.sleep(0.001)
            continue
        slot = ring[ctl[0] % SLOTS]
        for i in range(BATCH):
            slot[i] = augment(base[rng.integers(64)], rng)  # <P>
        ctl[0] += 1
    del ctl, ring, slot
    shm.close()


@contextlib.contextmanager
def feed():
    shm = shared_memory.SharedMemory(create=True, size=64 + SLOTS * SLOT_FLOATS * 4)
    ctl, ring = views(shm)
    ctl[:] = 0
    p = mp.get_context("fork").Process(target=producer, args=(shm.name,))
    p.start()
    try:
        yield ctl, ring
    finally:
        ctl[2] = 1
        p.join()
        del ctl, ring
        with contextlib.suppress(BufferError):
            shm.close()
        shm.unlink()


def main():
    with feed() as (ctl, ring):
        import torch
        from torch import nn
        net = nn.Sequential(nn.Conv2d(3, 24, 3, stride=2), nn.ReLU(), nn.Conv2d(24, 48, 3, stride=2), nn.ReLU(),
                            nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48 * 16, 12)).cuda()
        opt = torch.optim.SGD(net.parameters(), lr=0.02)
        target = torch.randint(0, 12, (BATCH,)).cuda()
        began, polled, done = time.monotonic(), 0.0, 0
        while time.monotonic() - began < 15:
            t = time.monotonic()
            while ctl[0] <= ctl[1]:
                time.sleep(0.002)  # <W>
            polled += time.monotonic() - t
            x = torch.from_numpy(ring[ctl[1] % SLOTS].copy()).cuda()
            ctl[1] += 1
            loss = nn.functional.cross_entropy(net(x), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            done += 1
            if done % 20 == 0:
                print(f"batch {done}  {done / (time.monotonic() - began):.2f}/s", flush=True)
        torch.cuda.synchronize()
        span = time.monotonic() - began
        print(f"{done} batches, {span:.1f}s, ring empty {polled:.1f}s = {100 * polled / span:.0f}%")
        del ctl, ring


if __name__ == "__main__":
    main()
