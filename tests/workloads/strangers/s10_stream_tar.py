# truth: input
# cause: prep
# who waits: LINE-MARKER W
"""WebDataset-like streaming: tar -> decode -> shuffle -> batch, as plain generators."""
import collections
import io
import itertools
import random
import tarfile
import tempfile
import threading
import time

import numpy as np
import torch
from PIL import Image
from torch.utils.data import IterableDataset


def make_shard(fileobj, n=40):
    rng = np.random.default_rng(0)
    with tarfile.open(fileobj=fileobj, mode="w") as tar:
        for i in range(n):
            small = Image.fromarray(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8))
            buf = io.BytesIO()
            small.resize((960, 720), Image.BILINEAR).save(buf, "JPEG", quality=92)
            info = tarfile.TarInfo(f"{i:06d}.{i % 7}.jpg")
            info.size = buf.tell()
            buf.seek(0)
            tar.addfile(info, buf)


def read(path):
    for epoch in itertools.count():
        with tarfile.open(path) as tar:
            for member in tar:
                yield int(member.name.split(".")[1]), tar.extractfile(member).read()


def decode(stream):
    for label, jpg in stream:
        img = Image.open(io.BytesIO(jpg)).convert("RGB")                        # <P>
        img = img.resize((128, 128), Image.LANCZOS)                             # <P>
        yield label, np.asarray(img, dtype=np.float32).transpose(2, 0, 1) / 255


def shuffle(stream, size=50):
    buf = []
    for sample in stream:                                                       # <P>
        buf.append(sample)
        if len(buf) >= size:
            k = random.randrange(len(buf))
            buf[k], buf[-1] = buf[-1], buf[k]
            yield buf.pop()


def batched(stream, n):
    while True:
        labels, imgs = zip(*itertools.islice(stream, n))                        # <P>
        yield torch.tensor(labels), torch.from_numpy(np.stack(imgs))


class Pipeline(IterableDataset):
    def __init__(self, source, *stages):
        self.source, self.stages = source, stages

    def __iter__(self):
        s = iter(self.source())
        for st in self.stages:
            s = st(s)
        return s


class Ahead:
    """Runs an iterator in a thread and keeps up to `depth` items."""

    def __init__(self, iterable, depth=4):
        self.items = collections.deque()
        self.depth = depth
        self.cond = threading.Condition()
        self.closed = False
        self.t = threading.Thread(target=self._fill, args=(iterable,))
        self.t.start()

    def _fill(self, iterable):
        for item in iterable:                                                   # <P>
            with self.cond:
                self.cond.wait_for(lambda: len(self.items) < self.depth or self.closed)
                if self.closed:
                    return
                self.items.append(item)
                self.cond.notify_all()

    def __iter__(self):
        return self

    def __next__(self):
        with self.cond:
            self.cond.wait_for(lambda: self.items)                              # <W>
            item = self.items.popleft()
            self.cond.notify_all()
        return item

    def close(self):
        with self.cond:
            self.closed = True
            self.cond.notify_all()
        self.t.join()


class Meter:
    def __init__(self):
        self.total = 0.0

    def wrap(self, it):
        while True:
            t = time.perf_counter()
            x = next(it)                                                        # <W>
            self.total += time.perf_counter() - t
            yield x


torch.set_num_threads(1)
random.seed(1)
with tempfile.NamedTemporaryFile(suffix=".tar") as shard:
    make_shard(shard)
    shard.flush()

    cnn = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 5, stride=4), torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 3, stride=2), torch.nn.ReLU(),
        torch.nn.AdaptiveMaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(128, 7),
    ).to("cuda")
    sgd = torch.optim.SGD(cnn.parameters(), lr=1e-2, nesterov=True, momentum=0.9)

    ds = Pipeline(lambda: read(shard.name), decode, shuffle, lambda s: batched(s, 16))
    ahead = Ahead(ds)
    meter = Meter()
    t0 = time.perf_counter()
    for i, (y, x) in enumerate(meter.wrap(ahead)):                              # <W>
        logits = cnn(x.cuda())
        loss = torch.nn.functional.cross_entropy(logits, y.cuda())
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        if i % 8 == 0:
            print(f"batch {i:4d}  ahead={len(ahead.items)}", flush=True)
        if time.perf_counter() - t0 > 14:
            break
    dt = time.perf_counter() - t0
    ahead.close()
print(f"{i + 1} batches / {dt:.1f} s, {meter.total / dt:.1%} of it in next()")
