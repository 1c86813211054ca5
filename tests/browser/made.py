# SPDX-License-Identifier: Apache-2.0
"""Runs made up for the browser's tests, written by run_make: each kind of run that a report must
show well, in milliseconds instead of hours, and the same bytes every time. KINDS names them.

A run is a list of lines (tests/made/run_make.c has their words) and what run.json says."""
import json
import os
import re
import subprocess

import gs

US, MS, S = 10**3, 10**6, 10**9
BEGIN = 1794232931 * S  # 2026-11-09
LOADER, USER, STEP, OPTIMIZER, GC, CHECKPOINT = 1, 2, 4, 5, 6, 7  # enum wire_range
FIRST = 1                                                         # enum wire_event_flag
OPEN, FETCH, TAKE = 1, 2, 3                                       # enum wire_batch_what
SUBMITTER, WORKER = 1, 2                                          # enum wire_role
RUNNING, SLEEPING, DISK = 1, 2, 3                                 # enum wire_state
READ, SOCKET, QUEUE, NAP, GIL, LOCK = 1, 4, 6, 7, 8, 10           # enum wire_wait
HOSTILE = '</title></script><script>document.title="owned"</script><img src=x onerror=alert(1)>"\'&'
TURNED = '\u202egnp.exe\u202c \u2067\u05d0\u05d1\u05d2\u2069 \u0645\u0631\u062d\u0628\u0627'
H100 = 'NVIDIA H100 80GB HBM3'


def word(text):
    """A text as run_make reads it."""
    raw = text if isinstance(text, bytes) else str(text).encode()
    plain = b'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./#<>()=:,'
    out = ''.join(chr(c) if c in plain else f'%{c:02x}' for c in raw)
    return out or '-'


def stack(*frames):
    """Innermost first; a frame is 'function file line'."""
    return '\n'.join('\t'.join(f.rsplit(' ', 2)) for f in frames)


TRAIN = 'main /home/me/train.py 41'
READS = stack('__getitem__ /home/me/data.py 88', TRAIN)
DECODES = stack('resize /usr/lib/python3/dist-packages/PIL/Image.py 2200',
                '__getitem__ /home/me/data.py 91', TRAIN)
INLINE = stack('load /usr/lib/python3/dist-packages/PIL/ImageFile.py 2', TRAIN)
PLAIN = stack(TRAIN)
ASKS = stack('confirm /home/me/train.py 60', TRAIN)
NEXT = stack('_next_data /x/site-packages/torch/utils/data/dataloader.py 4', TRAIN)


