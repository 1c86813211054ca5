# SPDX-License-Identifier: Apache-2.0
"""Kinds of waits that are none for input: 0 ns of input.* may be reported in any. Each variant is another reason
for which the wait is long."""
import base64
import os
import shutil
import struct

import gs
from feeding.around import Missing, jpeg
from feeding.cases import Kind

EVERY = []
SLOW, BUSY = 'slow', 'busy'  # somebody waits; somebody computes
AS_IS = 'as_is'
SIZE = 1 << 16
NO_WORK = {'': ['host.no_work']}


def other(program, *variants, steps=80):
    def note(fn):
        EVERY.append(Kind(fn.__name__, program, variants, fn, True, steps, ()))
        return fn
    return note


def slow_disk(c, rng, around, ms=None):
    """What is written there takes its time; so many bytes are one write, and a sync."""
    ms = ms or rng.uniform(15, 25)
    c.plan.update(root=around.fuse(write=ms / 2, sync=ms / 2), count=4000)


def folder(c, around):
    c.plan['root'] = around.path('place')
    os.mkdir(c.plan['root'])


def asleep_or_busy(c, rng, unit):
    ms = rng.uniform(12, 18)
    c.plan.update(nap=0 if c.variant == BUSY else ms / 1000, rounds=round(ms / unit) if c.variant == BUSY else 0)


# ---- what the trainer has to settle ----

@other('moons.py', SLOW, BUSY)
def saver_joined(c, rng, around):
    if c.variant == SLOW:
        slow_disk(c, rng, around)
    else:
        folder(c, around)
        c.plan.update(rounds=rng.randrange(3, 5), count=4000)


@other('gulls.py', SLOW)
def metrics_put(c, rng, around):
    slow_disk(c, rng, around, rng.uniform(30, 40))


@other('bees.py', BUSY)
def queue_joined(c, rng, around):
    c.plan['rounds'] = rng.randrange(5, 9)


@other('crabs.py', SLOW)
def checkpoint_future(c, rng, around):
    slow_disk(c, rng, around, rng.uniform(25, 35))


@other('newts.py', BUSY)
def scored_outside(c, rng, around):
    c.plan['rounds'] = rng.randrange(2, 4)


@other('plays.py', SLOW)
def slow_log(c, rng, around):
    slow_disk(c, rng, around, rng.uniform(25, 35))


@other('bells.py', SLOW)
def tracker(c, rng, around):
    c.plan['port'] = around.site(rng.uniform(12, 18), b'{"stored": true}')


@other('ledgers.py', SLOW, BUSY)
def books_of_ours(c, rng, around):
    """Whoever answers is of the job, and may well compute before it does."""
    asleep_or_busy(c, rng, 0.04)


@other('trees.py', AS_IS)
def subprocess_ends(c, rng, around):
    if not shutil.which('git'):
        raise Missing('no git')
    folder(c, around)


@other('nests.py', SLOW, BUSY)
def child_joined(c, rng, around):
    content = jpeg(200, rng.randrange(1000))
    c.plan.update(root=around.folder(content, rng.uniform(20, 30) if c.variant == SLOW else 0),
                  rounds=rng.randrange(15, 25) if c.variant == BUSY else 1)


@other('foxes.py', SLOW)
def decoy(c, rng, around):
    """A thread decodes pictures exactly while the trainer waits for another one."""
    slow_disk(c, rng, around, rng.uniform(25, 35))
    c.plan['path'] = around.folder(jpeg(200, rng.randrange(1000)))


# ---- what it computes for itself ----

@other('kites.py', BUSY)
def offloaded_optimizer(c, rng, around):
    c.plan['rounds'] = rng.randrange(2, 4)


@other('marks.py', BUSY, 'few')
def judged_here(c, rng, around):
    c.plan.update(count=1 << 19 if c.variant == BUSY else 1 << 12, rounds=3 if c.variant == BUSY else 300)


@other('reports.py', BUSY, 'generator')
def reports_here(c, rng, around):
    c.plan.update(rounds=rng.randrange(40, 60), count=c.variant == 'generator')


@other('rates.py', BUSY)
def rate_searched(c, rng, around):
    c.plan['rounds'] = rng.randrange(15, 25)


# ---- whom it has to meet ----

@other('waves.py', SLOW, BUSY)
def socket_barrier(c, rng, around):
    asleep_or_busy(c, rng, 0.3)


@other('eels.py', SLOW, BUSY)
def polled_turn(c, rng, around):
    """In memory that both processes have, and look at again and again."""
    asleep_or_busy(c, rng, 1)


