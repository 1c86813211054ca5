# truth: input
# cause: fetch
# who waits: LINE-MARKER W
import os
import sqlite3
import tempfile
import time
from typing import Iterator, Optional

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

FEATURES = 64


def build_db(path: str, patients: int = 2000, visits: int = 10) -> None:
    rng = np.random.default_rng(0)
    con = sqlite3.connect(path)
    con.execute("create table visit (patient text, day integer, code text, feats blob)")
    blobs = [rng.standard_normal(FEATURES).astype(np.float32).tobytes() for _ in range(200)]

    def rows() -> Iterator[tuple]:
        days = rng.integers(0, 3650, size=patients * visits).tolist()
        for i, d in enumerate(days):
            yield f"P{i % patients:06d}", d, f"ICD{d % 97:03d}", blobs[i % 200]

    con.executemany("insert into visit values (?,?,?,?)", rows())
    con.commit()
    con.close()


class VisitHistory(Dataset):
    """One item = the mean of a patient's last visits, plus how common the codes are."""

    def __init__(self, path: str, patients: int) -> None:
        self.path = path
        self.patients = patients
        self.con: Optional[sqlite3.Connection] = None

    def __len__(self) -> int:
        return self.patients

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        if self.con is None:
            self.con = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        rows = self.con.execute(  # <P>
            "select v.feats, v.day from visit v where v.patient = ? order by v.day desc limit 8",
            (f"P{i:06d}",)).fetchall()  # <P>
        x = np.mean([np.frombuffer(r[0], np.float32) for r in rows], axis=0)
        return torch.from_numpy(x), int(rows[0][1] > 3300)


def fit(path: str, patients: int, budget: float) -> None:
    loader = DataLoader(VisitHistory(path, patients), batch_size=32, shuffle=True, num_workers=2,
                        persistent_workers=True, drop_last=True)
    net = torch.nn.Sequential(torch.nn.Linear(FEATURES, 256), torch.nn.ReLU(), torch.nn.Dropout(0.1),
                              torch.nn.Linear(256, 2)).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    began = mark = time.perf_counter()
    in_loader, step, epoch = 0.0, 0, 0
    while time.perf_counter() - began < budget:
        for x, y in loader:  # <W>
            in_loader += time.perf_counter() - mark
            loss = torch.nn.functional.cross_entropy(net(x.cuda()), y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch.cuda.synchronize()
            step += 1
            mark = time.perf_counter()
            if step % 25 == 0:
                print(f"epoch {epoch} step {step} t={mark - began:.1f}s", flush=True)
            if mark - began > budget:
                break
        epoch += 1
    span = time.perf_counter() - began
    print(f"steps={step} span={span:.1f}s loader={in_loader:.1f}s ({in_loader / span:.0%})")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as d:
        db = os.path.join(d, "ehr.sqlite")
        build_db(db)
        fit(db, 2000, 15.0)
