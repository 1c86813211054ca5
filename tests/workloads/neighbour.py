# SPDX-License-Identifier: Apache-2.0
"""A trainer with sessions of another profiler's, through the functions that its users call: those of
the stand-ins in neighbours/, or of the real package. Knows nothing of gpustarve. Prints what it saw.

usage: neighbour.py jax|tensorflow|triton KERNELS"""
import sys

import gpudev
from cupticlient import Client

client = Client(False)


def refused(call, *args):
    try:
        call(*args)
    except RuntimeError:
        return True
    return False


def jax_sessions():
    import jax

    def first(work):
        jax.profiler.start_trace('folder')
        assert refused(jax.profiler.start_trace, 'folder')  # the first one goes on
        work()
        jax.profiler.stop_trace()
        assert refused(jax.profiler.stop_trace)

    def second(work):
        with jax.profiler.trace('folder'):
            work()
    return first, second


def tensorflow_sessions():
    from tensorflow.profiler import experimental

    def first(work):
        experimental.start('folder')
        work()
        experimental.stop()

    def second(work):
        with experimental.Profile('folder'):
            work()
    return first, second


def triton_sessions():
    import triton.profiler as proton

    def first(work):
        one = proton.start('one')
        two = proton.start('two')
        work()
        proton.finalize(one)
        assert proton.start('off') is None
        proton.deactivate(two)
        proton.finalize(two)

    def second(work):
        assert proton.start('off') is None
        proton.start('three', backend='instrumentation')
        proton.finalize()
        proton.start('four', backend='cupti')
        work()
        proton.finalize()
    return first, second


def main():
    which, kernels = sys.argv[1], int(sys.argv[2])
    sys.modules['neighbour'] = sys.modules['__main__']
    stream = gpudev.Stream(gpudev.Device(0))

    def work(name):
        for _ in range(kernels):
            stream.kernel(200_000, name=name)
        stream.synchronize()

    work('before')
    for session in globals()[which + '_sessions']():
        session(lambda: work('session'))
        print('kernels', client.kernels, 'unknown buffers', client.unknown)
        work('after')
    print('done')


if __name__ == '__main__':
    main()
