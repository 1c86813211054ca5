#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=120
"""Descriptors are the program's: where the ways to read memory without one are refused, the files
that a forked worker reads, and those that it opens after it closed all that it did not know, have
what the program expects of them."""
import concurrent.futures
import ctypes
import json
import os
import struct
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
import torch
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, gs.WORKLOADS)
READV, UNSHARE, CLOSE_RANGE = (270, 97, 436) if os.uname().machine == 'aarch64' else (310, 272, 436)
LIBC = ctypes.CDLL(None, use_errno=True)
BLOCK = b'D' * 4096
LINE = b'result\n'
NOBODY = 65534


def refuse(numbers):
    """A seccomp filter: these calls answer EPERM. False: filters cannot be had here."""
    code = [(0x20, 0, 0, 0), *((0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)),
            (0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x00050001)]
    buf = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *c) for c in code))
    program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(code), ctypes.addressof(buf)))
    return not LIBC.prctl(38, 1, 0, 0, 0) and not LIBC.prctl(22, 2, program, 0, 0)


def hide_memory():
    """Without /proc/self/mem: of a process that may not be dumped it is root's."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    LIBC.prctl(4, 0, 0, 0, 0)


class Reads(Dataset):
    """From files opened before the workers are forked, as readers of archives have them."""

    def __init__(self):
        with open('data', 'wb') as f:
            f.write(BLOCK * 10)
        self.fds = [os.open('data', os.O_RDONLY) for _ in range(8)]

    def __len__(self):
        return 30

    def __getitem__(self, i):
        time.sleep(0.05)
        for fd in self.fds:
            if os.pread(fd, len(BLOCK), 4096 * (i % 10)) != BLOCK:
                raise ValueError(f'wrong data from descriptor {fd}')
        return torch.zeros(4)


class Writes(Dataset):
    """Closes what came since it began, as daemons and sandboxes do, and opens its own there."""

    def __len__(self):
        return 30

    def begin(self, _):
        self.before = set(os.listdir('/proc/self/fd'))

    def __getitem__(self, i):
        time.sleep(0.05)
        if i == 15:
            for fd in set(os.listdir('/proc/self/fd')) - self.before:
                try:
                    if os.readlink('/proc/self/fd/' + fd).startswith('pipe:'):
                        os.close(int(fd))
                except OSError:
                    pass  # that of the listing
            self.fds = [os.open(f'result.{k}', os.O_CREAT | os.O_RDWR) for k in range(8)]
            for fd in self.fds:
                os.write(fd, LINE)
        return torch.zeros(4)


def child(what, numbers):
    import gpudev
    if not refuse(json.loads(numbers)):
        print('no filter')
        return
    if what == 'Writes':
        hide_memory()
    data = globals()[what]()
    stream = gpudev.Stream(gpudev.Device(0))
    stream.kernel(1000, 'first')
    stream.synchronize()
    time.sleep(1)  # now the sampler has found Python
    for _ in DataLoader(data, batch_size=1, num_workers=1, worker_init_fn=getattr(data, 'begin', None)):
        stream.kernel(100_000, 'step')
        stream.synchronize()
    print('trained to the end')


def notes(where):
    return ' '.join(n for t in prof.traces(where) for n in t.hello['notes'] + (t.bye['notes'] if t.bye else []))


def case(what, *numbers):
    """Returns the program's last word and what libprof noted."""
    name = f'{what} without {numbers}'
    with tempfile.TemporaryDirectory(prefix='gstest-') as where:
        for folder in (where, os.path.join(where, 'truth'), os.path.join(where, 'runs')):
            os.makedirs(folder, exist_ok=True)
            os.chmod(folder, 0o777)
        done = prof.run([gs.PYTHON, os.path.abspath(__file__), what, json.dumps(numbers)], where)
        said = done.stdout.decode().strip()
        gs.check(done.returncode == 0 and said in ('no filter', 'trained to the end'),
                 f'{name}: exit {done.returncode}: {said}: {done.stderr.decode()[-600:]}')
        if what == 'Writes' and said != 'no filter':
            for k in range(8):
                with open(os.path.join(where, f'result.{k}'), 'rb') as f:
                    gs.equal(f.read()[:40], LINE, f'{name}: file {k}')
        print(f'{name}: {said}; {notes(where)}', flush=True)
        return said, notes(where)


if __name__ == '__main__':
    if len(sys.argv) > 1:
        child(*sys.argv[1:])
    else:
        with concurrent.futures.ThreadPoolExecutor(gs.at_once(4)) as pool:
            done = [pool.submit(case, *c) for c in
                    [('Reads', READV), ('Reads', READV, CLOSE_RANGE), ('Writes', READV, CLOSE_RANGE),
                     ('Writes', READV, UNSHARE, CLOSE_RANGE)]]
        with_file, without_table, by_pipe, without_any = [d.result() for d in done]
        if 'no filter' in (with_file[0], without_table[0], by_pipe[0], without_any[0]):
            gs.skip('no seccomp filter can be had here')
        for said, note in (with_file, without_table):
            gs.check('/proc/PID/mem' in note, f'the way round is not noted: {note}')
        gs.check('by a pipe' in by_pipe[1], f'a pipe in a table of its own is not noted: {by_pipe[1]}')
        gs.check('cannot be read' in without_any[1], f'that there is no way is not noted: {without_any[1]}')
        gs.finish()
