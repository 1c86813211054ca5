# SPDX-License-Identifier: Apache-2.0
"""Made-up runs of many ranks whose truth is known: a small model of training on N GPUs, in integer
nanoseconds of one true clock, and what each host's clock would have shown of it.

    job = made.Job(seed=1, ranks=8, steps=100)
    job.delay(rank=3, kind='loader', ns=500_000)       # each step; steps=range(...) for some
    truth = job.write(folder)                          # <folder>/<rank>.gst through wire's library

    made.py FOLDER [--seed N] [--ranks N] [--steps N] [--loader RANK:NS] [--backward RANK:NS]
            [--slow RANK:PERCENT] [--shape DATA,TENSOR,PIPELINE] [--kill RANK:STEP] [--hang RANK:STEP]
            [--hosts N]                                # a run by hand, its truth as lines of JSON

The model: each rank has a host that launches (3 us a call, the device starts 5 us later at the
earliest) and streams that run what was launched in order, 1.2 us apart. A collective begins on a
rank when its own stream lets it and ends on all members together, up to 2 us apart, once the last
one began. Kernels and waits vary a little, as real ones do."""
import argparse
import json
import os
import random
import subprocess
import sys
import zlib

BUILD = os.environ.get('GPUSTARVE_BUILD') or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', '..', 'build')
MAKE = os.path.join(BUILD, 'tests', 'ranks_make')
US, MS, SECOND = 1000, 10**6, 10**9
EPOCH = 1_780_000_000 * SECOND
LAUNCH, CALL, TURN = 5 * US, 3 * US, 1200
COMPUTE, TENSOR, DATA, FROM, TO, SUBSET, EXPERT = 7, 20, 21, 22, 23, 24, 25   # streams
LOADER, GC, CHECKPOINT = 1, 6, 7                                  # enum wire_range
ALL_REDUCE = 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
ALL_GATHER = 'ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
REDUCE_SCATTER = 'ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
BROADCAST = 'ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
SEND_RECV = 'ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)'
NEXT = 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__'
ASLEEP = '__getitem__|/home/me/data.py|{line}~fetch|/usr/lib/python3/dist-packages/torch/utils/data/_utils/fetch.py|49'
STUCK = 'hook|/home/me/train.py|77~backward|/usr/lib/python3/dist-packages/torch/_tensor.py|396'
ROLE_SUBMITTER, SLEEPING, ASLEEP_WAIT = 1, 2, 7                   # of samples
CALLS = {ALL_REDUCE: 'ncclAllReduce', ALL_GATHER: 'ncclAllGather', REDUCE_SCATTER: 'ncclReduceScatter',
         BROADCAST: 'ncclBroadcast', SEND_RECV: 'ncclSend'}
NCCL = False      # of jobs that are not told
NEVER = None


class Clock:
    """A host's clock: so far off the true one, and so many parts in 10^9 fast."""

    def __init__(self, offset=0, ppb=0):
        self.offset, self.ppb = offset, ppb

    def at(self, t):
        return EPOCH + t + self.offset + t * self.ppb // 10**9


class Meeting:
    """One collective: who is in it, when each began, and how it ended."""

    def __init__(self, comm, number, members, name, ns):
        self.comm, self.number, self.members = comm, number, members
        self.name, self.ns = name, ns
        self.start, self.end, self.corr = {}, {}, {}

    @property
    def p2p(self):
        return self.name == SEND_RECV

    def join(self, job, rank, start, corr):
        self.start[rank], self.corr[rank] = start, corr
        if len(self.start) == len(self.members):
            job.left += len(self.members)
            end = max(self.start.values()) + self.ns
            later = {}                   # host: by how much it leaves after the first could
            for r in self.members:
                if job.node_spread and job.rank[r].host not in later:
                    later[job.rank[r].host] = int(job.random.expovariate(1 / job.node_spread))
                self.end[r] = end + later.get(job.rank[r].host, 0) + job.random.randrange(job.end_spread + 1)

    def waits(self):
        last = max(self.start.values())
        return {r: last - s for r, s in self.start.items()}


