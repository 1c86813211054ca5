# SPDX-License-Identifier: Apache-2.0
"""The faults. Each is a generator: it does its harm, yields for how many seconds it is left at that,
and mends it. @w: the world. @r: what it may throw dice with. What cannot be done just now (the process
is dead already) returns without a yield, and does not count."""

import os
import shutil
import subprocess

import central

from . import daemons, disks

HOUR = 3600 * 10**9


def _revive(w, daemon):
    """Started again, at the latest when its disk has room."""
    if not daemon.start():
        w.to_revive.append(daemon)


def kill_node(w, r):
    node = r.choice(w.nodes)
    if node.alive:
        node.kill()
        yield r.uniform(0, 0.8)
        _revive(w, node)


def kill_centre(w, r):
    if w.centre.alive:
        w.centre.kill()
        yield r.uniform(0, 0.8)
        _revive(w, w.centre)


def kill_trainer(w, r):
    """A real process with libprof in it, and some of those that only send."""
    w.trainer.process.kill()
    for sender in r.sample(w.expendable, min(2, len(w.expendable))):
        sender.die()
    yield 0


def pause_node(w, r):
    node = r.choice(w.nodes)
    if node.alive:
        node.pause()
        yield r.uniform(0.2, 1.5)
        node.resume()


def pause_centre(w, r):
    if w.centre.alive:
        w.centre.pause()
        yield r.uniform(0.2, 1.5)
        w.centre.resume()


def reset(w, r):
    for _ in range(r.randrange(2, 6)):
        wire = r.choice(w.wires)
        wire.do(wire.reset)
        yield r.uniform(0.05, 0.5)


def half_open(w, r):
    """For good in a long round: the node must find out by itself."""
    wire = w.wires[-1] if w.long else r.choice(w.wires)
    wire.do(wire.hush)
    yield r.uniform(0.3, 1.5)
    if not w.long:
        wire.do(wire.drop_silent)


def partition(w, r):
    """In a long round 30 s, and until the node has acknowledged all that was sent to it meanwhile."""
    i = 0 if w.long else r.randrange(len(w.nodes))
    join = w.network.cut(i, r)
    try:
        yield w.long_s if w.long else r.uniform(0.3, 2)
        for _ in range(600):
            if not w.long or w.acknowledged(w.nodes[i]):
                break
            yield 0.1
        else:
            w.problem('the node keeps its clients waiting while the centre is away')
    finally:
        join()


def slow(w, r):
    wire = r.choice(w.wires)
    wire.trickle, wire.delay = r.choice([50, 500, 4000]), r.uniform(0.002, 0.02)
    yield r.uniform(0.5, 2)
    wire.trickle = wire.delay = 0


def late(w, r):
    wire = r.choice(w.wires)
    wire.delay = r.uniform(0.1, 0.4)
    yield r.uniform(0.5, 2)
    wire.delay = 0


def reorder(w, r):
    """Posts are kept back; what the node sends later arrives before them."""
    wire = r.choice(w.wires)
    wire.hold.update(frames=r.randrange(1, 3), side=r.randrange(1, 3))
    yield from _until(w, lambda: not wire.hold['frames'])
    wire.hold.clear()
    yield r.uniform(0.5, 1.5)
    wire.do(wire.release)


def duplicate(w, r):
    """Posts of now and of earlier rounds arrive again, several at a time."""
    wire = r.choice(w.wires)
    for _ in range(r.randrange(1, 4)):
        yield from _until(w, lambda: wire.seen)
        seen = list(wire.seen)
        wire.do(wire.replay, r.choices(seen, k=r.randrange(1, 4)) if seen else [])
        yield r.uniform(0.1, 0.5)


def corrupt(w, r):
    """A bit of a post's body, or of a side file's name, is turned over on its way."""
    wire = r.choice(w.wires)
    wire.flip.update(frames=r.randrange(1, 4), side=r.randrange(1, 4))
    yield from _until(w, lambda: not wire.flip['frames'])
    wire.flip.clear()


def corrupt_client(w, r):
    """The same on the way from a process to its node's collector."""
    for sender in r.sample(w.expendable, 2):
        sender.harm = True
    yield 0.5


