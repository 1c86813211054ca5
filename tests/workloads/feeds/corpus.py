#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A text corpus: torch's DataLoader over an IterableDataset that reads ahead with a thread of its own."""
import queue
import threading
import zlib

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from kit import Card, cfg, note, settle


class Corpus(IterableDataset):
    def __init__(self, root):
        self.root = root

    def document(self, k):
        with note('get', k):
            with open(f'{self.root}/f{k % cfg.files}', 'rb') as f:  #: get
                text = f.read()  #: get
        with note('make', k):
            for n in range(cfg.rounds):
                tokens = zlib.compress(text * 3 + bytes([n]), 9)  #: make
            return torch.frombuffer(bytearray(tokens[:4096].ljust(4096)), dtype=torch.uint8)

    def ahead(self, q, first, stride):
        settle()
        for k in range(first, cfg.steps, stride):
            q.put((k, self.document(k)))
        q.put(None)

    def __iter__(self):
        info, q = get_worker_info(), queue.Queue(2)
        share = (info.id, info.num_workers) if info else (0, 1)
        threading.Thread(target=self.ahead, args=(q, *share), daemon=True).start()
        for item in iter(q.get, None):  #: wait
            yield item


def main():
    torch.set_num_threads(1)
    loader = DataLoader(Corpus(cfg.root), batch_size=1, num_workers=cfg.workers)
    card, source = Card(), iter(loader)
    while True:
        with note('wait') as n:
            batch = next(source, None)  #: wait
            n.key = -1 if batch is None else int(batch[0])
        if batch is None:
            break
        card.step(batch[1].numpy())


if __name__ == '__main__':
    main()
