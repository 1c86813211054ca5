# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits first timeout=300
"""Workers that look at themselves: where the trainer waits for them they say on which line they
sleep, while the GPU is busy their samplers never wake up, nobody else has a sampler, and forks of
trainer and workers go on under it."""
import json
import os
import subprocess
import sys
import time
import types

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import hostsampler
import ranges
import torch
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, gs.WORKLOADS)
WORKER, QUEUE, SLEEP, BY_PARENT = 2, 6, 7, 16
LOOKER = 'gpustarve-look'


class Slow(Dataset):
    def __init__(self, n, forks):
        self.n, self.forks = n, forks

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        for _ in range(self.forks):
            pid = os.fork()
            if not pid:
                json.loads('[1]')  # something that allocates
                os._exit(0)
            os.waitpid(pid, 0)
        time.sleep(0.1)
        return torch.zeros(4)


def threads(pid):
    """Name and voluntary switches of a process's threads."""
    out = []
    for tid in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{tid}/status') as f:
            lines = dict(line.split(':', 1) for line in f.read().splitlines() if ':' in line)
        out.append((lines['Name'].strip(), int(lines['voluntary_ctxt_switches'])))
    return out


def below(pid):
    """All processes below this one."""
    with open(f'/proc/{pid}/task/{pid}/children') as f:
        found = [int(p) for p in f.read().split()]
    return found + [q for p in found for q in below(p)]


def lookers(pid):
    try:
        return [switches for name, switches in threads(pid) if name == LOOKER]
    except OSError:
        return None  # it has ended


def busy(stream, seconds):
    """The GPU has work all the time: the next kernel is queued before the last one is waited for."""
    end, before = time.time() + seconds, None
    while time.time() < end:
        stream.kernel(20_000_000, 'busy')
        queued = stream.record()
        if before:
            before.synchronize()
        before = queued


def child(start, forks, out):
    import gpudev
    own = {}
    loader = DataLoader(Slow(12, int(forks)), batch_size=1, num_workers=2,
                        multiprocessing_context=start)
    stream = gpudev.Stream(gpudev.Device(0))
    stream.kernel(1000, 'first')  # from now on there is a trace
    stream.synchronize()
    time.sleep(0.3)
    batches = iter(loader)
    helper = subprocess.Popen(['/usr/bin/python3', '-c', 'import sys; sys.stdin.read()'],
                              stdin=subprocess.PIPE)
    for _ in range(6):
        begin = time.time_ns()
        next(batches)
        own.setdefault('waits', []).append((begin, time.time_ns()))
    own['workers'] = [w.pid for w in batches._workers]
    busy(stream, 1.5)  # the workers do their part meanwhile
    own['lookers'] = counts = [{pid: lookers(pid) for pid in [*own['workers'], *below(os.getpid())]}]
    for _ in range(6):
        busy(stream, 0.2)
        counts.append({pid: lookers(pid) for pid in counts[0]})
    helper.communicate(b'')
    stream.synchronize()
    for _ in range(200 if int(forks) else 0):
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)
    for _ in batches:
        pass
    with open(out, 'w') as f:
        json.dump(own, f)


def case(start, forks):
    name = f'{start}, {forks} forks'
    with gs.scratch() as where:
        out = os.path.join(where, 'own')
        ranges.run([gs.PYTHON, os.path.abspath(__file__), start, forks, out], where)
        own = json.load(open(out))
        streams = ranges.trace(where)
    if not gs.equal(len(streams), 1, f'{name}: streams'):
        return
    workers = set(own['workers'])
    rows = [r for r in streams[0] if 'sample' in r and r['pid'] in workers
            and r['role'] == WORKER and not r['flags'] & BY_PARENT]
    gs.equal({r['pid'] for r in rows}, workers, f'{name}: workers that looked at themselves')
    # The first wait of each of the two workers has its start in it.
    waits = own['waits'][2:]
    asleep = [r for r in rows if any(b <= r['sample'] <= e for b, e in waits)]
    waited = sum(e - b for b, e in waits) / 1e9
    gs.check(len(asleep) >= 10 * waited, f'{name}: {len(asleep)} looks in {waited:.1f} s of waits')
    line = [r for r in asleep if r['wait'] == SLEEP and '__getitem__\t' + os.path.abspath(__file__)
            in r['stack']]
    no_core = hostsampler.waited_for_core(types.SimpleNamespace(samples=rows))
    settled = [r for r in asleep if id(r) not in no_core]
    gs.check(forks or len(line) >= 0.4 * len(settled),
             f'{name}: {len(line)} of {len(settled)} on the line that sleeps')
    for pid in own['lookers'][0]:
        seen = [c[pid] for c in own['lookers']]
        if None in seen:
            continue
        gs.equal(len(seen[0]), int(int(pid) in workers), f'{name}: samplers in {pid}')
        # Whether the GPU is busy libprof learns late, and on a busy machine later still.
        gs.check(any(a == b for a, b in zip(seen, seen[1:])),
                 f'{name}: the sampler in {pid} does not sleep: {seen}')
    print(f'{name}: {len(rows)} looks of workers, {len(asleep)} in {waited:.1f} s of waits, '
          f'{len(own["lookers"][0])} processes below', flush=True)


if __name__ == '__main__':
    if len(sys.argv) > 1:
        child(*sys.argv[1:])
    else:
        for args in (('fork', 0), ('fork', 10), ('spawn', 0), ('forkserver', 0)):
            case(*args)
        gs.finish()
