# SPDX-License-Identifier: Apache-2.0
"""A trainer in which another client of CUPTI has sessions, in the manner of torch.profiler: between
torch's own calls that begin and end a session it registers callbacks, enables kinds, counts the
kernels in its buffers, and disables the kinds. Knows nothing of gpustarve. Prints what it saw.

usage: borrower.py SESSIONS KERNELS [--first] [--clock] [--finalize] [--teardown] [--refuse] [--after SECONDS]"""
import argparse
import sys
import time

import torch

import gpudev
from cupticlient import Client, Kineto

def main():
    p = argparse.ArgumentParser()
    p.add_argument('sessions', type=int)
    p.add_argument('kernels', type=int)
    p.add_argument('--first', action='store_true', help='the first session begins before CUDA')
    p.add_argument('--clock', action='store_true', help='put a clock of its own into the records')
    p.add_argument('--finalize', action='store_true', help='detach CUPTI some time after a session')
    p.add_argument('--teardown', action='store_true', help='as Kineto, which detaches it at a call of the runtime')
    p.add_argument('--refuse', action='store_true', help='the client wants one buffer and no more')
    p.add_argument('--after', type=float, default=0, help='go on for so long after each session')
    args = p.parse_args()
    client, device, stream = (Kineto if args.teardown else Client)(args.clock, 1 if args.refuse else None), None, None
    if args.teardown:
        gpudev.use_runtime()

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
        if client.system_tids:
            print('calls name their threads as another client wants it')
        seen = client.end()
        if args.teardown:
            print('kernels of operators', client.found)
            client.teardown()
        profiler.stop()
        if args.refuse:
            print('refused', client.refused > 0)
        print('session', i, 'kernels', seen[0], 'unknown buffers', seen[1], flush=True)
        work('after', args.kernels)
        if args.finalize:
            client.cupti.cuptiFinalize()
        end = time.monotonic() + args.after
        while time.monotonic() < end:
            work('later', 10)
            time.sleep(0.05)
    if args.teardown:
        client.thread.join()
        print('torn down', client.torn)
    print('done')
    sys.stdout.flush()


if __name__ == '__main__':
    main()
