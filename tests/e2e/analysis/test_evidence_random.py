# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Causes by evidence against the independent reference (ref_evidence.py), on random traces: every
class equal to the nanosecond, whatever the number of threads and the size of frames; and all times
moved by a constant change nothing. Some are walked on from each place at which a walk can be kept, too:
the whole summary is the same.

    test_evidence_random.py [FIRST_SEED [COUNT]]      keeps the lines of a seed that differs"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'lib'))
import gs
import ref_evidence as ref

BIN = os.path.join(gs.BUILD, 'tests')
PID = TRAINER = 100
MAKERS = [103, 104, 105, 300]
US, MS = 1000, 10**6
LOADER_RANGE, STEP, GC, CHECKPOINT, ITER, FIRST = 1, 4, 6, 7, 8, 1
LIB = '/usr/lib/python3.11/'
USER = 'work|/home/me/train.py|8~main|/home/me/train.py|9'
STACKS = {  # name: what it says (code, the user's innermost, take, iterates), and the frames
    'plain': ('', True, None, False, USER),
    'data': ('data', False, None, False, 'load|/usr/lib/python3/dist-packages/PIL/ImageFile.py|2~' + USER),
    'library': ('', False, 'event', False, f'wait|{LIB}threading.py|3~' + USER),
    'package': ('', False, None, False, 'get|/x/site-packages/threads/queue.py|3~' + USER),
    'checkpoint': ('checkpoint', False, None, False, '_save|/x/site-packages/torch/serialization.py|4~' + USER),
    'load': ('load', False, None, False, 'f|<frozen importlib._bootstrap>|4~' + USER),
    'epoch': ('epoch', False, None, True,
              '__iter__|/x/site-packages/torch/utils/data/dataloader.py|4~' + USER),
    'next': ('next', False, None, False,
             '_next_data|/x/site-packages/torch/utils/data/dataloader.py|4~' + USER),
    'handoff': ('handoff', False, None, False,
                'rebuild|/x/site-packages/torch/multiprocessing/reductions.py|4~m|/home/me/t.py|9'),
    'get': ('', False, 'item', False, f'wait|{LIB}threading.py|3~get|{LIB}queue.py|4~' + USER),
    'put': ('', False, 'gives', False, f'wait|{LIB}threading.py|3~put|{LIB}queue.py|4~' + USER),
    'join': ('', False, 'settles', False, f'wait|{LIB}threading.py|3~join|{LIB}queue.py|4~' + USER),
    'accept': ('idle', False, 'serves', False, f'accept|{LIB}socket.py|3~' + USER),
    'turn': ('', True, None, True, '__next__|/home/me/data.py|3~' + USER),
    'draw': ('', False, 'item', True, f'get|{LIB}queue.py|4~__next__|/x/site-packages/some/a.py|3~' + USER),
    'draw_event': ('', False, 'event', True, f'wait|{LIB}threading.py|4~__iter__|/home/me/a.py|3~' + USER),
    'model': ('model', False, None, False, 'f|/x/site-packages/torch/optim/adam.py|4~' + USER),
    'tensor': ('', False, None, False, 'backward|/x/site-packages/torch/_tensor.py|4~' + USER),
    'outer': ('', True, None, False, 'work|/home/me/train.py|8~fit|/x/site-packages/lightning/pytorch/trainer.py|9'),
    'cpu': ('cpu', False, None, False, 'step|/x/site-packages/deepspeed/ops/adam/cpu_adam.py|4~' + USER),
    'idle': ('idle', False, 'item', False, f'wait|{LIB}threading.py|3~get|{LIB}queue.py|3~'
             '_process_input_queue|/x/site-packages/vllm/v1/engine/core.py|8'),
    'early': ('', True, None, False, 'draw|/home/me/data.py|3~work|/home/me/train.py|6~main|/home/me/train.py|9'),
    'early_too': ('', True, None, False, 'work|/home/me/train.py|6~main|/home/me/train.py|9'),
    'late': ('', True, None, False, 'log|/home/me/train.py|3~work|/home/me/train.py|11~main|/home/me/train.py|9'),
    'made': ('', True, None, False, 'rows|/home/me/data.py|3|g~parts|/home/me/data.py|4|g~work|/home/me/train.py|12~'
             'main|/home/me/train.py|9'),
    'looped': ('', True, None, False, 'score|/home/me/train.py|3|g~steps|/home/me/train.py|7|g~main|/home/me/train.py|9'),
    'loops': ('model', False, None, False, 'f|/x/site-packages/torch/optim/adam.py|4~steps|/home/me/train.py|8|g~'
              'main|/home/me/train.py|9'),
    'summed': ('', True, None, False, 'work.<locals>.<genexpr>|/home/me/train.py|12|g~work|/home/me/train.py|12~'
               'main|/home/me/train.py|9'),
    'poll': ('', False, 'event', False, f'select|{LIB}selectors.py|3~' + USER),
    'nap': ('', False, None, False, 'look|/x/site-packages/some/a.py|5~rows|/x/site-packages/some/a.py|6|g~' + USER),
    'none': ('', False, None, False, ''),
    'ends': ('', False, 'settles', False, f'_shutdown|{LIB}threading.py|9'),
    'leaves': ('', True, None, False, 'upload|/home/me/train.py|5~finish|/x/site-packages/some/exits.py|9'),
    'module': ('', True, None, False, 'upload|/home/me/train.py|5~<module>|/x/site-packages/some/tool.py|9'),
    'as_module': ('', True, None, False, f'upload|/home/me/train.py|5~_run_module_as_main|{LIB}runpy.py|9'),
}
LAST = ['ends', 'leaves', 'module', 'as_module']  # of a main thread whose program has ended, and of two that have not
# No frame of a framework or of data code further in than the user's own.
OWN = [name for name in STACKS if not STACKS[name][0] and name not in ('tensor', 'none')]
WORK = ['early', 'early_too', 'late', 'model', 'made', 'made', 'summed', 'looped', 'loops']  # before and behind the line that launches
TAKES = ['get', 'draw', 'library', 'turn', 'draw_event', 'plain']
IDS = ['oa', 'ob', 'oa', 'ob', 'q9', 't1', 's2', 'p1', 'l1', 'n40', 'f1:2:3', 'u1', 'a1', 'd1']
IDLE = [('put', ref.LOCK, '!oa'), ('get', ref.LOCK, '!oa ?ob'), ('get', ref.LOCK, '~oa ?oa'), ('join', ref.LOCK, '!oa !ob'),
        ('plain', ref.SLEEP, '~oa'), ('get', ref.LOCK, '!ob ?oa')]
