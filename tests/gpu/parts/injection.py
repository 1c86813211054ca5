# SPDX-License-Identifier: Apache-2.0
"""How libprof gets into programs, and what it does beside other tools."""
import os
import shutil
import sys

import base

SECONDS = 140


def part(r, out):
    rc, o, e, d, s = base.traced('inside', [sys.executable, base.TRAIN, '--model', 'transformer', '--steps', 60,
                                       '--profile-inside', 10], out)
    inside = [line for line in o.splitlines() if line.startswith('inside')]
    rc2, o2, _, _ = base.run([sys.executable, base.TRAIN, '--model', 'transformer', '--steps', 60,
                         '--profile-inside', 10], 120)
    alone = [line for line in o2.splitlines() if line.startswith('inside')]
    r.put('injection', 'torch.profiler inside our run',
          f'rc {rc}; torch saw {inside} (alone: {alone}); {base.verdict_of(s, e)}; notes '
          f'{s["quality"]["notes"] if s else None}', rc == 0 and inside == alone)
    code = ('import os,torch\nx=torch.ones(1000,device="cuda")\nfor i in range(100): x=x+1\n'
            'torch.cuda.synchronize()\npid=os.fork()\nif pid==0: os._exit(7)\n'
            'print(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1]))\nfor i in range(100): x=x+1\n'
            'print(float(x[0]))')
    rc, o, e, d, s = base.traced('fork', [sys.executable, '-c', code], out)
    r.put('injection', 'fork after cuInit', f'rc {rc}, printed {o.split()}; {base.verdict_of(s, e)}',
          rc == 0 and o.split() == ['7', '201.0'])
    nvcc = shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'
    exe = os.path.join(out, 'loop')
    if base.run([nvcc, '-O2', '-o', exe, os.path.join(base.SOURCE, 'tests/gpu/loop.cu')], 90)[0] == 0:
        rc, o, e, d, s = base.traced('static', [exe, 'count', '2000'], out)
        ops = sum(g['ops'] for g in s['gpus']) if s else None
        r.put('injection', 'nvcc program, static cudart, 2000 kernels and 20 copies',
              f'rc {rc}; ops {ops}; {base.verdict_of(s, e)}', rc == 0 and ops == 2020)
        san = shutil.which('compute-sanitizer')
        if san and base.left() > 60:
            rc, o, e, _ = base.run([san, '--error-exitcode', '9', exe, 'count', '50'], 60,
                              LD_PRELOAD=base.LIBPROF, GPUSTARVE_OUT=os.path.join(out, 'runs', 'sanitizer'))
            r.put('injection', 'compute-sanitizer outside', f'rc {rc}; {o.strip()[-160:]}', rc == 0)
        ncu = shutil.which('ncu')
        if ncu and base.left() > 60:
            rc, o, e, _ = base.run([ncu, '--clock-control', 'none', '-c', '1', exe, 'count', '50'], 60,
                              LD_PRELOAD=base.LIBPROF, GPUSTARVE_OUT=os.path.join(out, 'runs', 'ncu'))
            r.put('injection', 'ncu outside', f'rc {rc}; {(e or o).strip()[-200:]}', rc == 0)
