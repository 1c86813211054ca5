# truth: not input
# cause: cpu
# who waits: LINE-MARKER W
"""Multi-label tagger; every 10 steps the validation predictions go to a JSON file for the annotation team."""
import argparse
import json
import os
import shutil
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

TAGS = [f"tag{j:02d}" for j in range(40)]


class Tagger(nn.Module):
    def __init__(self, dim=192, hidden=384, tags=40):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU())
        self.head = nn.Linear(hidden, tags)

    def forward(self, x):
        return self.head(self.body(x))


def evaluate(model, val_x, out_dir, step):
    model.eval()
    parts = []
    with torch.no_grad():
        for lo in range(0, val_x.shape[0], 64):
            parts.append(torch.sigmoid(model(val_x[lo:lo + 64])).cpu())
    scores = torch.cat(parts).tolist()
    doc = {"step": step, "predictions": []}
    for i, row in enumerate(scores):
        doc["predictions"].append({
            "id": f"val-{i:06d}",
            "scores": dict(zip(TAGS, row)),
        })
    path = os.path.join(out_dir, f"predictions_{step:05d}.json")
    t = time.perf_counter()
    with open(path, "w") as fh:
        json.dump(doc, fh, indent=1)  # <W> <P>
    spent = time.perf_counter() - t
    model.train()
    return path, spent


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seconds", type=float, default=16.0)
    ap.add_argument("--val-size", type=int, default=16000)
    ap.add_argument("--eval-every", type=int, default=10)
    args = ap.parse_args()

    torch.manual_seed(0)
    dev = torch.device("cuda")
    train_x = torch.randn(4096, 192).to(dev)
    train_y = (torch.rand(4096, 40) < 0.1).float().to(dev)
    val_x = torch.randn(args.val_size, 192).to(dev)
    model = Tagger().to(dev)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)

    out_dir = tempfile.mkdtemp(prefix="tagger_")
    t0, writing, step = time.perf_counter(), 0.0, 0
    try:
        while time.perf_counter() - t0 < args.seconds:
            lo = (step * 64) % 4096
            loss = F.binary_cross_entropy_with_logits(model(train_x[lo:lo + 64]), train_y[lo:lo + 64])
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % args.eval_every == 0:
                path, spent = evaluate(model, val_x, out_dir, step)
                writing += spent
                print(f"step {step:4d}  wrote {os.path.basename(path)} ({os.path.getsize(path) >> 10} KiB)", flush=True)
                os.remove(path)
        torch.cuda.synchronize()
    finally:
        shutil.rmtree(out_dir, ignore_errors=True)
    total = time.perf_counter() - t0
    print(f"{step} steps in {total:.1f}s; share {writing:.1f}s = {writing / total:.0%}")


if __name__ == "__main__":
    main()
