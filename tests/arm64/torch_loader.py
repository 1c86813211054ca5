#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_loader.py [TORCH [TRACE]]: a training with torch's own DataLoader, two workers whose samples sleep, and an
optimizer, is recorded on the simulated GPU: the verdict, the line that sleeps, and torch's own ranges, which come by its
callbacks. TORCH: a folder with torch, as scripts/arm64 --torch makes it; TRACE: where the run stays. Run by
tests/arm64/inside.py, or by hand on any machine."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import gs  # noqa: E402

STEPS, WORKERS, SAMPLE_MS = 20, 2, 100 * gs.PATIENCE  # longer than whatever an emulator makes slow
TRAIN = os.path.join(gs.WORKLOADS, 'train_loader.py')
RANGE = 'Optimizer.step#SGD.step'  # no other part of ours makes it


def planted():
    """The line of SleepDataset that sleeps."""
    with open(TRAIN, encoding='utf-8') as f:
        lines = f.read().splitlines()
    begin = lines.index('class SleepDataset(Dataset):')
    return next(n for n, line in enumerate(lines, 1) if n > begin and 'time.sleep' in line)


def holds(run):
    s = gs.summary(run)
    if not s:
        return
    gs.equal(s['verdict'], 'input-bound', 'verdict')
    where = s['findings'][0]['where']
    gs.equal((s['findings'][0]['class'], where['file'], where['line'], where['function'], where['role'], where['wait']),
             ('input.fetch', TRAIN, planted(), 'SleepDataset.__getitem__', 'worker', 'sleep'), 'the first cause')
    dump = gs.gpustarve('dump', run).stdout.decode()
    gs.equal(len(re.findall(f'\t{re.escape(RANGE)}$', dump, re.M)), STEPS, "torch's own ranges")
    print(f'{s["verdict"]}: {s["findings"][0]["sentence"]}')


with gs.scratch() as scratch:
    env = dict(PYTHONPATH=sys.argv[1], OMP_NUM_THREADS=1) if sys.argv[1:] else {}
    done, found, _ = gs.traced([gs.PYTHON, TRAIN, '--steps', STEPS, '--workers', WORKERS, '--sample-ms', SAMPLE_MS, '--optimizer'],
                               scratch, ['--no-report', '--quiet'], **env)
    gs.equal(done.returncode, 0, f'the training: {done.stderr.decode()[-1000:]}')
    if gs.check(found, 'a run'):
        holds(found)
        if sys.argv[2:]:
            shutil.copytree(found, sys.argv[2])
gs.finish()
