#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What only a real GPU can settle, in parts. Each part runs programs with and without gpustarve,
writes its answers into OUT/gpu-check.json and a table into OUT/gpu-check.md at once, so that a run
that is cut short keeps what it had. Called by scripts/gpu-check; standard library only."""
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
BUILD = os.environ.get('GPUSTARVE_BUILD', os.path.join(SOURCE, 'build'))
CLI = os.path.join(BUILD, 'bin', 'gpustarve')
LIBPROF = os.path.join(BUILD, 'lib', 'libprof.so')
WORK = os.path.join(SOURCE, 'tests', 'workloads')
TRAIN = os.path.join(WORK, 'torch_train.py')
BEGIN = float(os.environ.get('GPU_CHECK_BEGIN') or time.time())
SECONDS = float(os.environ.get('GPU_CHECK_SECONDS') or 540)
QUICK = bool(os.environ.get('GPU_CHECK_QUICK'))


class Report:
    def __init__(self, out):
        self.out, self.parts, self.machine = out, {}, machine()

    def put(self, part, question, answer, ok=None, **data):
        rows = self.parts.setdefault(part, [])
        rows.append(dict(question=question, answer=answer, ok=ok, data=data))
        print(f'[{time.time() - BEGIN:.0f} s] {part}: {"" if ok is None else "ok " if ok else "LOOK "}'
              f'{question}: {answer}', flush=True)
        self.write()

    def write(self):
        with open(os.path.join(self.out, 'gpu-check.json'), 'w') as f:
            json.dump(dict(machine=self.machine, parts=self.parts), f, indent=1)
        with open(os.path.join(self.out, 'gpu-check.md'), 'w') as f:
            f.write('# What a real GPU says\n\n')
            for k, v in self.machine.items():
                f.write(f'- {k}: {v}\n')
            for part, rows in self.parts.items():
                f.write(f'\n## {part}\n\n| question | answer | |\n|---|---|---|\n')
                for r in rows:
                    mark = {None: '', True: 'ok', False: '**LOOK**'}[r['ok']]
                    f.write(f'| {r["question"]} | {r["answer"]} | {mark} |\n')


def text(*argv):
    try:
        return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=60).stdout.decode().strip()
    except (OSError, subprocess.TimeoutExpired):
        return ''


def machine():
    torch = text(sys.executable, '-c', 'import torch; print(torch.__version__)')
    return dict(gpu=text('nvidia-smi', '--query-gpu=name,driver_version,memory.total',
                         '--format=csv,noheader') or 'none',
                kernel=os.uname().release, cpus=os.cpu_count(), python=sys.version.split()[0],
                torch=torch or 'none', date=time.strftime('%Y-%m-%d'))


def left():
    return SECONDS - (time.time() - BEGIN)


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(('GPUSTARVE_', 'LD_PRELOAD'))}
    env.update({k: str(v) for k, v in more.items()})
    return env


def run(argv, timeout=120, cwd=None, **env):
    """(exit status or 'timeout', stdout, stderr, seconds)"""
    t = time.time()
    p = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=environment(**env), cwd=cwd, start_new_session=True)
    try:
        o, e = p.communicate(timeout=max(5, min(timeout, left())))
        rc = p.returncode
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, 9)
        o, e = p.communicate()
        rc = 'timeout'
    return rc, o.decode(errors='replace'), e.decode(errors='replace'), time.time() - t


def traced(name, argv, out, options=(), timeout=120, **env):
    """Runs argv under gpustarve; returns (rc, stdout, stderr, run directory, summary or None)."""
    base = os.path.join(out, 'runs', name)
    rc, o, e, _ = run([CLI, 'run', '-o', base, *options, '--', *argv], timeout, **env)
    found = sorted(glob.glob(base + '/*.gst'))
    summary = None
    if found:
        try:
            with open(os.path.join(found[-1], 'summary.json')) as f:
                summary = json.load(f)
        except (OSError, ValueError):
            pass
    return rc, o, e, found[-1] if found else None, summary


def verdict_of(summary, err):
    if not summary:
        return 'no summary: ' + ' / '.join(err.strip().splitlines()[-3:])[:400]
    led = summary['ledger']
    top = sorted(((v['ns'], k) for k, v in led['classes'].items()), reverse=True)[:5]
    shares = ', '.join(f'{k} {100 * ns / max(1, led["gpu_ns"]):.1f} %' for ns, k in top)
    q = summary['quality']
    return (f'{summary["verdict"]} ({summary["severity"]}), {shares}; ops '
            f'{sum(g["ops"] for g in summary["gpus"])}, without launch '
            f'{sum(g["ops_without_launch"] for g in summary["gpus"])}, dropped {q["dropped"]}, '
            f'invalid {q["invalid"]}')


# ---- parts ------------------------------------------------------------------------------------

def part_names(r, out):
    rc, o, e, _ = run([CLI, 'doctor'], 60)
    r.put('names', 'doctor', ' / '.join(o.splitlines())[:1800], rc == 0)
    rc, o, e, _ = run([CLI, 'prices', 'show', r.machine['gpu'].split(',')[0]], 30)
    r.put('names', 'price of this GPU', ' / '.join((o + e).splitlines())[:400], rc == 0)


def part_works(r, out):
    loops = [('cnn jpeg, 4 workers', ['--model', 'cnn', '--data', 'jpeg', '--steps', 40]),
             ('transformer eager', ['--model', 'transformer', '--steps', 40]),
             ('transformer as a CUDA graph', ['--model', 'transformer', '--graph', '--steps', 40]),
             ('ddp, one rank', ['--model', 'cnn', '--ddp', '--steps', 20])]
    if not QUICK:
        loops.append(('transformer compiled', ['--model', 'transformer', '--compile', '--steps', 30]))
    for name, args in loops:
        if left() < 60:
            r.put('works', name, 'skipped: out of time')
            continue
        tag = re.sub(r'\W+', '-', name)
        rc, o, e, d, s = traced(tag, [sys.executable, TRAIN, *args], out)
        ops = sum(g['ops'] for g in s['gpus']) if s else None
        seen = None
        path = os.path.join(out, tag + '.profile')
        if '--graph' not in args and '--compile' not in args:
            rc2, _, e2, _ = run([sys.executable, TRAIN, *args, '--profile', path], 120)
            if rc2 == 0:
                with open(path) as f:
                    seen = json.load(f)
        same = None if not seen or ops is None else ops == sum(seen.values())
        if seen and ops and not same:   # torch.profiler begins after the first kernels of set-up
            same = 0 <= ops - sum(seen.values()) <= 0.02 * ops
        r.put('works', name, f'rc {rc}; {verdict_of(s, e)}; torch.profiler in a run of its own: '
              f'{seen}', rc == 0 and s is not None and same is not False, run=d)
    for name, code in (('cupy', 'import cupy\nx=cupy.ones((2048,2048),dtype="f4")\n'
                        'for i in range(200): x=x@x*0+1\ncupy.cuda.Device().synchronize()'),
                       ('jax', 'import jax,jax.numpy as jnp\nf=jax.jit(lambda x:x@x*0+1)\n'
                        'x=jnp.ones((2048,2048))\nfor i in range(200): x=f(x)\nx.block_until_ready()'),
                       ('triton', open(os.path.join(SOURCE, 'tests/gpu/triton_add.py')).read())):
        if left() < 45:
            r.put('works', name, 'skipped: out of time')
            continue
        script = os.path.join(out, name + '_loop.py')
        with open(script, 'w') as f:
            f.write(code)
        rc, o, e, d, s = traced(name, [sys.executable, script], out,
                                XLA_PYTHON_CLIENT_PREALLOCATE='false')
        r.put('works', name, f'rc {rc}; {verdict_of(s, e)}; {e.strip()[-200:] if rc else ""}',
              rc == 0 and s is not None)


def part_loader(r, out):
    """A loader that starves the GPU by a known time: the script's own clock against the ledger."""
    for name, args in (('4 workers, slow samples', ['--data', 'jpeg', '--workers', 4, '--batch', 32,
                                                    '--sample-ms', 8, '--steps', 60]),
                       ('0 workers, JPEG decoding', ['--data', 'jpeg', '--workers', 0, '--batch', 32,
                                                     '--pixels', 256, '--steps', 40])):
        times = os.path.join(out, 'loader.steps')
        rc, o, e, d, s = traced('loader-' + name[0], [sys.executable, TRAIN, '--model', 'cnn', *args,
                                                     '--step-times', times], out)
        if not s:
            r.put('loader', name, f'rc {rc}; {verdict_of(s, e)}', False)
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


