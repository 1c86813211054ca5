# SPDX-License-Identifier: Apache-2.0
"""gpustarve in IPython and Jupyter:

    %load_ext gpustarve
    %gpustarve on [--price USD] [-o DIR]    record this kernel's GPUs from here on, and say a line under each cell
    %gpustarve off                          no more lines; recording goes on until the kernel ends
    %gpustarve report                       the diagnosis of the run so far
    %gpustarve where                        its run directory

A line tells for how long the cell held its GPUs, how much of that they were busy, how much they waited for torch's loader,
and what it cost. It is for a glance, and made of the trace's rows; why a GPU waited is the report's to say. Nothing of it raises
into a notebook, and cells of less than 0.1 s have no line.

A kernel that `gpustarve run` started is recorded already: there it adds the lines alone. Python 3.8 and later; needs nothing."""
import argparse
import ctypes
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import time

BRIEF_NS = 100_000_000  # a cell below that has no line
PATIENCE_S = 3  # for what a cell did to be in the trace
NOT_INITIALISED = 3  # CUDA's code


def _prefixes():
    """Where an installation may lie: around this file, around this Python (a wheel), around the program of PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.dirname(os.path.dirname(os.path.dirname(here)))  # share/gpustarve/ipython
    yield sys.prefix
    program = shutil.which('gpustarve')
    if program:
        yield os.path.dirname(os.path.dirname(os.path.realpath(program)))


def _find(*names):
    for prefix in _prefixes():
        for name in names:
            path = os.path.join(prefix, name)
            if os.path.exists(path):
                return path
    return None


def _libprof():
    arch = os.uname().machine + '-linux-gnu'
    return os.environ.get('GPUSTARVE_LIB') or _find('lib/gpustarve/libprof.so', f'lib/{arch}/gpustarve/libprof.so',
                                                    'lib64/gpustarve/libprof.so')


def _is_mapped(path):
    with open('/proc/self/maps', encoding='utf-8', errors='replace') as maps:
        name = os.path.basename(path)
        return any(line.rstrip().endswith('/' + name) for line in maps)


def _cuda_began():
    """Has this process initialised CUDA? Then the driver asks for nobody any more."""
    try:
        driver = ctypes.CDLL('libcuda.so.1', mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return driver.cuCtxGetCurrent(ctypes.byref(ctypes.c_void_p())) != NOT_INITIALISED


def _start_shim(folder):
    """As libprof/python/sitecustomize.py does, and for what was imported before."""
    own = {'__name__': 'sitecustomize', '__file__': folder + '/waiting.py'}
    with open(folder + '/waiting.py', 'rb') as file:
        exec(compile(file.read(), folder + '/waiting.py', 'exec', dont_inherit=True), own)
    waiting = own['_Waiting'](folder)
    for name in [name for name in waiting.files if name in sys.modules]:
        waiting.waited_for.discard(name)
        waiting.run(sys.modules[name])
    sys.meta_path.insert(0, waiting)


def _run_id():
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-notebook-{random.SystemRandom().getrandbits(24):06x}"


def _union(intervals):
    out = []
    for begin, end in sorted(intervals):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def _length(intervals):
    return sum(end - begin for begin, end in intervals)


def _without(a, b):
    """How much of a is not in b; both are unions."""
    return _length(_union(a + b)) - _length(b)


def _cents(usd):
    return f'${usd:.2f}' if usd >= 1 else f'{100 * usd:.3g} ¢'


class Recorder:
    """What is recorded of this kernel, and where."""

    def __init__(self):
        self.run = self.begun = self.usd = None
        self.price = os.environ.get('GPUSTARVE_USD_PER_GPU_HOUR')
        self.gpus = {}  # ordinal -> its first operation
        self.looked = 0  # up to when the trace was looked at

    def program(self, *args, timeout=60):
        path = os.environ.get('GPUSTARVE_PROGRAM') or _find('bin/gpustarve')
        if not path:
            raise RuntimeError('the program gpustarve is not found; add its folder to PATH')
        env = {k: v for k, v in os.environ.items() if k not in ('LD_PRELOAD', 'CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH')}
        done = subprocess.run([path, *args], env=env, timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        return done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')

    def start(self, out):
        """What there is to say."""
        library = _libprof()
        if not library:
            raise RuntimeError('libprof.so is not found; set GPUSTARVE_LIB to its path')
        if self.run:
            return f'recording into {self.run}'
        before = _is_mapped(library)
        if not (before and os.environ.get('GPUSTARVE_RUN_ID')):
            os.environ['GPUSTARVE_RUN_ID'] = _run_id()
            os.environ['GPUSTARVE_OUT'] = os.path.abspath(out or os.environ.get('GPUSTARVE_OUT') or 'gpustarve-runs')
        self.run = os.path.join(os.environ['GPUSTARVE_OUT'], os.environ['GPUSTARVE_RUN_ID'] + '.gst')
        if not before:
            self.load(library)
        return f'recording into {self.run}'

    @staticmethod
    def load(library):
        for name in 'CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH':
            os.environ.setdefault(name, library)
        loaded = ctypes.CDLL(library)
        if _cuda_began():
            loaded.InitializeInjection()
        if os.environ.get('GPUSTARVE_SHIM', '1') not in ('0', 'off', 'no'):
            _start_shim(os.path.join(os.path.dirname(library), 'python'))

    def rows(self, since):
        """(complete up to, {ordinal: [[begin, end]] of operations}, [[begin, end]] of loader waits) of this process."""
        status, text, error = self.program('dump', self.run, '--since', str(since))
        if status and not text:
            raise RuntimeError(error.strip())
        ours, complete, ops, waits = set(), 0, {}, []
        for line in text.splitlines():
            part = line.split('\t')
            if line.startswith('# stream'):
                if f'pid {os.getpid()}' in part:
                    ours.add(part[1])
            elif line.startswith('# frames') and part[1] in ours:
                complete = max([complete, *(int(p[12:]) for p in part if p.startswith('complete_ns '))])
            elif part[0] in ours and len(part) > 4:
                span = [int(part[2]), int(part[2]) + int(part[3])]
                if part[1] == 'loader':
                    waits.append(span)
                elif part[4].count('.') == 2 and not part[1].startswith('sync'):
                    ops.setdefault(int(part[4].split('.')[0]), []).append(span)
        return complete, ops, waits

    def usd_per_hour(self):
        """Of a GPU, asked once; None: not known."""
        if self.price is None:
            status, text, _ = self.program('report', self.run, '--format', 'json')
            rates = json.loads(text)['cost']['rates'] if not status else []
            self.price = rates[0]['usd_per_gpu_hour'] if rates else None
        return None if self.price is None else float(self.price)

    def line(self, begin, end):
        """Of a cell, or None: it held no GPU."""
        if not self.run or end - begin < BRIEF_NS or not os.path.isdir(self.run):
            return None
        until = time.monotonic() + PATIENCE_S
        while True:
            complete, ops, waits = self.rows(self.looked)
            if complete >= end or time.monotonic() > until:
                break
            time.sleep(.1)
        self.looked = min(end, complete)
        for gpu, spans in ops.items():
            self.gpus.setdefault(gpu, min(s for s, _ in spans))
        held = {gpu: max(begin, since) for gpu, since in self.gpus.items() if since < end}
        if not held:
            return None
        return self.words(begin, end, held, ops, waits, complete)

    def words(self, begin, end, held, ops, waits, complete):
        total = busy = loader = 0
        for gpu, since in held.items():
            work = _union([max(s, since), min(e, end)] for s, e in ops.get(gpu, []) if e > since and s < end)
            wait = _union([max(s, since), min(e, end)] for s, e in waits if e > since and s < end)
            total, busy, loader = total + end - since, busy + _length(work), loader + _without(wait, work)
        share = [f'{100 * part / total:.1f} %' for part in (busy, loader, total - busy - loader)]
        text = (f'gpustarve: {len(held)} GPU{"s" * (len(held) > 1)} held for {total / len(held) / 1e9:.3g} s: busy {share[0]}, waited '
                f'for the loader {share[1]}, idle otherwise {share[2]}')
        usd = self.usd_per_hour()
        if usd is not None:
            text += f'; {_cents(usd * total / 3.6e12)}'
        if complete < end:
            text += '; the last of it is not in the trace yet'
        return text


class Extension:
    def __init__(self, shell):
        self.shell, self.recorder, self.on, self.began = shell, Recorder(), False, None

    def magic(self, line):
        parser = argparse.ArgumentParser('%gpustarve', add_help=False)
        parser.add_argument('what', choices=('on', 'off', 'report', 'where'), nargs='?', default='where')
        parser.add_argument('--price')
        parser.add_argument('-o', '--output')
        try:
            args = parser.parse_args(shlex.split(line))
        except SystemExit:
            return print('gpustarve: %gpustarve on [--price USD] [-o DIR] | off | report | where')
        try:
            self.do(args)
        except (OSError, RuntimeError, subprocess.SubprocessError) as e:
            print(f'gpustarve: {e}')
        return None

    def do(self, args):
        recorder = self.recorder
        if args.what == 'on':
            recorder.price = args.price or recorder.price
            print('gpustarve: ' + recorder.start(args.output))
            self.on = True
        elif args.what == 'off':
            self.on = False
        elif not recorder.run:
            print('gpustarve: nothing is recorded; %gpustarve on')
        elif args.what == 'where':
            print(recorder.run)
        else:
            _, text, error = recorder.program('report', recorder.run, *(['--price', recorder.price] if args.price else []))
            print(text or error, end='')

    def before(self, *_):
        self.began = time.time_ns()

    def after(self, *_):
        if not self.on or self.began is None:
            return
        try:
            text = self.recorder.line(self.began, time.time_ns())
        except Exception as e:  # a notebook is not ours to stop
            text, self.on = f'gpustarve: no more lines: {e}', False
        if text:
            print(text)


def load_ipython_extension(shell):
    extension = shell.gpustarve = Extension(shell)
    shell.register_magic_function(extension.magic, magic_name='gpustarve')
    shell.events.register('pre_run_cell', extension.before)
    shell.events.register('post_run_cell', extension.after)


def unload_ipython_extension(shell):
    shell.events.unregister('pre_run_cell', shell.gpustarve.before)
    shell.events.unregister('post_run_cell', shell.gpustarve.after)
    del shell.gpustarve
