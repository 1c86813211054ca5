# SPDX-License-Identifier: Apache-2.0
"""The kinds of planted faults, and cases of them with parameters drawn from a seed.

A kind is a function of (case, rng, stage): it writes the plan of tests/workloads/planted.py and says
for each place what the report must call it: case.expect[place] = allowed classes by what the thread
did there (`cpu`, `delay`, `blocked`, or '' where the truth has no such split), the right one first;
case.lines[place] = the marks of the lines that may stand in the first finding."""
import os
import random

import gs

FETCH, PREP, STARVED = 'input.fetch', 'input.prep', 'input.cpu_starved'
PIPELINE, HANDOFF, EPOCH, INLINE = ('input.pipeline', 'input.handoff', 'input.epoch',
                                    'input.inline')

# What the workload assumes where a plan is silent.
DEFAULTS = dict(workers=0, batch=2, steps=40, preload=False, kernels=4)

# One class decides a wait where it leads by far, so the small shares may follow the large one.
CPU = dict(cpu=[PREP], delay=[PREP, STARVED], blocked=[PREP, STARVED, FETCH])
IO = dict(blocked=[FETCH], cpu=[FETCH, PREP], delay=[FETCH, STARVED])
NO_CPU = dict(delay=[STARVED], blocked=[STARVED], cpu=[STARVED, PREP])
LOCK = dict(blocked=[PIPELINE], cpu=[PIPELINE, PREP], delay=[PIPELINE, STARVED])

# What is not planted: its classes are looked at by other tests.
ANY_INPUT, ANY_HOST = ['input.*'], ['host.*', 'device.*', 'input.h2d']
UNPLANTED = {'gpu': ANY_HOST, 'queued': ANY_HOST, 'rest': ANY_HOST + ANY_INPUT, 'iter': ANY_HOST + [EPOCH],
             'first': [EPOCH], 'last': ANY_INPUT, 'wait': ANY_INPUT, 'making': ANY_INPUT,
             'before': ANY_INPUT, 'handoff': ANY_INPUT, 'order': ANY_INPUT, 'unpack': ANY_INPUT,
             'late': ANY_INPUT, 'preload': ANY_INPUT + ANY_HOST, 'stopped': ANY_HOST + ANY_INPUT + ['excluded.unobserved'], 'sample': ANY_INPUT,
             'collate': ANY_INPUT, 'parcel': ANY_INPUT, 'pin': ANY_INPUT, 'lock': ANY_INPUT,
             'step': ANY_HOST + ANY_INPUT}


def host(cls, *more):
    """An activity of the trainer: one class whatever its thread did. It wants a CPU for the batch that it makes."""
    starved = ['host.cpu_starved', STARVED] if INLINE in (cls, *more) else ['host.cpu_starved']
    return dict(cpu=[cls, *more], blocked=[cls, *more], delay=[cls, *more, *starved])


OFF_CLOCK = ('K15', 'K19', 'K20', 'K21', 'K22', 'K29', 'K30', 'K32')


class Case:
    """real: for a real GPU, where what the simulator's settings plant takes the calls' own time."""

    def __init__(self, name, kind, seed, real=False):
        self.name, self.kind, self.real = name, kind, real
        self.rng = random.Random(f'{seed}/{name}')
        self.plan, self.expect, self.lines = {}, {}, {}
        self.options, self.env = [], {}
        self.hidden = self.stops = self.graphs = False  # graphs: of kernels that are not counted
        self.variants, self.compare, self.skew = {}, None, 0.02

    def build(self, stage):
        self.plan = dict(steps=40, batch=2, workers=0, places={}, preload=False,
                         gpu_us=self.rng.randrange(3000, 7000), seed=self.rng.randrange(1 << 20))
        self.kind(self, self.rng, stage)
        return self

    def own_clock(self):
        """Does the workload's own clock tell when the device worked? Each step waits for its kernels,
        which last as long as they were told to, nothing else runs there, and nobody keeps the
        interpreter from looking at the clock."""
        kinds = {kind for parts in self.plan['places'].values() for kind, _ in parts}
        return self.plan.get('sync', 'step') == 'step' and not kinds & set(OFF_CLOCK)

    def put(self, place, kind, expect, marks, **parameters):
        parts = self.plan['places'].setdefault(place, [])
        key = f'{place}/{len(parts)}'
        parts.append([kind, parameters])
        self.expect[key], self.lines[key] = expect, marks

    def also(self, place, kind, **parameters):
        """Part of the scenery, no fault."""
        self.plan['places'].setdefault(place, []).append([kind, parameters])


