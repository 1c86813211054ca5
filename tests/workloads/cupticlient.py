# SPDX-License-Identifier: Apache-2.0
"""A client of CUPTI in the manner of other profilers: registers callbacks, enables kinds, counts the
kernels in its buffers and the buffers that are not its own, and disables the kinds."""
import ctypes
import os
import time

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
    def __init__(self, clock=False):
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
