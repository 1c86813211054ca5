# SPDX-License-Identifier: Apache-2.0
"""Are the causes right? The planted-fault matrix (tests/matrix), the same cases with the same
parameters as on the simulated GPU, and what torch itself can plant. Cases start side by side and use
the GPU in turn; the most telling ones come first, and how many were played is said. With
GPU_CHECK_ALL all of them are, which takes a call of its own."""
import json
import os
import re
import sys

import base

ALL = bool(os.environ.get('GPU_CHECK_ALL'))
SECONDS = 500 if ALL else 150
TORCH_SECONDS = 60  # of them, for what torch plants
CASE_SECONDS = 10 if base.SIMULATED else 25  # what the last cases may take
MATRIX = os.path.join(base.SOURCE, 'tests', 'matrix')
COMPILED = os.path.join(base.HERE, 'compiled.py')
ORDER = ('sleep,spin,shared_device,tiny_kernels,uncached,lazy_modules,backlog,slow_file,jpeg,server,'
         'quota,loop_save,epochs,loop_jpeg,loop_collect,dependency,graph,staged_copies,loop_alloc,'
         'loop_modules,loop_syncs,slow_one,pin,unpack,one_core,loop_eval,loop_hog,loop_python')
NAMED = (('tiny_kernels', 'G11: 2,000 tiny kernels a step, and one graph of them'),
         ('uncached', 'G12: memory from the driver for each kernel'),
         ('lazy_modules', 'G15: modules loaded in the loop, and before it'),
         ('shared_device', 'G18: a second process on the GPU'))


def share(a, b):
    return f'{100 * a / b:.1f} %' if b else 'nothing planted'


def verdict(ok):
    """The simulator's machine may be too busy for what is asked: a miss there is none."""
    return True if ok else None if base.SIMULATED else False


# ---- the matrix ----

def arguments(out):
    if base.SIMULATED:
        return ['--device', 'simulated', *(['--case', 'sleep.0'] if base.QUICK else [])]
    return ['--device', 'real', '--all', '--jobs', 4, '--order', ORDER, '--also', 'ledger',
            '--keep', os.path.join(out, 'planted')]


def judged(rows):
    """Sums over the cases that were played, and which of them are below the bar or have a note."""
    done = [r for r in rows if not r['skipped']]
    lined = [r for r in done if r['line'] is not None]
    planted = sum(r['planted_ns'] for r in done)
    right = sum(r['right_ns'] for r in done)
    unknown = sum(r['unknown_ns'] for r in done if r['planted_ns'])
    bad = [r for r in done if r['notes'] or r['causes'] or r['right_ns'] < 0.95 * r['planted_ns']]
    return dict(done=len(done), kinds=len({r['kind'] for r in done}), planted=planted, right=right,
                unknown=unknown, lined=len(lined), lines=sum(bool(r['line']) for r in lined), bad=bad,
                charged=sum(r['charged_ns'] or 0 for r in done),
                hidden=sum(r['charged_ns'] is not None for r in done))


def other_sources(rows):
    """{source: (cases, most idle time apart, most right time apart)}, in parts of the idle time."""
    out = {}
    for r in rows:
        first = next((v['truth_idle_ns'] for v in r['also'].values() if 'right_ns' not in v), 0)
        for source, v in r['also'].items():
            if 'right_ns' in v and first:
                n, idle, right = out.get(source, (0, 0, 0))
                out[source] = (n + 1, max(idle, abs(v['truth_idle_ns'] - first) / first),
                               max(right, abs(v['right_ns'] - r['right_ns']) / first))
    return out


def why_skipped(rows):
    """One line per reason."""
    by = {}
    for r in rows:
        if r['skipped']:
            by.setdefault(r['skipped'], []).append(r['case'])
    return [f'{why}: {", ".join(names)}' for why, names in sorted(by.items())]


def tell_case(r, row, question, must=True):
    said = '; '.join([*row['notes'], *row['causes']])
    if row['skipped']:
        r.skip('planted', question, row['skipped'])
        return
    ok = not (row['notes'] or row['causes']) and row['right_ns'] >= 0.95 * row['planted_ns']
    r.put('planted', question, f'{share(row["right_ns"], row["planted_ns"])} of '
          f'{row["planted_ns"] / 1e9:.2f} s right; {row["where"]} {said}'.strip(' ;'),
          verdict(ok) if must else None, goal='95 %', row=row)


def tell(r, rows, said):
    j = judged(rows)
    good = j['planted'] and j['right'] >= 0.95 * j['planted'] and j['unknown'] <= 0.02 * j['planted']
    r.put('planted', 'planted idle time in the right class',
          f'{share(j["right"], j["planted"])} of {j["planted"] / 1e9:.1f} s, unknown '
          f'{share(j["unknown"], j["planted"])}; {j["done"]} cases of {j["kinds"]} kinds played',
          verdict(good), goal='95 %, unknown at most 2 %', rows=rows, said=said)
    lines = j['lines'] >= 0.95 * j['lined']
    r.put('planted', 'first finding at the planted line', f'{j["lines"]} of {j["lined"]}',
          verdict(lines), goal='95 %')
    if j['hidden']:
        r.put('planted', 'charged to a loader that is hidden behind queued work',
              f'{j["charged"]} ns in {j["hidden"]} cases', verdict(j['charged'] == 0), goal='0')
    by_name = {row['case']: row for row in rows}
    for name, question in NAMED:
        if name in by_name:
            tell_case(r, by_name[name], question)
        else:
            r.skip('planted', question, 'not among the cases of the short run')
    for row in j['bad'][:15]:
        if row['case'] not in dict(NAMED):
            tell_case(r, row, f'case {row["case"]}', must=False)
    for source, (n, idle, right) in other_sources(rows).items():
        r.put('planted', f'the same judged by the {source}', f'{n} cases: idle time at most '
              f'{100 * idle:.2f} % apart, time in the right class at most {100 * right:.2f} %',
              verdict(right <= 0.02))
    for line in why_skipped(rows):
        r.skip('planted', 'cases not played', line)


