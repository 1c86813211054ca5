# SPDX-License-Identifier: Apache-2.0
"""A GPU for workloads, over the CUDA driver API and ctypes. Runs on the simulated GPU (a model,
scripts/with-gpusim) and on a real one alike: kernel(ns) is a kernel that lasts that long, which on
a real GPU is the PTX below, spinning on %globaltimer.

    dev = Device(0)                     # primary context, current in this thread
    a, b = Stream(dev), Stream(dev)
    buf = dev.malloc(1 << 20); pinned = dev.host_alloc(1 << 20)
    dev.h2d(buf, pinned, 1 << 20, a)    # asynchronous; from a bytearray or tensor it is pageable
    a.kernel(2_000_000, name='gemm'); e = a.record(); b.wait(e); b.kernel(500_000); b.synchronize()

Not thread-safe in itself; each thread that uses a device calls dev.use() first."""
import ctypes
import os

P, U64, INT, UINT, SIZE = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint,
                           ctypes.c_size_t)
HOST_FN = ctypes.CFUNCTYPE(None, P)

# One u64 parameter: nanoseconds to spin. The time is read by one thread per block.
PTX_HEAD = '.version 6.0\n.target sm_50\n.address_size 64\n'
PTX_KERNEL = '''
.visible .entry %s(.param .u64 duration)
{
    .reg .pred %%p;
    .reg .u64 %%start, %%now, %%left, %%want;
    ld.param.u64 %%want, [duration];
    mov.u64 %%start, %%globaltimer;
again:
    mov.u64 %%now, %%globaltimer;
    sub.u64 %%left, %%now, %%start;
    setp.lt.u64 %%p, %%left, %%want;
    @%%p bra again;
    ret;
}
'''


class CudaError(RuntimeError):
    def __init__(self, call, code):
        text = ctypes.c_char_p()
        driver().cuGetErrorString(code, ctypes.byref(text))
        super().__init__(f'{call}: error {code}: {(text.value or b"?").decode()}')
        self.code = code


class Driver:
    """libcuda.so.1; every attribute is a checked call."""

    def __init__(self):
        self.lib = ctypes.CDLL('libcuda.so.1')
        self.calls = {}

    def __getattr__(self, name):
        fn = getattr(self.lib, name)
        if name == 'cuGetErrorString':
            return fn
        if name in ('cuMemcpyHtoDAsync_v2', 'cuMemcpyDtoHAsync_v2', 'cuMemcpyDtoDAsync_v2'):
            host = {'cuMemcpyHtoDAsync_v2': 1, 'cuMemcpyDtoHAsync_v2': 0}.get(name)
            fn.argtypes = [P if host == 0 else U64, P if host == 1 else U64, SIZE, P]

        def checked(*args):
            rc = fn(*args)
            if rc:
                raise CudaError(name, rc)
        checked.raw = fn
        self.__dict__[name] = checked
        return checked


class Dim3(ctypes.Structure):
    _fields_ = [('x', UINT), ('y', UINT), ('z', UINT)]


class Runtime:
    """libgpusimrt.so: the simulator's few calls of the CUDA runtime, under their real names."""

    def __init__(self):
        lib = ctypes.CDLL('libgpusimrt.so')
        lib.cudaLaunchKernel.argtypes = [P, Dim3, Dim3, P, SIZE, P]
        lib.cudaMemcpyAsync.argtypes = [P, P, SIZE, INT, P]
        self.lib = lib

    def __getattr__(self, name):
        fn = getattr(self.lib, name)

        def checked(*args):
            rc = fn(*args)
            if rc:
                raise CudaError(name, rc)
        self.__dict__[name] = checked
        return checked


_driver = None
_runtime = None


def use_runtime():
    """From now on kernels, copies and synchronisations go through the runtime's calls, as they do
    in PyTorch. Simulated GPU only."""
    global _runtime
    _runtime = Runtime()


