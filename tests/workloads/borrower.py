# SPDX-License-Identifier: Apache-2.0
"""A trainer in which another client of CUPTI has sessions, in the manner of torch.profiler: between
torch's own calls that begin and end a session it registers callbacks, enables kinds, counts the
kernels in its buffers, and disables the kinds. Knows nothing of gpustarve. Prints what it saw.

usage: borrower.py SESSIONS KERNELS [--first] [--clock] [--finalize] [--after SECONDS]"""
import argparse
import ctypes
import os
import sys
import time

import torch

import gpudev

NAMES = {'13': 'libcupti.so.13', '12.6': 'libcupti.so.12', '12.4': 'libcupti.so.12', '11.8': 'libcupti.so.11.8'}
KERNEL, KINDS = 10, (1, 2, 10, 5, 4)  # copies, memsets, kernels, calls
BYTES = 1 << 16
u8p = ctypes.POINTER(ctypes.c_uint8)
REQUEST = ctypes.CFUNCTYPE(None, ctypes.POINTER(u8p), ctypes.POINTER(ctypes.c_size_t),
                           ctypes.POINTER(ctypes.c_size_t))
CLOCK = ctypes.CFUNCTYPE(ctypes.c_uint64)
COMPLETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t,
                            ctypes.c_size_t)


class Client:
    def __init__(self, clock):
        self.clocked = False
        self.clock = CLOCK(lambda: time.monotonic_ns() * 2) if clock else None
        self.cupti = ctypes.CDLL(NAMES[os.environ.get('GPUSIM_CUPTI', '13')])
        self.buffers, self.kernels, self.unknown = {}, 0, 0
        self.request, self.complete = REQUEST(self.give), COMPLETE(self.take)

    def give(self, buffer, size, records):
        b = (ctypes.c_uint64 * (BYTES // 8))()
        self.buffers[ctypes.addressof(b)] = b
        buffer[0], size[0], records[0] = ctypes.cast(b, u8p), BYTES, 0

    def take(self, context, stream, buffer, size, valid):
        if self.buffers.pop(buffer, None) is None:
            self.unknown += 1
            return
        record = ctypes.c_void_p()
        while not self.cupti.cuptiActivityGetNextRecord(ctypes.c_void_p(buffer), ctypes.c_size_t(valid),
                                                        ctypes.byref(record)):
            self.kernels += ctypes.c_uint32.from_address(record.value).value == KERNEL

    def begin(self):
        self.kernels = self.unknown = 0
        if self.clock and not self.clocked:  # the model would find another rate each time
            self.clocked = True
            self.cupti.cuptiActivityRegisterTimestampCallback(self.clock)
        self.cupti.cuptiActivityRegisterCallbacks(self.request, self.complete)
        for kind in KINDS:
            self.cupti.cuptiActivityEnable(kind)

    def end(self):
        for kind in KINDS:
            self.cupti.cuptiActivityDisable(kind)
        self.cupti.cuptiActivityFlushAll(1)
        return self.kernels, self.unknown


def main():
    p = argparse.ArgumentParser()
    p.add_argument('sessions', type=int)
    p.add_argument('kernels', type=int)
    p.add_argument('--first', action='store_true', help='the first session begins before CUDA')
    p.add_argument('--clock', action='store_true', help='put a clock of its own into the records')
    p.add_argument('--finalize', action='store_true', help='detach CUPTI some time after a session')
    p.add_argument('--after', type=float, default=0, help='go on for so long after each session')
    args = p.parse_args()
    client, device, stream = Client(args.clock), None, None

    def work(name, n):
        for _ in range(n):
            stream.kernel(200_000, name=name)
        stream.synchronize()

    def open_device():
        device = gpudev.Device(0)
        return device, gpudev.Stream(device)

    if not args.first:
        device, stream = open_device()
        work('before', args.kernels)
    for i in range(args.sessions):
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        if stream:  # some of it runs on while the session begins
            for _ in range(args.kernels):
                stream.kernel(200_000, name='before')
        profiler.start()
        if not stream:
            device, stream = open_device()
        client.begin()
        work('session', args.kernels)
        seen = client.end()
        profiler.stop()
        print('session', i, 'kernels', seen[0], 'unknown buffers', seen[1], flush=True)
        work('after', args.kernels)
        if args.finalize:
            client.cupti.cuptiFinalize()
        end = time.monotonic() + args.after
        while time.monotonic() < end:
            work('later', 10)
            time.sleep(0.05)
    print('done')
    sys.stdout.flush()


if __name__ == '__main__':
    main()
