#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e first timeout=900
"""The host sampler where it is not wanted or cannot see: refused process_vm_readv, a process that
may not be dumped, a user without rights, many forks (2,000 with GS_BIG=1), the program's own signal handlers. The job
goes on untouched, and what was not visible is said."""
import collections
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import hostsampler as hs

FORKS = 2000 if gs.BIG else 500


def notes(trace):
    return ' '.join(trace.hello['notes'] + (trace.bye['notes'] if trace.bye else []))


def stacks(trace):
    mine = hs.looks(trace, hs.SUBMITTER)
    return sum(bool(s['stack']) for s in mine) / max(1, len(mine)), mine


def seccomp():
    """Stacks are read another way round."""
    with gs.scratch() as where:
        said, trace = hs.run(where, 'sleep', '--seccomp', '--workers', 0)
        if trace:
            part, mine = stacks(trace)
            gs.check(part > 0.5, f'seccomp: {part:.0%} of {len(mine)} samples have a stack')
            gs.check(hs.in_planted(mine), 'seccomp: planted is not seen')
            gs.check('/proc/PID/mem' in notes(trace) or 'pipe' in notes(trace),
                     f'seccomp: notes: {notes(trace)}')


def unprivileged():
    """An ordinary user sees all of its own threads; of a process that may not be dumped only the
    states and the stacks, and a note says so."""
    if os.getuid() or not shutil.which('setpriv'):
        gs.left_out('unprivileged: not root, or no setpriv')
        return
    prefix = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    if gs.command([*prefix, 'test', '-r', gs.LIBPROF]).returncode:
        gs.left_out('unprivileged: the build cannot be read by others')
        return
    for undumpable in (False, True):
        with gs.scratch() as where:
            os.chmod(where, 0o777)
            os.makedirs(os.path.join(where, 'truth'), mode=0o777)
            os.chmod(os.path.join(where, 'truth'), 0o777)
            said, trace = hs.run(where, 'sleep', '--workers', 0,
                                 *(['--undumpable'] if undumpable else []), prefix=prefix)
            if not trace:
                continue
            what = 'undumpable' if undumpable else 'unprivileged'
            part, mine = stacks(trace)
            asleep = [s for s in hs.in_planted(mine) if s['state'] == hs.SLEEPING]
            want = hs.UNKNOWN if undumpable else hs.SLEEP
            gs.check(part > 0.5, f'{what}: {part:.0%} of {len(mine)} samples have a stack')
            # On a busy machine one that has woken up is seen before it has the interpreter's lock.
            waits = collections.Counter(s['wait'] for s in asleep)
            gs.check(waits[want] > len(asleep) * 0.8 and set(waits) <= {want, hs.LOCK}, f'{what}: waits {waits}')
            gs.equal('is not seen' in notes(trace), undumpable, f'{what}: notes: {notes(trace)}')


def hidepid():
    """A /proc that hides other users' processes hides nothing of one's own."""
    prefix = ['unshare', '-m', 'sh', '-c', 'mount --make-rprivate / && '
              'mount -t proc -o hidepid=2 proc /proc && '
              'exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"', 'sh']
    if os.getuid() or gs.command([*prefix, 'test', '-r', gs.LIBPROF]).returncode:
        gs.left_out('hidepid: not to be had')
        return
    with gs.scratch() as where:
        os.chmod(where, 0o777)
        os.makedirs(os.path.join(where, 'truth'), mode=0o777)
        os.chmod(os.path.join(where, 'truth'), 0o777)
        said, trace = hs.run(where, 'sleep', prefix=prefix)
        if trace:
            workers = hs.in_planted(hs.looks(trace, hs.WORKER))
            gs.check(sum(s['wait'] == hs.SLEEP for s in workers) >= 10, f'hidepid: {len(workers)}')
            gs.check('not seen' not in notes(trace), f'hidepid: notes: {notes(trace)}')


def forks():
    """No deadlock. A fork takes as long as it takes: torch maps much, with or without a sampler."""
    with gs.scratch() as where:
        said, trace = hs.run(where, 'forks', '--workers', 0, '--steps', FORKS // 100, timeout=400)
        if trace:
            mine = hs.looks(trace, hs.SUBMITTER)
            gs.check(mine, 'forks: no samples')
            print(f'{FORKS} forks: {len(mine)} samples, the slowest fork {said["worst_fork"] * 1e3:.1f} ms')


def signals():
    """No call is interrupted, and no handler of the program's is touched."""
    with gs.scratch() as where:
        said, trace = hs.run(where, 'polls', '--workers', 0, '--steps', 20)
        if trace:
            gs.check(len(hs.looks(trace, hs.SUBMITTER)) >= 20, 'polls: few samples')
            gs.equal(said['interrupted'], 0, 'polls: calls interrupted')
            gs.equal(said['handlers'][0], said['handlers'][1], 'polls: signals that are caught')
    with gs.scratch() as where:
        said, trace = hs.run(where, 'work', '--workers', 0, '--handlers', '--steps', 30)
        if trace:
            gs.equal(said['handlers'][0], said['handlers'][1], 'handlers: signals that are caught')
            gs.check(said['profs'] > 0 and said['faulthandler'], f'handlers: {said}')


def untouched():
    """Descriptors of the program are as without a sampler."""
    found = []
    for sampler in (0, 1):
        with gs.scratch() as where:
            said, trace = hs.run(where, 'sleep', '--workers', 0, '--steps', 20,
                                 GPUSTARVE_SAMPLER=sampler)
            if trace:
                found.append(said['fds'])
                gs.equal(bool(hs.looks(trace, hs.SUBMITTER)), bool(sampler), 'GPUSTARVE_SAMPLER')
    gs.check(len(found) == 2 and found[0] == found[1], f'descriptors: {found}')


if __name__ == '__main__':
    seccomp()
    unprivileged()
    hidepid()
    forks()
    signals()
    untouched()
    gs.finish()
