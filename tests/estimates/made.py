# SPDX-License-Identifier: Apache-2.0
"""Made-up runs of one process on one GPU of which all is known, and the same runs as a trace has
them whose kernels and calls the governor gave up for most of the time. A step waits for its batch,
copies it, launches kernels, works on the CPU and waits for the GPU; how long each takes drifts, there
are phases in which it is otherwise, and rare long stalls."""
import math
import random
import sys

sys.path.insert(0, sys.path[0] + '/../lib')

S, MS, US = 1_000_000_000, 1_000_000, 1_000
PID, GOVERNOR = 4000, 6
LOADER, USER, GC, CHECKPOINT = 1, 2, 6, 7  # ranges
PERIOD = 10 * MS
START = 2 * S  # of the loop, after the process
STRATUM, WINDOW, LATE = 10 * S, 2 * S, S  # wire/windows.h
RUNNING, SLEEPING = 1, 2
QUEUE, SLEEP, FUTEX = 6, 7, 10
TRAIN = 'train|/srv/train.py|{}~<module>|/srv/train.py|90'
NEXT = ('get|/usr/lib/python3.10/queue.py|171~_get_data|/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py|1100~'
        '__next__|/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py|630~' + TRAIN.format(40))


class Drift:
    """A factor that wanders about 1."""

    def __init__(self, r, spread, memory):
        self.r, self.keep = r, math.exp(-1 / memory)
        self.sd = spread * math.sqrt(1 - self.keep ** 2)
        self.x = r.gauss(0, spread)

    def next(self):
        self.x = self.x * self.keep + self.r.gauss(0, self.sd)
        return math.exp(self.x)


