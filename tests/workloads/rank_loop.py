#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rank as launchers start it: some kernels on the GPU of its local rank. What it was told it is, by the variables that the
launcher gives (RANK, WORLD_SIZE, LOCAL_RANK, or those of --by, in this order), it writes into a file below --told, with the
name of its host and its process's number.

    rank_loop.py --told FOLDER [--by RANK,WORLD_SIZE,LOCAL_RANK] [--steps N] [what launchers add: --local_rank=N]"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpudev  # noqa: E402

KERNEL_NS = 1_000_000


def work(local, steps):
    dev = gpudev.Device(local)
    stream = gpudev.Stream(dev)
    for _ in range(steps):
        stream.kernel(KERNEL_NS, 'step')
        stream.synchronize()


def tell(folder, rank, world, local):
    name = f'{os.uname().nodename}-{os.getpid()}'
    with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
        json.dump({'host': os.uname().nodename, 'pid': os.getpid(), 'rank': rank, 'world': world, 'local_rank': local}, f)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--told', required=True)
    p.add_argument('--by', default='RANK,WORLD_SIZE,LOCAL_RANK')
    p.add_argument('--steps', type=int, default=20)
    p.add_argument('--local_rank', type=int)
    args = p.parse_args()
    rank, world, local = (int(os.environ[name]) for name in args.by.split(','))
    tell(args.told, rank, world, local)
    work(local, args.steps)


if __name__ == '__main__':
    main()
