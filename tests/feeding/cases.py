# SPDX-License-Identifier: Apache-2.0
"""What a case is: a program of tests/workloads/feeds, its settings, and what the report must call each place of
its diary; the tables of kinds are in feeds.py (the GPU waits for its batches) and others.py (it waits for
something else).

A place's lines are those with its mark in the program's source (`#: get`, `#: make`, `#: wait`)."""
import collections
import os
import random
import re

import gs

FETCH, PREP, STARVED, PIPELINE, HANDOFF, EPOCH, INLINE = (
    'input.' + name for name in ('fetch', 'prep', 'cpu_starved', 'pipeline', 'handoff', 'epoch', 'inline'))
UNKNOWN = ('host.wait', 'host.unknown', 'input.unknown', 'device.unknown')
PROGRAMS = os.path.join(gs.WORKLOADS, 'feeds')

# By what the thread did meanwhile; where one class leads by far it decides a wait, so small shares may follow
# the large one. A maker may also wait for the interpreter, which other makers hold.
CPU = dict(cpu=[PREP], delay=[PREP, STARVED], blocked=[PREP, STARVED, PIPELINE, FETCH])
IO = dict(blocked=[FETCH], cpu=[FETCH, PREP], delay=[FETCH, STARVED])
NO_CPU = dict(delay=[STARVED], blocked=[STARVED], cpu=[STARVED, PREP])

# What is not planted.
ANY_INPUT, ANY_HOST = ['input.*'], ['host.*', 'device.*', 'input.h2d']
UNPLANTED = collections.defaultdict(lambda: ANY_HOST + ANY_INPUT, gpu=ANY_HOST, queued=ANY_HOST)


class Case:
    """name is KIND/VARIANT. never: no part of the idle time is a wait for input; what is expected is expected of
    the trainer's own notes."""

    def __init__(self, kind, variant, seed):
        self.kind, self.variant, self.name = kind, variant, f'{kind.name}/{variant}'
        self.rng = random.Random(f'{seed}/{self.name}')
        self.program = os.path.join(PROGRAMS, kind.program)
        self.never = kind.never
        self.plan, self.expect, self.env = {}, {}, {}
        self.stdin, self.argv = None, []
        self.in_order = False  # processes make batches, and each is waited for in turn
        self.chunked = 0  # of the batches, those that come with another one

    def build(self, around):
        self.plan = dict(steps=self.kind.steps, gpu_us=self.rng.randrange(3000, 5000),
                         kernels=self.rng.choice((1, 3, 4)), pageable=self.rng.random() < 0.3,
                         weights=self.rng.random() < 0.3)
        if self.never:
            self.plan['pageable'] = False  # which is a fault of its input
        self.kind.build(self, self.rng, around)
        return self

    def places(self):
        """What somebody does for a batch."""
        return set() if self.never else set(self.expect)


Kind = collections.namedtuple('Kind', 'name program variants build never steps needs')


def marks(program):
    """Mark -> {(file, line)} of a program, of those that it starts, and of the library that it waits in. A library
    that reads ahead with no line of the program on its stack is named by its file: `#: read in file.py`."""
    out, todo = collections.defaultdict(set), [program]
    for path in todo:
        with open(path) as f:
            text = f.read()
        for n, line in enumerate(text.split('\n'), 1):
            own = re.search(r'#: (\w+) in (\w+\.py)$', line.rstrip())
            if own:
                out[own[1]].add((own[2], None))
            m = re.search(r'#: ([\w ]+)$', line.rstrip())
            for mark in m.group(1).split() if m else ():
                out[mark].add((os.path.basename(path), n))
        more = [os.path.join(PROGRAMS, name) for name in re.findall(r"'(\w+\.py)'", text)]
        more += [os.path.join(gs.WORKLOADS, 'nativefeed.py')] if 'from nativefeed import Feed' in text else []
        todo += [name for name in dict.fromkeys(more) if name not in todo]  # some name themselves, or each other
    return out