KINDS = {}


def kind(times, short=False):
    def note(fn):
        KINDS[fn.__name__] = (fn, times, short)
        return fn
    return note


def some_workers(c, rng, *choices):
    c.plan['workers'] = rng.choice(choices or (0, 1, 2))
    return max(1, c.plan['workers'])


# ---- loader: work ----

@kind(3, short=True)
def spin(c, rng, stage):
    w = some_workers(c, rng, 0, 1, 1)
    c.put('sample', 'K01', CPU, ['a1'], ms=rng.uniform(10, 18) * w)


@kind(2)
def jpeg(c, rng, stage):
    some_workers(c, rng, 0, 1)
    c.put('sample', 'K02', CPU, ['a2'], edge=rng.randrange(380, 520), times=rng.randrange(3, 5))


@kind(1)
def sort(c, rng, stage):
    some_workers(c, rng, 1)
    c.put('sample', 'K03', CPU, ['a3'], n=100_000, times=rng.randrange(2, 4))


@kind(1)
def compress(c, rng, stage):
    some_workers(c, rng, 0, 1)
    c.put('sample', 'K04', CPU, ['a4'], n=100_000, times=rng.randrange(1, 3))


@kind(1)
def collate(c, rng, stage):
    some_workers(c, rng, 1)
    c.put('collate', 'K01', CPU, ['a1'], ms=rng.uniform(20, 35))


# ---- loader: waiting ----

@kind(2, short=True)
def sleep(c, rng, stage):
    w = some_workers(c, rng, 0, 1, 2)
    c.put('sample', 'K09', IO, ['a9'], ms=rng.uniform(12, 20) * w)


@kind(1)
def sleep_spawn(c, rng, stage):
    some_workers(c, rng, 1)
    c.plan.update(start='spawn', steps=60)
    c.expect['first'], c.lines['first'] = {'': [EPOCH]}, ['n2', 'n1']
    c.expect['iter'], c.lines['iter'] = {'': [EPOCH]}, ['n1']
    c.put('sample', 'K09', IO, ['a9'], ms=rng.uniform(14, 20))


@kind(1)
def pipe(c, rng, stage):
    some_workers(c, rng, 0, 1)
    c.put('sample', 'K06', IO, ['a6'], path=stage.fifo(rng.uniform(12, 20)))


@kind(2)
def server(c, rng, stage):
    w = some_workers(c, rng, 0, 1, 2)
    c.put('sample', 'K07', IO, ['a7'], port=stage.server(), ms=rng.uniform(12, 20) * w)


@kind(2)
def slow_file(c, rng, stage):
    w = some_workers(c, rng, 1, 2)
    folder = stage.fuse(size=8 << 20, read=rng.uniform(12, 20) * w)
    c.put('sample', 'K05', IO, ['a5'], path=os.path.join(folder, 'f0'), n=4096)


@kind(1)
def slow_disk(c, rng, stage):
    some_workers(c, rng, 1)
    path, group = stage.disk(rng.randrange(6, 10) << 20, 64 << 20)
    c.also('worker', 'K24', groups=[group])
    c.put('sample', 'K05', IO, ['a5'], path=path, n=131072)