@other('eels.py', SLOW, BUSY)
def polled_files(c, rng, around):
    folder(c, around)
    c.plan['how'] = 'files'
    asleep_or_busy(c, rng, 1)


@other('rocks.py', SLOW)
def file_lock(c, rng, around):
    folder(c, around)
    c.plan['nap'] = rng.uniform(0.012, 0.018)


@other('herds.py', BUSY)
def thread_barrier(c, rng, around):
    c.plan['rounds'] = rng.randrange(4, 7)


@other('spans.py', BUSY)
def evaluators_lock(c, rng, around):
    c.plan['rounds'] = rng.randrange(4, 7)


@other('lakes.py', BUSY)
def parameter_server(c, rng, around):
    c.plan['rounds'] = rng.randrange(14, 20)


@other('wolves.py', SLOW)
def watchdog(c, rng, around):
    asleep_or_busy(c, rng, 1)


@other('goats.py', SLOW)
def word_from_beside(c, rng, around):
    """Somebody who is not below the trainer, but of its run."""
    asleep_or_busy(c, rng, 1)


@other('beats.py', AS_IS)
def rate_limit(c, rng, around):
    c.plan['nap'] = rng.uniform(0.018, 0.022)


@other('trams.py', AS_IS, steps=160)
def scheduler(c, rng, around):
    c.plan['path'] = os.path.join(around.where, 'go')
    around.later(c.plan['path'], rng.uniform(25, 40), c.plan['steps'] // 4)


# ---- who serves ----

def posts(version):
    image = b'\1' * SIZE

    def talk(connect, n, kept=[]):
        peer = kept.pop() if kept and version == 'HTTP/1.1' else connect()
        peer.sendall(b'POST /shop HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % len(image) + image)
        peer.recv(4096)
        peer.close()
    return talk


@other('shops.py', AS_IS)
def http_server(c, rng, around):
    c.expect['hold'] = NO_WORK
    c.plan.update(port=gs.free_ports(1)[0], how='HTTP/1.0')
    around.asks(c.plan['port'], rng.uniform(15, 25), c.plan['steps'], posts('HTTP/1.0'))


@other('chats.py', AS_IS)
def asyncio_server(c, rng, around):
    c.expect['hold'] = NO_WORK
    c.plan['port'] = gs.free_ports(1)[0]
    line = base64.b64encode(b'\1' * SIZE) + b'\n'
    kept = []

    def talk(connect, n):
        if not kept:
            kept.append(connect())
        kept[0].sendall(line)
        kept[0].recv(100)
    around.asks(c.plan['port'], rng.uniform(15, 25), c.plan['steps'], talk)


def hands_in(c, rng, around):
    """Somebody from outside hands 64 KiB in, and waits for the answer."""
    c.expect['hold'] = NO_WORK
    c.plan['port'] = gs.free_ports(1)[0]

    def talk(connect, n, kept=[]):
        if not kept or n % 10 == 0:
            kept[:] = [connect()]
        kept[0].sendall(struct.pack('<I', SIZE) + b'\2' * SIZE)
        kept[0].recv(2)
    around.asks(c.plan['port'], rng.uniform(15, 25), c.plan['steps'], talk)


@other('desks.py', AS_IS)
def queued_requests(c, rng, around):
    hands_in(c, rng, around)


@other('posts.py', 'threads', 'select', 'asyncio')
def front_of_ours(c, rng, around):
    """Requests from outside come by way of a process of the job, to which the one with the GPU connects."""
    c.plan['how'] = c.variant
    hands_in(c, rng, around)


@other('posts.py', 'threads', 'select', 'asyncio')
def front_by_path(c, rng, around):
    c.plan['path'] = 'unix'
    front_of_ours(c, rng, around)


@other('tolls.py', AS_IS, 'beside_work')
def served_by_thread(c, rng, around):
    """The thread that serves hands on by a queue; a process of the job may compute meanwhile."""
    c.plan['count'] = c.variant == 'beside_work'
    hands_in(c, rng, around)


@other('inns.py', AS_IS)
def guests_of_ours(c, rng, around):
    c.expect['hold'] = NO_WORK
    c.plan.update(nap=rng.uniform(0.015, 0.025), count=rng.randrange(1000))


@other('keys.py', AS_IS)
def person(c, rng, around):
    c.expect['hold'] = NO_WORK
    c.plan['steps'] = 30
    c.stdin = around.typist([f'c{n}' for n in range(30)], rng.uniform(60, 90))


@other('board.py', AS_IS)
def prompt(c, rng, around):
    c.expect['rest'] = NO_WORK
    c.plan['steps'] = 30
    c.argv = ['-i']
    c.stdin = around.typist([*['step()'] * 30, 'exit()'], rng.uniform(60, 90))
