# SPDX-License-Identifier: Apache-2.0
"""What tracing costs, as ratios of step times of runs in turn."""
import os
import shutil
import statistics
import sys

import base

SECONDS = 300


def steps_of(path):
    with open(path) as f:
        rows = [tuple(map(int, line.split())) for line in f]
    return [e - b for b, _, e in rows[len(rows) // 5:]]


def overhead_pairs(r, name, argv, out, pairs, modes):
    """Interleaved: each round runs off and every mode in a changing order; ratios within rounds."""
    ratios, cpu = {m: [] for m in modes}, {m: [] for m in modes}
    p95, alone = {m: [] for m in modes}, []
    for i in range(pairs):
        if base.left() < 40:
            break
        order = ['off'] + list(modes)
        order = order if i % 2 == 0 else order[::-1]
        got = {}
        for m in order:
            times = os.path.join(out, 'steps.txt')
            if m in ('off', 'off2'):
                rc, o, e, _ = base.run([*argv, '--step-times', times], 90)
            else:
                rc, o, e, _ = base.run([base.CLI, 'run', '-o', os.path.join(out, 'runs', 'overhead'),
                                   '--no-report', '--quiet', '--level', m[1], '--max-overhead',
                                   '1' if m.endswith('g') else '100', '--', *argv, '--step-times',
                                   times], 90)
            if rc == 0:
                got[m] = steps_of(times)
        if 'off' not in got:
            continue
        alone.append(statistics.median(got['off']))
        for m in modes:
            if m in got:
                ratios[m].append(statistics.median(got[m]) / statistics.median(got['off']) - 1)
                q = lambda v: sorted(v)[int(0.95 * len(v))]
                p95[m].append(q(got[m]) / q(got['off']) - 1)
    pct = lambda v: 'none' if not v else \
        f'{100 * statistics.median(v):+.2f} % [{100 * min(v):+.2f}..{100 * max(v):+.2f}]'
    if alone:
        r.put('overhead', name, f'{len(alone)} rounds, off {statistics.median(alone) / 1e6:.3f} ms/step; '
              + '; '.join(f'{m} median {pct(ratios[m])}, p95 {pct(p95[m])}' for m in modes),
              ratios=ratios, p95=p95, base_ns=alone)


def part(r, out):
    pairs = 4 if base.QUICK else 10
    nvcc = shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'
    exe = os.path.join(out, 'loop')
    if not os.path.exists(exe):
        base.run([nvcc, '-O2', '-o', exe, os.path.join(base.SOURCE, 'tests/gpu/loop.cu')], 90)
    for name, us, n, steps in (('500 us kernels', 500, 20, 100), ('50 us kernels', 50, 100, 150),
                               ('10 us kernels', 10, 300, 200), ('empty kernels', 0, 1000, 200)):
        overhead_pairs(r, name, [exe, 'steps', us, n, steps], out, pairs,
                       ('off2', 'L0', 'L1', 'L1g'))
    for name, args in (('cnn, wide, GPU-bound', ['--model', 'cnn', '--width', 512, '--batch', 128,
                                                 '--steps', 40]),
                       ('transformer eager, launch-bound', ['--model', 'transformer', '--steps', 80])):
        if base.left() > 60:
            overhead_pairs(r, name, [sys.executable, base.TRAIN, *map(str, args)], out,
                           2 if base.QUICK else 4, ('off2', 'L1', 'L1g'))