def matrix(r, out):
    path = os.path.join(out, 'planted.json')
    seconds = base.left() - CASE_SECONDS - (0 if base.SIMULATED else TORCH_SECONDS)
    if seconds < 20:
        r.skip('planted', 'the matrix', 'out of time')
        return
    rc, o, e, took = base.run([sys.executable, MATRIX, *arguments(out), '--once', '--seconds', int(seconds), '--json',
                               path], seconds + CASE_SECONDS, GPUSTARVE_BUILD=base.BUILD,
                              **({} if base.SIMULATED else dict(GPUSTARVE_PYTHON=sys.executable)))
    try:
        with open(path) as f:
            rows = json.load(f)
    except (OSError, ValueError):
        r.put('planted', 'the matrix', f'rc {rc}, {took:.0f} s; {(o + e)[-600:]}', verdict(False))
        return
    tell(r, rows, o[-20000:])


# ---- what torch plants ----

def idle_of(s):
    return max(1, sum(g['idle_ns'] for g in s['gpus']))


def class_of(s, name):
    return s['ledger']['classes'].get(name, {}).get('ns', 0)


def train(name, out, seconds, *more, **env):
    argv = [sys.executable, base.TRAIN, '--model', 'cnn', '--width', 64, '--steps', 60, *more]
    rc, o, e, d, s = base.traced(name, argv, out, timeout=seconds, **env)
    return s if rc == 0 else None, f'rc {rc}; {base.verdict_of(s, e)}'


def no_caching(r, out):
    s, said = train('planted-alloc', out, 40, PYTORCH_NO_CUDA_MEMORY_CACHING=1)
    if not s:
        r.put('planted', 'G12: torch without its caching allocator', said, False)
        return
    got, idle = class_of(s, 'host.alloc'), idle_of(s)
    settled = max(1, idle - class_of(s, 'host.warmup'))
    r.put('planted', 'G12: torch without its caching allocator', f'host.alloc {share(got, idle)} of the '
          f'idle time, {share(got, settled)} of it without host.warmup; {said}',
          got >= 0.98 * settled, goal='98 %')


def module_loading(r, out):
    seen = {}
    for mode in ('LAZY', 'EAGER'):
        if base.left() < 25:
            r.skip('planted', 'G15: CUDA_MODULE_LOADING', f'out of time before {mode}')
            return
        seen[mode], said = train('planted-' + mode.lower(), out, 60, CUDA_MODULE_LOADING=mode)
        if not seen[mode]:
            r.put('planted', 'G15: CUDA_MODULE_LOADING', f'{mode}: {said}', False)
            return
    lazy, eager = ({c: class_of(s, c) for c in ('host.warmup', 'excluded.startup')}
                   for s in (seen['LAZY'], seen['EAGER']))
    less = lazy['host.warmup'] - eager['host.warmup']
    more = eager['excluded.startup'] - lazy['excluded.startup']
    r.put('planted', 'G15: CUDA_MODULE_LOADING=EAGER instead of LAZY',
          f'host.warmup {lazy["host.warmup"] / 1e6:.0f} -> {eager["host.warmup"] / 1e6:.0f} ms, start-up '
          f'{lazy["excluded.startup"] / 1e6:.0f} -> {eager["excluded.startup"] / 1e6:.0f} ms',
          less > 0 and more > 0, goal='the one falls, the other grows', lazy=lazy, eager=eager)


def first_call(text):
    """ns of the compiled function's first call, as the script printed it."""
    found = re.search(r'^first (\d+)$', text, re.M)
    return int(found[1]) if found else None


def compiling(r, out):
    rc, o, e, d, s = base.traced('planted-compile', [sys.executable, COMPILED], out, timeout=60)
    first = first_call(o)
    if rc or not s or not first:
        r.put('planted', "G15: torch.compile's first call", f'rc {rc}; {base.verdict_of(s, e)}', False)
        return
    got = class_of(s, 'host.warmup')
    r.put('planted', "G15: torch.compile's first call", f'{first / 1e9:.2f} s by its own clock, '
          f'host.warmup {got / 1e9:.2f} s = {share(got, first)} of it; '
          f'{base.verdict_of(s, e)}', 0.8 * first <= got <= 1.2 * first, goal='80 to 120 %')


def loaders_here():
    """Whether the Python that plays the cases can."""
    python = '/usr/bin/python3' if base.SIMULATED else sys.executable
    find = 'import importlib.util as u; print(all(map(u.find_spec, ("torch", "numpy"))))'
    return base.text(python, '-c', find) == 'True'


def part(r, out):
    if loaders_here():
        matrix(r, out)
    else:
        r.skip('planted', 'the matrix', 'the Python here lacks torch or numpy')
    for question, ask, seconds in (('G12: torch without its caching allocator', no_caching, 15),
                                   ('G15: CUDA_MODULE_LOADING', module_loading, 30),
                                   ("G15: torch.compile's first call", compiling, 25)):
        if base.SIMULATED:
            r.skip('planted', question, 'torch here has no CUDA')
        elif base.left() < seconds:
            r.skip('planted', question, 'out of time')
        else:
            try:
                ask(r, out)
            except Exception as error:  # one question that breaks leaves the others their time
                r.put('planted', question, f'broke: {error!r}', False)
