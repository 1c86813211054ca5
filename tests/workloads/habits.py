# SPDX-License-Identifier: Apache-2.0
"""What Python trainers do besides training: processes that they start after CUDA is in use, and
ways to end. Over gpudev, on the simulated GPU and on a real one. What is printed depends on nothing
but the arguments.

usage: habits.py HOW [STEPS]; HOW is a function below."""
import os
import signal
import subprocess
import sys
import time
import warnings

import gpudev

# From 3.12 on Python warns at os.fork where there are threads, with the pid: the driver's are enough.
warnings.simplefilter('ignore', DeprecationWarning)

SETTLE_S = 1.3  # what was done before that is in the trace, however the process ends


def work(n=50, name='habit'):
    stream = gpudev.Stream(device())
    for _ in range(n):
        stream.kernel(100_000, name=name)
    stream.synchronize()


def device(kept=[]):
    if not kept:
        kept.append(gpudev.Device(0))
    return kept[0]


def settle():
    work()
    sys.stdout.flush()
    time.sleep(SETTLE_S)
    work(10, 'late')


def plain():
    work()


def fork():
    """Children by os.fork: one by os._exit, one by exit handlers, one by exec of a CUDA program."""
    work()
    sys.stdout.flush()
    for how in ('_exit', 'exit', 'exec'):
        pid = os.fork()
        if not pid:
            if how == '_exit':
                os._exit(5)
            if how == 'exec':
                os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), 'plain'])
            sys.exit(6)
        print(how, os.waitpid(pid, 0)[1] >> 8, flush=True)
    work()


def spawn():
    """Shells and other CUDA programs by subprocess."""
    work()
    done = subprocess.run(['sh', '-c', 'echo out; echo err >&2; exit 3'], stdout=-1, stderr=-1)
    print(done.returncode, done.stdout, done.stderr)
    done = subprocess.run([sys.executable, os.path.abspath(__file__), 'plain'], stdout=-1, stderr=-1)
    print(done.returncode, done.stdout, done.stderr)
    work()


class Numbers:
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return i


def load(how):
    import torch
    work()
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=8, num_workers=2,
                                         multiprocessing_context=how)
    print(sum(int(batch.sum()) for batch in loader))
    work()


def loader_fork():
    load('fork')


def loader_spawn():
    load('spawn')


def os_exit():
    settle()
    os._exit(7)


def abort():
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    settle()
    os.abort()


def sigterm():
    settle()
    os.kill(os.getpid(), signal.SIGTERM)


def sigkill():
    settle()
    os.kill(os.getpid(), signal.SIGKILL)


def execs():
    settle()
    os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), 'plain'])


def raises():
    work()
    raise SystemExit('raised')


def gone():
    """The injected library's file is removed before CUDA looks for it."""
    path = os.environ.get('HABITS_REMOVE')
    if path:
        os.unlink(path)
    work()


if __name__ == '__main__':
    globals()[sys.argv[1]]()
    print('done')