def part_injection(r, out):
    rc, o, e, d, s = traced('inside', [sys.executable, TRAIN, '--model', 'transformer', '--steps', 60,
                                       '--profile-inside', 10], out)
    inside = [line for line in o.splitlines() if line.startswith('inside')]
    rc2, o2, _, _ = run([sys.executable, TRAIN, '--model', 'transformer', '--steps', 60,
                         '--profile-inside', 10], 120)
    alone = [line for line in o2.splitlines() if line.startswith('inside')]
    r.put('injection', 'torch.profiler inside our run',
          f'rc {rc}; torch saw {inside} (alone: {alone}); {verdict_of(s, e)}; notes '
          f'{s["quality"]["notes"] if s else None}', rc == 0 and inside == alone)
    code = ('import os,torch\nx=torch.ones(1000,device="cuda")\nfor i in range(100): x=x+1\n'
            'torch.cuda.synchronize()\npid=os.fork()\nif pid==0: os._exit(7)\n'
            'print(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1]))\nfor i in range(100): x=x+1\n'
            'print(float(x[0]))')
    rc, o, e, d, s = traced('fork', [sys.executable, '-c', code], out)
    r.put('injection', 'fork after cuInit', f'rc {rc}, printed {o.split()}; {verdict_of(s, e)}',
          rc == 0 and o.split() == ['7', '201.0'])
    nvcc = shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'
    exe = os.path.join(out, 'loop')
    if run([nvcc, '-O2', '-o', exe, os.path.join(SOURCE, 'tests/gpu/loop.cu')], 90)[0] == 0:
        rc, o, e, d, s = traced('static', [exe, 'count', '2000'], out)
        ops = sum(g['ops'] for g in s['gpus']) if s else None
        r.put('injection', 'nvcc program, static cudart, 2000 kernels and 20 copies',
              f'rc {rc}; ops {ops}; {verdict_of(s, e)}', rc == 0 and ops == 2020)
        san = shutil.which('compute-sanitizer')
        if san and left() > 60:
            rc, o, e, _ = run([san, '--error-exitcode', '9', exe, 'count', '50'], 60,
                              LD_PRELOAD=LIBPROF, GPUSTARVE_OUT=os.path.join(out, 'runs', 'sanitizer'))
            r.put('injection', 'compute-sanitizer outside', f'rc {rc}; {o.strip()[-160:]}', rc == 0)
        ncu = shutil.which('ncu')
        if ncu and left() > 60:
            rc, o, e, _ = run([ncu, '--clock-control', 'none', '-c', '1', exe, 'count', '50'], 60,
                              LD_PRELOAD=LIBPROF, GPUSTARVE_OUT=os.path.join(out, 'runs', 'ncu'))
            r.put('injection', 'ncu outside', f'rc {rc}; {(e or o).strip()[-200:]}', rc == 0)


