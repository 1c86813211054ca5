#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of a data-parallel training over gpudev, with a real torch DataLoader: fetch a batch, run
kernels, reduce gradients in two buckets on a stream of its own while backward goes on, step, wait for
the loss. Run by launch_ranks.py or torch.distributed.run, which give RANK, LOCAL_RANK, WORLD_SIZE.

With --late RANK that rank's dataset sleeps --sleep-ms per batch. With --gloo the ranks meet through
torch.distributed before the first step and after the last, else through files in --meet. --own-ledger
FOLDER: one line of JSON per step, by the script's own clock."""
import argparse
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

import gpudev  # noqa: E402

RANK, WORLD = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
LOCAL = int(os.environ.get('LOCAL_RANK', RANK))


class Shards(Dataset):
    def __init__(self, args):
        self.n = args.steps
        self.seconds = args.sleep_ms / 1000 if RANK in args.late else 0

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if self.seconds:
            time.sleep(self.seconds)  # the slow source
        return torch.full((64,), float(i))


def parse():
    p = argparse.ArgumentParser()
    p.add_argument('--steps', type=int, default=20)
    p.add_argument('--workers', type=int, default=0)
    p.add_argument('--late', type=int, action='append', default=[])
    p.add_argument('--sleep-ms', type=float, default=50)
    p.add_argument('--gpu-ms', type=float, default=8, help='of kernels per step')
    p.add_argument('--kill', metavar='RANK:STEP', help='that rank kills itself there')
    p.add_argument('--hang', metavar='RANK:STEP', help='that rank sleeps for good there')
    p.add_argument('--pairs', action='store_true', help='a third reduction within pairs of ranks')
    p.add_argument('--gloo', action='store_true')
    p.add_argument('--meet', help='a folder that all ranks see')
    p.add_argument('--own-ledger', metavar='FOLDER')
    return p.parse_args()


def meet(args, what):
    """Returns when all ranks are here."""
    if args.gloo:
        torch.distributed.barrier()
        return
    if not args.meet:
        return
    with open(os.path.join(args.meet, f'{what}.{RANK}'), 'w'):
        pass
    while sum(n.startswith(what + '.') for n in os.listdir(args.meet)) < WORLD:
        time.sleep(.005)


def fate(args, step):
    for kind, text in (('kill', args.kill), ('hang', args.hang)):
        if text and text == f'{RANK}:{step}':
            if kind == 'kill':
                time.sleep(1.5)  # so that what it did so far is on its way
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(3600)


class Step:
    """What a step launches."""

    def __init__(self, args):
        self.dev = gpudev.Device(LOCAL % gpudev.device_count())
        self.compute, self.comm = gpudev.Stream(self.dev), gpudev.Stream(self.dev)
        self.pair = gpudev.Stream(self.dev) if args.pairs else None
        self.ns = int(args.gpu_ms * 1e6 / 8)

    def reduce(self):
        self.comm.wait(self.compute.record())
        self.comm.collective(200_000, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 1, WORLD)

    def __call__(self):
        for _ in range(4):
            self.compute.kernel(self.ns, 'forward')
        if self.pair:
            self.pair.wait(self.compute.record())
            self.pair.collective(50_000, 'ncclDevKernel_AllGather_RING_LL', 2 + RANK // 2, 2)
            self.compute.wait(self.pair.record())
        for _ in range(2):
            for _ in range(2):
                self.compute.kernel(self.ns, 'backward')
            self.reduce()
        self.compute.wait(self.comm.record())
        self.compute.kernel(100_000, 'optimizer')
        self.compute.synchronize()


def main():
    args = parse()
    if args.gloo:
        torch.distributed.init_process_group('gloo')
    step, rows = Step(args), []
    loader = DataLoader(Shards(args), batch_size=1, num_workers=args.workers)
    meet(args, 'begin')
    batches = iter(loader)
    for i in range(args.steps):
        fate(args, i)
        begin = time.time_ns()
        next(batches)
        got = time.time_ns()
        step()
        rows.append(dict(step=i, wait_begin_ns=begin, wait_end_ns=got, end_ns=time.time_ns()))
    if args.gloo:
        total = torch.ones(1)
        torch.distributed.all_reduce(total)
        assert total.item() == WORLD
    meet(args, 'end')
    if args.own_ledger:
        with open(os.path.join(args.own_ledger, f'{RANK}.jsonl'), 'w') as f:
            f.writelines(json.dumps(dict(r, rank=RANK, pid=os.getpid())) + '\n' for r in rows)
    print(f'rank {RANK} trained {len(rows)} steps')


if __name__ == '__main__':
    sys.exit(main())
