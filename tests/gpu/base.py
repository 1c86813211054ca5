# SPDX-License-Identifier: Apache-2.0
"""What all parts of the GPU check share: where things are, how much time is left, running programs
with and without gpustarve, and the report, which is rewritten after every answer so that a run that
is cut short keeps what it had. Standard library only."""
import glob
import json
import os
import subprocess
import sys
import time

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
BUILD = os.environ.get('GPUSTARVE_BUILD', os.path.join(SOURCE, 'build'))
CLI = os.path.join(BUILD, 'bin', 'gpustarve')
LIBPROF = os.path.join(BUILD, 'lib', 'libprof.so')
HERE = os.path.join(SOURCE, 'tests', 'gpu')
WORK = os.path.join(SOURCE, 'tests', 'workloads')
TRAIN = os.path.join(WORK, 'torch_train.py')
BEGIN = float(os.environ.get('GPU_CHECK_BEGIN') or time.time())
SECONDS = float(os.environ.get('GPU_CHECK_SECONDS') or 540)
# The simulated GPU, on which everything is dry-run that it can carry; with-gpusim sets this.
SIMULATED = 'GPUSIM_SHM' in os.environ
QUICK = bool(os.environ.get('GPU_CHECK_QUICK'))

class Report:
    def __init__(self, out):
        os.makedirs(out, exist_ok=True)
        self.out, self.parts, self.machine = out, {}, machine()

    def put(self, part, question, answer, ok=None, **data):
        rows = self.parts.setdefault(part, [])
        rows.append(dict(question=question, answer=answer, ok=ok, data=data))
        print(f'[{time.time() - BEGIN:.0f} s] {part}: {"" if ok is None else "ok " if ok else "LOOK "}'
              f'{question}: {answer}', flush=True)
        self.write()

    def skip(self, part, question, why):
        """What cannot be answered here, which is neither right nor wrong."""
        self.put(part, question, 'not asked: ' + why)

    def write(self):
        with open(os.path.join(self.out, 'gpu-check.json'), 'w') as f:
            json.dump(dict(machine=self.machine, parts=self.parts), f, indent=1)
        with open(os.path.join(self.out, 'gpu-check.md'), 'w') as f:
            f.write('# What %s says\n\n' % ('the simulated GPU, a model,' if SIMULATED else 'a real GPU'))
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


deadline = BEGIN + SECONDS


def part_ends_in(seconds):
    """The part that begins now may take so long, and never longer than the whole."""
    global deadline
    deadline = min(BEGIN + SECONDS, time.time() + seconds)


def left():
    """Seconds until the part that runs must end."""
    return deadline - time.time()


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
