# SPDX-License-Identifier: Apache-2.0
"""What all parts of the GPU check share: where things are, how much time is left, running programs
with and without gpustarve, and the report. Standard library only."""
import glob
import json
import os
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))

from gs import LIBPROF, plain  # noqa: E402,F401
import torches  # noqa: E402

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
BUILD = os.environ.get('GPUSTARVE_BUILD', os.path.join(SOURCE, 'build'))
CLI = os.path.join(BUILD, 'bin', 'gpustarve')
HERE = os.path.join(SOURCE, 'tests', 'gpu')
WORK = os.path.join(SOURCE, 'tests', 'workloads')
TRAIN = os.path.join(WORK, 'torch_train.py')
BEGIN = float(os.environ.get('GPU_CHECK_BEGIN') or time.time())
SECONDS = float(os.environ.get('GPU_CHECK_SECONDS') or 540)
# The simulated GPU, on which everything is dry-run that it can carry; with-gpusim sets this.
SIMULATED = 'GPUSIM_SHM' in os.environ
QUICK = bool(os.environ.get('GPU_CHECK_QUICK'))
NOT_ASKED, THE_PART = 'not asked: ', 'the part itself'
LOG_BYTES = 16384


def python_of_torch():
    """The Python whose PyTorch works on the device: this one on a GPU. On the simulated one that of CUDA's
    wheel, where scripts/setup --campaigns put it, but not in short, for it takes minutes on two cores; else
    None."""
    if not SIMULATED:
        return sys.executable
    here = [] if QUICK else torches.found()
    whole = [torch for torch in here if torch.number == '3.11']  # that one's has Triton beside it
    return whole[-1].python if whole else None


TORCH = python_of_torch()
# check.py sets these: a file for say(), a folder for what programs print.
PROGRESS = LOGS = None


class Report:
    """The answers. Where a part has a process of its own they go through a pipe to the process that
    keeps the files."""

    def __init__(self, facts=None, to=None):
        self.machine, self.to, self.parts, self.lock = facts or {}, to, {}, threading.Lock()

    def put(self, part, question, answer, ok=None, **data):
        """ok: None where nothing is judged. goal='...' has a column of its own in the table."""
        row = dict(question=question, answer=answer, ok=ok, goal=data.pop('goal', ''), data=data)
        with self.lock:
            self.parts.setdefault(part, []).append(row)
            if self.to:
                self.to(part, row)

    def skip(self, part, question, why):
        """What cannot be answered here, which is neither right nor wrong."""
        self.put(part, question, NOT_ASKED + why)


def text(*argv, cwd=None, env=None):
    """What a program prints, '' where it is not there."""
    try:
        return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env,
                              stderr=subprocess.DEVNULL, timeout=30, cwd=cwd).stdout.decode(
                                  errors='replace').strip()
    except (OSError, subprocess.TimeoutExpired):
        return ''


deadline = BEGIN + SECONDS


def part_ends_in(seconds):
    """The part that begins now may take so long, and never longer than the whole."""
    global deadline
    deadline = min(BEGIN + SECONDS, time.time() + seconds)


def left():
    """Seconds until the part that runs must end."""
    return deadline - time.time()


def say(words):
    """A line in the file that tells afterwards where the time went, and where it stood still."""
    if PROGRESS:
        with open(PROGRESS, 'a') as f:
            f.write(f'[{time.time() - BEGIN:6.1f} s] {words}\n')


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(('GPUSTARVE_', 'LD_PRELOAD'))}
    env.update({k: str(v) for k, v in more.items()})
    return env


def short(argv):
    words = ' '.join(str(a).replace(SOURCE + '/', '').replace(BUILD + '/', '') for a in argv)
    return words.replace('\n', ' ')[:200]


def keep(number, argv, rc, seconds, o, e):
    """The last words of a program, for whoever wants to know afterwards."""
    if not LOGS:
        return
    os.makedirs(LOGS, exist_ok=True)
    with open(os.path.join(LOGS, f'{time.time() - BEGIN:06.1f}-{number}.log'), 'wb') as f:
        f.write(f'{short(argv)}\nstatus {rc}, {seconds:.3f} s\n---- stdout\n'.encode())
        f.write(o[-LOG_BYTES:] + b'\n---- stderr\n' + e[-LOG_BYTES:])


def run(argv, timeout=120, cwd=None, **env):
    """(exit status or 'timeout', stdout, stderr, seconds)"""
    t = time.time()
    say('    begin ' + short(argv))
    p = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=environment(**env), cwd=cwd,
                         start_new_session=True)
    try:
        o, e = p.communicate(timeout=max(5, min(timeout, left())))
        rc = p.returncode
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, 9)
        try:
            o, e = p.communicate(timeout=5)
        except subprocess.TimeoutExpired as error:  # a child of its own session holds the pipes
            o, e = error.stdout or b'', error.stderr or b''
        rc = 'timeout'
    seconds = time.time() - t
    say(f'    {rc}, {seconds:.1f} s: {short(argv)}')
    keep(p.pid, argv, rc, seconds, o, e)
    return rc, o.decode(errors='replace'), e.decode(errors='replace'), seconds


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
