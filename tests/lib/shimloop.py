# SPDX-License-Identifier: Apache-2.0
"""The program of the shim's tests: epochs over a DataLoader whose batches say who made them and when,
by CLOCK_REALTIME, kernels in between; at the end a collection and a checkpoint. What it saw goes to
a JSON file: shimloop.py OUT workers=N start=METHOD persistent=0/1 epochs=N batches=N end=WORD"""
import gc
import json
import os
import sys
import time

import gs
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

sys.path.insert(0, gs.WORKLOADS)
BATCH = 3
FASTER = 1
LAST = 4  # the batch in which a worker dies, if it is to


def parse(words):
    o = dict(workers='0', start='fork', persistent='0', epochs='1', batches='6', end='', iterable='0', fast='0')
    o.update(w.split('=') for w in words)
    return o


def sample(i, end):
    begin = time.time_ns()
    time.sleep(FASTER * (0.002 + i % 5 * 0.001))
    if end and get_worker_info() and i == LAST * BATCH + 1:
        time.sleep(0.5)  # the batches before it have been taken
        if end == 'kill':
            os.kill(os.getpid(), 9)
        if end == '_exit':
            os._exit(3)
    return i, begin, time.time_ns()


class Map(Dataset):
    def __init__(self, n, end):
        self.n, self.end = n, end

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return sample(i, self.end)


class Stream(IterableDataset):
    def __init__(self, n, end):
        self.n, self.end = n, end

    def __iter__(self):
        info = get_worker_info()
        for i in range(self.n):
            if not info or i // BATCH % info.num_workers == info.id:
                yield sample(i, self.end)


def collate(samples):
    return dict(ids=[s[0] for s in samples], begin=samples[0][1], end=samples[-1][2], pid=os.getpid())


def main(out, o):
    import gpudev
    global FASTER
    FASTER = 1 - int(o['fast'])
    workers = int(o['workers'])
    data = (Stream if o['iterable'] == '1' else Map)(int(o['batches']) * BATCH, o['end'])
    loader = DataLoader(data, batch_size=BATCH, num_workers=workers, collate_fn=collate,
                        multiprocessing_context=o['start'] if workers else None,
                        persistent_workers=o['persistent'] == '1')
    stream = gpudev.Stream(gpudev.Device(0))
    if o['end'] == 'close':
        os.closerange(3, 4096)
    if o['end'] == 'hide':
        del os.environ['GPUSTARVE_SHARED']
    waits, saves, error = [], [], None
    for epoch in range(int(o['epochs'])):
        made = time.time_ns()
        batches = iter(loader)
        while True:
            begin = time.time_ns()
            try:
                batch = next(batches, None)
            except RuntimeError as e:
                error, batch = str(e), None
            waits.append(dict(epoch=epoch, made=made, begin=begin, end=time.time_ns(), batch=batch))
            if batch is None:
                break
            stream.kernel(500_000, 'step')
            stream.synchronize()
        del batches
    begin = time.time_ns()
    torch.save(torch.zeros(1 << 18), out + '.pt')
    saves.append((begin, time.time_ns()))
    begin = time.time_ns()
    garbage = [[] for _ in range(200_000)]
    gc.collect()
    collected = begin, time.time_ns()
    del garbage
    with open(out, 'w') as f:
        json.dump(dict(pid=os.getpid(), waits=waits, saves=saves, collected=collected, error=error,
                       python_path=os.environ.get('PYTHONPATH'),
                       own_site=os.environ.get('OWN_SITE')), f)


if __name__ == '__main__':
    main(sys.argv[1], parse(sys.argv[2:]))
