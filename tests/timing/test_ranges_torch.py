# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e serial timeout=200
"""The RecordFunction hook in whatever torch this Python has, without any GPU: rangeprobe.so is
libprof's ranges alone. Armed before and after the import, with forked and spawned workers, beside
torch's profiler; forked children record nothing; what a record_function and an operator cost."""
import ctypes
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../lib')
import gs
import ranges

AGAIN = 3  # exit status: all well but the agreement of the clocks
PROBE = os.path.join(gs.BUILD, 'lib', 'rangeprobe.so')


class Probe:
    def __init__(self, path):
        self.path, self.lib = path, ctypes.CDLL(PROBE)
        for name in ('probe_note', 'probe_torch'):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.lib.probe_dropped.restype = ctypes.c_uint64

    def arm(self):
        gs.equal(self.lib.probe_arm(self.path.encode(), 1), 0, 'probe_arm')

    def await_torch(self):
        for _ in range(200):
            self.lib.probe_poll()
            if self.lib.probe_torch() or self.lib.probe_note():
                return
            time.sleep(0.02)

    def rows(self):
        self.lib.probe_drain(0)
        rows = []
        for line in open(self.path):
            op, flags, tid, start, end, name = line.rstrip('\n').split(' ', 5)
            rows.append(dict(op=int(op), flags=int(flags), tid=int(tid), start=int(start),
                             end=int(end), name=name))
        return ranges.joined(rows)


def make_dataset(torch, on):
    class Slow(torch.utils.data.Dataset):
        def __len__(self):
            return 80

        def __getitem__(self, i):
            time.sleep(0.002)
            return torch.tensor(on())
    return Slow()


class Picklable:
    """For spawned workers: nothing of the probe is loaded there."""

    def __len__(self):
        return 80

    def __getitem__(self, i):
        import torch
        time.sleep(0.002)
        return torch.tensor(0)


def walk(torch, loader, own, states):
    batches = iter(loader)
    while True:
        s = time.time_ns()
        batch = next(batches, None)
        own.append((s, time.time_ns()))
        if batch is None:
            return
        states.append(int(batch.max()))
        with torch.profiler.record_function('mine'):
            time.sleep(0.0005)


def best_ns(fn, n, rounds=12):
    times = []
    for _ in range(rounds):
        t = time.perf_counter_ns()
        fn(n)
        times.append((time.perf_counter_ns() - t) / n)
    return min(times)


def cost(torch):
    x = torch.zeros(8)

    def operators(n):
        for _ in range(n):
            x.add_(1)

    def labels(n):
        for _ in range(n):
            with torch.profiler.record_function('cost'):
                pass
    return best_ns(operators, 3000), best_ns(labels, 300)


def child(order, path):
    probe = Probe(path)
    if order == 'before':
        probe.arm()
    import torch
    torch.set_num_threads(1)
    before = cost(torch) if order == 'after' else None
    if order == 'after':
        probe.arm()
    probe.await_torch()
    gs.equal(probe.lib.probe_note(), b'', f'{order}: note')
    gs.equal(probe.lib.probe_torch().decode(), torch.__version__, f'{order}: version')
    loader = torch.utils.data.DataLoader
    own, states = [], []
    data = make_dataset(torch, probe.lib.probe_on)
    walk(torch, loader(data, batch_size=4), own, states)
    gs.equal(set(states), {1}, f'{order}: recording in the main process')
    states.clear()
    walk(torch, loader(data, batch_size=4, num_workers=2, multiprocessing_context='fork'), own, states)
    gs.equal(set(states), {0}, f'{order}: recording in forked workers')
    walk(torch, loader(Picklable(), batch_size=4, num_workers=2, multiprocessing_context='spawn'),
         own, states)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
        walk(torch, loader(data, batch_size=4), own, states)
    seen = {e.key for e in p.key_averages()}
    gs.check('mine' in seen and 'aten::max' in seen, f"{order}: torch's profiler saw {len(seen)} names")
    rows = probe.rows()
    agree = ranges.waits_match([r for r in rows if r['op'] == ranges.LOADER], own,
                               f'{order} the import')
    gs.equal(sum(r['name'] == 'mine' for r in rows), 80, f'{order}: record_function ranges')
    gs.equal({r['tid'] for r in rows}, {os.getpid()}, f'{order}: threads')
    gs.equal([r for r in rows if r['name'].startswith('aten::')], [], f'{order}: operators')
    gs.equal(probe.lib.probe_dropped(), 0, f'{order}: dropped')
    if before:
        after = cost(torch)
        print(f'torch {torch.__version__}: operator {before[0]:.0f} -> {after[0]:.0f} ns, '
              f'record_function {before[1]:.0f} -> {after[1]:.0f} ns', flush=True)
    if not agree and not gs.failures:
        sys.exit(AGAIN)
    gs.finish()


def case(order):
    with tempfile.TemporaryDirectory() as where:
        done = subprocess.run([sys.executable, os.path.abspath(__file__), order,
                               os.path.join(where, 'ranges')], timeout=90)
        gs.check(done.returncode in (0, AGAIN), f'armed {order} the import')
        return done.returncode != AGAIN


def main():
    for order in ('before', 'after'):
        ranges.settled(case, order)
    gs.finish()


if __name__ == '__main__':
    if len(sys.argv) > 1:
        child(*sys.argv[1:])
    else:
        main()
