#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""A page takes at most 600,000 bytes however many GPUs a run has and however long it is: several minutes of steps, each with
a wait of another length, batches and looks at workers, so that every chart has as much as it can."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib'), os.path.join(HERE, '..', '..', 'browser')]
import gs
import made

MS, US, S = 10**6, 10**3, 10**9


def minutes(where, gpus, seconds, step=500 * MS, late=3):
    run = made.Made(f'gpus{gpus}')
    end = made.BEGIN + seconds * S
    for rank in range(gpus):
        p = run.process('node1', 1000 + rank, made.BEGIN, end, rank, gpus, gpus=[(rank + 1, made.H100)])
        p.settings(4)
        t = made.BEGIN + 2 * S
        for k in range(1, (seconds * S - 3 * S) // (step + 50 * US)):
            wait = int(step * (0.25 if rank == late else 0.01) * (0.8 + 0.4 * (k * 7 % 23) / 23)) * (3 if k % 97 == 0 else 1)
            p.wait(t, t + wait)
            p.batch(made.TAKE, t, t + wait, p.pid, 0, k)
            p.batch(made.FETCH, t - wait // 9, t + wait - wait // 50, p.pid + 1000, 1, k, cpu=wait // 10, nbytes=3200000, samples=16)
            p.samples(t, t + wait, p.pid + 1000, made.WORKER, made.DISK, made.READ, made.READS, max(10 * MS, wait // 6),
                      f'/data/imagenet/shard-{k % 7:04}.bin', 'nfs4')
            p.samples(t, t + wait, p.pid, made.SUBMITTER, made.SLEEPING, made.QUEUE, made.NEXT, max(20 * MS, wait // 4))
            done = p.kernel(t + wait + 10 * US, int(step * 0.6))
            if done < t + step - 20 * US:
                p.kernel(done + 6 * US, t + step - done - 6 * US, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL',
                         launch=done - 100 * US, stream=9)
            t += step + 50 * US
            p.range(made.OPTIMIZER, t - 90 * US, t - 80 * US, 'Optimizer.step#SGD.step')
    return run.write(where, end)


with gs.scratch() as where:
    for gpus, seconds in (1, 300), (4, 300), (8, 300), (12, 200):
        page = gs.gpustarve('report', minutes(where, gpus, seconds), '--format', 'html').stdout
        print(f'{gpus} GPUs, {seconds} s: {len(page)} bytes')
        gs.check(400000 < len(page) <= 600000, f'{gpus} GPUs: {len(page)} bytes')
        gs.equal(b'GPU at work, or waiting inside a collective for a late rank' in page, gpus > 1, 'what a busy GPU may do')
gs.finish()