@kind(1)
def mapped_file(c, rng, stage):
    some_workers(c, rng, 1)
    folder = stage.fuse(size=8 << 20, read=rng.uniform(6, 9))
    c.put('sample', 'K08', IO, ['a8'], path=os.path.join(folder, 'f0'), pages=2)


@kind(1)
def mapped_disk(c, rng, stage):
    some_workers(c, rng, 1)
    path, group = stage.disk(rng.randrange(1, 3) << 20, 64 << 20)
    c.also('worker', 'K24', groups=[group])
    c.put('sample', 'K08', IO, ['a8'], path=path, pages=8)


@kind(1)
def many_files(c, rng, stage):
    some_workers(c, rng, 0, 1)
    folder = stage.fuse(size=4096, read=rng.uniform(1, 3), open=rng.uniform(2, 4))
    c.put('sample', 'K12', IO, ['b4'], path=folder, files=3)


@kind(1)
def mixed(c, rng, stage):
    some_workers(c, rng, 0, 1)
    ms = rng.uniform(9, 14)
    c.put('sample', 'K09', IO, ['a9', 'a1'], ms=ms)
    c.put('sample', 'K01', CPU, ['a9', 'a1'], ms=ms)


# ---- loader: locks, no CPU, order ----

@kind(1)
def three_runs(c, rng, stage):
    """DS-Analyzer's experiment: the same job cold, with its files cached, and without files and work.
    What fetching and preparing cost must be what the cold run alone says."""
    some_workers(c, rng, 1)
    c.plan['gpu_us'] = 1500  # what it hides counts as fetching or as work, as one likes
    ms, near = rng.uniform(12, 15), stage.path('f')
    with open(near, 'wb') as f:
        f.truncate(8 << 20)
    slow = os.path.join(stage.fuse(size=8 << 20, read=ms), 'f0')
    c.put('sample', 'K05', IO, ['a5'], path=slow, n=4096)
    c.put('sample', 'K01', CPU, ['a1'], ms=ms)
    cached = dict(c.plan, places=dict(sample=[['K05', dict(path=near, n=4096, cached=True)],
                                              c.plan['places']['sample'][1]]))
    c.variants = dict(cached=cached, nothing=dict(c.plan, places={}))
    c.compare = differences


def differences(main, others):
    """Ten percent, of the larger difference. Other load that comes and goes spoils the runs'
    difference: the case may be tried again."""
    fetch = main.classes.get(FETCH, 0)
    prep = sum(main.classes.get(k, 0) for k in (PREP, STARVED, HANDOFF))
    cached, nothing = others['cached'].span, others['nothing'].span
    by_runs = main.span - cached, cached - nothing
    slack = 0.1 * max(by_runs)
    return [f'{what} {got / 1e6:.0f} ms, by three runs {want / 1e6:.0f}'
            for what, got, want in (('fetch', fetch, by_runs[0]), ('prep', prep, by_runs[1]))
            if abs(got - want) > slack]


@kind(1)
def shared_lock(c, rng, stage):
    c.plan.update(workers=2, batch=4)
    ms = rng.uniform(8, 12)
    c.put('sample', 'K10', dict(IO, blocked=[FETCH, PIPELINE]), ['a9', 'b1'], held=['K09', dict(ms=ms)])
    c.expect['lock'], c.lines['lock'] = LOCK, ['b1']


@kind(1)
def inner_lock(c, rng, stage):
    some_workers(c, rng, 1)
    c.put('sample', 'K11', LOCK, ['b2', 'b3'], ms=rng.uniform(12, 20))


@kind(2, short=True)
def quota(c, rng, stage):
    some_workers(c, rng, 1)
    c.plan.update(steps=24)
    c.also('worker', 'K24', groups=[stage.quota(rng.uniform(0.15, 0.25), 20_000)])
    c.expect['handoff'], c.lines['handoff'] = {'': [STARVED, HANDOFF]}, ['a1', 'n2']
    c.put('sample', 'K01', NO_CPU, ['a1'], ms=rng.uniform(6, 9))


