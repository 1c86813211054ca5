# SPDX-License-Identifier: Apache-2.0
"""A client of CUPTI in the manner of other profilers: registers callbacks, enables kinds, counts the
kernels in its buffers and the buffers that are not its own, and disables the kinds."""
import ctypes
import os
import struct
import threading

NAMES = {'13': 'libcupti.so.13', '12.6': 'libcupti.so.12', '12.4': 'libcupti.so.12', '11.8': 'libcupti.so.11.8'}
KERNEL, KINDS = 10, (1, 2, 10, 5, 4)  # copies, memsets, kernels, calls
BYTES = 1 << 16
u8p = ctypes.POINTER(ctypes.c_uint8)
REQUEST = ctypes.CFUNCTYPE(None, ctypes.POINTER(u8p), ctypes.POINTER(ctypes.c_size_t),
                           ctypes.POINTER(ctypes.c_size_t))
COMPLETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t,
                            ctypes.c_size_t)


class Client:
    def __init__(self, clock=False, most=None):
        """With @most buffers out it refuses another, as Kineto does over its limit where CUPTI takes that (27)."""
        self.most, self.refused = most, 0
        self.clock = ctypes.CDLL('gpusim-otherclock.so').other_clock if clock else None
        self.cupti = ctypes.CDLL(NAMES[os.environ.get('GPUSIM_CUPTI', '13')])
        self.buffers, self.kernels, self.unknown = {}, 0, 0
        self.request, self.complete = REQUEST(self.give), COMPLETE(self.take)

    def give(self, buffer, size, records):
        if self.most is not None and len(self.buffers) >= self.most:
            self.refused += 1
            buffer[0], size[0] = None, 0
            return
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
            self.read(ctypes.c_uint32.from_address(record.value).value, record.value)

    def read(self, kind, at):
        self.kernels += kind == KERNEL

    def begin(self):
        self.kernels = self.unknown = 0
        if self.clock:
            self.cupti.cuptiActivityRegisterTimestampCallback(self.clock)
        self.cupti.cuptiActivityRegisterCallbacks(self.request, self.complete)
        for kind in KINDS:
            self.cupti.cuptiActivityEnable(kind)
        which = ctypes.c_int()
        self.cupti.cuptiGetThreadIdType(ctypes.byref(which))
        self.system_tids = bool(which.value)

    def end(self):
        for kind in KINDS:
            self.cupti.cuptiActivityDisable(kind)
        self.cupti.cuptiActivityFlushAll(1)
        return self.kernels, self.unknown


RUNTIME, DRIVER, EXIT, EXTERNAL, CUSTOM0 = 2, 1, 1, 39, 3
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(ctypes.c_int))


class Kineto(Client):
    """One that subscribes, pushes an id around each piece of work, and takes CUPTI down after a session as
    Kineto does with TEARDOWN_CUPTI=1 (CuptiActivityApi.cpp, CuptiCallbackApi.cpp of pytorch/kineto): from
    within a callback, at the exit of some call of the runtime."""

    def __init__(self, clock=False, most=None):
        super().__init__(clock, most)
        self.handle, self.callback = ctypes.c_void_p(), CALLBACK(self.called)
        self.asked, self.over, self.torn, self.thread = False, threading.Event(), 0, None
        self.outer, self.found = {}, 0
        self.check(self.cupti.cuptiSubscribe(ctypes.byref(self.handle), self.callback, None))

    def check(self, rc):
        if rc:
            raise RuntimeError(f'CUPTI answers {rc}')

    def read(self, kind, at):
        super().read(kind, at)
        if kind == EXTERNAL:
            _, outer, inner = struct.unpack('=IQI', ctypes.string_at(at + 4, 16))
            self.outer[inner] = outer
        elif kind == KERNEL:
            self.found += ctypes.c_uint32.from_address(at + 92).value in self.outer

    def begin(self):
        if self.thread:
            self.thread.join()
        if not self.handle:
            self.check(self.cupti.cuptiSubscribe(ctypes.byref(self.handle), self.callback, None))
        self.outer, self.found = {}, 0
        super().begin()
        self.check(self.cupti.cuptiActivityEnable(EXTERNAL))
        self.check(self.cupti.cuptiActivityPushExternalCorrelationId(CUSTOM0, ctypes.c_uint64(7)))

    def end(self):
        self.check(self.cupti.cuptiActivityPopExternalCorrelationId(CUSTOM0, None))
        self.check(self.cupti.cuptiActivityDisable(EXTERNAL))
        return super().end()

    def called(self, data, domain, cbid, site):
        if self.asked and domain == RUNTIME and site[0] == EXIT:
            self.asked = False
            self.check(self.cupti.cuptiUnsubscribe(self.handle))
            self.check(self.cupti.cuptiFinalize())
            self.handle = ctypes.c_void_p()
            self.torn += 1
            self.over.set()

    def teardown(self):
        """Returns at once; a thread waits until it is done."""
        self.over.clear()
        self.thread = threading.Thread(target=self.wait, daemon=True)
        self.thread.start()

    def wait(self):
        for domain in (RUNTIME, DRIVER):
            self.check(self.cupti.cuptiEnableDomain(1, self.handle, domain))
        self.cupti.cuptiActivityFlushAll(1)
        self.asked = True
        self.over.wait()
