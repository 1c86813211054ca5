#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the ranks of a job on this node, as torchrun does: launch_ranks.py --ranks N [--first R]
[--world W] COMMAND... Each gets RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR and
MASTER_PORT. When one fails the others get --grace seconds, then SIGTERM; SIGTERM is passed on to all.
Exit status 1 if one failed."""
import argparse
import os
import signal
import subprocess
import sys
import time


def parse():
    p = argparse.ArgumentParser()
    p.add_argument('--ranks', type=int, required=True, help='on this node')
    p.add_argument('--first', type=int, default=0, help='rank of the first')
    p.add_argument('--world', type=int)
    p.add_argument('--grace', type=float, default=1)
    p.add_argument('--master', default='127.0.0.1:29500')
    p.add_argument('command', nargs=argparse.REMAINDER)
    return p.parse_args()


def main():
    args = parse()
    address, _, port = args.master.partition(':')
    ranks = [subprocess.Popen(args.command, env=dict(
        os.environ, RANK=str(args.first + i), LOCAL_RANK=str(i), WORLD_SIZE=str(args.world or args.ranks),
        LOCAL_WORLD_SIZE=str(args.ranks), MASTER_ADDR=address, MASTER_PORT=port))
        for i in range(args.ranks)]
    signal.signal(signal.SIGTERM, lambda *_: [p.terminate() for p in ranks])
    while any(p.poll() is None for p in ranks) and not any(p.poll() for p in ranks):
        time.sleep(.02)
    if any(p.poll() for p in ranks):
        time.sleep(args.grace)
        for p in ranks:
            if p.poll() is None:
                p.terminate()
    return int(any([p.wait() for p in ranks]))


if __name__ == '__main__':
    sys.exit(main())
