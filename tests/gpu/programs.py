# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/programs, each under gpustarve and, in a run of its own with the same seed, inside torch.profiler:
are the same operations in both, and at least those that the program knows to have asked for? Standard library only."""
import collections
import json
import os

import base
import counting
from traces import Run

FOLDER = os.path.join(base.SOURCE, 'tests', 'programs')
# (question, what must be importable beside torch, argv)
PROGRAMS = (
    ('pictures from a pinned loader', 'PIL', ('cnn.py', '--steps', '20')),
    ('autocast and fused AdamW', '', ('transformer.py', '--steps', '20')),
    ('Lightning', 'lightning', ('lightned.py', '--steps', '20')),
    ('Accelerate', 'accelerate', ('accelerated.py', '--steps', '20')),
    ("Hugging Face's Trainer", 'transformers', ('hf_trainer.py', '--steps', '20')),
)


def importable(python, module):
    code = f'import importlib.util as u; print(bool(u.find_spec({module!r})))'
    return not module or base.text(python, '-c', code) == 'True'


def argv(python, program, *more):
    return [python, os.path.join(FOLDER, program[0]), *program[1:], *more]


class Told(Run):
    """Under gpustarve; @each is what the program counted itself."""

    def __init__(self, name, python, program, out, timeout):
        path = os.path.join(out, name + '.told')
        super().__init__(name, argv(python, program, '--told', path), out, timeout=timeout, rows=False,
                         options=['--max-overhead', '0'])
        self.each = None  # {}: it knows of none
        if os.path.exists(path):
            with open(path) as f:
                self.each = json.load(f)['each']


class Seen:
    """Inside torch.profiler, without us."""

    def __init__(self, name, python, program, out, timeout):
        path = os.path.join(out, name + '.seen')
        self.rc, _, self.err, _ = base.run(argv(python, program, '--profile', path), timeout)
        self.counted = collections.Counter()
        if self.rc == 0:
            with open(path) as f:
                self.counted = of_told(json.load(f))

    @property
    def late(self):
        return self.rc == 'timeout'

    def data(self):
        return dict(rc=self.rc, kinds=dict(counting.kinds(self.counted)), stderr='' if self.rc == 0 else self.err[-2000:])


def of_told(seen):
    """{kind: {name: n}} as told.py writes it, in counting's words: only kernels have names there."""
    counted = collections.Counter()
    for kind, names in seen.items():
        for name, n in names.items():
            counted[kind, counting.readable(name) if kind == 'kernel' else ''] += n
    return counted


def judge(run, seen):
    """(words, right)"""
    wrong, ours = run.faults(), counting.count(run.ops)
    by_kind = collections.Counter()
    for (kind, _), n in ours.items():
        by_kind[kind] += n
    wrong += [f'{kind}: {by_kind[kind]} of {n} that it asked for' for kind, n in (run.each or {}).items() if by_kind[kind] < n]
    if run.each is None:
        wrong.append('it told nothing')
    if seen.rc != 0 or not seen.counted:
        return wrong + [f'torch.profiler: rc {seen.rc}, {sum(seen.counted.values())} operations'], False
    found = counting.differences(ours, seen.counted)
    words = [counting.kinds_text(ours), 'torch.profiler, a run of its own: ' + counting.differences_text(found)]
    return wrong + words, not wrong and not found
