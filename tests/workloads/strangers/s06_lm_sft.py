# truth: input
# cause: prep
# who waits: LINE-MARKER W
"""Supervised fine-tuning of a (very) small causal LM on instruction pairs."""
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Dict, List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

WORDS = ("the quick model answers a question about training data and returns one short summary of "
         "every document which the user has provided together with citations numbers dates names").split()


class Bpe:
    def __init__(self, corpus: List[str], n_merges: int = 60):
        vocab = Counter(tuple(w) + ("</w>",) for line in corpus for w in line.split())
        self.ranks: Dict[Tuple[str, str], int] = {}
        for k in range(n_merges):
            pairs: Counter = Counter()
            for w, c in vocab.items():
                for p in zip(w, w[1:]):
                    pairs[p] += c
            if not pairs:
                break
            best = max(pairs, key=pairs.get)
            self.ranks[best] = k
            vocab = Counter({self._merge(w, best): c for w, c in vocab.items()})
        symbols = {s for w in vocab for s in w} | {chr(c) for c in range(32, 127)} | {"</w>"}
        symbols |= {a + b for a, b in self.ranks}
        self.ids = {s: i + 3 for i, s in enumerate(sorted(symbols))}

    @staticmethod
    def _merge(w, pair):
        out, i = [], 0
        while i < len(w):                                                       # <P>
            if i + 1 < len(w) and (w[i], w[i + 1]) == pair:                     # <P>
                out.append(w[i] + w[i + 1])                                     # <P>
                i += 2
            else:
                out.append(w[i])                                                # <P>
                i += 1                                                          # <P>
        return tuple(out)

    def encode_word(self, word: str) -> List[int]:
        w = tuple(word) + ("</w>",)
        while len(w) > 1:
            best = min(zip(w, w[1:]), key=lambda p: self.ranks.get(p, 10 ** 9))  # <P>
            if best not in self.ranks:
                break
            w = self._merge(w, best)                                            # <P>
        return [self.ids.get(s, 2) for s in w]

    def encode(self, text: str) -> List[int]:
        return [t for word in text.split() for t in self.encode_word(word)]     # <P>


class Pairs(Dataset):
    def __init__(self, n: int):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        r = random.Random(i)
        return {"prompt": " ".join(r.choices(WORDS, k=60)), "answer": " ".join(r.choices(WORDS, k=340))}


@dataclass
class Collator:
    tok: Bpe
    max_len: int = 128
    pad: int = 0
    stats: dict = field(default_factory=dict)

    def __call__(self, examples):
        rows, masks = [], []
        for ex in examples:
            p = self.tok.encode(ex["prompt"])                                   # <P>
            a = self.tok.encode(ex["answer"])                                   # <P>
            ids = (p[-32:] + a)[: self.max_len]
            ids += [self.pad] * (self.max_len - len(ids))
            rows.append(ids)
            masks.append([0] * min(32, len(p)) + [1] * (self.max_len - min(32, len(p))))
        return {"input_ids": torch.tensor(rows), "loss_mask": torch.tensor(masks)}


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        att = torch.softmax(q @ k.transpose(-1, -2) / (d // self.h) ** 0.5, -1)
        x = x + self.proj((att @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.ln2(x))


class TinyLM(nn.Module):
    def __init__(self, vocab, d=128):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(128, d)
        self.blocks = nn.Sequential(Block(d, 4), Block(d, 4))
        self.head = nn.Linear(d, vocab)

    def forward(self, ids):
        return self.head(self.blocks(self.tok(ids) + self.pos.weight[: ids.shape[1]]))


def main(max_seconds: float = 15.0) -> None:
    tok = Bpe([" ".join(WORDS)])
    loader = DataLoader(Pairs(1000 * 16), batch_size=16, shuffle=True, num_workers=2,
                        collate_fn=Collator(tok), pin_memory=False, drop_last=True)
    model = TinyLM(512).cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    started = last = time.perf_counter()
    data_t = 0.0
    for i, batch in enumerate(loader):                                          # <W>
        data_t += time.perf_counter() - last
        ids = batch["input_ids"].to("cuda", non_blocking=True)
        mask = batch["loss_mask"].to("cuda", non_blocking=True)
        logits = model(ids[:, :-1])
        nll = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
        loss = (nll * mask[:, 1:].flatten()).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        if i % 10 == 9:
            print(f"[{i + 1}/{len(loader)}] tokens/s {(i + 1) * ids.numel() / (time.perf_counter() - started):.0f}", flush=True)
        last = time.perf_counter()
        if last - started > max_seconds:
            break
    total = time.perf_counter() - started
    print(f"{total=:.1f} {data_t=:.1f} frac={data_t / total:.2f}")


if __name__ == "__main__":
    main()