@kind(1)
def one_core(c, rng, stage):
    cores = stage.cores(2)
    c.plan.update(workers=4, steps=48)
    c.also('worker', 'K24', cores=[cores[1]])
    c.also('start', 'K24', cores=[cores[0]])
    c.expect['handoff'], c.lines['handoff'] = {'': [STARVED, HANDOFF]}, ['a1', 'n2']
    c.put('sample', 'K01', NO_CPU, ['a1'], ms=rng.uniform(8, 12))


@kind(1)
def overcommitted(c, rng, stage):
    cores = stage.cores(2)
    some_workers(c, rng, 1)
    stage.hogs(cores[1], 2)
    c.plan.update(steps=24)
    c.also('start', 'K24', cores=[cores[0]])
    c.also('worker', 'K24', cores=[cores[1]], nice=5)
    c.expect['handoff'], c.lines['handoff'] = {'': [STARVED, HANDOFF]}, ['a1', 'n2']
    c.put('sample', 'K01', NO_CPU, ['a1'], ms=rng.uniform(4, 6))


@kind(2)
def slow_one(c, rng, stage):
    """Every fourth batch is slow, and the next ones are ready behind it."""
    c.plan.update(workers=2, batch=1, steps=64, prefetch=2)
    slow, fast = rng.uniform(80, 120), rng.uniform(1, 2)
    c.put('sample', 'K25', IO, ['a9'], held=['K09', dict(ms=fast)], rare=['K09', dict(ms=slow)],
          each=8, phase=rng.randrange(8))
    c.expect['order'], c.lines['order'] = {'': [PIPELINE]}, ['a9', 'n2']


# ---- loader: from worker to trainer, epochs ----

@kind(1)
def unpack(c, rng, stage):
    some_workers(c, rng, 1)
    c.plan.update(parcels=True, objects=rng.randrange(6000, 9000), steps=30)
    for place in ('unpack', 'handoff'):
        c.expect[place] = {s: [HANDOFF, PIPELINE] for s in ('cpu', 'blocked')}
        c.expect[place].update({s: [HANDOFF, PIPELINE, STARVED] for s in ('', 'delay')})
        c.lines[place] = ['n2']
    c.expect['making'] = {'': [PREP, HANDOFF, PIPELINE, STARVED]}
    c.lines['making'] = ['n2']


@kind(1)
def rebuild(c, rng, stage):
    some_workers(c, rng, 1)
    c.plan.update(parcels=True)
    c.put('parcel', 'K01', dict(cpu=[HANDOFF], blocked=[HANDOFF], delay=[HANDOFF, STARVED]), ['a1'],
          ms=rng.uniform(20, 30))


@kind(1)
def pin(c, rng, stage):
    some_workers(c, rng, 1)
    c.plan.update(parcels=True, pin=True)
    c.skew = 0.06  # the script gets the interpreter back after the wait has ended
    c.put('pin', 'K01', dict(cpu=[HANDOFF], blocked=[HANDOFF], delay=[HANDOFF, STARVED]), ['a1', 'n2'],
          ms=rng.uniform(20, 30))


@kind(2, short=True)
def epochs(c, rng, stage):
    some_workers(c, rng, 1, 2)
    c.plan.update(steps=4, epochs=rng.randrange(10, 14))
    for place in ('iter', 'first', 'last'):
        c.expect[place], c.lines[place] = {'': [EPOCH]}, ['n1', 'n2']
    c.also('worker', 'K09', ms=rng.uniform(30, 50))


@kind(1)
def epochs_kept(c, rng, stage):
    """Workers stay; the first batch of an epoch is waited for nonetheless."""
    some_workers(c, rng, 1)
    c.plan.update(steps=4, epochs=rng.randrange(10, 14), persistent=True, prefetch=4)
    c.expect['first'], c.lines['first'] = {'': [EPOCH]}, ['n1', 'n2', 'a9']
    c.put('sample', 'K25', IO, ['a9'], held=['K09', dict(ms=1)],
          rare=['K09', dict(ms=rng.uniform(60, 90))], each=8, phase=0)


