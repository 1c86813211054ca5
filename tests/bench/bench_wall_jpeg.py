#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wall time of a training script whose loader decodes JPEGs, on the simulated GPU: without libprof, with
it but without samplers and shim, and with everything, in turn; ratios within each round. The decoding
takes all the CPU there is, so whatever our threads take shows. The simulator is a model: it does not
charge what CUPTI costs on a real launch.
  bench_wall_jpeg.py [ROUNDS]"""
import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import gs  # noqa: E402

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
STEPS = 150
TRAIN = os.path.join(gs.WORKLOADS, 'train_loader.py')
ARMS = {
    'without': {},
    'capture': dict(LD_PRELOAD=gs.LIBPROF, GPUSTARVE_SAMPLER='0', GPUSTARVE_SHIM='0'),
    'all': dict(LD_PRELOAD=gs.LIBPROF),
}


def run(where, arm):
    """(whole program, nine tenths of the training loop) in seconds."""
    own = os.path.join(where, 'own.jsonl')
    env = dict(ARMS[arm], GPUSTARVE_OUT=os.path.join(where, 'runs'))
    begin = time.monotonic()
    done = gs.command([gs.WITH_GPUSIM, gs.PYTHON, TRAIN, '--workers', 2, '--dataset', 'jpeg', '--pixels',
                       512, '--steps', STEPS, '--gpu-ms', 2, '--own-ledger', own],
                      env=gs.environment(**env), cwd=where)
    whole = time.monotonic() - begin
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    with open(own) as f:
        rows = [json.loads(line) for line in f]
    return whole, (rows[-2]['end_ns'] - rows[STEPS // 10]['begin_ns']) / 1e9


def spread(values):
    return f'{statistics.median(values):.3f} [{min(values):.3f}..{max(values):.3f}]'


rounds = []
for i in range(ROUNDS):
    names = list(ARMS)
    names = names[i % 3:] + names[:i % 3]
    got = {}
    for name in names:
        with gs.scratch() as where:
            got[name] = run(where, name)
    rounds.append(got)
for part, what in enumerate(['whole program', 'training loop']):
    for arm in ARMS:
        line = f'{what}, {arm}: {spread([r[arm][part] for r in rounds])} s'
        if arm != 'without':
            line += f', ratio {spread([r[arm][part] / r["without"][part] for r in rounds])}'
        print(line)
print(f'{ROUNDS} rounds in turn, JPEG decoding on 2 workers, simulated GPU (a model)')
gs.finish()
