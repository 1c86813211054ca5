# truth: input
# cause: prep
# who waits: LINE-MARKER W
"""Contrastive pretraining, two PIL-made views per picture, made by a process pool."""
import argparse
import multiprocessing
import random
import sys
import time
from collections import deque
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

SIDE = 96


def picture(seed: int) -> Image.Image:
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 255, (24, 24, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((224, 224), Image.BICUBIC)


def view(im: Image.Image, rnd: random.Random) -> np.ndarray:
    im = im.rotate(rnd.uniform(-25, 25), resample=Image.BICUBIC)  # <P>
    s = rnd.randint(110, 210)
    x, y = rnd.randint(0, 224 - s), rnd.randint(0, 224 - s)
    im = im.filter(ImageFilter.GaussianBlur(rnd.uniform(0.5, 3)))  # <P>
    im = ImageEnhance.Color(im).enhance(rnd.uniform(0.4, 1.6))  # <P>
    im = ImageEnhance.Contrast(im).enhance(rnd.uniform(0.6, 1.4))  # <P>
    im = im.crop((x, y, x + s, y + s)).resize((SIDE, SIDE), Image.LANCZOS)
    if rnd.random() < 0.5:
        im = ImageOps.mirror(im)
    return np.asarray(im, np.float32).transpose(2, 0, 1) / 127.5 - 1


def job(number: int, size: int) -> tuple:
    rnd = random.Random(number)
    a, b = [], []
    for _ in range(size):
        im = picture(rnd.randrange(10_000))  # <P>
        a.append(view(im, rnd))  # <P>
        b.append(view(im, rnd))  # <P>
    return number, np.stack(a), np.stack(b)


def stream(pool, size, ahead=5):
    pending = deque(pool.submit(job, n, size) for n in range(ahead))
    n = ahead
    while pending:
        ready = next(as_completed(pending))  # <W>
        pending.remove(ready)
        pending.append(pool.submit(job, n, size))
        n += 1
        yield ready.result()


def main(argv=None) -> int:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("-b", "--batch", type=int, default=16)
    ap.add_argument("-s", "--seconds", type=float, default=14)
    o = ap.parse_args(argv)
    pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    import torch
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 5, stride=2), torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 3, stride=2), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, 64)).to("cuda")
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    labels = torch.arange(o.batch).to("cuda")
    start = last = time.perf_counter()
    blocked, seen = 0.0, 0
    it = stream(pool, o.batch)
    try:
        for number, a, b in it:  # <W>
            blocked += time.perf_counter() - last
            za = torch.nn.functional.normalize(net(torch.from_numpy(a).cuda()))
            zb = torch.nn.functional.normalize(net(torch.from_numpy(b).cuda()))
            loss = torch.nn.functional.cross_entropy(za @ zb.T / 0.1, labels)
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch.cuda.synchronize()
            seen += 1
            last = time.perf_counter()
            if seen % 10 == 0:
                print(f"{last - start:5.1f}s  batch #{number} ({seen} seen)", flush=True)
            if last - start > o.seconds:
                break
    finally:
        it.close()
        pool.shutdown(cancel_futures=True)
    print(f"seen {seen}, {last - start:.1f}s, blocked {blocked:.1f}s = {blocked / (last - start):.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