# ---- the loop itself ----

@kind(2, short=True)
def loop_jpeg(c, rng, stage):
    c.plan.update(preload=True)
    c.put('step', 'K02', host(INLINE), ['a2'], edge=rng.randrange(380, 520), times=rng.randrange(5, 8))


@kind(1)
def loop_file(c, rng, stage):
    c.plan.update(preload=True)
    folder = stage.fuse(size=8 << 20, read=rng.uniform(20, 30))
    c.put('step', 'K05', host(INLINE, FETCH), ['a5'], path=os.path.join(folder, 'f0'), n=4096)


@kind(1)
def loop_python(c, rng, stage):
    """In each step, between the batch that is taken and the copy: as if it were made there."""
    c.plan.update(preload=True)
    c.put('step', 'K01', host(INLINE, 'host.cpu_work'), ['a1'], ms=rng.uniform(20, 30))


@kind(1)
def loop_operators(c, rng, stage):
    """On tensors of the CPU: no launch, so a long row of them is work on the CPU, for the batch in each step."""
    c.plan.update(preload=True)
    c.put('step', 'K27', host(INLINE, 'host.cpu_work', 'host.dispatch'), ['c6'], times=rng.randrange(150, 250))


@kind(1)
def loop_syncs(c, rng, stage):
    c.plan.update(preload=True, steps=30)
    c.put('step', 'K22', host('host.sync', 'host.dispatch', 'device.launch', 'device.turnaround'),
          ['c4'], times=300, us=20)


@kind(2)
def loop_eval(c, rng, stage):
    c.plan.update(preload=True)
    c.put('step', 'K16', host('host.phase'), ['a9', 'a1'], by=rng.choice(('record', 'nvtx')),
          text=rng.choice(('eval', 'validate epoch', 'logging')),
          held=rng.choice((['K09', dict(ms=rng.uniform(20, 30))], ['K01', dict(ms=rng.uniform(20, 30))])))


@kind(2, short=True)
def loop_save(c, rng, stage):
    c.plan.update(preload=True, every=5, steps=100)
    c.put('step', 'K13', host('host.checkpoint'), ['b5'], tensors=4, kib=4096,
          path=stage.path('c'))


@kind(1)
def loop_save_slow(c, rng, stage):
    c.plan.update(preload=True, every=8)
    folder = stage.fuse(write=rng.uniform(0.2, 0.4), sync=rng.uniform(60, 90))
    c.put('step', 'K13', host('host.checkpoint'), ['b5'], tensors=2, kib=512,
          path=os.path.join(folder, 'last'))


@kind(2, short=True)
def loop_collect(c, rng, stage):
    c.plan.update(preload=True, every=2)
    c.put('step', 'K14', host('host.gc'), ['b6'], objects=rng.randrange(80_000, 120_000))


@kind(2)
def loop_hog(c, rng, stage):
    c.plan.update(preload=True, steps=20)
    lock = ['host.lock', 'host.cpu_starved', 'host.dispatch', 'host.cpu_work']
    c.expect['rest'] = {'': lock}
    c.lines['rest'] = ['b9']
    c.expect['gpu'] = {'': [*lock, 'host.sync', 'device.launch', 'device.turnaround']}
    # its calls stand between a batch and its copy: what it wants a CPU for looks like that batch
    c.put('step', 'K15', dict(host('host.lock', INLINE), cpu=['host.dispatch', 'host.cpu_work', 'host.lock', INLINE]), ['b7', 'b8', 'b9'], calls=rng.randrange(12, 16))


