# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=120
"""kill -9 in the middle of a long loader wait: what was waited until a second before is there, in
pieces that abut."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

SLACK = 500 * ranges.MS  # of a machine that has other things to do, as in test_prof_kill


def child():
    sys.path.insert(0, gs.WORKLOADS)
    import torch
    from torch.utils.data import DataLoader, Dataset
    import gpudev
    stream = gpudev.Stream(gpudev.Device(0))

    class Stuck(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, i):
            if i == 4:
                print(at[-1], time.time_ns(), flush=True)
                time.sleep(60)
            return torch.zeros(4)

    at = []  # when the step before was over
    for _ in DataLoader(Stuck(), batch_size=2):
        stream.kernel(1_000_000, 'step')
        stream.synchronize()
        at.append(time.time_ns())


def main():
    with gs.scratch() as where:
        argv, env = ranges.preloaded([gs.PYTHON, os.path.abspath(__file__), 'child'], where)
        p = subprocess.Popen(argv, env=env, cwd=where, stdout=subprocess.PIPE)
        before, begin = map(int, p.stdout.readline().split())
        time.sleep(3.3)
        p.send_signal(signal.SIGKILL)
        killed = time.time_ns()
        p.wait()
        streams = ranges.trace(where)
        if not gs.equal(len(streams), 1, 'streams'):
            return
        rows = ranges.ranges(streams[0], ranges.LOADER)
        gs.check(sum(bool(r['flags'] & ranges.CONT) for r in rows) >= 3, 'pieces')
        last = ranges.joined(rows)[-1]
        gs.check(before <= last['start'] <= begin, 'start of the wait')
        gs.check(killed - 1000 * ranges.MS - SLACK <= last['end'] <= killed,
                 f'end of the wait: {(killed - last["end"]) / 1e6:.1f} ms before the kill')


if len(sys.argv) > 1:
    child()
else:
    main()
    gs.finish()
