# truth: input
# cause: prep
# who waits: LINE-MARKER W
#
# usage:  s09_socket_fed.py                 trainer (starts the feeder)
#         s09_socket_fed.py feed SOCKET     feeder
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


def feed(address):
    import numpy as np
    from PIL import Image, ImageEnhance, ImageFilter, ImageOps

    rng = np.random.default_rng(5)
    originals = [Image.fromarray(rng.integers(0, 256, (240, 320, 3), dtype=np.uint8)).filter(ImageFilter.BoxBlur(3))
                 for _ in range(12)]

    def augment(im):
        im = im.rotate(float(rng.uniform(-25, 25)), resample=Image.BICUBIC)             # <P>
        x, y = int(rng.integers(0, 60)), int(rng.integers(0, 40))
        im = im.crop((x, y, x + 200, y + 200))
        im = ImageEnhance.Color(im).enhance(float(rng.uniform(.5, 1.5)))                # <P>
        im = ImageEnhance.Contrast(im).enhance(float(rng.uniform(.6, 1.4)))             # <P>
        im = im.filter(ImageFilter.GaussianBlur(float(rng.uniform(1, 3))))              # <P>
        im = im.filter(ImageFilter.MedianFilter(3))                                     # <P>
        if rng.random() < .5:
            im = ImageOps.mirror(im)
        return np.asarray(im.resize((64, 64), Image.LANCZOS))                           # <P>

    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen(1)
    conn, _ = listener.accept()
    with conn, conn.makefile("wb") as out:
        while True:
            picks = rng.integers(0, len(originals), 16)
            batch = np.stack([augment(originals[p]) for p in picks])                    # <P>
            try:
                pickle.dump({"x": batch, "y": picks.astype(np.int64)}, out, protocol=5)
                out.flush()
            except (BrokenPipeError, ConnectionResetError):
                os._exit(0)


class Feed:
    def __init__(self):
        self.dir = tempfile.mkdtemp()
        self.addr = os.path.join(self.dir, "feed.sock")
        self.child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "feed", self.addr])
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def connect(self):
        for _ in range(400):
            try:
                self.sock.connect(self.addr)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(.05)
        self.f = self.sock.makefile("rb")
        return self

    def next(self):
        return pickle.load(self.f)          # <W>

    def close(self):
        self.f.close()
        self.sock.close()
        self.child.send_signal(signal.SIGTERM)
        self.child.wait()
        shutil.rmtree(self.dir)


def trainer():
    feeder = Feed()
    import torch
    feeder.connect()

    dev = "cuda:0"
    backbone = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 7, stride=2, padding=3), torch.nn.ReLU(inplace=True), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 3, padding=1), torch.nn.ReLU(inplace=True),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    head = torch.nn.Linear(64, 12)
    backbone.to(dev), head.to(dev)
    optimizer = torch.optim.Adam([*backbone.parameters(), *head.parameters()], lr=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)
    loss_fn = torch.nn.CrossEntropyLoss(label_smoothing=.1)

    t_begin, t_recv, it = time.time(), 0., 0
    while True:
        t = time.time()
        if t - t_begin > 14.5:
            break
        msg = feeder.next()                 # <W>
        t_recv += time.time() - t
        x = torch.from_numpy(msg["x"]).to(dev).permute(0, 3, 1, 2).contiguous().float().sub_(127).div_(64)
        y = torch.from_numpy(msg["y"]).to(dev)
        loss = loss_fn(head(backbone(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sched.step()
        it += 1
        sys.stdout.write(f"\riter {it}")
        sys.stdout.flush()
    all_t = time.time() - t_begin
    print(f"\n{it} iters, {all_t:.1f} s, receiving {t_recv:.1f} s ({t_recv / all_t:.2f})")
    feeder.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["feed"]:
        feed(sys.argv[2])
    else:
        trainer()