class Rank:
    """What one process does; a program is a generator that yields while it cannot know a time."""

    def __init__(self, job, number, clock, host):
        self.job, self.number, self.clock, self.host = job, number, clock, host
        self.pid = 1000 + number
        self.now = job.random.randrange(200 * US)
        self.tail = {}               # stream: end of what it runs, or the Meeting it is in
        self.corr = 0
        self.calls = {}              # communicator: collectives so far
        self.slow = 1000             # permille of a kernel's length
        self.ops, self.rows, self.samples = [], [], []
        self.stopped = None          # when it was killed or hung

    def known(self, stream):
        """Generator: until the end of what the stream runs is known; returns it."""
        while True:
            tail = self.tail.get(stream, 0)
            if not isinstance(tail, Meeting):
                return tail
            if self.number in tail.end:
                return tail.end[self.number]
            yield

    def call(self, name='cudaLaunchKernel', ns=None):
        begin, self.corr = self.now, self.corr + 1
        self.now += ns or CALL + self.job.random.randrange(500)
        self.rows.append(('api', begin, self.now, self.corr, name))
        return begin

    def ready(self, stream, begin, after):
        at = begin + LAUNCH
        for s in {stream, *after}:
            end = yield from self.known(s)
            at = max(at, end + TURN if end else 0)
        return at

    def wait_for(self, stream, after):
        """cudaStreamWaitEvent: the stream's next work begins after that of others."""
        for _ in after:
            self.rows.append(('wait', self.now, stream))

    def kernel(self, ns, name='gemm', stream=COMPUTE, after=()):
        self.wait_for(stream, after)
        begin = self.call()
        corr = self.corr
        start = yield from self.ready(stream, begin, after)
        ns = ns * self.slow // 1000
        ns += int(self.job.random.gauss(0, ns * self.job.noise)) if self.job.noise else 0
        self.tail[stream] = start + max(ns, 1000)
        self.ops.append((start, self.tail[stream], corr, stream, name))

    def told(self, comm, name, begin):
        """What NCCL marks of a call that launched at @begin, in a group as torch has it, or not."""
        text, ident = CALLS[name], zlib.crc32(comm.encode()) << 20 | 1
        if not self.job.nccl:
            return
        if zlib.crc32(comm.encode()) % 2:
            self.rows.append(('nccl', begin, self.now, ident, text))
            return
        self.rows[-1] = ('api', begin + 900, *self.rows[-1][2:])
        self.rows += [('nccl', begin, begin + 200, 0, 'ncclGroupStart'), ('nccl', begin + 300, begin + 500, ident, text),
                      ('nccl', begin + 600, self.now + 100, 0, 'ncclGroupEnd')]
        self.now += 200

    def collective(self, comm, members, ns, name=ALL_REDUCE, stream=DATA, after=()):
        self.wait_for(stream, after)
        begin = self.call()
        corr = self.corr
        self.told(comm, name, begin)
        start = yield from self.ready(stream, begin, after)
        number = self.calls[comm] = self.calls.get(comm, 0) + 1
        meeting = self.job.meeting(comm, number, members, name, ns)
        meeting.join(self.job, self.number, start, corr)
        self.tail[stream] = meeting
        self.ops.append((meeting, corr, stream, name))

    def drain(self, *streams):
        """The host waits for the device."""
        begin, self.corr = self.now, self.corr + 1
        corr = self.corr
        for s in streams or list(self.tail):
            end = yield from self.known(s)
            self.now = max(self.now, end)
        self.now += 2 * US + self.job.random.randrange(US)
        self.rows.append(('api', begin, self.now, corr, 'cudaStreamSynchronize'))

    def range(self, op, ns, name=''):
        self.rows.append(('range', op, self.now, self.now + ns, name))
        self.now += ns

    def asleep(self, ns, stack):
        """Samples of the training thread, blocked, each 5 ms and at least three."""
        for k in range(max(3, ns // (5 * MS))):
            self.samples.append((self.now + ns * (2 * k + 1) // (2 * max(3, ns // (5 * MS))), stack))

    def loader(self, step):
        """The step's wait for its batch, with what was injected into it."""
        usual = 60 * US + self.job.random.randrange(self.job.loader_noise)
        extra = self.job.injected(self.number, step, 'loader')
        if extra and self.job.sampled:
            self.asleep(usual + extra, ASLEEP.format(line=40 + self.number))
        self.range(LOADER, usual + extra, NEXT)

    def held_up(self, step):
        """Delays between forward and backward pass that are none of the loader's."""
        for kind, op in (('gc', GC), ('checkpoint', CHECKPOINT), ('backward', None)):
            ns = self.job.injected(self.number, step, kind)
            if not ns:
                continue
            yield from self.drain(COMPUTE)  # what it is about to launch is what is late
            if op is None:
                if self.job.sampled:
                    self.asleep(ns, STUCK)
                self.now += ns
            else:
                self.range(op, ns, '/ckpt/last.pt' if op == CHECKPOINT else '')

    def asleep_at(self, step, kind, *streams):
        """The host sleeps once the device has done what it was told, so that what comes next is late."""
        ns = self.job.injected(self.number, step, kind)
        if ns:
            yield from self.drain(*streams)
            self.now += ns

    def lines(self):
        at, out = self.clock.at, []
        job = self.job
        out.append(f'stream {self.number} {len(job.rank)} {self.pid} {at(-100 * MS)} {self.host}')
        for op in self.ops:
            if isinstance(op[0], Meeting):
                m, corr, stream, name = op
                if self.number not in m.end or self.dead(m.end[self.number]):
                    continue
                start, end = m.start[self.number], m.end[self.number]
            else:
                start, end, corr, stream, name = op
            if not self.dead(end):
                out.append(f'op {at(start)} {at(end)} {corr} {stream} {name}')
        for row in self.rows:
            if row[0] == 'api' and not self.dead(row[2]):
                out.append(f'api {at(row[1])} {at(row[2])} {row[3]} {self.pid} {row[4]}')
            elif row[0] == 'wait' and not self.dead(row[1]):
                out.append(f'wait {at(row[1])} {row[2]}')
            elif row[0] == 'nccl' and not self.dead(row[2]):
                out.append(f'nccl {at(row[1])} {at(row[2])} {self.pid} {row[3]} {row[4]}')
            elif row[0] == 'range' and not self.dead(row[3]):
                out.append(f'range {row[1]} {at(row[2])} {at(row[3])} {self.pid} 0 {row[4]}')
        for t, stack in self.samples:
            if not self.dead(t):
                out.append(f'sample {at(t)} {self.pid} {ROLE_SUBMITTER} {SLEEPING} {ASLEEP_WAIT} {stack}')
        return out + self.ending()

    def dead(self, t):
        return self.stopped is not None and t > self.stopped

    def ending(self):
        """Pulses each second, and how the process went."""
        last = self.stopped if self.number in self.job.killed else self.job.over
        out = [f'pulse {self.clock.at(t)}' for t in range(0, last, SECOND)]
        if self.number in self.job.killed or self.job.stuck:
            return out + ['cut']
        return out + [f'bye {self.clock.at(last)}']


class Job:
    def __init__(self, seed=0, ranks=8, steps=100, shape=None, hosts=1, skewed_clocks=True, noise=.002,
                 loader_noise=20 * US, end_spread=2 * US, kernel_ns=MS, sync=True, sampled=False,
                 subset=False, gather=False, node_spread=0, apart=None, experts=0, nccl=None):
        self.random = random.Random(seed)
        self.steps, self.noise, self.loader_noise = steps, noise, loader_noise
        self.end_spread, self.kernel_ns, self.sync, self.sampled = end_spread, kernel_ns, sync, sampled
        self.subset, self.gather, self.node_spread = subset, gather, node_spread
        self.nccl = NCCL if nccl is None else nccl   # its calls carry their communicators, as of 2.25.1
        self.shape = shape or (ranks, 1, 1)
        hosts = self.shape[2] if apart == 'stages' else hosts
        ranks = self.shape[0] * self.shape[1] * self.shape[2]
        clocks = [Clock()] + [Clock(self.random.randrange(-5 * SECOND, 5 * SECOND),
                                    self.random.randrange(-50_000, 50_001)) if skewed_clocks else Clock()
                              for _ in range(hosts - 1)]
        self.experts = experts       # ranks that exchange tokens in all-to-alls, each layer there and back
        self.apart = apart           # 'stages': each on a host; 'islands': hosts that never meet; or None
        host = [self.place(r)[2] if apart == 'stages' else r * hosts // ranks for r in range(ranks)]
        self.rank = [Rank(self, r, clocks[h], f'node{h}') for r, h in enumerate(host)]
        self.meetings, self.delays = {}, []
        self.killed, self.hung = {}, {}
        self.over, self.stuck = 0, False
        self.left = 0                # ends of meetings so far, of all who were in them

    # what is planted

    def delay(self, rank, ns, kind='loader', steps=None):
        """@kind: loader, backward, gc or checkpoint; (way, n), before the n-th micro batch's layers forward ('f')
        or back ('b'); (way, n, 'send'), between them and the next stage; or reduce, before the collective
        of the replicas. @steps: which, all but the first if None."""
        self.delays.append((rank, kind, ns, set(steps if steps is not None else range(1, self.steps))))

    def slow(self, rank, permille):
        self.rank[rank].slow = permille

    def kill(self, rank, step):
        self.killed[rank] = step

    def hang(self, rank, step):
        self.hung[rank] = step

    def injected(self, rank, step, kind):
        return sum(d[2] for d in self.delays if d[0] == rank and d[1] == kind and step in d[3])

    # the run

    def meeting(self, comm, number, members, name, ns):
        key = comm, number
        if key not in self.meetings:
            self.meetings[key] = Meeting(comm, number, members, name, ns)
        return self.meetings[key]

    def place(self, rank):
        """(data, tensor, pipeline) of a rank; tensor is the innermost."""
        d, t, p = self.shape
        return rank // (t * p), rank % t, rank // t % p

    def number(self, data, tensor, pipeline):
        d, t, p = self.shape
        return (data * p + pipeline) * t + tensor

    def layers(self, r, n, name):
        """n kernels, each followed by the tensor group's collective where there is one, and by the experts'
        all-to-all, their work and the all-to-all back."""
        d, t, p = self.place(r.number)
        group = [self.number(d, k, p) for k in range(self.shape[1])]
        for _ in range(n):
            yield from r.kernel(self.kernel_ns, name, after=(TENSOR,) if len(group) > 1 else ())
            if len(group) > 1:
                yield from r.collective(f'tensor {d} {p}', group, 80 * US, stream=TENSOR,
                                        after=(COMPUTE,))
            if self.experts:
                yield from self.exchange(r)
                yield from r.kernel(self.kernel_ns // 4, 'expert', after=(EXPERT,))
                yield from self.exchange(r)
                yield from r.kernel(20 * US, 'combine', after=(EXPERT,))

    def exchange(self, r):
        """An all-to-all, which NCCL makes of sends and receives."""
        first = r.number // self.experts * self.experts
        yield from r.collective(f'experts {first}', list(range(first, first + self.experts)), 60 * US,
                                SEND_RECV, EXPERT, (COMPUTE,))

    def hand_over(self, r, a, b, way, stream, after):
        """A send and its receive between two stages."""
        yield from r.collective(f'pipeline {way} {a} {b}', [a, b], 30 * US, SEND_RECV, stream, after)

    def pipeline(self, r, step, name, way):
        d, t, p = self.place(r.number)
        before, behind = (p - 1, p + 1) if way == 'f' else (p + 1, p - 1)
        last = self.shape[2]
        tail = (TENSOR,) if self.shape[1] > 1 else ()
        for n in range(4 if last > 1 else 1):
            if 0 <= before < last:
                other = self.number(d, t, before)
                yield from self.hand_over(r, other, r.number, way, FROM, ())
            yield from r.kernel(50 * US, 'embed', after=(FROM,) if 0 <= before < last else ())
            yield from r.asleep_at(step, (way, n), COMPUTE)
            yield from self.layers(r, 3 if last == 1 else 1, name)
            yield from r.asleep_at(step, (way, n, 'send'), COMPUTE, *tail)
            if 0 <= behind < last:
                yield from self.hand_over(r, r.number, self.number(d, t, behind), way, TO,
                                          (COMPUTE, *tail))

    def program(self, r):
        d, t, p = self.place(r.number)
        group = [k for k in (self.number(k, t, p) for k in range(self.shape[0]))
                 if self.apart != 'islands' or self.rank[k].host == r.host]
        evens = [k for k in range(0, len(self.rank), 2)]
        for step in range(self.steps):
            if self.stop(r, step):
                return
            r.loader(step)
            yield from self.pipeline(r, step, 'forward', 'f')
            yield from r.held_up(step)
            yield from self.pipeline(r, step, 'backward', 'b')
            if len(group) > 1:
                yield from r.asleep_at(step, 'reduce', COMPUTE)
                yield from r.collective(f'data {group[0]}', group, 150 * US,
                                        REDUCE_SCATTER if self.gather else ALL_REDUCE, DATA, (COMPUTE,))
                if self.shape[1:] == (1, 1):
                    yield from r.kernel(self.kernel_ns, 'backward_last')
                    yield from r.collective(f'data {group[0]}', group, 150 * US,
                                            ALL_GATHER if self.gather else ALL_REDUCE, DATA, (COMPUTE,))
            if self.subset and step % 3 == 0 and r.number in evens and len(evens) > 1:
                yield from r.collective('evens', evens, 60 * US, BROADCAST, SUBSET, (COMPUTE,))
            yield from r.kernel(200 * US, 'optimizer', after=(DATA,))
            if self.sync:
                yield from r.drain()
        yield from r.drain()

    def stop(self, r, step):
        if step in (self.killed.get(r.number), self.hung.get(r.number)):
            r.stopped = r.now
            return True
        return False

    def run(self):
        """Takes the programs in turn until all are over, or none can go on (a rank is missing)."""
        going = [(r, self.program(r)) for r in self.rank]
        if self.killed or self.hung:
            self.stuck = True
        while going:
            before = self.progress()
            going = [(r, g) for r, g in going if next(g, self) is not self]
            if going and self.progress() == before:
                break
        self.over = max(r.now for r in self.rank) + (8 * SECOND if self.stuck else 50 * MS)

    def progress(self):
        return sum(len(r.ops) + len(r.rows) for r in self.rank), \
            self.left

    def write(self, folder):
        self.run()
        os.makedirs(folder, exist_ok=True)
        text = '\n'.join('\n'.join(r.lines()) for r in self.rank) + '\n'
        subprocess.run([MAKE, folder], input=text.encode(), check=True)
        return self.truth()

    # the truth

    def truth(self):
        """Lines of JSON: the clocks, what was planted, every collective with the true arrivals."""
        yield dict(ranks=len(self.rank), steps=self.steps, shape=self.shape, over_ns=self.over,
                   killed=self.killed, hung=self.hung,
                   slow={r.number: r.slow for r in self.rank if r.slow != 1000})
        for r in self.rank:
            yield dict(rank=r.number, host=r.host, offset_ns=r.clock.offset, ppb=r.clock.ppb)
        for rank, kind, ns, steps in self.delays:
            yield dict(delayed=rank, kind=kind, ns=ns, steps=sorted(steps))
        for m in self.meetings.values():
            yield dict(collective=m.comm, number=m.number, name=m.name, members=m.members,
                       start_ns=m.start, end_ns=m.end, corr=m.corr)

    def true_skew(self):
        """ns that each rank waited inside collectives, sends and receives for a later one while it
        computed nothing."""
        out = {}
        for r in self.rank:
            waits = [(op[0].start[r.number], max(op[0].start.values())) for op in r.ops
                     if isinstance(op[0], Meeting) and op[0].end]
            kernels = [op[:2] for op in r.ops if not isinstance(op[0], Meeting)]
            out[r.number] = exposed(waits, kernels)
        return out


def exposed(waits, kernels):
    """How much of the union of waits lies in no kernel. Both are in order of start, as streams are."""
    total, until, k = 0, 0, 0
    for begin, end in sorted(waits):
        at, until = max(begin, until), max(end, until)
        while k < len(kernels) and kernels[k][1] <= at:
            k += 1
        j = k
        while at < until:
            if j == len(kernels) or kernels[j][0] >= until:
                total += until - at
                break
            total += max(0, kernels[j][0] - at)
            at, j = max(at, kernels[j][1]), j + 1
    return total


def pairs(text):
    rank, _, value = text.partition(':')
    return int(rank), int(value)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('folder')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--ranks', type=int, default=4)
    p.add_argument('--steps', type=int, default=100)
    p.add_argument('--hosts', type=int, default=1)
    p.add_argument('--shape', type=lambda s: tuple(map(int, s.split(','))))
    for kind in ('loader', 'backward', 'gc', 'checkpoint', 'slow', 'kill', 'hang'):
        p.add_argument('--' + kind, type=pairs, action='append', default=[])
    p.add_argument('--samples', action='store_true')
    a = p.parse_args()
    job = Job(a.seed, a.ranks, a.steps, a.shape, a.hosts, sampled=a.samples)
    for kind in ('loader', 'backward', 'gc', 'checkpoint'):
        for rank, ns in getattr(a, kind):
            job.delay(rank, ns, kind)
    for rank, percent in a.slow:
        job.slow(rank, 1000 + 10 * percent)
    for rank, step in a.kill:
        job.kill(rank, step)
    for rank, step in a.hang:
        job.hang(rank, step)
    for line in job.write(a.folder):
        print(json.dumps(line))


if __name__ == '__main__':
    sys.exit(main())
