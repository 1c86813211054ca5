# SPDX-License-Identifier: Apache-2.0
"""The kinds: what keeps the GPU waiting in each, with parameters drawn from a seed."""
import shutil

from feeding.around import Missing, jpeg, packed
from feeding.cases import CPU, INLINE, IO, NO_CPU, STARVED, Kind

EVERY = []


def kind(program, *variants, steps=400, needs=(), name=None):
    def note(fn):
        EVERY.append(Kind(name or fn.__name__, program, variants, fn, False, steps, needs))
        return fn
    return note


P, F, S = 'prep', 'fetch', 'starved'


def some(c, rng, around, unit, makers=1, edge=128, content=None, source='files', split=1, cpus=1.4):
    """The usual: an item is got from a source and something is made of it. unit: ms on a CPU that a round of
    the work takes; makers: so many at the same time, on so many CPUs at most (1: they hold the interpreter);
    split: items per batch, on all makers together."""
    ms = rng.uniform(12, 17) * makers / split
    content = content or jpeg(edge if c.variant == F else max(edge, 160), rng.randrange(1 << 20))
    c.expect.update(get=IO, make=CPU)
    c.plan.update(workers=makers, rounds=1)
    if c.variant == P:
        c.plan['rounds'] = max(1, round(ms / makers * min(makers, cpus) / unit))
    if c.variant == S:
        core = around.cores(2)[1]
        c.plan.update(core=core, rounds=max(1, round(8 * makers / split / unit)))
        c.expect.update(make=NO_CPU, get=dict(IO, delay=[STARVED]))
        around.crowd(core, 3)
    if source == 'files' or c.variant != F:
        c.plan['root'] = around.folder(content, ms if c.variant == F else 0)
    elif source == 'site':
        c.plan['port'] = around.site(ms, content)
    elif source == 'answers':
        c.plan['port'] = around.answers(ms, content)
    elif source == 'nap':
        c.plan.update(root=around.folder(content), nap=ms / 1000)


def inline(expect):
    """What the trainer does itself has a class of its own, and so has its want of a CPU."""
    return {state: [*allowed, INLINE, *['host.cpu_starved'] * (STARVED in allowed)]
            for state, allowed in expect.items()}


# ---- threads and queues ----

@kind('birds.py', P, F, S)
def thread_function(c, rng, around):
    some(c, rng, around, 1.3)


@kind('scans.py', P, F, S)
def thread_class(c, rng, around):
    some(c, rng, around, 6.3)


@kind('plates.py', P, F)
def thread_closure(c, rng, around):
    some(c, rng, around, 0.8, source='nap')


@kind('tiles.py', P, F)
def thread_global(c, rng, around):
    some(c, rng, around, 0.4, source='site')


@kind('replay.py', P, F)
def lifo_queue(c, rng, around):
    some(c, rng, around, 0.3)


@kind('clips.py', P, F, S)
def simple_queue(c, rng, around):
    some(c, rng, around, 0.8, makers=rng.choice((2, 3)), cpus=1)


@kind('crops.py', P, F, S)
def many_threads(c, rng, around):
    some(c, rng, around, 1.45, makers=rng.choice((2, 3)), source='answers', cpus=1)


@kind('films.py', P, F, S)
def two_stages(c, rng, around):
    some(c, rng, around, 0.7)


# ---- pools of processes ----

@kind('digits.py', P, F, S)
def pool_map(c, rng, around):
    c.plan['start'] = 'fork'
    some(c, rng, around, 0.8, makers=2, split=4)


@kind('digits.py', P, F, name='pool_map_spawn')
def pool_map_spawn(c, rng, around):
    c.plan['start'] = 'spawn'
    some(c, rng, around, 0.8, makers=2, split=4)


@kind('spectra.py', P, F)
def pool_imap(c, rng, around):
    c.plan.update(start='spawn', how='imap')
    some(c, rng, around, 2.3, makers=2)


@kind('spectra.py', P, F)
def pool_imap_unordered(c, rng, around):
    c.plan.update(start='forkserver', how='imap_unordered')
    some(c, rng, around, 2.3, makers=2)


@kind('leaves.py', P, F, S)
def pool_apply_async(c, rng, around):
    c.plan['start'] = rng.choice(('fork', 'spawn', 'forkserver'))
    some(c, rng, around, 1.05, makers=2)


# ---- processes of one's own ----

@kind('faces.py', P, F, S)
def process_queue(c, rng, around):
    some(c, rng, around, 0.7, makers=2)


@kind('signs.py', P, F, S)
def process_pipe(c, rng, around):
    some(c, rng, around, 3.1)


@kind('radar.py', P, F, S)
def shared_ring(c, rng, around):
    some(c, rng, around, 0.7)


@kind('kelp.py', P, F, S)
def polled_ring(c, rng, around):
    c.plan['start'] = rng.choice(('fork', 'spawn'))
    some(c, rng, around, 0.7)


