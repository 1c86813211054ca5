# SPDX-License-Identifier: Apache-2.0
"""Exceptions that come from outside while batches are taken: sent by another thread, as timeouts do,
of types that our own code might raise, too, and raised by a signal's handler. Prints how many came
and how many were caught."""
import ctypes
import gc
import json
import os
import signal
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir, 'workloads'))
import gpudev  # noqa: E402


class Timeout(Exception):
    pass


class Cancelled(BaseException):
    pass


def handler(number, frame):
    raise KeyError('of the program')


def send(how, thread, k):
    time.sleep(0.0005 + k % 97 * 1e-5)
    if isinstance(how, int):
        signal.pthread_kill(thread, how)
    else:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(how))


def shot(how, k):
    """1 if it was caught where it belongs: in the loop that took the batches."""
    expected = {signal.SIGINT: KeyboardInterrupt, signal.SIGUSR1: KeyError}.get(how, how)
    sender = threading.Thread(target=send, args=(how, threading.get_ident(), k))
    try:
        try:
            sender.start()
            end = time.monotonic() + 2
            while time.monotonic() < end:
                for _ in loader:
                    gc.collect(0)
        finally:
            sender.join()
    except expected:
        return 1
    return 0


stream = gpudev.Stream(gpudev.Device(0))
stream.kernel(1000, 'first')
stream.synchronize()
loader = DataLoader(TensorDataset(torch.zeros(200, 1)), batch_size=1)
# At the first batch torch 2.13 imports a module, and takes what comes up meanwhile for the import's own failure.
next(iter(loader))
signal.signal(signal.SIGUSR1, handler)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts with & ignore it
hows = [Timeout, Cancelled, TypeError, KeyError, signal.SIGINT, signal.SIGUSR1]
each = int(sys.argv[1])
caught = [sum(shot(how, k) for k in range(each)) for how in hows]
wrapped = '__wrapped__' in torch.utils.data.dataloader._BaseDataLoaderIter.__next__.__dict__
print(json.dumps([caught, wrapped]))
