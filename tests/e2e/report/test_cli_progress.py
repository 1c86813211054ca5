#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Whatever takes over two seconds on a terminal says how far it is, in one line that is gone at
the end: report, a comparison, verify, export, import. Under a clock that runs fast, every run takes
long enough. Nothing of it in a pipe or with --quiet."""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny
from terminal import Terminal

CLOCK = os.path.join(gs.plain(gs.BUILD), 'tests', 'libfastclock.so')
FAST = {'LD_PRELOAD': CLOCK, 'ASAN_OPTIONS': 'verify_asan_link_order=0:' + os.environ.get('ASAN_OPTIONS', '')}
LINE = re.compile(r'\r(\w+) ([^\r\x1b]*): (?:(\d+) %, )?([\d.,]+ [a-zA-Z]+)/s\x1b\[K')

with gs.scratch() as where:
    os.chdir(where)
    with open('big.json', 'w') as f:
        json.dump(tiny.kineto(steps=8000), f)
    run = tiny.imported(where, steps=2000)
    with open(os.path.join(run, 'summary.json'), 'wb') as f:
        f.write(gs.gpustarve('report', run, '--format', 'json').stdout)
    for verbs, argv in ((['analysing'], ['report', run]), (['analysing'], ['report', run, run, '-o', 'c.txt']),
                        (['analysing'], ['verify', run]),
                        (['analysing', 'exporting'], ['export', run, '--format', 'perfetto', '-o', 'x']),
                        (['importing'], ['import', 'big.json', '-o', 'big'])):
        what = ' '.join(argv[:1] + argv[2:])
        t = Terminal([gs.CLI, *argv], 24, 60, gs.environment(TERM='xterm', **FAST))
        gs.equal(t.finish(), 0, f'{what}: {t.raw[-300:]}')
        drawn = LINE.findall(t.raw)
        gs.equal(sorted({d[0] for d in drawn}), verbs, f'{what}: lines {t.raw[:300]!r}')
        for verb, name, percent, rate in drawn:
            gs.check(name in ('tiny.gst', 'big.json') and (percent == '' or int(percent) <= 100), f'{what}: {name} {percent}')
        gs.check(any(d[2] for d in drawn), f'{what}: says how far')
        last = t.raw.rindex('\x1b[K')
        gs.equal(t.raw[last - 1:last], '\r', f'{what}: the last thing about it takes it away')
        gs.check(not [l for l in t.screen.all() if re.match('analysing|exporting|importing', l)],
                 f'{what}: nothing stays')
        shutil.rmtree('big.gst', ignore_errors=True)
        piped = gs.gpustarve(*argv, env=gs.environment(TERM='xterm', **FAST))
        gs.check(piped.returncode == 0 and b'\r' not in piped.stderr and b'ing tiny' not in piped.stderr,
                 f'{what}: nothing in a pipe: {piped.stderr!r}')
        if argv[0] in ('verify', 'export', 'import'):
            shutil.rmtree('big.gst', ignore_errors=True)
            t = Terminal([gs.CLI, *argv, '--quiet'], 24, 60, gs.environment(TERM='xterm', **FAST))
            gs.equal((t.finish(), t.raw), (0, ''), f'{what}: --quiet')
gs.finish()