@kind('mills.py', S)
def own_load(c, rng, around):
    """What the maker lacks a CPU for is the job's own."""
    c.plan.update(core=around.cores(2)[1], rounds=round(8 / 0.8), root=around.folder(jpeg(160, rng.randrange(1 << 20))))
    c.expect.update(make=NO_CPU, get=dict(IO, delay=[STARVED]))


# ---- futures ----

@kind('maps.py', P, F)
def futures_map(c, rng, around):
    some(c, rng, around, 1.15, makers=2, source='site')


@kind('ocr.py', P, F, S)
def future_ahead(c, rng, around):
    some(c, rng, around, 4.7)


@kind('genes.py', P, F, S)
def futures_processes(c, rng, around):
    c.plan['start'] = rng.choice(('fork', 'spawn', 'forkserver'))
    some(c, rng, around, 2.3, makers=2)


@kind('mols.py', P, F)
def as_completed(c, rng, around):
    some(c, rng, around, 0.7, makers=2)


# ---- coroutines ----

@kind('quotes.py', P, F)
def coroutine_threadsafe(c, rng, around):
    some(c, rng, around, 2.4, source='answers')
    if c.variant == P:
        c.plan['port'] = around.answers(0, jpeg(160, 1))


@kind('tweets.py', P, F)
def coroutine_streams(c, rng, around):
    some(c, rng, around, 0.6, makers=2, source='answers', cpus=1)
    if c.variant == P:
        c.plan['port'] = around.answers(0, jpeg(160, 1))


@kind('chess.py', P, F)
def trainer_is_coroutine(c, rng, around):
    some(c, rng, around, 0.55, makers=2)


@kind('larks.py', P, F)
def loop_in_trainer(c, rng, around):
    some(c, rng, around, 1.0, source='answers')
    if c.variant == P:
        c.plan['port'] = around.answers(0, jpeg(160, 1))
    for place, expect in c.expect.items():
        c.expect[place] = inline(expect)


@kind('swifts.py', P, F)
def coroutine_queue(c, rng, around):
    some(c, rng, around, 1.0, makers=2, source='answers', cpus=1)
    if c.variant == P:
        c.plan['port'] = around.answers(0, jpeg(160, 1))


# ---- pipes and sockets ----

@kind('logs.py', P, F, S)
def shell_pipe(c, rng, around):
    some(c, rng, around, 5.0, content=packed(6 << 20, 1))
    c.plan.update(count=21)
    c.expect.update(pipe=dict(prep=CPU, fetch=IO, starved=NO_CPU)[c.variant])


@kind('books.py', P, F, S)
def python_pipe(c, rng, around):
    some(c, rng, around, 0.35)


@kind('games.py', P, F)
def socket_pair(c, rng, around):
    some(c, rng, around, 0.28)


@kind('prices.py', P, F, S)
def server_of_ours(c, rng, around):
    some(c, rng, around, 1.55)


@kind('weather.py', F)
def server_of_others(c, rng, around):
    some(c, rng, around, 2.0, source='answers')


@kind('coins.py', F, needs=('requests',))
def http_inline(c, rng, around):
    some(c, rng, around, 2.0, source='site')
    c.expect['get'] = inline(IO)


@kind('moths.py', P, F)
def select_of_pipes(c, rng, around):
    some(c, rng, around, 0.7, makers=2)


@kind('drums.py', P, F)
def fifo(c, rng, around):
    some(c, rng, around, 1.05)


@kind('votes.py', P, F)
def managers_queue(c, rng, around):
    some(c, rng, around, 0.2, makers=2)


@kind('pearls.py', P, F)
def pickles_in_fifo(c, rng, around):
    c.plan['how'] = 'each'
    some(c, rng, around, 1.5)


@kind('pearls.py', P, F)
def pickles_from_beside(c, rng, around):
    c.plan.update(how='ahead', start='beside')
    some(c, rng, around, 1.5)


@kind('trays.py', P, F)
def polled_folder(c, rng, around):
    """Nothing that a nap shows leads to who fills it; it is the only other process at work."""
    c.plan['start'] = rng.choice(('fork', 'spawn'))
    some(c, rng, around, 1.1)


@kind('polls.py', P, F)
def managers_queues(c, rng, around):
    c.plan['start'] = rng.choice(('fork', 'spawn'))
    some(c, rng, around, 1.1, makers=2)


# ---- in the trainer ----

@kind('poems.py', P, F, S)
def generators(c, rng, around):
    some(c, rng, around, 0.56)
    for place, expect in c.expect.items():
        c.expect[place] = inline(expect)


def rows_of(around, c, rng, unit, content):
    """One file; in fetch each page of it takes its time, and a batch has four."""
    c.plan['batch'] = 4
    some(c, rng, around, unit, content=content)
    if c.variant == F:
        c.plan['root'] = around.folder(content, rng.uniform(3, 4.5) * len(content) / 4096)


@kind('orders.py', P, F, S, needs=('sqlite3',))
def sqlite_rows(c, rng, around):
    rows_of(around, c, rng, 0.8, around.orders(rng.randrange(100)))
    for place, expect in c.expect.items():
        c.expect[place] = inline(expect)


