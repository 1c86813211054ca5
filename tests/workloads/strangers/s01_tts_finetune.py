# truth: input
# cause: prep
# who waits: LINE-MARKER W
"""Fine-tune a tiny acoustic model on 44.1 kHz clips resampled to 16 kHz on the fly."""
import queue
import threading
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SRC_SR = 44100
DST_SR = 16000
CLIP = 0.25            # seconds
BATCH = 16
N_THREADS = 2
N_FRAMES = 17
HOP = 256
RUN_FOR = 14.5


def sinc_resample(wav, src, dst, half=12):
    """Band-limited interpolation, Kaiser window."""
    n_out = int(len(wav) * dst / src)
    cutoff = min(1.0, dst / src)
    centre = np.arange(n_out) * (src / dst)
    first = np.floor(centre).astype(np.int64)
    taps = np.arange(-half + 1, half + 1)
    pos = first[:, None] + taps[None, :]                        # <P>
    dist = centre[:, None] - pos                                # <P>
    win = np.i0(8.6 * np.sqrt(np.clip(1 - (dist / half) ** 2, 0, 1))) / np.i0(8.6)   # <P>
    kern = cutoff * np.sinc(cutoff * dist) * win                # <P>
    padded = np.pad(wav, half + 1)
    return (padded[np.clip(pos + half + 1, 0, len(padded) - 1)] * kern).sum(1)       # <P>


def log_frames(wav):
    win = np.hanning(1024)
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(wav, 512), 1024)[::HOP]
    spec = np.abs(np.fft.rfft(frames * win, axis=1))[:, :80]
    out = np.zeros((N_FRAMES, 80), np.float32)
    k = min(N_FRAMES, len(spec))
    out[:k] = np.log(spec[:k] + 1e-5)
    return out


def audio_thread(idx, out_q, stop):
    rng = np.random.default_rng(idx)
    t = np.arange(int(CLIP * SRC_SR)) / SRC_SR
    while not stop.is_set():
        mels, texts = [], []
        for _ in range(BATCH):
            f0 = rng.uniform(90, 250)
            wav = np.sin(2 * np.pi * f0 * t) + 0.05 * rng.standard_normal(len(t))
            wav = sinc_resample(wav, SRC_SR, DST_SR)            # <P>
            mels.append(log_frames(wav))
            texts.append(rng.integers(0, 64, 24))
            if stop.is_set():
                return
        item = (torch.from_numpy(np.stack(texts)), torch.from_numpy(np.stack(mels)))
        while not stop.is_set():
            try:
                out_q.put(item, timeout=0.2)
                break
            except queue.Full:
                pass


class TinyTTS(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(64, 128)
        self.conv = nn.Conv1d(128, 128, 5, padding=2)
        self.up = nn.Linear(24, N_FRAMES)
        self.out = nn.Linear(128, 80)

    def forward(self, text):
        h = F.relu(self.conv(self.emb(text).transpose(1, 2)))
        return self.out(self.up(h).transpose(1, 2))


torch.set_num_threads(1)
net = TinyTTS().cuda()
optim = torch.optim.AdamW(net.parameters(), lr=2e-4)
stop = threading.Event()
q = queue.Queue(maxsize=8)
threads = [threading.Thread(target=audio_thread, args=(i, q, stop), daemon=True) for i in range(N_THREADS)]
for th in threads:
    th.start()

t0 = time.time()
waited = 0.0
step = 0
while time.time() - t0 < RUN_FOR:
    a = time.time()
    text, mel = q.get()  # <W>
    waited += time.time() - a
    text, mel = text.cuda(), mel.cuda()
    loss = F.l1_loss(net(text), mel)
    optim.zero_grad(set_to_none=True)
    loss.backward()
    optim.step()
    torch.cuda.synchronize()
    step += 1
    if step % 10 == 0:
        print(f"step {step}  queue {q.qsize()}", flush=True)

total = time.time() - t0
stop.set()
for th in threads:
    th.join()
print(f"{step} steps in {total:.1f}s, data time {waited:.1f}s ({100 * waited / total:.0f}%)")