def driver():
    """The driver, initialised at the first use in this process."""
    global _driver
    if _driver is None:
        _driver = Driver()
        _driver.cuInit(0)
    return _driver


def simulated():
    """Is this the model? Its device names say so."""
    return '(simulated)' in Device.name_of(0)


def device_count():
    n = INT()
    driver().cuDeviceGetCount(ctypes.byref(n))
    return n.value


def address_of(x):
    """Address of a ctypes object, a numpy array, a torch tensor or a bytearray; or x, a number."""
    if isinstance(x, int):
        return x
    if hasattr(x, 'data_ptr'):
        return x.data_ptr()
    if hasattr(x, '__array_interface__'):
        return x.__array_interface__['data'][0]
    if isinstance(x, (bytearray, memoryview)):
        return ctypes.addressof(ctypes.c_char.from_buffer(x))
    return ctypes.addressof(x)


class Device:
    def __init__(self, ordinal=0):
        d = driver()
        self.ordinal, self.ctx = ordinal, P()
        d.cuDevicePrimaryCtxRetain(ctypes.byref(self.ctx), ordinal)
        self.use()
        self.modules, self.functions = {}, {}
        self.default = Stream(self, handle=None)

    @staticmethod
    def name_of(ordinal):
        text = ctypes.create_string_buffer(128)
        driver().cuDeviceGetName(text, 128, ordinal)
        return text.value.decode()

    @property
    def name(self):
        return Device.name_of(self.ordinal)

    @property
    def uuid(self):
        raw = ctypes.create_string_buffer(16)
        driver().cuDeviceGetUuid_v2(raw, self.ordinal)
        h = raw.raw.hex()
        return f'GPU-{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}'

    def use(self):
        driver().cuCtxSetCurrent(self.ctx)
        return self

    def synchronize(self):
        if _runtime:
            _runtime.cudaDeviceSynchronize()
            return
        driver().cuCtxSynchronize()

    # memory

    def malloc(self, n):
        p = U64()
        driver().cuMemAlloc_v2(ctypes.byref(p), SIZE(n))
        return p.value

    def free(self, p):
        driver().cuMemFree_v2(U64(p))

    def host_alloc(self, n):
        p = P()
        driver().cuMemHostAlloc(ctypes.byref(p), SIZE(n), 0)
        return p.value

    def host_free(self, p):
        driver().cuMemFreeHost(P(p))

    def h2d(self, dst, src, n, stream=None):
        """Asynchronous from pinned memory; from pageable memory it returns when it is over."""
        if _runtime:
            _runtime.cudaMemcpyAsync(dst, address_of(src), n, 1, (stream or self.default).handle)
            return
        driver().cuMemcpyHtoDAsync_v2(dst, address_of(src), n, (stream or self.default).handle)

    def d2h(self, dst, src, n, stream=None):
        if _runtime:
            _runtime.cudaMemcpyAsync(address_of(dst), src, n, 2, (stream or self.default).handle)
            return
        driver().cuMemcpyDtoHAsync_v2(address_of(dst), src, n, (stream or self.default).handle)

    def d2d(self, dst, src, n, stream=None):
        driver().cuMemcpyDtoDAsync_v2(dst, src, n, (stream or self.default).handle)

    def memset(self, dst, value, n, stream=None):
        driver().cuMemsetD8Async(U64(dst), ctypes.c_ubyte(value), SIZE(n),
                                 (stream or self.default).handle)

    def memory(self):
        """(free, total) bytes."""
        f, t = SIZE(), SIZE()
        driver().cuMemGetInfo_v2(ctypes.byref(f), ctypes.byref(t))
        return f.value, t.value

    # kernels

    def function(self, name):
        """The spin kernel under this name (letters, digits, underscore)."""
        if name not in self.functions:
            module, fn = P(), P()
            image = (PTX_HEAD + PTX_KERNEL % name).encode() + b'\0'
            driver().cuModuleLoadData(ctypes.byref(module), image)
            driver().cuModuleGetFunction(ctypes.byref(fn), module, name.encode())
            self.functions[name] = fn
        return self.functions[name]