class Process:
    """One traced process on its first GPU. Lines go into the run; times are absolute."""

    def __init__(self, lines, host, pid, start, end, rank=-1, world=0, role='trainer', gpus=(),
                 command='python train.py'):
        self.lines, self.pid, self.corr, self.start, self.end = lines, pid, 0, start, end
        self.put('stream', word(host), pid, start, end, rank, world, word(role), word(command))
        for ordinal, (uuid, name) in enumerate(gpus):
            self.put('device', ordinal, uuid, word(name))

    def put(self, *words):
        self.lines.append(' '.join(str(w) for w in words))

    def launch(self, at, name='cudaLaunchKernel', ns=2 * US):
        self.corr += 1
        self.put('api', at, at + ns, self.corr, self.pid, word(name))
        return self.corr

    def kernel(self, start, ns, name='gemm', launch=None, stream=7, device=0):
        """Its launch begins 5 us before it, or where told."""
        corr = self.launch(start - 5 * US if launch is None else launch)
        self.put('kernel', start, start + ns, corr, stream, device, word(name))
        return start + ns

    def copy(self, start, ns, nbytes, kind=1, src=2, dst=3, launch=None, call=2 * US):
        corr = self.launch(start - 5 * US if launch is None else launch, 'cudaMemcpyAsync', call)
        self.put('copy', start, start + ns, corr, 7, 0, nbytes, kind, src, dst)
        return start + ns

    def range(self, op, start, end, name='-', flags=0):
        self.put('range', op, start, end, self.pid, flags, word(name))

    def wait(self, start, end, flags=0):
        self.range(LOADER, start, end, 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__',
                   flags)

    def sample(self, t, tid, role, state, wait, code, target='', fs='', cpu=0, delay=0, native='',
               period=0):
        self.put('sample', t, tid if role == WORKER else self.pid, tid, role, state, wait, 0, cpu,
                 delay, word(code), word(target), word(fs), word(native), 0, period)

    def samples(self, start, end, tid, role, state, wait, code, period=5 * MS, target='', fs=''):
        for t in range(start + MS, end, period):
            self.sample(t, tid, role, state, wait, code, target, fs)

    def batch(self, what, start, end, tid, worker, index, cpu=0, delay=0, nbytes=0, samples=0, text='',
              loader=1):
        self.put('batch', what, start, end, tid if worker else self.pid, tid, loader, worker, index,
                 cpu, delay, nbytes, nbytes // 2, samples, word(text))

    def settings(self, workers, dataset='ShardDataset'):
        text = (f'workers={workers} prefetch=2 batch=16 pin=1 persistent=0 start=fork in_order=1 '
                f'dataset={dataset} kind=torch')
        self.batch(OPEN, self.start + MS, self.start + 31 * MS, self.pid, 0, 0, text=text)


class Made:
    def __init__(self, kind, command=('python', 'train.py', '--epochs', '90'), labels=None, price='6.88',
                 status=0):
        self.kind, self.lines, self.price = kind, [], price
        self.record = {'id': f'20261109-{kind}', 'command': list(command), 'start_unix_ns': BEGIN,
                       'wall_ns': 0, 'exit_status': status, 'labels': labels or {}, 'exits': []}

    def process(self, *args, **kw):
        return Process(self.lines, *args, **kw)

    def write(self, where, end):
        """The run's folder below @where."""
        run = os.path.join(where, self.record['id'] + '.gst')
        os.makedirs(run)
        self.record['wall_ns'] = end - BEGIN
        with open(os.path.join(run, 'run.json'), 'w', encoding='utf-8') as f:
            json.dump(self.record, f)
        subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), run], check=True,
                       input=('\n'.join(self.lines) + '\n').encode())
        return run


# ---- one step after the other ------------------------------------------------------------------