RARE = [('plain', 0, '!oa'), ('data', 0, '!oa'), ('plain', ref.READ, '!oa !ob'), ('plain', ref.SLEEP, '!oa')]
# Who reads from a socket, and has about it what others have, too.
READS = [('get', ref.SOCKET, '?oa'), ('get', ref.SOCKET, '!oa ?ob'), ('get', ref.SOCKET, '!oa ?ob ?t1'), ('get', ref.SOCKET, '?ob ~oa'),
         ('plain', 0, '~oa'), ('get', ref.LOCK, '~ob ?oa'), ('get', ref.LOCK, '!oa ?ob')]
# A connection: the trainer's end, at the line of the others and before it, with what comes back to it; and the other end.
ASKED = ('', False, 'item', False, f'getresponse|{LIB}http/client.py|3~work|/home/me/train.py|6~main|/home/me/train.py|9')
HERE = [('asked', ref.SOCKET, '?t1'), ('asked', ref.SOCKET, ''),
        ('get', ref.SOCKET, '?t1'), ('asked', ref.SOCKET, '?t1 ?d1'), ('draw', ref.SOCKET, '?t1'),
        ('get', ref.SOCKET, '?t1 ?a1'), ('plain', ref.SOCKET, '?u1 ?a1'), ('model', ref.GPU, '')]
THERE = [('plain', ref.SLEEP, '!u1 !t1')] * 3 + [('get', ref.SOCKET, '?t1'), ('plain', ref.SOCKET, '?u1'),
         ('plain', ref.SOCKET, '!t1'), ('plain', 0, '!t1 !u1')]
# Who looks at memory and sleeps, and who has it.
POLLS = [('early', ref.SLEEP, '?m1:5')] * 6 + [('early', ref.SLEEP, '')] * 3 + [ ('early', ref.SLEEP, '?m1:6'), ('late', ref.SLEEP, '?m1:5'),
                                             ('nap', ref.SLEEP, '?m1:5')] + [('model', 0, '')] * 3