@kind(1)
def loop_thread(c, rng, stage):
    c.plan.update(preload=True)
    c.put('step', 'K23', host('host.wait', FETCH), ['c5', 'a9'],
          held=['K09', dict(ms=rng.uniform(20, 30))])


@kind(1)
def loop_server(c, rng, stage):
    c.plan.update(preload=True)
    c.put('step', 'K07', host('host.net'), ['a7'], port=stage.server(), ms=rng.uniform(20, 30))


@kind(1)
def loop_starved(c, rng, stage):
    cores = stage.cores(1)
    stage.hogs(cores[0], 2)
    c.plan.update(preload=True, steps=20)
    c.also('start', 'K24', cores=[cores[0]], nice=5)
    c.put('step', 'K01', dict(delay=['host.cpu_starved'], blocked=['host.cpu_starved'],
                              cpu=['host.cpu_starved', 'host.dispatch', 'host.cpu_work']), ['a1'], ms=rng.uniform(5, 8))


@kind(1)
def loop_alloc(c, rng, stage):
    c.plan.update(preload=True)
    c.env['GPUSIM_MALLOC_US'] = rng.randrange(3000, 5000)
    times = rng.randrange(5, 8)
    c.put('step', 'K17', host('host.alloc'), ['c1'], times=8 * times if c.real else times,
          mib=64 if c.real else 1)


@kind(1)
def loop_modules(c, rng, stage):
    c.plan.update(preload=True)
    c.env['GPUSIM_MODULE_MS'] = rng.randrange(20, 30)
    c.env['CUDA_CACHE_DISABLE'] = 1
    c.put('step', 'K18', host('host.warmup'), ['c2'], times=8 if c.real else 1)


@kind(1)
def loop_code(c, rng, stage):
    """Code that is used for the first time, from a slow disk."""
    c.plan.update(preload=True)
    library = os.path.join(gs.BUILD, 'workloads', 'seldomcode.so')
    folder = stage.fuse(size=os.path.getsize(library), content=library, read=rng.uniform(20, 30))
    c.put('step', 'K33', host('host.warmup'), ['c9'], path=os.path.join(folder, 'f0'))


@kind(1)
def uncached(c, rng, stage):
    """Memory from the driver for every kernel, as PYTORCH_NO_CUDA_MEMORY_CACHING=1 has it."""
    c.plan.update(preload=True, steps=30, gpu_us=500)
    c.env['GPUSIM_MALLOC_US'] = rng.randrange(700, 900)
    c.put('step', 'K30', host('host.alloc', 'device.launch', 'device.turnaround'), [], us=20,
          times=rng.randrange(30, 50), mib=128 if c.real else 1)
    c.compare = share_of_alloc


def share_of_alloc(main, others):
    idle = sum(ns for k, ns in main.classes.items() if k.startswith(('input.', 'host.', 'device.')))
    got = main.classes.get('host.alloc', 0)
    return [] if got >= 0.98 * idle else [f'host.alloc {100 * got / idle:.1f} % of the idle time']


@kind(1)
def lazy_modules(c, rng, stage):
    """Modules loaded by the steps that first need them; the other run loads them before the first."""
    c.plan.update(preload=True, steps=24, upto=20, gpu_us=2000)
    c.env['GPUSIM_MODULE_MS'] = rng.randrange(30, 40)
    c.env['CUDA_CACHE_DISABLE'] = 1
    each = 8 if c.real else 1
    c.put('step', 'K18', host('host.warmup'), ['c2'], times=each)
    c.variants = dict(eager=dict(c.plan, places=dict(start=[['K31', dict(times=20 * each)]])))
    c.compare = moved_to_startup