def cut_answer(w, r):
    """The centre has stored it, and the node does not learn it."""
    wire = r.choice(w.wires)
    wire.cut = r.randrange(1, 3)
    yield from _until(w, lambda: not wire.cut)
    wire.cut = 0


def disk_node(w, r):
    node = r.choice(w.nodes)
    yield from _full(w, r, node)


def disk_centre(w, r):
    yield from _full(w, r, w.centre)


def _full(w, r, daemon):
    if daemon in w.full:
        return
    daemon.disk.fill(daemon)
    w.full.add(daemon)
    w.was_full.add(daemon)
    yield r.uniform(0.5, 2)
    daemon.disk.free(daemon)
    w.full.discard(daemon)


def clock_step(w, r):
    daemon = r.choice([w.centre, *w.nodes])
    daemon.step(r.choice([-24 * HOUR, -HOUR, -10**9, 10**9, HOUR, 24 * HOUR]))
    yield r.uniform(0.2, 1)
    if r.random() < 0.5:
        daemon.step(0)


def copy_centre(w, to):
    """The centre's store as cp -a takes it, while it is being written."""
    shutil.rmtree(to, ignore_errors=True)
    subprocess.run(['cp', '-a', w.centre.base, to], capture_output=True)
    return to


def restore_centre(w, r):
    """It goes back to what it was some seconds ago: from a copy, or below the file system."""
    if not w.centre.alive or w.centre.paused or w.centre in w.full:
        return
    backup = copy_centre(w, os.path.join(w.folder, 'backup'))
    yield r.uniform(0.3, 1.5)
    yield from _go_back(w, r, backup)


def restore_old(w, r):
    """It goes back to what it was rounds ago: whole runs are not there any more."""
    if not w.centre.alive or w.centre.paused or w.centre in w.full or not os.path.exists(w.archive):
        return
    yield r.uniform(0, 0.5)
    yield from _go_back(w, r, w.archive)


def _go_back(w, r, backup):
    yield from _until(w, lambda: w.centre not in w.full)
    if w.centre in w.full:
        return
    w.centre.kill()
    if r.random() < 0.5:
        shutil.rmtree(w.centre.base)
        subprocess.run(['cp', '-a', backup, w.centre.base], check=True)
    else:
        central.roll_back(w.centre.base, backup)
    w.went_back()
    shutil.rmtree(backup)
    _revive(w, w.centre)


def two_centres(w, r):
    """Nodes are led in turn to it and to another one, which began as a copy and stays behind."""
    if not w.centre.alive or w.second:
        return
    place = os.path.join(w.folder, 'second')
    os.makedirs(place)
    copy_centre(w, os.path.join(place, 'runs'))
    w.second = daemons.Centre(w.folder, w.network.centre, disks.Capped(place), w.tls, 'second')
    try:
        for turn in range(4):
            for wire in w.wires:
                wire.to = w.centre.port if turn % 2 else w.second.port
                wire.do(wire.reset)
            yield r.uniform(0.3, 1)
    finally:
        for wire in w.wires:
            wire.to = w.centre.port
            wire.do(wire.reset)
        w.second.kill()
        w.second = None
        shutil.rmtree(place)


def _until(w, condition, seconds=3):
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        yield 0.05


# The order is that of the table. Those of a long round are in world.py.
KINDS = {
    'node killed': kill_node, 'centre killed': kill_centre, 'trainers killed': kill_trainer,
    'node stopped': pause_node, 'centre stopped': pause_centre, 'connections reset': reset,
    'half-open peer': half_open, 'partition': partition, 'slow': slow, 'late': late,
    'reordered': reorder, 'duplicated': duplicate, 'corrupted on the way': corrupt,
    'corrupted by a client': corrupt_client, 'answer cut': cut_answer,
    'disk full at a node': disk_node, 'disk full at the centre': disk_centre, 'clock step': clock_step,
    'centre restored': restore_centre, 'centre restored from rounds ago': restore_old,
    'two centres in turn': two_centres,
}
LONG = ('partition', 'half-open peer')
