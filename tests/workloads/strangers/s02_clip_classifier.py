# truth: input
# cause: prep
# who waits: LINE-MARKER W
from __future__ import annotations

import argparse
import subprocess
import sys
import time

W, H = 112, 112
FRAME_BYTES = W * H * 3


def reader_main(n_clips: int, clip_len: int) -> None:
    """Child: an 'ffmpeg' which writes rgb24 frames to stdout."""
    import random
    import zlib

    rnd = random.Random(3)
    # intra frame + run-length deltas, like a very old codec
    packets = [zlib.compress(bytes(rnd.randrange(0, 8) for _ in range(W * H * 3 // 2)), 6) for _ in range(6)]
    out = sys.stdout.buffer

    def clamp(v: int) -> int:
        return 0 if v < 0 else 255 if v > 255 else v

    y = bytearray([128]) * (W * H)
    for k in range(n_clips * clip_len):
        data = zlib.decompress(packets[k % len(packets)])
        rgb = bytearray(FRAME_BYTES)
        for i in range(W * H):                                           # <P>
            y[i] = (y[i] + data[i]) & 255                                # <P>
            c = y[i] - 16                                                # <P>
            j = W * H + ((i // W) // 2) * (W // 2) + (i % W) // 2        # <P>
            d = data[min(j, len(data) - 1)] * 16 - 64                    # <P>
            rgb[3 * i] = clamp((298 * c + 409 * d + 128) >> 8)           # <P>
            rgb[3 * i + 1] = clamp((298 * c - 208 * d + 128) >> 8)       # <P>
            rgb[3 * i + 2] = clamp((298 * c + 516 * d + 128) >> 8)       # <P>
        try:
            out.write(rgb)
            out.flush()
        except BrokenPipeError:
            return


class FramePipe:
    def __init__(self, n_clips: int, clip_len: int):
        self.clip_len = clip_len
        self.proc = subprocess.Popen(
            [sys.executable, __file__, "--reader", "--clips", str(n_clips), "--clip-len", str(clip_len)],
            stdout=subprocess.PIPE, bufsize=10 ** 6)
        self.seconds = 0.0

    def __iter__(self):
        import numpy as np
        while True:
            t = time.perf_counter()
            buf = self.proc.stdout.read(FRAME_BYTES * self.clip_len)  # <W>
            self.seconds += time.perf_counter() - t
            if len(buf) < FRAME_BYTES * self.clip_len:
                return
            yield np.frombuffer(buf, np.uint8).reshape(self.clip_len, H, W, 3)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proc.stdout.close()
        self.proc.terminate()
        self.proc.wait()


def train(args: argparse.Namespace) -> None:
    import torch
    from torch import nn

    device = torch.device("cuda")
    model = nn.Sequential(
        nn.Conv2d(3, 24, 5, stride=2, padding=2), nn.BatchNorm2d(24), nn.ReLU(),
        nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.BatchNorm2d(48), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 12)).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    crit = nn.CrossEntropyLoss()
    begin = time.perf_counter()
    with FramePipe(args.clips, args.clip_len) as pipe:
        for n, frames in enumerate(pipe):  # <W>
            x = torch.from_numpy(frames.copy()).to(device).permute(0, 3, 1, 2).float() / 255
            y = torch.full((len(x),), n % 12, device=device)
            opt.zero_grad()
            crit(model(x), y).backward()
            opt.step()
            print("clip", n, "done", flush=True)
            if time.perf_counter() - begin > args.max_seconds:
                break
        el = time.perf_counter() - begin
        print("elapsed %.1f, in pipe read %.1f (%.0f%%)" % (el, pipe.seconds, 100 * pipe.seconds / el))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--reader", action="store_true")
    p.add_argument("--clips", type=int, default=400)
    p.add_argument("--clip-len", type=int, default=16)
    p.add_argument("--max-seconds", type=float, default=15)
    a = p.parse_args()
    if a.reader:
        reader_main(a.clips, a.clip_len)
    else:
        train(a)