@kind('fields.py', P, F, S)
def mapped_inline(c, rng, around):
    rows_of(around, c, rng, 1, bytes(range(256)) * 40960)
    for place, expect in c.expect.items():
        c.expect[place] = inline(expect)


@kind('springs.py', P, S)
def environments(c, rng, around):
    some(c, rng, around, 0.12)
    for place, expect in c.expect.items():
        c.expect[place] = inline(expect)


# ---- the rest of the standard library ----

@kind('xrays.py', P, F)
def copies_itself(c, rng, around):
    some(c, rng, around, 0.85)


@kind('sonar.py', P, F)
def condition(c, rng, around):
    some(c, rng, around, 1.55)


@kind('tides.py', P, F)
def events(c, rng, around):
    some(c, rng, around, 1.2, source='nap')


@kind('graphs.py', F)
def mapped_file(c, rng, around):
    c.expect.update(get=IO, make=CPU)
    c.plan.update(batch=4, root=around.folder(bytes(range(256)) * 40960, rng.uniform(3, 4.5) * 2560))


@kind('stamps.py', P, F)
def thread_pool(c, rng, around):
    some(c, rng, around, 0.7, makers=2, cpus=1)


# ---- threads that are not Python's ----

@kind('shells.py', P, F, S)
def native_maker(c, rng, around):
    c.expect['pipe'] = dict(prep=CPU, fetch=IO, starved=NO_CPU)[c.variant]
    us = round(rng.uniform(12, 17) * 1000)
    c.plan.update({P: dict(spin_us=us), F: dict(nap=us / 1e6, spin_us=500), S: dict(spin_us=8000)}[c.variant])
    if c.variant == S:
        c.plan['core'] = around.cores(2)[1]
        around.crowd(c.plan['core'], 3)


@kind('shells.py', F)
def native_reader(c, rng, around):
    """One thread reads from a slow file, another decodes."""
    c.expect['pipe'] = IO
    c.plan.update(count=1, batch=8192, spin_us=500, path=around.file(bytes(8 << 20), rng.uniform(6, 8)))


@kind('looms.py', P, F)
def library_called(c, rng, around):
    """A library in C, by ctypes: the line is that which calls it."""
    if not shutil.which('cc'):
        raise Missing('no cc')
    some(c, rng, around, 0.8)


@kind('tribes.py', P, F, S)
def native_launcher(c, rng, around):
    some(c, rng, around, 1.0)
    for place, expect in c.expect.items():
        c.expect[place] = inline(expect)


# ---- libraries ----

@kind('skies.py', P, F, needs=('aiohttp',))
def aiohttp_session(c, rng, around):
    some(c, rng, around, 2.0, makers=3, source='site', cpus=1)
    if c.variant == P:
        c.plan['port'] = around.site(0, jpeg(160, 1))


@kind('forest.py', P, F, needs=('joblib',))
def joblib_threads(c, rng, around):
    c.chunked = 0.9
    c.plan['how'] = 'threads'
    some(c, rng, around, 1.75, makers=2, cpus=1)


@kind('forest.py', P, F, needs=('joblib',))
def joblib_processes(c, rng, around):
    c.chunked = 0.9
    c.plan['how'] = 'processes'
    some(c, rng, around, 0.55, makers=2)


@kind('bags.py', P, F, needs=('dask',))
def dask_threads(c, rng, around):
    c.plan['how'] = 'threads'
    some(c, rng, around, 1.0, makers=2, split=4)


@kind('farm.py', P, F, needs=('distributed',))
def dask_distributed(c, rng, around):
    some(c, rng, around, 0.9, makers=2)


@kind('ticks.py', P, F, S, needs=('zmq',))
def zeromq(c, rng, around):
    some(c, rng, around, 3.4, makers=2)


@kind('corpus.py', P, F, needs=('torch',))
def dataset_reads_ahead(c, rng, around):
    some(c, rng, around, 0.35, makers=2)


@kind('atlas.py', P, F, S, needs=('torch',))
def workers_with_threads(c, rng, around):
    some(c, rng, around, 0.75, makers=2, split=4)


@kind('stars.py', P, F, needs=('h5py',))
def hdf5(c, rng, around):
    c.expect.update(make=IO if c.variant == F else CPU)
    c.plan['batch'] = 24 if c.variant == P else 4
    content = around.hdf5(c.variant == P, rng.randrange(100))
    c.plan['path'] = around.file(content, 0 if c.variant == P else rng.uniform(5, 7))


@kind('cams.py', P, F, needs=('cv2',))
def opencv(c, rng, around):
    c.expect.update(make=IO if c.variant == F else CPU)
    c.plan.update(rounds=2 if c.variant == P else 1, path=around.film(edge=480, slow=c.variant == F))


@kind('trailers.py', P, F, needs=('av',))
def pyav(c, rng, around):
    c.expect.update(make=IO if c.variant == F else CPU)
    c.plan.update(rounds=6 if c.variant == P else 1, path=around.film(edge=480, slow=c.variant == F))
