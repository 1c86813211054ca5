#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What finding causes costs: CPU time of engine_dump over the random traces of test_evidence_random, in which far
more threads wait for each other than in any real run, with one thread; the trace that costs most apart.

    bench_evidence.py [BUILD...] [--seeds N] [--rounds N]

With several builds these take turns, trace by trace; of the rounds the least counts."""
import argparse
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e', 'analysis'))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import gs  # noqa: E402
import test_evidence_random as cases  # noqa: E402


def make(seed, folder):
    os.makedirs(folder)
    subprocess.run([os.path.join(cases.BIN, 'evidence_make'), folder, '1000'], text=True, check=True,
                   input=cases.Case(seed).text(0, random.Random(seed)))


def cpu(program, folder):
    """Seconds of CPU of the program over one trace, or of its start alone without one."""
    pid = os.posix_spawn(program, [program, '--threads', '1', *([folder] if folder else [])], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)])
    _, status, used = os.wait4(pid, 0)
    if folder and status:
        raise SystemExit(f'{program} {folder}: status {status}')
    return used.ru_utime + used.ru_stime


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('builds', nargs='*', default=[gs.BUILD], metavar='BUILD')
    p.add_argument('--seeds', type=int, default=160), p.add_argument('--rounds', type=int, default=3)
    args = p.parse_args()
    programs = [os.path.join(b, 'tests', 'engine_dump') for b in args.builds]
    best = {p: {} for p in programs}
    with gs.scratch() as where:
        for seed in range(1, args.seeds + 1):
            folder = os.path.join(where, str(seed))
            make(seed, folder)
            for _ in range(args.rounds):
                for p in programs:
                    best[p][seed] = min(best[p].get(seed, 1e9), cpu(p, folder))
    for b, p in zip(args.builds, programs):
        start = min(cpu(p, None) for _ in range(20))
        most = max(best[p], key=best[p].get)
        print(f'{b}: {sum(best[p].values()):.2f} s of CPU over {args.seeds} traces, of which {args.seeds * start:.2f} are '
              f'starts; seed {most} {best[p][most]:.2f} s')


main()