HAVE = [('plain', 0, '~m1:5')] * 3 + [('data', ref.READ, '~m1:5'), ('plain', ref.SLEEP, '~m1:5'), ('plain', 0, '~m1:6'), ('plain', 0, '')]
# Connections that threads of the trainer's accepted for it, and who is at their other ends, or makes it beside them.
GUESTS = {103: [('get', ref.SOCKET, '!oa ?t1 ?a1'), ('get', ref.SOCKET, '!oa ?t1 ?a1'), ('plain', 0, '!oa')],
          104: [('get', ref.SOCKET, '~oa ?u2 ?a1'), ('get', ref.LOCK, '!oa ?ob'), ('get', ref.SOCKET, '!oa ?t4')],
          105: [('get', ref.SOCKET, '!ob ?u2 ?a1'), ('plain', 0, '!ob'), ('get', ref.LOCK, '~ob ?oa')],
          300: [('plain', ref.SLEEP, '!t1')] * 3 + [('get', ref.SOCKET, '!u2 ?t1'), ('plain', 0, '!t1')],
          301: [('plain', ref.SLEEP, '!u2')] * 3 + [('get', ref.SOCKET, '?u2'), ('get', ref.SOCKET, '!t4'), ('data', ref.READ, '!u2')]}
# Servers of the job's, which mostly wait for the next word of those who wait for them, and who these are.
CLIENT = [('asked', ref.SOCKET, '?t1 ?d1'), ('draw', ref.SOCKET, '?t1'), ('poll', ref.SOCKET, '?t1 ?u1 ?oa'), ('get', ref.LOCK, '?oa'),
          ('draw', ref.LOCK, '?oa')]
OURS = {103: [('get', ref.SOCKET, '!oa ?u1'), ('get', ref.SOCKET, '!oa ?t4'), ('get', ref.SOCKET, '!oa ?u1 ?a1')],
        300: [('idle', ref.SOCKET, '?t1 ?a1'), ('idle', ref.SOCKET, '?t1 ?t4 ?a1'), ('idle', ref.SOCKET, '?t1 ?a1 ?l1'),
              ('idle', ref.SOCKET, '?t1 ?s2 ?a1'), ('plain', 0, '!t1'), ('idle', ref.SLEEP, '!u1'), ('idle', ref.SLEEP, '!t1'),
              ('accept', ref.SOCKET, '!t1 ?l1')],
        301: [('idle', ref.SOCKET, '?u1 ?a1'), ('get', ref.SOCKET, '?u1 ?a1'), ('plain', ref.OTHER, '!u1'), ('idle', ref.SOCKET, '!u1 ?t4 ?a1'),
              ('idle', ref.SLEEP, '?u1 ?a1'), ('idle', ref.SLEEP, '?u1 ?a1')]}
# Processes that look out for others as well as for the next word of the trainer, which is at the other end.
FRONT = {300: [('poll', ref.SOCKET, '?t1 ?l1'), ('poll', ref.SOCKET, '?t1 ?s2'), ('poll', ref.SOCKET, '?s3 ?s2'), ('poll', ref.SOCKET, '?l1 ?t1 ?t7'),
               ('idle', ref.SOCKET, '?t1 ?t7'), ('get', ref.SOCKET, '?t1 ?a1'), ('get', ref.LOCK, '?ob !t1'), ('plain', 0, '!t1')],
         301: [('poll', ref.SOCKET, '?u1 ?t7'), ('get', ref.SOCKET, '?s2'), ('get', ref.SOCKET, '?t7 ?a2 !ob'), ('get', ref.SOCKET, ''), ('data', ref.READ, '!t7')]}
LIBC, SOME, OTHER = '/lib/libc.so.6|1f|ab~', '/x/some.so|2a|cd', '/x/other.so|3b|ef~/x/some.so|2a|cd'
# A library's threads that talk with other processes, one of which may pass on what others give: what each does at a look.
BEYOND = {103: [('get', ref.LOCK, '!oa ?n40', LIBC + SOME), ('get', ref.LOCK, '!oa ?n40', LIBC + SOME),
                ('get', ref.LOCK, '!oa ?n40', LIBC + OTHER), ('nap', ref.SLEEP, '!oa ?ob', ''), ('nap', ref.SLEEP, '!oa ?ob', ''),
                ('plain', 0, '!oa', '')],
          104: [('none', ref.SOCKET, '?u1 ~n40', LIBC + SOME), ('none', ref.SOCKET, '?l1 ?t1 ~n40', LIBC + SOME),
                ('none', ref.LOCK, '?n48 ~n40', LIBC + SOME), ('none', ref.SOCKET, '?u1', OTHER), ('none', ref.LOCK, '!ob ?n40', SOME)],
          105: [('data', ref.READ, '!ob', ''), ('plain', 0, '!ob', ''), ('get', ref.LOCK, '!ob ?n40', LIBC + SOME)],
          300: [('plain', 0, '!u1', ''), ('data', 0, '!u2', ''), ('data', ref.READ, '!u2 !t1', ''), ('package', 0, '!u2', ''),
                ('package', ref.OTHER, '!u2', ''), ('accept', ref.SOCKET, '!u1 ?l3', '')],
          301: [('none', ref.SOCKET, '?l2 ?u1 ?u2', SOME), ('none', ref.SOCKET, '?l2 ?u2 !u1', ''), ('none', ref.LOCK, '!u1', '')]}
