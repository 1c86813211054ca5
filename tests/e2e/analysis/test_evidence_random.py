# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Causes by evidence against the independent reference (ref_evidence.py), on random traces: every
class equal to the nanosecond, whatever the number of threads and the size of frames; and all times
moved by a constant change nothing.

    test_evidence_random.py [FIRST_SEED [COUNT]]      keeps the lines of a seed that differs"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ref_evidence as ref

BIN = os.path.join(gs.BUILD, 'tests')
PID = TRAINER = 100
US, MS = 1000, 10**6
LOADER_RANGE, STEP, GC, CHECKPOINT, ITER, FIRST = 1, 4, 6, 7, 8, 1
CODES = {
    'plain': 'work|/home/me/train.py|8~main|/home/me/train.py|9',
    'data': 'load|/usr/lib/python3/dist-packages/PIL/ImageFile.py|2~work|/home/me/train.py|8',
    'library': 'wait|/usr/lib/python3.11/threading.py|3~work|/home/me/train.py|8',
    'checkpoint': '_save|/x/site-packages/torch/serialization.py|4~work|/home/me/train.py|8',
    'load': 'f|<frozen importlib._bootstrap>|4~work|/home/me/train.py|8',
    'epoch': '__iter__|/x/site-packages/torch/utils/data/dataloader.py|4~main|/home/me/train.py|9',
    'next': '_next_data|/x/site-packages/torch/utils/data/dataloader.py|4~main|/home/me/train.py|9',
    'handoff': 'rebuild|/x/site-packages/torch/multiprocessing/reductions.py|4~m|/home/me/t.py|9',
    'model': 'f|/x/site-packages/torch/optim/adam.py|4~work|/home/me/train.py|8',
    'tensor': 'backward|/x/site-packages/torch/_tensor.py|4~work|/home/me/train.py|8',
    'outer': 'work|/home/me/train.py|8~fit|/x/site-packages/lightning/pytorch/trainer.py|9',
    'package': 'f|/x/site-packages/scipy/fft/_basic.py|4~work|/home/me/train.py|8',
    'cpu': 'step|/x/site-packages/deepspeed/ops/adam/cpu_adam.py|4~work|/home/me/train.py|8',
    'idle': 'wait|/usr/lib/python3.11/threading.py|3~_process_input_queue|/x/site-packages/vllm/v1/engine/core.py|8',
    'none': '',
}


OWN = 'plain', 'library', 'outer', 'package'  # no framework's or data code further in than the user's
LINKS = {'': ('', ''), 'listens': ('?o7f00 ?l0.0.0.0:80', ''), 'terminal': ('', '/dev/pts/3')}


