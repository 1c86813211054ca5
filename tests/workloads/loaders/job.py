# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: the settings, the diary and the model on the GPU are those of
tests/workloads/feeds/kit.py. Each program is a library's loader in front of a loop that calls card.step(batch);
its data set is made here, small and the same each time. Settings besides kit's:

    variant  prep: making a batch takes work; fetch: its data come slowly; starved: the work is little, and other
             programs are at the same core
    data     an empty folder for the data set;  slow: the same folder through slowmirror.py;  url: through slowhttp.py

A line that is slow ends with a mark (`#:` and read, make or native), which tests/loaders looks up."""
import io
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'feeds'))

import numpy  # noqa: E402

import kit  # noqa: E402

# Processes that a library starts by a command of its own find the settings in the environment.
cfg = kit.cfg
cfg.__dict__.update(dict(variant='prep', data='', slow='', url='', items=160, batch=4), steps=36)
cfg.__dict__.update(json.loads(os.environ.get('LOADERS_SETTINGS', '{}')))
if len(sys.argv) > 1 and sys.argv[1].startswith('{'):
    cfg.__dict__.update(json.loads(sys.argv[1]))
    os.environ['LOADERS_SETTINGS'] = sys.argv[1]

note = kit.note
PREP, FETCH = cfg.variant.startswith('prep'), cfg.variant.startswith('fetch')


def source(name=''):
    """Where the loader reads what was made under data."""
    return os.path.join(cfg.slow if FETCH else cfg.data, name)


def others():
    """Now, and {thread: (ns on a CPU, ns in which it could run and had none)} of this process's threads but this one."""
    out = {}
    for tid in os.listdir('/proc/self/task'):
        if int(tid) != threading.get_native_id():
            try:
                with open(f'/proc/self/task/{tid}/schedstat', 'rb') as file:
                    out[tid] = [int(n) for n in file.read().split()[:2]]
            except OSError:
                pass  # it has just ended
    return time.time_ns(), out


class Card(kit.Card):
    """Notes down, as the loop's wait, the time from one step's end to the next one's begin; native: who makes the
    batches is no Python, so what this process's other threads did meanwhile is told in its place."""

    def __init__(self, native=False):
        kit.settle()
        super().__init__()
        self.native, self.since = native, kit.diary.here().stamp()
        self.theirs = others() if native else None

    def step(self, batch):
        diary = kit.diary.here()
        if self.steps:
            diary.row('wait', self.steps, self.since, diary.stamp())
        else:
            diary.row('first', self.steps, self.since, diary.stamp())
        if self.native and self.steps:
            self.tell(diary, self.theirs, others())
        super().step(batch)
        if self.steps == 2 and cfg.core >= 0:
            os.sched_setaffinity(0, range(os.cpu_count()))  # the loop itself, once what it started is there
        self.theirs = others() if self.native else None
        self.since = diary.stamp()

    @staticmethod
    def tell(diary, before, now):
        """Several threads have more than the time: shares of it."""
        cpu, delay = (sum(n[i] - before[1].get(tid, (0, 0))[i] for tid, n in now[1].items()) for i in (0, 1))
        part = min(1, (now[0] - before[0]) / max(1, cpu + delay))
        diary.row('native', -1, (before[0], 0, 0), (now[0], int(cpu * part), int(delay * part)))

    def full(self):
        return self.steps >= cfg.steps


# ---- data ----

def photo(seed, edge):
    from PIL import Image
    out = io.BytesIO()
    pixels = numpy.random.RandomState(seed).randint(0, 255, (edge, edge, 3)).astype('uint8')
    Image.fromarray(pixels).save(out, 'JPEG', quality=90)
    return out.getvalue()


def photos(times=1):
    """cfg.items JPEGs as bytes: large ones to work on, small ones in much padding to wait for, or middling ones."""
    edge = 640 if PREP else 64 if FETCH else 480
    some = [photo(seed, int(edge * times ** 0.5)) for seed in range(4)]
    pad = b'\0' * (80_000 - len(some[0])) if FETCH else b''
    return [some[i % 4] + pad for i in range(cfg.items)]


def photo_files(times=1, folder='photos'):
    """Their paths, as the loader reads them."""
    os.makedirs(os.path.join(cfg.data, folder), exist_ok=True)
    for i, data in enumerate(photos(times)):
        with open(os.path.join(cfg.data, folder, f'{i:04}.jpg'), 'wb') as file:
            file.write(data)
    return [source(f'{folder}/{i:04}.jpg') for i in range(cfg.items)]


def texts(words):
    """cfg.items texts of so many words."""
    draw = numpy.random.RandomState(7)
    some = [''.join(chr(97 + c) for c in draw.randint(0, 26, draw.randint(2, 10))) for _ in range(5000)]
    return [' '.join(some[n] for n in draw.randint(0, len(some), words)) for _ in range(cfg.items)]
