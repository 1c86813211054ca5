#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A driver of Ray with an actor per GPU, each a rank: told who it is by the variables that Ray Train gives its workers, in the
actor, after its process began. Ray shows each its own GPU alone.

    ray_ranks.py --told FOLDER --ranks N [--give]      --give: what gpustarve needs, as runtime_env, to a cluster that is there"""
import argparse
import os
import sys
import time

import ray

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = 'LD_PRELOAD', 'CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH'


@ray.remote(num_gpus=1)
class Rank:
    def __init__(self, rank, world, local):
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(local))
        sys.path.insert(0, HERE)

    def train(self, told, steps):
        import rank_loop
        rank_loop.tell(told, *(int(os.environ[name]) for name in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK')))
        rank_loop.work(0, steps)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--told', required=True)
    p.add_argument('--ranks', type=int, required=True)
    p.add_argument('--steps', type=int, default=20)
    p.add_argument('--give', action='store_true')
    args = p.parse_args()
    given = {k: v for k, v in os.environ.items() if k.startswith('GPUSTARVE_') or k in OURS}
    if args.give:
        ray.init(address='auto', runtime_env={'env_vars': given})
    else:
        ray.init(num_cpus=args.ranks, num_gpus=args.ranks, include_dashboard=False)
    ranks = [Rank.remote(r, args.ranks, r) for r in range(args.ranks)]
    ray.get([r.train.remote(args.told, args.steps) for r in ranks])
    time.sleep(2)  # a cluster of the driver's own is killed with it, and libprof's last second with that
    ray.shutdown()


if __name__ == '__main__':
    main()
