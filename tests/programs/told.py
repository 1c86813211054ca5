# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: their options, and the file in which each tells what it knows by itself. Like
the programs it knows nothing of gpustarve or of the simulated GPU, and runs on a real one unchanged.

    --told FILE     JSON: waits_ns, how long each fetch of a batch took by the program's own clock; delays_ns, how
                    long in each its thread was runnable without a core, by the kernel's account; steps;
                    each, what of device operations the program itself asked for, by its own count; line,
                    [file, number] of the marked line of the source at which the planted cost is; planted_ns,
                    [[begin, end], ...] of what the training thread did there, unix ns
    --profile FILE  the whole run inside torch.profiler; JSON: {"kernel": {name: n}, "copy-h2d": ...}"""
import argparse
import contextlib
import inspect
import json
import os
import sys
import threading
import time

DIRECTIONS = {'HtoD': 'copy-h2d', 'DtoH': 'copy-d2h', 'DtoD': 'copy-d2d', 'HtoH': 'copy-h2h', 'PtoP': 'copy-p2p'}


def options(doc, **defaults):
    """A parser with what all programs take; a program adds its own."""
    p = argparse.ArgumentParser(description=doc.split('\n')[0])
    p.add_argument('--steps', type=int, default=defaults.get('steps', 30))
    p.add_argument('--batch', type=int, default=defaults.get('batch', 16))
    p.add_argument('--workers', type=int, default=defaults.get('workers', 2))
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--told', metavar='FILE')
    p.add_argument('--profile', metavar='FILE')
    return p


def run_delay(schedstat):
    """How long the thread that opened its schedstat has been runnable without a core so far, in ns. A read at an offset: to
    open it for each batch would be the dearest part of a program's own work between steps."""
    return int(os.pread(schedstat, 64, 0).split()[1])


class Told:
    """Collects while the program runs; nothing is written before its end."""

    def __init__(self, args):
        self.args, self.waits, self.delays, self.each, self.spans = args, [], [], {}, []
        self.began = time.time_ns()

    def batches(self, loader):
        """The loader's batches; how long each took is noted, the end of the data too."""
        it = iter(loader)
        with open('/proc/thread-self/schedstat', 'rb') as f:
            schedstat = f.fileno()
            while True:
                delayed, begin = run_delay(schedstat), time.monotonic_ns()
                batch = next(it, None)
                self.waits.append(time.monotonic_ns() - begin)
                self.delays.append(run_delay(schedstat) - delayed)
                if batch is None:
                    return
                yield batch

    @contextlib.contextmanager
    def planted(self):
        """Around the marked line."""
        begin = time.time_ns()
        yield
        self.spans.append((begin, time.time_ns()))

    def count(self, kind, n=1):
        self.each[kind] = self.each.get(kind, 0) + n

    def write(self, **more):
        if not self.args.told:
            return
        with open(self.args.told, 'w') as f:
            json.dump(dict(waits_ns=self.waits, delays_ns=self.delays, each=self.each, planted_ns=self.spans,
                           began_ns=self.began, ended_ns=time.time_ns(), **more), f)


def marked(module, mark):
    """[file, line] of the line of the program that ends in `#: mark`."""
    source = inspect.getsourcefile(sys.modules[module])
    with open(source) as f:
        for n, line in enumerate(f, 1):
            if line.rstrip().endswith(f'#: {mark}'):
                return [source, n]
    return None


def seen(profile):
    """What a profile saw of the device's work, by kind and name. Synchronisation records and annotations are
    no work."""
    found = {}
    for event in profile.profiler.kineto_results.events():
        if 'CUDA' not in str(event.device_type()):
            continue
        name = event.name()
        kind = 'kernel'
        if name.startswith('Memcpy'):
            kind = next((v for k, v in DIRECTIONS.items() if k in name), 'copy')
        elif name.startswith('Memset'):
            kind = 'memset'
        elif 'Sync' in name or 'Wait' in name or name.startswith('gpu_') or event.is_user_annotation():
            continue
        names = found.setdefault(kind, {})
        names[name] = names.get(name, 0) + 1
    return found


def rest():
    """PyTorch's thread of the backward pass wants Python's lock once more after the result is there. A process that
    ends before aborts, with Python before 3.14: such a thread is ended through C++ that lets nothing through. Where others
    have the cores it may be long in coming: until nothing else of this process has wanted one for a while."""
    quiet = 0
    for _ in range(500):
        time.sleep(0.02)
        quiet = 0 if any(map(wants_core, os.listdir('/proc/self/task'))) else quiet + 1
        if quiet == 5:
            break


def wants_core(tid):
    """Whether that thread of the process, which is not the one that asks, runs or would if it could."""
    try:
        with open(f'/proc/self/task/{tid}/stat', 'rb') as f:
            return int(tid) != threading.get_native_id() and f.read().rpartition(b')')[2].split()[0] == b'R'
    except OSError:
        return False


@contextlib.contextmanager
def watched(args):
    """The whole run inside torch.profiler, where --profile asks for that: begun before CUDA is."""
    if not args.profile:
        yield
        rest()
        return
    import torch
    what = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[what.CPU, what.CUDA]) as profile:
        yield
        torch.cuda.synchronize()
    with open(args.profile, 'w') as f:
        json.dump(seen(profile), f)


def same_each_time(args):
    """Two runs of a seed launch the same kernels: nothing is picked by how long it took."""
    import torch
    torch.manual_seed(args.seed)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)  # imports the compiler's parts, for seconds
