#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a task of a job does in these tests: some steps on its first visible GPU with pauses between
them, as a loader that is too slow makes them, and a little output. What it prints depends on nothing
but its arguments and its rank, so that two jobs can be compared byte by byte. It notes in a file of
its own who it was and when it lived."""
import argparse
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'workloads'))
begin = time.time_ns()


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument('--steps', type=int, default=20)
    p.add_argument('--gpu-ms', type=float, default=4)
    p.add_argument('--wait-ms', type=float, default=4)
    p.add_argument('--notes', required=True, help='folder')
    p.add_argument('--exit', type=int, default=0, help='status to end with')
    p.add_argument('--only', type=int, default=None, help='only this local rank uses a GPU')
    p.add_argument('--until', help='go on until this file is there')
    p.add_argument('--first-life', help='behave so only until this job was requeued: until, crash')
    p.add_argument('--grow', type=int, default=0, help='MiB to take after the steps')
    p.add_argument('--crash', action='store_true', help='die of SIGKILL after the steps')
    return p.parse_args()


def number(name):
    return int(os.environ.get(name) or 0)


def note(args, **more):
    """Replaced as a whole, so that a task that is killed leaves its last words."""
    path = os.path.join(args.notes, f'{os.uname().nodename}-{os.getpid()}.task')
    row = dict(pid=os.getpid(), rank=number('SLURM_PROCID'), node=os.environ.get('SLURMD_NODENAME'),
               step=os.environ.get('SLURM_STEP_ID'),
               job=os.environ.get('SLURM_JOB_ID'), restart=number('SLURM_RESTART_COUNT'),
               preload=os.environ.get('LD_PRELOAD', ''), begin_ns=begin, **more)
    with open(path + '.new', 'w', encoding='utf-8') as f:
        json.dump(row, f)
    os.rename(path + '.new', path)


def train(args):
    import gpudev
    dev = gpudev.Device(0)
    stream = gpudev.Stream(dev)
    buffer, pinned = dev.malloc(1 << 20), dev.host_alloc(1 << 20)
    done = 0
    while done < args.steps or args.until and not os.path.exists(args.until):
        time.sleep(args.wait_ms / 1000)
        dev.h2d(buffer, pinned, 1 << 20, stream)
        stream.kernel(int(args.gpu_ms * 1e6), 'forward')
        stream.synchronize()
        done += 1
        if done == 1:
            note(args, uuid=dev.uuid)
    return dev.uuid


def main():
    args = arguments()
    if args.first_life and number('SLURM_RESTART_COUNT'):
        args.until, args.crash = None, False
    note(args)
    rank, uuid = number('SLURM_PROCID'), None
    print(f'rank {rank} of {number("SLURM_NTASKS")} begins', flush=True)
    if args.only is None or args.only == number('SLURM_LOCALID'):
        uuid = train(args)
    elif args.until:
        while not os.path.exists(args.until):
            time.sleep(0.05)
    if args.grow:
        block = bytearray(args.grow << 20)
        block[::4096] = b'x' * len(block[::4096])
        time.sleep(600)
    print(f'rank {rank}: a word on stderr', file=sys.stderr, flush=True)
    note(args, uuid=uuid, end_ns=time.time_ns())
    if args.crash:
        os.kill(os.getpid(), signal.SIGKILL)
    print(f'rank {rank} trained', flush=True)
    sys.exit(args.exit)


main()