def steps_of(path):
    with open(path) as f:
        rows = [tuple(map(int, line.split())) for line in f]
    return [e - b for b, _, e in rows[len(rows) // 5:]]


def overhead_pairs(r, name, argv, out, pairs, modes):
    """Interleaved: each round runs off and every mode in a changing order; ratios within rounds."""
    ratios, cpu = {m: [] for m in modes}, {m: [] for m in modes}
    p95, base = {m: [] for m in modes}, []
    for i in range(pairs):
        if left() < 40:
            break
        order = ['off'] + list(modes)
        order = order if i % 2 == 0 else order[::-1]
        got = {}
        for m in order:
            times = os.path.join(out, 'steps.txt')
            if m in ('off', 'off2'):
                rc, o, e, _ = run([*argv, '--step-times', times], 90)
            else:
                rc, o, e, _ = run([CLI, 'run', '-o', os.path.join(out, 'runs', 'overhead'),
                                   '--no-report', '--quiet', '--level', m[1], '--max-overhead',
                                   '1' if m.endswith('g') else '100', '--', *argv, '--step-times',
                                   times], 90)
            if rc == 0:
                got[m] = steps_of(times)
        if 'off' not in got:
            continue
        base.append(statistics.median(got['off']))
        for m in modes:
            if m in got:
                ratios[m].append(statistics.median(got[m]) / statistics.median(got['off']) - 1)
                q = lambda v: sorted(v)[int(0.95 * len(v))]
                p95[m].append(q(got[m]) / q(got['off']) - 1)
    pct = lambda v: 'none' if not v else \
        f'{100 * statistics.median(v):+.2f} % [{100 * min(v):+.2f}..{100 * max(v):+.2f}]'
    if base:
        r.put('overhead', name, f'{len(base)} rounds, off {statistics.median(base) / 1e6:.3f} ms/step; '
              + '; '.join(f'{m} median {pct(ratios[m])}, p95 {pct(p95[m])}' for m in modes),
              ratios=ratios, p95=p95, base_ns=base)


def part_overhead(r, out):
    pairs = 4 if QUICK else 10
    nvcc = shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'
    exe = os.path.join(out, 'loop')
    if not os.path.exists(exe):
        run([nvcc, '-O2', '-o', exe, os.path.join(SOURCE, 'tests/gpu/loop.cu')], 90)
    for name, us, n, steps in (('500 us kernels', 500, 20, 100), ('50 us kernels', 50, 100, 150),
                               ('10 us kernels', 10, 300, 200), ('empty kernels', 0, 1000, 200)):
        overhead_pairs(r, name, [exe, 'steps', us, n, steps], out, pairs,
                       ('off2', 'L0', 'L1', 'L1g'))
    for name, args in (('cnn, wide, GPU-bound', ['--model', 'cnn', '--width', 512, '--batch', 128,
                                                 '--steps', 40]),
                       ('transformer eager, launch-bound', ['--model', 'transformer', '--steps', 80])):
        if left() > 60:
            overhead_pairs(r, name, [sys.executable, TRAIN, *map(str, args)], out,
                           2 if QUICK else 4, ('off2', 'L1', 'L1g'))


PARTS = dict(names=part_names, works=part_works, loader=part_loader, injection=part_injection,
             overhead=part_overhead)


def main():
    out, wanted = sys.argv[1], sys.argv[2:] or list(PARTS)
    r = Report(out)
    for name in wanted:
        if left() < 30:
            r.put(name, 'all', 'skipped: out of time')
            continue
        try:
            PARTS[name](r, out)
        except Exception as error:  # a part that breaks leaves the others their time
            r.put(name, 'the part itself', f'broke: {error!r}', False)
    r.write()


if __name__ == '__main__':
    main()