class Case:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.lines, self.samples, self.batches, self.pieces = [], [], [], []
        self.workers = r.choice([0, 1, 2, 3])
        self.told = r.random() < .8           # the loader tells its settings
        self.rows = r.random() < .8           # batches have rows
        self.counted = r.random() < .8        # the kernel counts
        self.period = r.choice([1, 5, 5, 20, 100]) * MS
        self.t = 0
        self.waits, self.expected = [], {}
        self.op(self.t, 1 * MS)
        if self.told:
            settings = f'workers={self.workers} prefetch=2'
            self.batch(1, 0, 1, TRAINER, 1, 0, 0, 0, 0, settings)
        for k in range(r.choice([1, 3, 10, 25])):
            self.gap(k)
        self.end = self.t
        if r.random() < .4:
            self.tail()
        self.make_rows()
        self.make_samples()

    def op(self, start, ns):
        """A kernel whose launch begins 5 us before it."""
        self.lines.append(f'op {start} {start + ns} {len(self.lines) + 1} 7')
        self.lines.append(f'api {start - 5 * US} {start - 3 * US} {len(self.lines)} {TRAINER} '
                          'cudaLaunchKernel')
        self.t = start + ns

    def gap(self, k):
        """Stretches of a wait, of something else, of marks and calls; then the next operation."""
        r, t = self.r, self.t
        for _ in range(r.choice([1, 1, 2, 3])):
            ns = r.choice([r.randrange(1, 50 * US), r.randrange(1, 3 * MS), r.randrange(1, 60 * MS),
                           r.randrange(1, 400 * MS) if r.random() < .1 else 10 * MS])
            what = r.choice(['wait', 'wait', 'wait', 'host', 'host', 'call', 'mark', 'first'])
            if what in ('wait', 'first'):
                first = what == 'first'
                self.lines.append(f'range {LOADER_RANGE} {t} {t + ns} {TRAINER} {FIRST if first else 0}'
                                  ' enumerate(DataLoader)#x.__next__')
                if first:
                    self.expect('input.epoch', ns)
                else:
                    self.waits.append((t, t + ns))
                    self.piece('wait', t, t + ns)
            elif what == 'host':
                self.piece('host', t, t + ns)
            elif what == 'call':
                self.lines.append(f'api {t} {t + ns} 0 {TRAINER} cudaStreamSynchronize')
                self.expect('host.sync', ns)
            else:
                op, cls = r.choice([(GC, 'host.gc'), (CHECKPOINT, 'host.checkpoint'),
                                    (ITER, 'input.epoch')])
                self.lines.append(f'range {op} {t} {t + ns} {TRAINER} 0')
                self.expect(cls, ns)
            t += ns
        self.op(t + 5 * US, r.randrange(100 * US, 20 * MS))

    def tail(self):
        """The process lives on behind its last operation: some of it is teardown, then it is seen."""
        r = self.r
        steps = [r.randrange(1, 3 * ref.S) for _ in range(r.choice([0, 1, 2, 5]))]
        self.end = self.t + r.choice([r.randrange(1, 3 * ref.S), r.randrange(1, 12 * ref.S)])
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
        for a, b in ref.cells(rest, self.end, [(at, to)]):
            self.pieces.append(['tail', a, b, TRAINER])
        early = [(a, b) for a, b in ((self.t, at), (to, rest)) if a < b]
        self.expect('excluded.teardown', sum(min(b, rest) - a for a, b in early if a < rest))

    def expect(self, cls, ns):
        self.expected[cls] = self.expected.get(cls, 0) + ns

    def piece(self, kind, a, b):
        """Neighbours that touch are one piece; so are waits, as one line of them."""
        if self.pieces and self.pieces[-1][0] == kind and self.pieces[-1][2] == a:
            self.pieces[-1][2] = b
        else:
            self.pieces.append([kind, a, b, TRAINER])

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
        for tid, role in threads:
            if r.random() < .1:
                continue
            t, cpu, delay, throttled = r.randrange(self.period), 1, 0, r.choice([0, 1])
            code, wait = 'plain', 0
            while t < self.end:
                if r.random() < .4:
                    code, wait = r.choice(list(CODES)), r.choice([0, 0] + list(range(16)))
                state = 1 if not wait else r.choice([2, 2, 2, 3])
                flags = r.choice([0, 0, 8, 64, 72])
                self.samples.append(dict(t=t, pid=PID if tid < 200 else tid, tid=tid, role=role,
                                         state=state, wait=wait, flags=flags,
                                         cpu=cpu if self.counted else 0, delay=delay,
                                         throttled=throttled, code=code if code not in (
                                             'plain', 'library', 'none') else '',
                                         stack=code, own=code in OWN, user=code in ('plain', 'outer'),
                                         links=r.choice(list(LINKS)) if r.random() < .2 else ''))
                step = r.randrange(1, 2 * self.period)
                if r.random() < .02:
                    step += r.randrange(3 * ref.S)
                ran = r.randrange(step + 1) if not wait else r.randrange(step + 1) // 20
                cpu += ran
                delay += r.choice([0, (step - ran) // 2, step - ran])
                throttled += r.choice([0, step // 3]) if throttled else 0
                t += step

    def text(self, shift, r):
        out = [f'process {PID} 0 {self.end}'] + self.lines
        rows = sorted(self.samples, key=lambda s: (r.random() * 50 * MS + s['t'], s['tid']))
        rows.sort(key=lambda s: (s['tid'], s['t'])) if r.random() < .3 else rows.sort(
            key=lambda s: (s['t'] // (100 * MS), s['tid'], s['t']))
        last = ''
        for s in rows:
            stack = CODES[s['stack']]
            if s['links'] != last:
                links, file = LINKS[s['links']]
                out += [f'links {links}', f'file - {file}']
            last = s['links']
            out.append('sample {t} {pid} {tid} {role} {state} {wait} {flags} {cpu} {delay} '
                       '{throttled} '.format(**s) + stack)
        return '\n'.join(moved(line, shift) for line in out) + '\n'


PLACES = {'process': (2, 3), 'op': (1, 2), 'api': (1, 2), 'range': (2, 3), 'sample': (1,),
          'batch': (2, 3)}


def moved(line, shift):
    words = line.split(' ')
    for i in PLACES.get(words[0], ()):
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
    world = ref.World(PID, case.samples, case.batches, case.workers if case.told else None)
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
    return False


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 120
    bad = 0
    with gs.scratch() as folder:
        for seed in range(first, first + count):
            bad += differs(seed, os.path.join(folder, str(seed)))
            if bad > 5:
                break
    print(f'{count - bad} of {count} cases equal, seeds {first} to {first + count - 1}')
    gs.check(not bad, 'the engine and the reference agree')
    gs.finish()


main()
