#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A process of JAX's several: jax.distributed finds the others, by the launcher's variables or by --process I:N:ADDRESS, and what
it says of itself is told (see rank_loop.py). JAX computes on the CPU; the kernels are the driver API's."""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jax  # noqa: E402

import rank_loop  # noqa: E402


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--told', required=True)
    p.add_argument('--steps', type=int, default=20)
    p.add_argument('--process', metavar='I:N:ADDRESS')
    args = p.parse_args()
    if args.process:
        i, n, address = args.process.split(':', 2)
        jax.distributed.initialize(address, int(n), int(i), local_device_ids=[0])
        local = int(i)
    else:
        jax.distributed.initialize()
        local = int(os.environ['OMPI_COMM_WORLD_LOCAL_RANK'])
    rank_loop.tell(args.told, jax.process_index(), jax.process_count(), local)
    rank_loop.work(local, args.steps)
    jax.distributed.shutdown()


if __name__ == '__main__':
    main()