class Stream:
    launched = 0  # kernels of this process that kernel() has enqueued

    def __init__(self, dev, blocking=False, handle=False):
        self.dev, self.handle = dev, handle
        if handle is False:
            self.handle = P()
            driver().cuStreamCreate(ctypes.byref(self.handle), 0 if blocking else 1)
        self.ns, self.args = U64(), (P * 2)()
        self.args[0] = ctypes.addressof(self.ns)
        self.launch = driver().cuLaunchKernel

    def kernel(self, ns, name='spin'):
        """Enqueues a kernel that runs for ns nanoseconds."""
        self.ns.value = int(ns)
        Stream.launched += 1
        if _runtime:
            _runtime.cudaLaunchKernel(self.dev.function(name), Dim3(1, 1, 1), Dim3(32, 1, 1),
                                      self.args, 0, self.handle)
            return
        self.launch(self.dev.function(name), 1, 1, 1, 32, 1, 1, 0, self.handle, self.args, None)

    def collective(self, ns, name='ncclDevKernel_AllReduce', comm=0, ranks=0):
        """A kernel that meets those of the communicator's other ranks (0: all), see the simulator's
        README. Communicators need GPUSIM_NCCL_PARAM=1. Simulated GPU only."""
        self.whom = U64(comm << 32 | ranks)
        self.args[1] = ctypes.addressof(self.whom) if ranks else None
        self.kernel(ns, name)
        self.args[1] = None

    def record(self, event=None):
        event = event or Event()
        driver().cuEventRecord(event.handle, self.handle)
        return event

    def wait(self, event):
        driver().cuStreamWaitEvent(self.handle, event.handle, 0)

    def synchronize(self):
        if _runtime:
            _runtime.cudaStreamSynchronize(self.handle)
            return
        driver().cuStreamSynchronize(self.handle)

    def done(self):
        return driver().cuStreamQuery.raw(self.handle) == 0

    def host(self, fn):
        """Runs fn() on a thread of the driver when the stream gets there."""
        keep = HOST_FN(lambda _: fn())
        self.__dict__.setdefault('kept', []).append(keep)
        driver().cuLaunchHostFunc(self.handle, keep, None)

    def destroy(self):
        driver().cuStreamDestroy_v2(self.handle)


class Graph:
    """What fn(stream) enqueues, captured; launch it on any stream of the device."""

    def __init__(self, stream, fn):
        graph, self.exec, before = P(), P(), Stream.launched
        driver().cuStreamBeginCapture_v2(stream.handle, 0)
        fn(stream)
        Stream.launched = before  # noted down, not enqueued
        driver().cuStreamEndCapture(stream.handle, ctypes.byref(graph))
        driver().cuGraphInstantiateWithFlags(ctypes.byref(self.exec), graph, U64(0))
        driver().cuGraphDestroy(graph)

    def launch(self, stream):
        if _runtime:
            _runtime.cudaGraphLaunch(self.exec, stream.handle)
            return
        driver().cuGraphLaunch(self.exec, stream.handle)


class Event:
    def __init__(self):
        self.handle = P()
        driver().cuEventCreate(ctypes.byref(self.handle), 0)

    def synchronize(self):
        driver().cuEventSynchronize(self.handle)

    def done(self):
        return driver().cuEventQuery.raw(self.handle) == 0

    def elapsed_ms(self, later):
        ms = ctypes.c_float()
        driver().cuEventElapsedTime(ctypes.byref(ms), self.handle, later.handle)
        return ms.value


if __name__ == '__main__':
    for i in range(device_count()):
        print(i, Device.name_of(i), Device(i).uuid)
    if os.environ.get('GPUSIM_TRUTH'):
        Device(0).default.kernel(1_000_000)
        Device(0).synchronize()
