# SPDX-License-Identifier: Apache-2.0
"""A small training step in PyTorch, for the probe: loop.py PROBE_SO quick|full SECONDS

One process per mode, forked from one that has imported torch and touched no GPU; they stay beside
each other and play blocks in turn. A line on stdout per block: "round MODE NS", the mean of a step;
"torch VERSION"; "skip REASON" where it cannot be played. Nothing is traced but by PROBE_SO, which is
the probe's own use of libcupti: the one that torch has loaded, for a process must not hold two."""
import ctypes
import os
import sys
import threading
import time

LIBRARY, HOW, SECONDS = sys.argv[1], sys.argv[2], float(sys.argv[3])
QUICK = HOW == 'quick'
END = time.monotonic() + SECONDS
MODES = ('off', 'on', 'disabled', 'noise', 'duty')
BLOCK, WINDOW, PERIOD, BEFORE = (0.15, 0.05, 0.3, 0.2) if QUICK else (1.5, 0.25, 10.0, 5.0)
ROUNDS = 2 if QUICK else 8


def say(*words):
    print(*words, flush=True)


def loaded_cupti():
    with open('/proc/self/maps') as f:
        found = [line.split(None, 5)[5].strip() for line in f if 'libcupti.so' in line]
    return min(found) if found else None


class Tracing:
    """Our kinds, on and off."""

    def __init__(self):
        path = loaded_cupti()
        if path:
            os.environ['PROBE_CUPTI'] = path
        self.lib = ctypes.CDLL(LIBRARY)
        self.kinds = ctypes.byref(ctypes.c_int.in_dll(self.lib, 'cupti_all'))
        if self.lib.cupti_load() or self.lib.cupti_begin(0):
            raise RuntimeError('libcupti cannot be used')

    def switch(self, on):
        rc = self.lib.cupti_switch(self.kinds, ctypes.c_bool(on))
        if rc:
            raise RuntimeError(f'switching kinds gives {rc}')

    def duty(self):
        while True:
            self.switch(True)
            time.sleep(WINDOW)
            self.switch(False)
            self.lib.cupti_fetch()
            time.sleep(PERIOD - WINDOW)


def training():
    """A step that launches many small kernels."""
    import torch
    torch.manual_seed(1)
    layers = []
    for _ in range(6):
        layers += [torch.nn.Linear(64, 64), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers).cuda()
    best = torch.optim.SGD(model.parameters(), lr=0.01, foreach=False)
    x = torch.randn(16, 64, device='cuda')

    def step():
        best.zero_grad()
        model(x).sum().backward()
        best.step()
    return step, torch.cuda.synchronize


def play(step, wait, seconds):
    """ns per step, mean."""
    for _ in range(3):
        step()
    wait()
    begin, steps = time.monotonic_ns(), 0
    while time.monotonic_ns() - begin < seconds * 1e9:
        for _ in range(10):
            step()
        steps += 10
        wait()
    return (time.monotonic_ns() - begin) // steps


def serve(mode, orders, answers):
    try:
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError('torch sees no GPU')
        tracing = Tracing() if mode in ('on', 'disabled', 'duty') else None
        step, wait = training()
        play(step, wait, 0.1)
        if mode in ('on', 'disabled'):
            tracing.switch(True)
        if mode == 'disabled':
            play(step, wait, BEFORE)
            tracing.switch(False)
            tracing.lib.cupti_stop_flushing()
        if mode == 'duty':
            threading.Thread(target=tracing.duty, daemon=True).start()
        os.write(answers, b'ready\n')
        while os.read(orders, 1):
            ns = play(step, wait, PERIOD if mode == 'duty' else BLOCK)
            os.write(answers, f'{ns}\n'.encode())
    except BaseException as e:
        os.write(answers, ('skip ' + str(e).splitlines()[0][:200] + '\n').encode())
    finally:
        os._exit(0)


class Worker:
    def __init__(self, mode):
        self.mode = mode
        orders, self.orders = os.pipe()
        answers, back = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            # The other workers' ends would keep them waiting when this script is gone.
            os.close(self.orders)
            serve(mode, orders, back)
        os.close(orders)
        os.close(back)
        self.answers = os.fdopen(answers, 'r')
        self.alive = True

    def answer(self):
        line = self.answers.readline().strip()
        if not line or line.startswith('skip'):
            self.alive = False
            say(line or f'skip the process of {self.mode} died')
            return None
        return line

    def block(self):
        if not self.alive:
            return
        os.write(self.orders, b'b')
        ns = self.answer()
        if ns:
            say('round', self.mode, ns)


def main():
    try:
        import torch
    except ImportError:
        say('skip this python3 has no torch')
        return
    say('torch', torch.__version__)
    workers = [Worker(mode) for mode in MODES]
    for w in workers:
        w.answer()
    for _ in range(ROUNDS):
        begin = time.monotonic()
        for w in workers:
            w.block()
        if not any(w.alive for w in workers) or END - time.monotonic() < time.monotonic() - begin:
            break


main()
