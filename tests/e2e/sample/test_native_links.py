#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""Links of native threads: who makes what the trainer waits for in a library carries the id of that
wait, decoys that compute meanwhile carry none; a native launcher's feeder is looked at."""
import collections
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

LOOP = os.path.join(gs.WORKLOADS, 'nativeloop.py')
Sample = collections.namedtuple('Sample', 'tid role state wait stack native links')


def play(mode, where, steps=150):
    """Names of threads to their ids, and the samples."""
    done, run, _ = gs.traced([gs.PYTHON, LOOP, mode, '--steps', str(steps)], where, ['--quiet'])
    if not gs.equal(done.returncode, 0, f'{mode}: {done.stderr.decode()[-500:]}'):
        return {}, []
    threads = json.loads(done.stdout.decode().splitlines()[-1])['threads']
    dumped = gs.gpustarve('dump', run, '--samples')
    return threads, [sample(line.split('\t')) for line in dumped.stdout.decode().splitlines()
                     if not line.startswith('#')]


def sample(row):
    return Sample(int(row[4].split('.')[1]), *row[5:8], *row[15:17], row[17].split())


def ids(samples, mark):
    """How often which id stands behind a mark."""
    return collections.Counter(w[1:] for s in samples for w in s.links if w[0] == mark)


def of(samples, threads, name):
    """Samples of threads that are called so, with or without a number."""
    tids = {t for n, all_ in threads.items() if n.split('/')[0] == name for t in all_}
    gs.check(tids, f'threads {name}: there are {sorted(threads)}')
    return [s for s in samples if s.tid in tids]


def names(native):
    """Functions of a native stack, innermost first."""
    frames = [f.rsplit('@', 1) for f in native.split(' < ')]
    text = '\n'.join('\t'.join([*where.rsplit('+', 1), build]) for where, build in frames if '+' in where)
    done = gs.command([os.path.join(gs.BUILD, 'tests', 'symbol_dump')], input=text.encode())
    return done.stdout.decode().splitlines()


def check_decoys(mode, samples, threads):
    # An event lies in no memory: nothing but the library tells who gives it, which is told as holding.
    for name in ('foreign',) if mode == 'event' else ('decoy', 'foreign'):
        linked = [s for s in of(samples, threads, name) if s.links or s.role != 'other']
        waits = [s for s in samples for i in linked[:1] for w in i.links if '?' + w[1:] in s.links]
        gs.check(not linked, f'{mode}: {name} makes nothing: {linked[:2]}, for which waited {waits[:2]}')


def check_trainer(mode, samples, threads):
    """The id that the trainer waits for."""
    trainer = [s for s in of(samples, threads, 'python3') if s.role == 'submitter']
    waited = ids(trainer, '?')
    gs.check(sum(waited.values()) >= 5, f'{mode}: the trainer waits for something native: {waited}')
    found = waited.most_common(1)[0][0] if waited else 'n0'
    gs.check(found.startswith('n') and int(found[1:], 16), f'{mode}: a native id: {found}')
    stacks = {s.stack.split(' ')[0] for s in trainer if '?' + found in s.links}
    gs.equal(stacks, {'Feed.__next__'}, f'{mode}: where the trainer waits')
    return found


def check_makers(mode, samples, threads, name, awaited, share=0.8, mark='!'):
    """Their samples; of so many the links tell of the wait: that they give, or hold what is beside it."""
    made = [s for s in of(samples, threads, name) if s.role == 'producer']
    gs.check(len(made) >= 5, f'{mode}: samples of {name}: {len(made)}')
    linked = [s for s in made if mark + awaited in s.links or '?' + awaited in s.links]
    gs.check(len(linked) >= max(1, share * len(made)), f'{mode}: {name} gives {awaited}: {len(linked)} of '
             f'{len(made)}: {collections.Counter(" ".join(s.links) for s in made).most_common(6)}')
    called = {w[1:].split('/')[0] for s in made for w in s.links if w[0] == '='}
    gs.equal(called, {name}, f'{mode}: names of threads')
    return made


def check_function(mode, made, function):
    stacks = {s.native for s in made if s.native}
    gs.check(any(function in names(n) for n in stacks), f'{mode}: {function} in {list(stacks)[:3]}')


def play_feed(mode, waits, function):
    with gs.scratch() as where:
        threads, samples = play(mode, where, 400 if mode == 'starved' else 150)
    if not samples:
        return
    awaited = check_trainer(mode, samples, threads)
    made = check_makers(mode, samples, threads, 'maker', awaited, mark='~' if mode == 'event' else '!')
    gs.check(any((s.wait if s.wait != 'none' else s.state) in waits for s in made),
             f'{mode}: {waits}: {collections.Counter((s.state, s.wait) for s in made)}')
    check_function(mode, made, function)
    check_decoys(mode, samples, threads)
    print(f'{mode}: {len(made)} samples of who makes {awaited}', flush=True)


def play_chain():
    """Who makes waits for who reads, by a link of its own."""
    with gs.scratch() as where:
        threads, samples = play('chain', where)
    if not samples:
        return
    awaited = check_trainer('chain', samples, threads)
    made = check_makers('chain', samples, threads, 'maker', awaited)
    theirs = ids(made, '?')
    theirs.pop(awaited, None)
    gs.check(theirs, f'chain: who makes waits itself: {ids(made, "!")}')
    if theirs:
        check_makers('chain', samples, threads, 'reader', theirs.most_common(1)[0][0], 0.1)
    check_decoys('chain', samples, threads)


def play_launch():
    """A submitter without Python, and who feeds it."""
    with gs.scratch() as where:
        threads, samples = play('launch', where, 300)
    if not samples:
        return
    waited = ids((s for s in of(samples, threads, 'launcher') if s.role == 'submitter'), '?')
    gs.check(sum(waited.values()) >= 5, f'launch: the launcher waits for something native: {waited}')
    feeds = [s for s in of(samples, threads, 'python3') if s.role == 'feeder']
    there = [s for s in feeds if 'launch ' in s.stack]
    gs.check(len(there) >= 5, f'launch: samples of the feeder, with its line: {len(there)} of {len(feeds)}')
    given = ids(there, '~') + ids(there, '!')
    for found in list(waited)[:1]:
        gs.check(given[found] >= len(there) / 2, f'launch: the feeder gives {found}: {given}')
    check_decoys('launch', samples, threads)
    print(f'launch: {len(there)} samples of who feeds {list(waited)}', flush=True)


def play_joined():
    """Who waits for a thread's end takes nothing from it."""
    with gs.scratch() as where:
        threads, samples = play('joined', where)
    if not samples:
        return
    trainer = [s for s in of(samples, threads, 'python3') if s.role == 'submitter']
    inside = [s for s in trainer if s.stack.startswith('Feed.close ')]
    gs.check(len(inside) >= 5, f'joined: the trainer waits: {collections.Counter(s.stack for s in trainer).most_common(4)}')
    gs.equal(ids(inside, '?'), {}, 'joined: nothing is awaited')
    check_decoys('joined', samples, threads)


gs.side_by_side([lambda: play_feed('decode', {'running'}, 'feed_thread'),
                 lambda: play_feed('ranges', {'running'}, 'feed_thread'),
                 lambda: play_feed('future', {'running'}, 'feed_thread'),
                 lambda: play_feed('event', {'running'}, 'feed_thread'),
                 lambda: play_feed('sleep', {'sleep'}, 'wait_device'),
                 lambda: play_feed('fifo', {'pipe'}, 'read_item'),
                 lambda: play_feed('starved', {'running'}, 'feed_thread'), play_chain, play_launch,
                 play_joined], 2)
gs.finish()