def moved_to_startup(main, others):
    """What loading took is start-up in the other run, and no longer a wait in the loop."""
    eager, took = others['eager'], main.classes.get('host.warmup', 0)
    left, startup = (eager.classes.get(k, 0) for k in ('host.warmup', 'excluded.startup'))
    return [text for wrong, text in (
        (left > 0.05 * took, f'host.warmup {left / 1e6:.0f} of {took / 1e6:.0f} ms left'),
        (eager.before < 0.5 * took, f'only {eager.before / 1e6:.0f} of {took / 1e6:.0f} ms moved'),
        (startup < eager.before, f'start-up is {startup / 1e6:.0f} ms')) if wrong]


LAUNCHING = ('host.dispatch', 'device.launch', 'device.turnaround', 'host.unknown')


@kind(1)
def tiny_kernels(c, rng, stage):
    """A launch for each of 2,000 kernels, and one for a graph of them."""
    c.plan.update(preload=True, steps=24, kernels=1, gpu_us=500)
    c.put('step', 'K29', host('host.dispatch', 'device.launch', 'device.turnaround'), [],
          times=2000, ns=1000, graph=False)
    c.variants = dict(graph=dict(c.plan, places=dict(
        step=[['K29', dict(times=2000, ns=1000, graph=True)]])))
    c.compare = no_launching


def no_launching(main, others):
    """Between the kernels nothing is left that launching explains."""
    was, now = (sum(run.classes.get(k, 0) for k in LAUNCHING) for run in (main, others['graph']))
    return [] if now <= 0.1 * was else [f'launching: {now / 1e6:.1f} of {was / 1e6:.1f} ms left']


# ---- the device ----

@kind(1)
def dependency(c, rng, stage):
    c.plan.update(preload=True)
    c.also('step', 'K19', ms=rng.uniform(20, 30))
    c.expect['queued'] = {'': ['device.dependency']}


@kind(1)
def graph(c, rng, stage):
    c.plan.update(preload=True)
    c.options += ['--level', '2']
    c.graphs = True
    c.also('step', 'K20', ms=rng.uniform(20, 30))
    c.expect['queued'] = {'': ['device.graph']}


@kind(1)
def shared_device(c, rng, stage):
    """Somebody else's process keeps the device busy."""
    c.plan.update(preload=True, steps=350)
    path = stage.path('n')
    stage.neighbour(path, rng.randrange(8_000, 14_000), c)
    c.also('start', 'K32', path=path)
    c.expect['queued'] = {'': ['device.contention', 'device.launch', 'device.turnaround']}


@kind(1)
def staged_copies(c, rng, stage):
    c.plan.update(preload=True)
    c.put('step', 'K21', host('input.h2d', 'device.launch', 'device.turnaround'), ['c3'],
          times=rng.randrange(80, 120))


@kind(3, short=True)
def backlog(c, rng, stage):
    """The loader is waited for while the device has enough to do: nobody pays."""
    w = some_workers(c, rng, 0, 1)
    ms = rng.uniform(10, 20)
    c.plan.update(sync='late', backlog_ms=600, gpu_us=int(ms * 2 * 1000) + 25000, steps=30)
    c.put('sample', rng.choice(('K09', 'K01')), {}, [], ms=ms / c.plan['batch'] * w)
    c.hidden = True


@kind(1)
def stopped(c, rng, stage):
    some_workers(c, rng, 0, 1)
    path = stage.path('s')
    stage.stop(path, 0.5, rng.uniform(2.2, 2.8))  # from 1.5 s on a stop is told from load
    c.also('start', 'K28', path=path)
    # What lies between two looks at the job may be called unobserved with the stop.
    unseen = {state: [*classes, 'excluded.unobserved'] for state, classes in IO.items()}
    c.put('sample', 'K09', unseen, [], ms=rng.uniform(12, 20))
    c.expect['stopped'] = {'': ['excluded.unobserved']}
    c.stops = True


def every(seed, real=False):
    """All cases: name -> Case."""
    out = {}
    for name, (fn, times, short) in KINDS.items():
        for n in range(times):
            case = Case(f'{name}.{n}' if times > 1 else name, fn, seed, real)
            case.short = short and n == 0
            out[case.name] = case
    return out
