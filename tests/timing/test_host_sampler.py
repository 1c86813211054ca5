#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e serial timeout=600
"""Golden classifications: what the host sampler says of workers and of the trainer that wait in one
known way each. All waits are in a function called planted, whose line must be there. What waits for a
core instead, as the kernel counts it, is left out where something else is planted."""
import collections
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import gs
import hostsampler as hs

FADVISE = 221

# mode, state and wait of samples in planted, least share of these, what their target has in it
WORKERS = [
    ('sleep', (hs.SLEEPING, hs.SLEEP), 0.8, None),
    ('fifo', (hs.SLEEPING, hs.PIPE), 0.8, 'a fifo'),
    ('pipe', (hs.SLEEPING, hs.PIPE), 0.8, 'pipe'),
    ('net', (hs.SLEEPING, hs.SOCKET), 0.8, 'socket'),
    ('work', (hs.RUNNING, hs.NONE), 0.8, None),
]


def describe(samples):
    return collections.Counter((s['state'], s['wait'], s['target']) for s in samples).most_common(5)


def share(samples, state, wait):
    good = [s for s in samples if (s['state'], s['wait']) == (state, wait)]
    return good, len(good) / max(1, len(samples))


def workers():
    for mode, want, least, target in WORKERS:
        with gs.scratch() as where:
            said, trace = hs.run(where, mode, '--steps', 120)
            if not trace:
                continue
            samples = hs.in_planted(hs.looks(trace, hs.WORKER))
            seen = len(samples)
            if mode != 'work':
                no_core = hs.waited_for_core(trace)
                samples = [s for s in samples if id(s) not in no_core]
            good, part = share(samples, *want)
            gs.check(len(samples) >= 10, f'{mode}: {len(samples)} samples of workers in planted')
            gs.check(part >= least, f'{mode}: {part:.0%} as expected: {describe(samples)}')
            if target:
                gs.check(all(target in s['target'] for s in good), f'{mode}: {describe(good)}')
            gs.check(not any(s['flags'] & hs.TORN for s in good if s['flags'] & hs.STEADY),
                     f'{mode}: a stack of a blocked thread is torn')
            main = hs.looks(trace, hs.SUBMITTER)
            gs.check([s for s in main if s['wait'] == hs.QUEUE], f'{mode}: the trainer waits for no '
                     f'queue: {describe(main)}')
            print(f'{mode}: {len(samples)} of {seen} samples, {part:.0%}')


def lock():
    """Half of the time a worker has the lock, and sleeps; the other half it waits for it."""
    with gs.scratch() as where:
        said, trace = hs.run(where, 'lock')
        if not trace:
            return
        no_core = hs.waited_for_core(trace)
        samples = [s for s in hs.in_planted(hs.looks(trace, hs.WORKER)) if id(s) not in no_core]
        _, waits = share(samples, hs.SLEEPING, hs.LOCK_SHARED)
        _, sleeps = share(samples, hs.SLEEPING, hs.SLEEP)
        gs.check(waits > 0.3 and sleeps > 0.3 and waits + sleeps > 0.8,
                 f'lock: {waits:.0%} + {sleeps:.0%}: {describe(samples)}')


def disk():
    """Only what comes from a disk is in state D: not every machine has one that is slow."""
    for mode, wait in (('disk', hs.READ), ('mapped', hs.FAULT)):
        with gs.scratch() as where:
            said, trace = hs.run(where, mode, '--steps', 30, HOSTWAITS_DIR=where)
            if not trace:
                continue
            samples = hs.in_planted(hs.looks(trace, hs.WORKER))
            slow = [s for s in samples if s['state'] == hs.DISK and s['syscall'] != FADVISE + 1]
            if len(slow) < 5:
                print(f'{mode}: {len(slow)} of {len(samples)} samples wait for the disk, too few')
                continue
            gs.check(sum(s['wait'] == wait for s in slow) >= 0.8 * len(slow),
                     f'{mode}: {describe(slow)}')
            if mode == 'disk':
                gs.check(all(where in s['target'] and s['fs'] for s in slow if s['wait'] == wait),
                         f'{mode}: {describe(slow)}')


def trainer():
    with gs.scratch() as where:
        said, trace = hs.run(where, 'main')
        if trace:
            mine = hs.looks(trace, hs.SUBMITTER)
            part = len([s for s in hs.in_planted(mine) if s['state'] == hs.RUNNING]) / len(mine)
            gs.check(part > 0.4, f'main: {part:.0%} in planted: {describe(mine)}')
            idle = [s for s in hs.looks(trace, hs.WORKER) if s['wait'] == hs.QUEUE]
            print(f'main: {len(mine)} samples of the trainer, {part:.0%}; idle workers: {len(idle)}')
    with gs.scratch() as where:
        said, trace = hs.run(where, 'hogs', '--steps', 80)
        if trace:
            mine = hs.looks(trace, hs.SUBMITTER)
            gil = [s for s in mine if s['wait'] == hs.GIL]
            hogs = [s for s in trace.samples if s['flags'] & hs.HELD and
                    'planted_hog' in hs.functions(s)]
            gs.check(len(gil) > 0.3 * len(mine), f'hogs: {describe(mine)}')
            gs.check(hogs, 'hogs: who has the lock is not seen')
            print(f'hogs: {len(gil)} of {len(mine)} wait for the GIL, {len(hogs)} of holders')
    with gs.scratch() as where:
        said, trace = hs.run(where, 'thread')
        if trace:
            mine = hs.looks(trace, hs.SUBMITTER)
            waits = [s for s in mine if 'planted_wait' in hs.functions(s)]
            gs.check(waits and sum(s['wait'] == hs.LOCK for s in waits) > 0.8 * len(waits),
                     f'thread: {describe(waits)}')


if __name__ == '__main__':
    workers()
    lock()
    disk()
    trainer()
    gs.finish()
