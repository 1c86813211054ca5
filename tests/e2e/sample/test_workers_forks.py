# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=400
"""A storm of forks in a trainer that is sampled all the time, for one of its threads waits for the
loader: every child comes back, also those that load a library, run a command or fork again."""
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

FORKS, SECONDS = 2000, 15
LEAST, PATIENCE = 100, 120  # a busy machine takes a quarter of a second for a fork


def child():
    sys.path.insert(0, gs.WORKLOADS)
    import gpudev
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Slow(Dataset):
        def __len__(self):
            return 1 << 30

        def __getitem__(self, i):
            time.sleep(0.02)
            return torch.zeros(4)

    stream = gpudev.Stream(gpudev.Device(0))
    stream.kernel(1000, 'first')
    stream.synchronize()
    batches = iter(DataLoader(Slow(), batch_size=2, num_workers=2))
    done = threading.Event()

    def wait():
        while not done.is_set():
            next(batches)

    waiter = threading.Thread(target=wait)
    waiter.start()
    end, n = time.time() + SECONDS, 0
    while n < FORKS and (time.time() < end or n < LEAST and time.time() < end + PATIENCE):
        n += 1
        if n % 100 == 0:
            subprocess.run(['/bin/true'], check=True)
        pid = os.fork()
        if not pid:
            if n % 20 == 0:
                import ctypes
                ctypes.CDLL('libm.so.6')  # takes the loader's lock
            if n % 20 == 1:
                pid = os.fork()
                if pid:
                    os.waitpid(pid, 0)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    done.set()
    waiter.join()
    print(n)


def main():
    with gs.scratch() as where:
        done = ranges.run([gs.PYTHON, os.path.abspath(__file__), 'child'], where,
                          timeout=SECONDS + PATIENCE + 120)
        stream, = ranges.trace(where)
    forks = int(done.stdout)
    looks = [r for r in stream if 'sample' in r]
    waits = sum(r['end'] - r['start'] for r in stream if r.get('batch') == 3) / 1e9
    gs.check(forks >= LEAST, f'only {forks} forks')
    gs.check(len(looks) >= 5 * waits, f'{len(looks)} looks in {waits:.1f} s of waits')
    print(f'{forks} forks, {len(looks)} looks in {waits:.1f} s of waits')
    gs.finish()


if __name__ == '__main__':
    child() if len(sys.argv) > 1 else main()
