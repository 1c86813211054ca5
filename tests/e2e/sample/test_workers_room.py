#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=120
"""Loader workers in a cgroup that may have few more tasks start no sampler of their own, and the report
is told; with room they do. Needs the right to make a cgroup."""
import contextlib
import json
import os
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

PLACES = ('/sys/fs/cgroup/pids', '/sys/fs/cgroup')
LOOKER = 'gpustarve-look'


def lookers(pid):
    names = []
    for tid in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{tid}/comm') as f:
            names.append(f.read().strip())
    return names.count(LOOKER)


def enter(group):
    with open(group + '/cgroup.procs', 'w') as f:
        f.write(str(os.getpid()))


def child(group, spare, out):
    """The job: once its workers are there, but before they make a batch, the room is taken away."""
    enter(group)
    sys.path.insert(0, gs.WORKLOADS)
    import gpudev
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Slow(Dataset):
        def __len__(self):
            return 40

        def __getitem__(self, i):
            time.sleep(0.05)
            return torch.zeros(4)

    def shrink(worker):
        torch.set_num_threads(1)
        with open(group + '/pids.current') as f:
            now = int(f.read())
        with open(group + '/pids.max', 'w') as f:
            f.write(str(now + int(spare)))

    stream = gpudev.Stream(gpudev.Device(0))
    stream.kernel(1000, 'first')
    stream.synchronize()
    batches = iter(DataLoader(Slow(), batch_size=1, num_workers=2, worker_init_fn=shrink))
    for _ in range(20):
        next(batches)
    with open(out, 'w') as f:
        json.dump([lookers(w.pid) for w in batches._workers], f)
    for _ in batches:
        pass


@contextlib.contextmanager
def cgroup():
    """A group of our own, or None."""
    for place in PLACES:
        path = os.path.join(place, f'gstest-{os.getpid()}')
        try:
            os.mkdir(path)
        except OSError:
            continue
        if os.path.exists(path + '/pids.max'):
            yield path
            os.rmdir(path)
            return
        os.rmdir(path)
    yield None


def case(group, spare, want):
    name = f'{spare} tasks to spare'
    with gs.scratch() as where:
        out = os.path.join(where, 'own')
        ranges.run([gs.PYTHON, os.path.abspath(__file__), group, spare, out], where)
        streams = ranges.trace(where)
        found = json.load(open(out))
    gs.equal(found, [want, want], f'{name}: samplers in workers')
    notes = [n for s in streams for r in s if r.get('frame') == 'bye' for n in r['notes']]
    gs.equal(any('no sampler of their own' in n for n in notes), not want, f'{name}: notes {notes}')
    print(f'{name}: {found}')


if __name__ == '__main__':
    if len(sys.argv) > 1:
        child(*sys.argv[1:])
        sys.exit()
    with cgroup() as path:
        if not path:
            gs.skip('no cgroup can be made here')
        with open(path + '/pids.max', 'w') as f:
            f.write('max')
        case(path, 10, 0)
        with open(path + '/pids.max', 'w') as f:
            f.write('max')
        case(path, 5000, 1)
    gs.finish()
