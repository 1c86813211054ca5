# truth: not input
# cause: host
# who waits: LINE-MARKER W
import math
import re
import time

import torch

torch.set_num_threads(1)
DEVICE = "cuda"


class LayerwiseAdam:
    """Research optimizer: per-layer rates, per-layer decay, bias-corrected moments, all spelled out."""

    RULES = [
        (re.compile(r"\.bias$"), dict(decay=0.0, scale=1.5)),
        (re.compile(r"norm\d*\."), dict(decay=0.0, scale=1.0)),
        (re.compile(r"blocks\.\d+\.fc1\.weight"), dict(decay=0.02, scale=0.9)),
        (re.compile(r"blocks\.\d+\.fc2\.weight"), dict(decay=0.01, scale=0.8)),
        (re.compile(r".*"), dict(decay=0.01, scale=1.0)),
    ]

    def __init__(self, named, lr=1e-3, betas=(0.9, 0.98), warmup=50, total=5000):
        self.named = list(named)
        self.lr, self.betas, self.warmup, self.total = lr, betas, warmup, total
        self.m = {n: torch.zeros_like(p) for n, p in self.named}
        self.v = {n: torch.zeros_like(p) for n, p in self.named}
        self.t = 0

    def depth_of(self, name):
        found = re.search(r"blocks\.(\d+)\.", name)
        return int(found.group(1)) if found else 0

    def rate(self, name, scale):
        d = self.depth_of(name)
        warm = min(1.0, self.t / self.warmup)
        cos = 0.5 * (1 + math.cos(math.pi * min(1.0, self.t / self.total)))
        wave = 0.0
        for k in range(1, 49):  # smooth restarts, a short Fourier series with a phase per depth
            wave += math.sin(2 * math.pi * k * self.t / self.total + 0.1 * d) / (k * k)  # <P>
        return self.lr * scale * warm * cos * (0.97 ** d) * (1 + 0.1 * wave)

    @torch.no_grad()
    def step(self):
        self.t += 1
        b1, b2 = self.betas
        for name, p in self.named:  # <P>
            if p.grad is None:
                continue
            cfg = next(c for rx, c in self.RULES if rx.search(name))  # <P>
            lr = self.rate(name, cfg["scale"])  # <P>
            g = p.grad
            m, v = self.m[name], self.v[name]
            m.mul_(b1).add_(g, alpha=1 - b1)  # <P>
            v.mul_(b2).addcmul_(g, g, value=1 - b2)  # <P>
            mh = m / (1 - b1 ** self.t)  # <P>
            vh = v / (1 - b2 ** self.t)  # <P>
            if cfg["decay"]:
                p.mul_(1 - lr * cfg["decay"])  # <P>
            upd = mh / (vh.sqrt() + 1e-8)  # <P>
            trust = (p.norm() + 1e-3) / (upd.norm() + 1e-3)  # <P>
            p.sub_(upd * trust.clamp(0.1, 10.0) * lr)  # <P>

    def zero_grad(self):
        for _, p in self.named:
            p.grad = None


class Block(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm1 = torch.nn.LayerNorm(d)
        self.fc1 = torch.nn.Linear(d, 2 * d)
        self.fc2 = torch.nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(self.norm1(x))))


class Net(torch.nn.Module):
    def __init__(self, d=48, depth=48):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(d) for _ in range(depth))
        self.out = torch.nn.Linear(d, 1)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.out(x)


net = Net().to(DEVICE)
optim = LayerwiseAdam(net.named_parameters())
x = torch.randn(16, 48).to(DEVICE)
y = torch.randn(16, 1).to(DEVICE)

began = time.perf_counter()
opt_s = drain_s = 0.0
n = 0
while time.perf_counter() - began < 17.5:
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    a = time.perf_counter()
    optim.step()  # <W> <P>
    b = time.perf_counter()
    optim.zero_grad()
    c = time.perf_counter()
    torch.cuda.synchronize()
    opt_s += b - a
    drain_s += time.perf_counter() - c
    n += 1
    if n % 100 == 0:
        print(f"iter {n}: {n / (time.perf_counter() - began):.1f} it/s", flush=True)
total = time.perf_counter() - began
print(f"{n} iters, {total:.1f}s; optimizer {opt_s / total:.0%}, sync {drain_s / total:.0%}")