# What a connection and the socket at which it came in are called where their ends are told.
DOORS = {'t1': 't0.0:80-0.0:9', 'l1': 'l1.0:80', 'l2': 'l0.0:9', 'l3': 'l0.0:8'}
TO_DEVICE, TO_HOST = 1, 2
KEPT = 1 if gs.BIG else 10  # of so many seeds one is kept amid


class Case:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.gaps = random.Random(-1 - seed)  # between looks at some
        self.lines, self.samples, self.batches, self.pieces = [], [], [], []
        self.left = TRAINER  # who gave the last operation
        self.copies, self.calls, self.kernels = [], {}, []
        self.links = r.random() < .7
        self.feeds = self.links and r.random() < .6  # the trainer mostly takes what its threads make
        self.naps = self.feeds and r.random() < .3  # ... and asks again and again whether it is there
        self.idlers = self.feeds and self.gaps.random() < .4  # who gives is idle, but for those who are seldom looked at
        self.talks = random.Random(~seed ^ 99)  # ... with other processes, by a library's threads
        self.beyond = self.feeds and self.talks.random() < .6
        self.tells = random.Random(seed ^ 55)  # how long a look stands for
        self.exits, self.over = random.Random(seed ^ 66), 1 << 62  # since when the program has ended, while it is seen
        self.calls_in = random.Random(seed ^ 33)
        self.receives = self.calls_in.random() < .3
        self.ends = random.Random(seed ^ 77)  # of sockets, at which they read
        self.visits = self.feeds and self.ends.random() < .25
        self.guests = self.feeds and not self.beyond and not self.visits and self.ends.random() < .5
        self.manners = self.ends.choice([1, .97, .8])
        self.asks = self.links and not self.beyond and self.ends.random() < .2
        self.polls = self.feeds and not self.beyond and not self.guests and not self.visits and self.ends.random() < .5
        self.served = random.Random(seed ^ 33)  # ... by servers of the job's
        self.client = self.feeds and self.served.random() < .4
        self.doors = DOORS if random.Random(seed ^ 11).random() < .5 else {}
        self.serves, self.gives = self.served.choice([1, .97, .8, 0]), self.served.choice('!!~')
        self.fronts = random.Random(seed ^ 11)  # ... or by what stands before others
        self.front = self.client and self.fronts.random() < .5
        if self.client:
            self.beyond = self.visits = self.guests = self.asks = self.polls = False
        self.works = r.random() < .3          # the trainer mostly makes them itself
        self.workers = r.choice([0, 1, 2, 3])
        self.told = r.random() < .8           # the loader tells its settings
        self.rows = r.random() < .8           # batches have rows
        self.counted = r.random() < .8        # the kernel counts
        self.reads = r.choice([0, 0, 1, 1, 20000])  # what is read between two looks
        self.period = r.choice([1, 5, 5, 20, 100]) * MS
        self.period = min(self.period, 5 * MS) if self.polls or self.client else self.period
        self.t = 0
        self.waits, self.expected = [], {}
        self.op(self.t, 1 * MS)
        if self.told:
            settings = f'workers={self.workers} prefetch=2'
            self.batch(1, 0, 1, TRAINER, 1, 0, 0, 0, 0, settings)
        gaps = r.choice([1, 3, 10, 25])
        for k in range(25 if self.polls or self.client else gaps):
            self.gap(k)
        self.end = self.t
        if r.random() < .4:
            self.tail()
        self.make_rows()
        self.make_samples()

    def op(self, start, ns, tid=TRAINER):
        """A kernel, or a copy, whose launch begins 5 us before it."""
        r, corr = self.r, len(self.lines) + 1
        way = r.choice([TO_DEVICE, TO_DEVICE, 0] if self.feeds or self.works else [0, 0, TO_DEVICE, TO_HOST])
        size = r.choice([4, 65535, 65536, 1 << 20])
        if way:
            self.lines.append(f'copy {start} {start + ns} {corr} 7 {way} {size}')
            self.copies.append((start, size, way == TO_DEVICE))
        else:
            self.lines.append(f'op {start} {start + ns} {corr} 7')
            self.kernels.append(start)
        self.call(tid, start - 5 * US, start - 3 * US, 'host.dispatch')
        self.lines.append(f'api {start - 5 * US} {start - 3 * US} {len(self.lines)} {tid} cudaLaunchKernel')
        self.t, self.left = start + ns, tid

    def call(self, tid, start, end, cls):
        self.calls.setdefault(tid, []).append((start, end, cls))

    def sync(self, tid, start, end):
        self.lines.append(f'api {start} {end} 0 {tid} cudaStreamSynchronize')
        self.call(tid, start, end, 'host.sync')

    def gap(self, k):
        """Stretches of a wait, of something else, of marks and calls; then the next operation, and
        perhaps one behind it."""
        r, t, first = self.r, self.t, len(self.pieces)
        tid = MAKERS[0] if self.feeds and r.random() < .2 else TRAINER
        for _ in range(r.choice([1, 1, 2, 3])):
            ns = r.choice([r.randrange(1, 50 * US), r.randrange(1, 3 * MS), r.randrange(1, 60 * MS),
                           r.randrange(1, 400 * MS) if r.random() < .1 else 10 * MS])
            what = r.choice(['wait', 'wait', 'wait', 'host', 'host', 'call', 'mark', 'first'])
            if (self.feeds or self.works) and r.random() < .8:
                what = 'host'
            if tid != TRAINER:
                what = 'host'
            if what in ('wait', 'first'):
                opens = what == 'first'
                self.lines.append(f'range {LOADER_RANGE} {t} {t + ns} {TRAINER} {FIRST if opens else 0}'
                                  ' enumerate(DataLoader)#x.__next__')
                if opens:
                    self.expect('input.epoch', ns)
                else:
                    self.waits.append((t, t + ns))
                    self.piece('wait', first, t, t + ns)
                    if r.random() < .2:
                        self.sync(r.choice([TRAINER, MAKERS[0]]), t + ns // 4, t + ns // 2)
            elif what == 'host':
                self.piece('host', first, t, t + ns, tid)
                if r.random() < .1 and tid == TRAINER:
                    self.sync(MAKERS[0], t + ns // 4, t + ns // 2)
            elif what == 'call':
                self.sync(TRAINER, t, t + ns)
                self.expect('host.sync', ns)
            else:
                op, cls = r.choice([(GC, 'host.gc'), (CHECKPOINT, 'host.checkpoint'),
                                    (ITER, 'input.epoch')])
                self.lines.append(f'range {op} {t} {t + ns} {TRAINER} 0')
                self.expect(cls, ns)
            t += ns
        for p in self.pieces[first:]:
            p += [self.t, t + 5 * US, self.left]
        self.op(t + 5 * US, r.randrange(100 * US, 20 * MS), tid)
        if r.random() < .3:
            self.op(self.t, r.randrange(100 * US, MS))

    def tail(self):
        """The process lives on behind its last operation: some of it is teardown, then it is seen."""
        r = self.r
        steps = [r.randrange(1, 3 * ref.S) for _ in range(r.choice([0, 1, 2, 5]))]
        self.end = self.t + r.choice([r.randrange(1, 3 * ref.S), r.randrange(1, 15 * ref.S)])
        while sum(steps) > self.end:
            steps.pop()
        for k, ns in enumerate(steps):
            self.lines.insert(k, f'range {STEP} {sum(steps[:k])} {sum(steps[:k + 1])} {TRAINER} 0 ProfilerStep#{k}')
        if r.random() < .3:  # it waits for another batch
            at = r.randrange(self.t, self.end)
            to = min(self.end, at + r.randrange(1, 3 * ref.S))
            self.lines.append(f'range {LOADER_RANGE} {at} {to} {TRAINER} 0 enumerate(DataLoader)#x.__next__')
            self.pieces.append(['wait', at, to, 0])  # whose thread's it is matters not
        else:
            at = to = self.end
        rest = min(self.end, self.t + ref.teardown(steps))
        if self.exits.random() < .5:
            self.over = self.exits.randrange(self.t, self.end)
        for a, b in ref.cells(rest, self.end, [(at, to)]):
            self.pieces.append(['tail', a, b, self.left, self.t + ref.ENDING])
        early = [(a, b) for a, b in ((self.t, at), (to, rest)) if a < b]
        self.expect('excluded.teardown', sum(min(b, rest) - a for a, b in early if a < rest))

    def expect(self, cls, ns):
        self.expected[cls] = self.expected.get(cls, 0) + ns

    def piece(self, kind, first, a, b, tid=TRAINER):
        """Neighbours of a gap that touch are one piece; so are waits, as one line of them."""
        if len(self.pieces) > first and self.pieces[-1][0] == kind and self.pieces[-1][2] == a:
            self.pieces[-1][2] = b
        else:
            self.pieces.append([kind, a, b, tid])

    def batch(self, what, start, end, tid, loader, worker, index, cpu, delay, text=''):
        pid = PID if tid < 200 else tid
        self.batches.append(dict(what=what, start=start, end=end, pid=pid, tid=tid, loader=loader,
                                 worker=worker, batch=index, cpu=cpu, delay=delay))
        self.lines.append(f'batch {what} {start} {end} {pid} {tid} {loader} {worker} {index} {cpu} '
                          f'{delay} {text}')

    def share(self, ns):
        r = self.r
        cpu = r.choice([0, ns, r.randrange(ns + 1), r.randrange(ns + 1) // 10])
        return cpu, r.choice([0, 0, ns - cpu, r.randrange(ns - cpu + 1), ns])

    def make_rows(self):
        r = self.r
        if not self.rows:
            return
        busy = {}
        for k, (a, b) in enumerate(self.waits):
            loader, index = 1, r.choice([k + 1, k + 1, k + 1, k, ref.UNKNOWN if r.random() < .1 else k + 1])
            early, late = r.randrange(100 * US), r.randrange(100 * US)
            if r.random() < .95:
                self.batch(ref.TAKE, a - early, b + late, TRAINER, loader, 0, index, *self.share(b - a))
            if not self.workers:
                lo = a + r.randrange(b - a)
                self.batch(ref.FETCH, lo, max(lo, b - r.randrange(b - a)), TRAINER, 0, 0, ref.UNKNOWN,
                           *self.share(b - a))
                continue
            w = k % self.workers + 1
            begin = max(busy.get(w, 0), a - r.randrange(20 * MS) + r.choice([0, b - a]))
            end = max(begin + 1, b - r.choice([0, r.randrange(b - a), -r.randrange(30 * MS)]))
            if r.random() < .95:
                self.batch(ref.FETCH, begin, end, 199 + w, loader, w, k + 1, *self.share(end - begin))
            busy[w] = end
            if self.workers > 1 and r.random() < .4:  # a later one is ready before
                other = 200 + w % self.workers
                lo = a - r.randrange(MS) if r.random() < .5 else a + r.randrange(b - a)
                self.batch(ref.FETCH, lo, lo + r.randrange(1, b - a + 1), other, loader, other - 199,
                           1000 + k, *self.share(b - a))
            if r.random() < .05:
                self.batch(ref.CLOSE, a, b - r.randrange(b - a), TRAINER, loader, 0, 0, 0, 0)
            if r.random() < .1:
                self.batch(ref.PIN_ROW, a, b - r.randrange(b - a), 101, loader, 0, k + 1, 0, 0)

    def make_samples(self):
        r = self.r
        threads = [(TRAINER, 1)] + [(199 + w, 2) for w in range(1, self.workers + 1)]
        threads += r.choice([[], [(101, 3)], [(102, 0)]])
        if self.links:
            threads += [(tid, 5) for tid in r.sample(MAKERS, r.randrange(1, len(MAKERS) + 1))]
            threads += r.choice([[], [(110, 6)]])
        if self.beyond:
            threads = [(tid, role) for tid, role in threads if role != 5] + [(tid, 5) for tid in BEYOND]
        if self.guests:
            threads = [(tid, role) for tid, role in threads if role != 5] + [(tid, 5) for tid in GUESTS if self.ends.random() < .7]
        if self.client:
            threads = [(tid, role) for tid, role in threads if role != 5] + [(tid, 5) for tid in OURS]
        for tid, role in threads:
            if r.random() < .1:
                continue
            usual = self.talks.choice(BEYOND[tid]) if tid in BEYOND else None
            polite = (OURS if self.client and tid in OURS else GUESTS).get(tid, [None])[0]
            awaited = self.served.choice(CLIENT)
            t, cpu, delay, throttled = r.randrange(self.period), 1, 0, r.choice([0, 1])
            rchar = r.choice([0, 1, 1]) if self.reads else 0
            period = self.tells.choice([0, self.period, self.period * 3])
            name, wait, links, target = 'plain', 0, '', ''
            kept = r.randrange(len(TAKES) - 1)
            mute = tid == TRAINER and r.random() < .2  # no Python thread
            seldom = self.feeds and role == 5 and self.gaps.random() < .4  # looked at
            while t < self.end:
                if r.random() < .4:
                    name, wait = r.choice(list(STACKS)), r.choice([0, 0] + list(range(16)))
                    if wait and r.random() < .5:
                        wait = r.choice([ref.LOCK, ref.LOCK, ref.SOCKET, ref.PIPE])
                    links = ' '.join(self.word(role) for _ in range(r.randrange(4))) if self.links else ''
                    target = r.choice(['', '', '', '/data/a', '/dev/pts/3'])
                if self.feeds and tid == TRAINER and r.random() < .7:
                    name, wait, target = r.choice(TAKES[kept:kept + 2]), r.choice([ref.LOCK, ref.LOCK, ref.PIPE]), ''
                    links = r.choice(['', '?oa', '?oa', '?ob ?oa', '?p1'])
                    if self.naps and r.random() < .7:
                        name, wait = r.choice(['nap', 'nap', 'turn', 'made']), r.choice([0, ref.SLEEP, ref.SLEEP])
                elif self.works and tid == TRAINER and r.random() < .8:
                    name, wait, links, target = r.choice(WORK), r.choice([0] * 9 + [1, ref.SLEEP, ref.GPU]), '', ''
                    if self.receives and self.calls_in.random() < .03:  # at one of these lines who calls is waited for
                        wait, links = ref.SOCKET, '?t1 ?a1'
                elif self.feeds and role == 5 and r.random() < .5:
                    links = r.choice(['!oa', '!oa ?ob', '~oa', '!p1', '>p1', '!oa ?u1', '!oa ?a1', '!ob', ''])
                if self.idlers and role == 5 and self.gaps.random() < .9:
                    name, wait, links = self.gaps.choice(RARE if seldom else IDLE)
                    target = ''
                if self.feeds and r.random() < .15:  # Python's lock, which others may have
                    name, wait, links, target = r.choice(OWN), ref.GIL, r.choice(['', links]), ''
                native = ''
                if self.beyond and tid in BEYOND and self.talks.random() < .9:
                    name, wait, links, native = usual if self.talks.random() < .7 else self.talks.choice(BEYOND[tid])
                    target = ''
                if self.guests and tid in GUESTS:
                    name, wait, links = polite if self.ends.random() < self.manners else self.ends.choice(GUESTS[tid])
                    target = ''
                if self.asks and role in (1, 2, 5) and self.ends.random() < .3:
                    name, wait, links = self.ends.choice(READS)
                    target = ''
                if self.visits and role in (1, 5) and self.ends.random() < .8:
                    name, wait, links = self.ends.choice(HERE if role == 1 else THERE)
                    target = ''
                if self.client and (role == 1 or tid in OURS) and self.served.random() < .95:
                    name, wait, links = awaited if role == 1 else self.serve(tid)
                    target = ''
                if self.front and tid in FRONT and self.fronts.random() < .95:
                    name, wait, links = self.fronts.choice(FRONT[tid])
                    target = ''
                if self.polls and role in (1, 5) and self.ends.random() < .9:
                    name, wait, links = self.ends.choice(POLLS if role == 1 else HAVE)
                    target = ''
                if tid == TRAINER and t >= self.over and self.exits.random() < .9:
                    name = self.exits.choice(['none', 'ends', *LAST])
                name = 'none' if mute else name
                state = 1 if not wait else r.choice([2, 2, 2, 3])
                flags = r.choice([0, 0, 8, 64, 72])
                code, user, take, iterates, stack = STACKS[name] if name != 'asked' else ASKED
                self.samples.append(dict(t=t, pid=PID if tid < 200 else tid, tid=tid, role=role,
                                         state=state, wait=wait, flags=flags,
                                         cpu=cpu if self.counted else 0, delay=delay,
                                         throttled=throttled, rchar=rchar, period=period, code=code, user=user, take=take, own=name in (*OWN, 'asked'),
                                         iterates=iterates, stack=stack, links=self.door(links), native=native,
                                         target=target if wait else ''))
                step = r.randrange(1, 2 * self.period)
                if r.random() < .02:
                    step += r.randrange(3 * ref.S)
                elif seldom:
                    step += self.gaps.randrange(500 * MS)
                ran = r.randrange(step + 1) if not wait else r.randrange(step + 1) // 20
                lacked = r.choice([0, (step - ran) // 2, step - ran])
                cpu += ran if not polite else ran // 2
                delay += lacked if not polite else 0
                throttled += r.choice([0, step // 3]) if throttled else 0
                rchar += r.randrange(2 * self.reads) if rchar else 0
                t += step

    def door(self, links):
        return ' '.join(word[:1] + self.doors.get(word[1:], word[1:]) for word in links.split())

    def serve(self, tid):
        """Now and then it answers, in a way that counts for nothing."""
        if self.served.random() < .25 and tid in (300, 301):
            return 'plain', ref.GPU, self.gives + {300: 't1', 301: 'u1'}[tid]
        return OURS[tid][0] if self.served.random() < self.serves else self.served.choice(OURS[tid])

    def word(self, role):
        r = self.r
        marks = '????!' if role in (1, 2, 6) else '??!!!>~'
        return r.choice(marks) + r.choice(IDS)

    def text(self, shift, r):
        out = [f'process {PID} 0 {self.end}'] + self.lines
        rows = sorted(self.samples, key=lambda s: (r.random() * 50 * MS + s['t'], s['tid']))
        rows.sort(key=lambda s: (s['tid'], s['t'])) if r.random() < .3 else rows.sort(
            key=lambda s: (s['t'] // (100 * MS), s['tid'], s['t']))
        links, target, rchar, native, period = '', '', 0, '', 0
        for s in rows:
            if s['period'] != period:
                period = s['period']
                out.append(f'period {period}')
            if s['rchar'] != rchar:
                rchar = s['rchar']
                out.append(f'bytes {rchar} 0')
            if s['links'] != links:
                links = s['links']
                out.append(f'links {links}'.rstrip())
            if s['native'] != native:
                native = s['native']
                out.append(f'native {native}'.rstrip())
            if s['wait'] and s['target'] != target:
                target = s['target']
                out.append(f'file x {target}')
            out.append('sample {t} {pid} {tid} {role} {state} {wait} {flags} {cpu} {delay} '
                       '{throttled} {stack}'.format(**s))
        return '\n'.join(moved(line, shift) for line in out) + '\n'


PLACES = {'process': (2, 3), 'op': (1, 2), 'copy': (1, 2), 'links': (), 'native': (), 'file': (), 'bytes': (), 'period': (),
          'api': (1, 2), 'range': (2, 3), 'sample': (1,),
          'batch': (2, 3)}


def moved(line, shift):
    words = line.split(' ')
    for i in PLACES[words[0]]:
        words[i] = str(int(words[i]) + shift)
    return ' '.join(words)


def engine(folder, text, frame, threads):
    os.makedirs(folder, exist_ok=True)
    subprocess.run([os.path.join(BIN, 'evidence_make'), folder, str(frame)], input=text, text=True,
                   check=True)
    out = subprocess.run([os.path.join(BIN, 'engine_dump'), '--threads', str(threads), folder],
                         capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f'engine_dump: {out.stderr}')
    return json.loads(out.stdout)[0]['classes']


def expected(case):
    world = ref.World(PID, case.samples, case.batches, case.workers if case.told else None,
                      case.copies, case.calls, case.kernels)
    want = world.classes([tuple(p) for p in case.pieces])
    for c, ns in case.expected.items():
        want[c] = want.get(c, 0) + ns
    return {c: ns for c, ns in want.items() if ns}


def differs(seed, folder):
    case, r = Case(seed), random.Random(seed)
    want = expected(case)
    for n, shift in enumerate((0, 1_700_000_000_000_000_000 + r.randrange(10**9))):
        text = case.text(shift, r)
        got = engine(os.path.join(folder, str(n)), text, r.choice([1000, 7, 60]), n + 1)
        got = {c: ns for c, ns in got.items() if c.startswith(('input.', 'host.', 'excluded.teardown'))}
        if got != want:
            with open(f'/tmp/evidence-{seed}.txt', 'w') as f:
                f.write(text)
            print(f'seed {seed} shift {n}: differs, /tmp/evidence-{seed}.txt')
            for c in sorted(set(got) | set(want)):
                if got.get(c) != want.get(c):
                    print(f'  {c}: engine {got.get(c)}, reference {want.get(c)}')
            return True
    return seed % KEPT == 0 and stops_differ(seed, os.path.join(folder, '1'))


def stops_differ(seed, run):
    done = subprocess.run([os.path.join(BIN, 'parts_dump'), run, 'amid', '1'], capture_output=True, text=True)
    if done.returncode == 0:
        return False
    print(f'seed {seed}: kept amid and walked on: {done.stdout or done.stderr}')
    return True


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 80
    bad = 0
    with gs.scratch() as folder:
        for seed in range(first, first + count):
            bad += differs(seed, os.path.join(folder, str(seed)))
            if bad > 5:
                break
    print(f'{count - bad} of {count} cases equal, seeds {first} to {first + count - 1}')
    gs.check(not bad, 'the engine and the reference agree')
    gs.finish()


if __name__ == '__main__':
    main()
