# SPDX-License-Identifier: Apache-2.0
"""A loader that starves the GPU by a known time: the script's own clock against the ledger."""
import os
import sys

import base

SECONDS = 60


def part(r, out):
    for name, args in (('4 workers, slow samples', ['--data', 'jpeg', '--workers', 4, '--batch', 32,
                                                    '--sample-ms', 8, '--steps', 60]),
                       ('0 workers, JPEG decoding', ['--data', 'jpeg', '--workers', 0, '--batch', 32,
                                                     '--pixels', 256, '--steps', 40])):
        times = os.path.join(out, 'loader.steps')
        rc, o, e, d, s = base.traced('loader-' + name[0], [sys.executable, base.TRAIN, '--model', 'cnn', *args,
                                                     '--step-times', times], out)
        if not s:
            r.put('loader', name, f'rc {rc}; {base.verdict_of(s, e)}', False)
            continue
        with open(times) as f:
            rows = [tuple(map(int, line.split())) for line in f]
        waits = sum(g - b for b, g, _ in rows)
        gpu = s['gpus'][0]
        got = gpu['loader_wait_ns']
        inp = sum(v['ns'] for k, v in s['ledger']['classes'].items() if k.startswith('input.'))
        r.put('loader', name, f'the script waited {waits / 1e9:.3f} s, recorded loader waits '
              f'{got / 1e9:.3f} s, of which exposed {gpu["loader_exposed_ns"] / 1e9:.3f} s, input.* '
              f'{inp / 1e9:.3f} s of {gpu["held_ns"] / 1e9:.3f} s held; {s["verdict"]}',
              abs(got - waits) <= 0.02 * waits + 5e6)