def fed_step(p, t, k, wait, work, workers=4, name='gemm', data='/data/imagenet/shard', fs='nfs4',
             decode=4):
    """A step that waits for its batch, copies it, computes. Every @decode-th batch is slow to decode
    instead of slow to read."""
    w = k % workers
    tid = p.pid + 1 + w
    slow = k % decode == decode - 1
    p.wait(t, t + wait)
    p.batch(TAKE, t - 20 * US, t + wait + 10 * US, p.pid, 0, k, cpu=150 * US)
    fetch = t - 2 * MS, t + wait - 300 * US
    p.batch(FETCH, *fetch, tid, w + 1, k, cpu=(fetch[1] - fetch[0]) * (9 if slow else 1) // 10,
            nbytes=3200000, samples=16)
    code, state, blocked = (DECODES, RUNNING, 0) if slow else (READS, DISK, READ)
    p.samples(t, t + wait, tid, WORKER, state, blocked, code, 10 * MS,
              '' if slow else f'{data}-{k % 7:04}.bin', '' if slow else fs)
    p.samples(t, t + wait, p.pid, SUBMITTER, SLEEPING, QUEUE, NEXT, 20 * MS)
    t = p.copy(t + wait + 30 * US, 400 * US, 9633792)
    half = work // 2
    t = p.kernel(t + 20 * US, half, name)
    t = p.kernel(t + 6 * US, half, f'{name}_backward', launch=t - half // 2)
    p.range(OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#SGD.step')
    return t


def starved(where, name='starved', least=60):
    """Half a minute in which four workers on a slow file system feed one H100, each batch awaited for
    @least ms or a little longer; some steps take far longer than the rest."""
    made = Made(name, labels={'team': 'vision', 'commit': '4f2a11c'})
    steps, end = 300, BEGIN + (39 * S if least == 60 else 50 * S)
    p = made.process('node1', 4242, BEGIN, end, gpus=[(1, H100)])
    p.settings(4)
    p.put('facts', BEGIN + S, 0, 40 * 10**9, 85 * 10**9, 31, 0)
    t = p.kernel(BEGIN + 2 * S, 30 * MS, 'warm_up')
    for k in range(1, steps + 1):
        wait = (900 if k % 97 == 0 else least + k * 7 % 23) * MS
        t = fed_step(p, t + 50 * US, k, wait, 40 * MS)
    p.put('pulse', t, t, 120 * MS)
    assert t < end, t
    return made.write(where, end)


def healthy(where):
    """Two GPUs of a make that has no price, busy nearly all the time."""
    made = Made('healthy', command=('python3', 'bert.py'), price=None)
    end = BEGIN + 20 * S
    for n in 1, 2:
        p = made.process('node1', 76 + n, BEGIN, end, gpus=[(n, 'Example Accelerator X')])
        t, k = BEGIN + 500 * MS, 0
        while t < end - 300 * MS:
            k += 1
            p.wait(t - 2 * MS, t - 2 * MS + 300 * US)
            t = p.kernel(t + 8 * US, 90 * MS + k % 5 * MS, 'attention', launch=t - MS)
            p.range(OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#AdamW.step')
    return made.write(where, end)


def ranks(where):
    """64 ranks on eight hosts. Rank 17 waits for its loader before each step; the others meet it
    inside the collective."""
    made = Made('ranks', command=('torchrun', '--nnodes=8', '--nproc-per-node=8', 'train.py'))
    end, steps = BEGIN + 18500 * MS, 60
    for rank in range(64):
        p = made.process(f'node{rank // 8 + 1}', 1000 + rank, BEGIN, end, rank, 64,
                         gpus=[(rank + 1, H100)])
        p.settings(2)
        t = BEGIN + 2 * S
        for k in range(1, steps + 1):
            late = rank == 17
            ready = t + (60 * MS if late else 2 * MS)
            p.wait(t, ready)
            p.batch(TAKE, t, ready, p.pid, 0, k)
            p.batch(FETCH, t - MS, ready - 50 * US, p.pid + 1000, 1, k, cpu=MS, nbytes=3200000,
                    samples=16)
            if late:
                p.samples(t, ready, p.pid + 1000, WORKER, DISK, READ, READS, 20 * MS,
                          f'/data/shard-{k % 3}.bin', 'nfs4')
            done = p.kernel(ready + 10 * US, 200 * MS, 'gemm')
            t += 60 * MS + 205 * MS
            p.kernel(done + 6 * US, t - done - 6 * US, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL',
                     launch=done - 100 * US, stream=9)
            p.range(OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#SGD.step')
            t += 50 * US
    assert t < end, t
    return made.write(where, end)


def nogpu(where):
    """A job that was traced and never touched a GPU."""
    made = Made('nogpu', price=None)
    made.process('node1', 5, BEGIN, BEGIN + 3 * S)
    return made.write(where, BEGIN + 3 * S)


def idle(where):
    """A GPU that was held, and nothing ever ran on it."""
    made = Made('idle')
    made.process('node1', 5, BEGIN, BEGIN + 90 * S, gpus=[(1, H100)])
    return made.write(where, BEGIN + 90 * S)


def killed(where):
    """kill -9 of everything: no Bye, no exit status, the last frame torn in the middle."""
    made = Made('killed', status=None)
    p = made.process('node1', 4242, BEGIN, -1, gpus=[(1, H100)])
    p.settings(2)
    t = p.kernel(BEGIN + S, 30 * MS)
    for k in range(1, 60):
        t = fed_step(p, t + 50 * US, k, 30 * MS, 40 * MS, 2)
        if k % 15 == 0:
            p.put('pulse', t, t - 10 * MS, k * MS)
    run = made.write(where, t)
    stream = os.path.join(run, '1.gst')
    os.truncate(stream, os.path.getsize(stream) - 100)
    return run


def hostile(where):
    """10,000 kernels, and every name that a run brings along tries to become markup, script or to
    turn the writing direction."""
    evil, count = HOSTILE + TURNED, 10000
    made = Made('hostile', command=('python', evil), labels={evil: evil, '__proto__': 'x'})
    made.record['id'] = evil
    end = BEGIN + 11 * S
    p = made.process(evil, 4242, BEGIN, end, gpus=[(1, H100 + evil)], command=evil)
    p.settings(4, dataset=HOSTILE.replace(' ', '') + '\u05d0')
    reads = stack(f'{evil} /home/{evil}/data.py 88', TRAIN)
    t = p.kernel(BEGIN + 2 * S, 30 * MS, evil)
    for k in range(1, 60):
        w = k % 4
        wait = 50 * MS
        p.wait(t, t + wait)
        p.batch(TAKE, t, t + wait, p.pid, 0, k)
        p.batch(FETCH, t - MS, t + wait - 9 * US, p.pid + 1 + w, w + 1, k, nbytes=4096, samples=16)
        p.samples(t, t + wait, p.pid + 1 + w, WORKER, DISK, READ, reads, 10 * MS, f'/data/{evil}{w}',
                  evil[:40])
        p.range(USER, t + wait, t + wait + MS, evil)
        t = p.kernel(t + wait + 20 * US, 10 * MS, evil)
    for k in range(count):
        t = p.kernel(t + 12 * US, 500 * US, f'{evil}<{k}, {TURNED}>')
    p.range(OPTIMIZER, t - 40 * US, t - 30 * US, evil)
    assert t < end, t
    return made.write(os.path.join(where), end)


# ---- every class -------------------------------------------------------------------------------

class Classes:
    """Gaps of 20 ms, each of one class, between kernels of 30 ms."""
    GAP = 20 * MS

    def __init__(self, p, rank):
        self.p, self.k, self.rank = p, 0, rank
        self.cpu, self.delay = S, 0
        self.t = p.kernel(BEGIN + 3 * S, 30 * MS)

    def gap(self, ns=None):
        """The ends of the next gap; the kernel behind it is launched 5 us before it."""
        a, b = self.t + 10 * US, self.t + 10 * US + (ns or self.GAP)
        self.t = self.p.kernel(b + 5 * US, 30 * MS)
        return a, b

    def seen(self, a, b, state, wait, code, **kw):
        self.p.samples(a, b, self.p.pid, SUBMITTER, state, wait, code, 4 * MS, **kw)

    def awaited(self, cpu=0, delay=0, begin=None, end=None, code=READS, state=DISK, wait=READ):
        """A wait for a batch of the one worker, which is made by [begin, end) of the wait."""
        self.k += 1
        a, b = self.gap()
        p, tid = self.p, self.p.pid + 1
        begin, end = a if begin is None else a + begin, b if end is None else a + end
        p.wait(a, b)
        p.batch(TAKE, a, b, p.pid, 0, self.k, cpu=2 * MS if end < b else 0)
        p.batch(FETCH, begin, end, tid, 1, self.k, cpu, delay, 4096, 16)
        p.samples(max(begin, a), end, tid, WORKER, state, wait, code, 4 * MS, '/data/a.bin', 'nfs4')

    def inputs(self):
        p = self.p
        self.awaited()                                                           # fetch
        self.awaited(cpu=self.GAP, code=DECODES, state=RUNNING, wait=0)          # prep
        self.awaited(delay=self.GAP, code=DECODES, state=RUNNING, wait=0)        # cpu_starved
        self.awaited(begin=self.GAP - 9 * US)                                    # pipeline
        self.awaited(begin=-5 * MS, end=-MS)                                     # handoff
        p.wait(*self.gap(), FIRST)                                               # epoch
        a, b = self.gap()
        self.seen(a, b, RUNNING, 0, INLINE)                                      # inline
        a = self.t                                                               # h2d
        self.t = p.copy(a + self.GAP, 2 * MS, 1 << 24, src=1, launch=a + US, call=self.GAP - US)
        self.t = p.kernel(self.t, 30 * MS, launch=self.t - MS)

    def hosts(self):
        p = self.p
        for call in 'cudaEventRecord', 'cudaStreamSynchronize', 'cudaMalloc', 'cuModuleLoadData':
            a, b = self.gap()
            p.put('api', a, b, 0, p.pid, call)
        p.range(GC, *self.gap())
        p.range(CHECKPOINT, *self.gap(), '/out/last.ckpt')
        p.range(USER, *self.gap(), 'validation')
        self.seen(*self.gap(), SLEEPING, GIL, PLAIN)                             # lock
        self.seen(*self.gap(), SLEEPING, LOCK, PLAIN)                            # wait: nobody holds it
        self.seen(*self.gap(), SLEEPING, SOCKET, PLAIN, target='socket:10.0.0.9:443')
        self.seen(*self.gap(), SLEEPING, READ, ASKS, target='/dev/pts/0')
        self.seen(*self.gap(), RUNNING, 0, PLAIN)
        a, b = self.gap()
        for t in range(a - 2 * MS, b + 4 * MS, 4 * MS):                          # cpu_starved
            p.sample(t, p.pid, SUBMITTER, RUNNING, 0, PLAIN, cpu=self.cpu, delay=self.delay)
            self.delay += 4 * MS

    def devices(self):
        p, t = self.p, self.t
        for ns in 8 * US, 40 * US, self.GAP:              # turnaround, launch, unknown
            t = p.kernel(t + ns, 5 * MS, launch=t - MS)
        p.put('sync', 2, t - MS, t - MS, 0, 7, 0)         # dependency
        t = p.kernel(t + self.GAP, 5 * MS, launch=t - MS // 2)
        p.put('sync', 5, t + 20 * US, t + self.GAP - 20 * US, 0, 7, 0)  # host_code
        t = p.kernel(t + self.GAP, 5 * MS, launch=t - MS)
        corr = p.launch(t - MS // 4, 'cudaGraphLaunch')   # graph
        for _ in range(2):
            p.put('kernel', t + 9 * US, t + 5 * MS, corr, 7, 0, 'node')
            t += 5 * MS + self.GAP
        t -= self.GAP
        p.put('facts', t, 0, 10**9, 85 * 10**9, 50, 1)    # contention
        a = t
        t = p.kernel(t + self.GAP, 5 * MS, launch=t - MS)
        p.put('facts', t - MS, 0, 10**9, 85 * 10**9, 50, 0)
        assert a < t
        for reason in 1, 3:                               # lost, unobserved
            p.put('loss', reason, t + 10 * US, t + self.GAP, 3)
            t = p.kernel(t + self.GAP, 5 * MS)
        self.t = t

    def rest(self):
        """Far from any evidence: what stays unknown. Then copying and communicating."""
        p = self.p
        self.t = p.kernel(self.t + 5 * US, 3 * S, launch=self.t - MS)
        p.wait(*self.gap())                               # input.unknown
        self.t = p.kernel(self.t + 5 * US, 3 * S, launch=self.t - MS)
        self.gap()                                        # host.unknown
        t = p.copy(self.t + 8 * US, self.GAP, 1 << 28, launch=self.t - MS)
        # so many that the ranks' clocks can be laid upon each other, in no regular distance
        for k in range(12):
            ready = t + 8 * US + (5 * MS if self.rank else 40 * MS)
            end = t + (90 + k * k) * MS
            p.kernel(t + 8 * US, ready - t - 16 * US, launch=t - MS)
            t = p.kernel(ready, end - ready, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', launch=t - MS // 2)
        self.t = p.kernel(t + 8 * US, 5 * MS, launch=t - MS)


def class_names():
    """All classes, as the table has them."""
    with open(os.path.join(gs.SOURCE, 'facts', 'classes.def'), encoding='utf-8') as f:
        return re.findall(r'^CLASS\(\w+, "([a-z0-9_.]+)"', f.read(), re.M)


UNREACHABLE = {'excluded.no_process'}  # needs an allocation, which no release can look up yet


def classes(where):
    """Two ranks whose time falls into every class there is but UNREACHABLE."""
    made = Made('classes')
    end = BEGIN + 13 * S
    for rank in 0, 1:
        p = made.process('node1', 100 + 100 * rank, BEGIN, end, rank, 2, gpus=[(rank + 1, H100)])
        p.settings(1)
        c = Classes(p, rank)
        c.inputs()
        c.hosts()
        c.devices()
        c.rest()
        assert c.t < end, c.t - BEGIN
    return made.write(where, end)


KINDS = {f.__name__: f for f in (starved, healthy, classes, ranks, nogpu, idle, killed, hostile)}