class Run:
    def __init__(self, seed, seconds=None):
        r = self.r = random.Random(seed)
        self.seconds = seconds or r.choice([60, 75, 90])
        self.end = START + self.seconds * S
        self.ops, self.copies, self.calls, self.syncs, self.ranges, self.host = [], [], [], [], [], []
        self.t, self.gpu_free, self.corr = START, 0, 0
        self.kernel = r.uniform(1.0, 3.0) * MS
        self.gives = self.kernel / r.uniform(.35, 1.2)  # host's time for a launch
        self.kernels = r.randrange(5, 20)
        self.wait = r.choice([0, .1, .3, .8]) * self.kernels * self.gives
        self.work = r.choice([0, .15, .3]) * self.kernels * self.gives
        self.waits_for_gpu = r.random() < .6
        step = self.wait + self.work + self.kernels * self.gives
        memory = 15 * S / step  # steps
        self.drift = {k: Drift(r, s, memory) for k, s in
                      (('wait', .4), ('work', .15), ('gives', .1), ('kernel', .1))}
        self.phase_until, self.phase = START + 15 * S, False
        self.has_phases = r.random() < .6
        self.stalls = r.choice([0, .03, .06])  # a second
        self.small = 1  # kernels of a phase are so much shorter
        self.tail = self.slowed = 0  # the engine is busy around each kernel; what recording one costs the host
        self.given_up = []
        self.vary()
        while self.t < self.end:
            self.step()
        self.given_up = self.given_up or self.choose()
        self.meters = self.measure()
        self.samples = self.look()

    def vary(self):
        pass

    def spend(self, what, ns, wait=None, line=0):
        self.host.append((self.t, self.t + ns, what, wait, line))
        self.t += ns

    def call(self, name, ns, corr=0):
        self.calls.append((self.t, self.t + ns, corr, name))

    def stall(self):
        r = self.r
        kind = r.choice(['wait', 'checkpoint', 'sleep', 'gc'])
        ns = int(r.uniform(.5, 3) * S)
        start = self.t
        if kind == 'wait':
            self.ranges.append((LOADER, start, start + ns, 'enumerate(DataLoader)'))
            self.spend('wait', ns, QUEUE, NEXT)
        elif kind == 'checkpoint':
            self.ranges.append((CHECKPOINT, start, start + ns, 'model.pt'))
            self.spend('checkpoint', ns, None, TRAIN.format(70))
        elif kind == 'gc':
            self.ranges.append((GC, start, start + ns // 4, ''))
            self.spend('gc', ns // 4, None, TRAIN.format(71))
        else:
            self.spend('sleep', ns, SLEEP, TRAIN.format(72))

    def step(self):
        r, d = self.r, {k: x.next() for k, x in self.drift.items()}
        begin = self.t
        if self.has_phases and self.t > self.phase_until:
            self.phase = not self.phase
            self.phase_until = self.t + self.phase_ns()
        if self.t > START + 2 * S and r.random() < self.stalls * (self.kernels * self.gives + self.wait) / S:
            self.stall()
        self.batch(int(self.wait * d['wait'] * (2 if self.phase else 1) * r.uniform(.5, 1.5)))
        self.corr += 1
        self.call('cudaMemcpyAsync', 20 * US, self.corr)
        at = max(self.t + 10 * US, self.gpu_free)
        self.copies.append((at, at + 200 * US, self.corr))
        self.gpu_free = at + 200 * US
        self.spend('python', 30 * US, None, TRAIN.format(45))
        for k in range(self.kernels // 2 if self.phase else self.kernels):
            self.launch(int(self.gives * d['gives'] * r.uniform(.8, 1.2)) + self.cost_of_recording(),
                        int(self.kernel * d['kernel'] / (self.small if self.phase else 1)))
        if self.work:
            self.spend('work', int(self.work * d['work'] * r.uniform(.7, 1.3)), None, TRAIN.format(60))
        if self.waits_for_gpu and self.gpu_free > self.t:
            ns = self.gpu_free + 20 * US - self.t
            self.call('cudaStreamSynchronize', ns)
            self.syncs.append((self.t, self.t + ns))
            self.spend('sync', ns, None, TRAIN.format(65))
        elif self.gpu_free > self.t + 200 * MS:  # the queue is full
            self.spend('launch', self.gpu_free - 200 * MS - self.t, None, TRAIN.format(50))
        if self.phase:
            self.ranges.append((USER, begin, self.t, 'eval'))

    def phase_ns(self):
        return int(self.r.uniform(5, 20) * S)

    def cost_of_recording(self):
        return 0 if any(a <= self.t < b for a, b in self.given_up) else self.slowed

    def batch(self, ns):
        if ns > 100 * US:
            self.ranges.append((LOADER, self.t, self.t + ns, 'enumerate(DataLoader)'))
            self.spend('wait', ns, QUEUE, NEXT)

    def launch(self, gives, runs):
        self.corr += 1
        inside = gives * 6 // 10
        self.call('cudaLaunchKernel', inside, self.corr)
        start = max(self.t + 5 * US, self.gpu_free)
        self.ops.append((start, start + runs, self.corr))
        self.gpu_free = start + runs
        self.spend('launch', gives, None, TRAIN.format(50))

    def choose(self):
        """From about ten seconds on; in some runs with a second try."""
        r = self.r
        first = START + int(r.uniform(9.5, 10.5) * S)
        if r.random() < .5:
            return [(first, self.end + S)]
        again = int(r.uniform(first + 15 * S, self.end - 12 * S))
        return [(first, again), (again + int(r.choice([1, 5, 10]) * S), self.end + S)]

    def record_windows(self):
        """Windows of full recording, one in each stratum of what is given up, as with GPUSTARVE_WINDOWS=1 where they
        cost next to nothing. The run itself stays as it is."""
        r, left = random.Random(self.corr), []
        for a, b in self.given_up:
            at = a
            for stratum in range(a, b - STRATUM + 1, STRATUM):
                begin = stratum + r.randrange(STRATUM - WINDOW - LATE)
                left.append((at, begin))
                at = begin + WINDOW
            left.append((at, b))
        self.given_up = left

    def busy(self):
        out = []
        for a, b, _ in sorted(self.ops + self.copies):
            if out and a <= out[-1][1]:
                out[-1][1] = max(out[-1][1], b)
            else:
                out.append([a, b])
        return out

    def engine(self):
        """As the meter has it."""
        out = []
        for a, b in self.busy():
            if out and a - self.tail // 2 <= out[-1][1]:
                out[-1][1] = b + self.tail // 2
            else:
                out.append([a - self.tail // 2, b + self.tail // 2])
        return out

    def measure(self):
        """A reading a second, of samples that are up to 0.1 s old."""
        r, out, busy = self.r, [], self.engine()
        at = [START + S + k * S + r.randrange(20) * MS for k in range(int(self.seconds))]
        old = [t - r.randrange(100 * MS) for t in at]
        for i in range(len(at) - 1):
            a, b = old[i], old[i + 1]
            ns = sum(min(y, b) - max(x, a) for x, y in busy if x < b and y > a)
            out.append((at[i], at[i + 1], round(10000 * ns / (b - a)), 1))
        return out

    def look(self):
        out, cpu, i, t = [], 0, 0, START + self.r.randrange(PERIOD)
        while t < self.t and i < len(self.host):
            while i < len(self.host) and self.host[i][1] <= t:
                i += 1
            if i == len(self.host):
                break
            _, _, _, wait, stack = self.host[i]
            cpu += 0 if wait else PERIOD
            out.append((t, wait, cpu, stack))
            t += PERIOD
        return out

    def lines(self, governed):
        seen = (lambda a, b: all(b <= x or a >= y for x, y in self.given_up)) if governed else (lambda a, b: True)
        end = max(self.t, self.gpu_free) + 200 * MS
        out = [f'process {PID} {START - S} {end}', f'period {PERIOD}']
        out += [f'op {a} {b} {c} 7' for a, b, c in self.ops if seen(a, b)]
        out += [f'copy {a} {b} {c} 7 1 1048576' for a, b, c in self.copies]
        out += [f'api {a} {b} {c} {PID} {n}' for a, b, c, n in sorted(self.calls) if seen(a, b)]
        out += [f'sync 3 {a} {b}' for a, b in self.syncs]
        out += [f'range {k} {a} {b} {PID} 0 {n}' for k, a, b, n in sorted(self.ranges, key=lambda x: x[1])]
        out += [f'sample {t} {PID} {PID} 1 {SLEEPING if w else RUNNING} {w or 0} 0 {cpu} 0 0 {st}'
                for t, w, cpu, st in self.samples]
        out += [f'meter {a // US * US} {b // US * US} {busy} {gpm}' for a, b, busy, gpm in self.meters]
        if governed:
            out += [f'loss {GOVERNOR} {a} {b}' for a, b in self.given_up]
        return '\n'.join(out) + '\n'


class Short(Run):
    """2 to 30 s, kernels kept from the beginning, the end or the middle, by the governor or another client of
    CUPTI; phases whose kernels are short, meters that call the engine busy around each kernel, and launches
    that come faster while they are not recorded."""

    def __init__(self, seed):
        r = random.Random(seed ^ 0x5409)
        super().__init__(seed, 2 * 15 ** r.random())

    def vary(self):
        r = self.r
        self.end = START + int(self.seconds * S)
        self.small = r.choice([1, 1, 3, 10])
        self.tail = int(r.choice([0, 0, .02, .1, .3, .6]) * self.kernel)
        self.slowed = int(r.choice([0, 0, .3, 1]) * self.gives)
        self.phase_until = START + int(r.uniform(.1, .5) * self.seconds * S)
        a, b = sorted((r.uniform(.1, .9), r.uniform(.1, .9)))
        a, b = r.choice([(a, 2), (a, max(b, a + .2)), (a, 2)])
        self.given_up = [(START + int(a * self.seconds * S), START + int(b * self.seconds * S))]
        if b >= 1:
            self.given_up = [(self.given_up[0][0], self.end + S)]

    def phase_ns(self):
        return int(self.r.uniform(.15, .6) * self.seconds * S)


def run_of(seed):
    """Every other one is short."""
    return Short(seed) if seed % 2 else Run(seed)
