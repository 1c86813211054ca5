# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e first timeout=300
"""How the shim comes into Python, in every Python of this machine: the program's own sitecustomize
and usercustomize run as ever, sys.path, the environment and the output are the same with libprof and
without, whatever -I, -E, -S, -X dev and -W error say; and the shim works on a stand-in that has
the shape of torch (no torch for these Pythons), fails in silence on one that has another shape, and
never swallows an exception of the program."""
import contextlib
import json
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import pythons
import ranges

SHIM = os.path.join(os.path.dirname(gs.LIBPROF), 'python')
FLAGS = ([], ['-I'], ['-E'], ['-S'], ['-s'], ['-X', 'dev', '-W', 'error'])

SITE = '''import sys
sys.own_site = getattr(sys, 'own_site', 0) + 1
'''

LOOK = '''
import json, os, sys
mine = {k: v for k, v in os.environ.items()
        if not k.startswith(('GPUSTARVE_', 'LD_PRELOAD', 'CUDA_INJ', 'NVTX_INJ'))}
site = sys.modules.get('sitecustomize')
print(json.dumps([sys.path, mine, getattr(sys, 'own_site', 0), getattr(site, '__file__', None),
                  sorted(m for m in sys.modules if 'custom' in m or m in ('shim', 'lend')),
                  sorted(k for k in vars(site) if not k.startswith('_')) if site else None,
                  sorted(k for k in sys.path_importer_cache
                         if os.path.isfile(k + '/sitecustomize.py') and os.path.isfile(k + '/lend.py'))]))
'''

INTERPRETERS = '''
try:
    import _interpreters as x
except ImportError:
    try:
        import _xxsubinterpreters as x
    except ImportError:
        x = None
for i in range(3 if x else 0):
    one = x.create()
    x.run_string(one, "import sys; print(sys.path, 'sitecustomize' in sys.modules, flush=True)")
    x.destroy(one)
'''

TORCH = {
    'torch/__init__.py': 'from .serialization import save\nfrom . import utils\n'
                         'import torch.utils.data\n',
    'torch/serialization.py': '''def save(obj, f):
    with open(f, 'wb') as out:
        out.write(obj)
''',
    'torch/utils/__init__.py': '',
    'torch/utils/data/__init__.py': 'from .dataloader import DataLoader\n',
    'torch/utils/data/_utils/__init__.py': 'from . import fetch, pin_memory\n',
    'torch/utils/data/_utils/fetch.py': '''class _MapDatasetFetcher(object):
    def __init__(self, dataset):
        self.dataset = dataset

    def fetch(self, possibly_batched_index):
        return [self.dataset[i] for i in possibly_batched_index]


class _IterableDatasetFetcher(_MapDatasetFetcher):
    def fetch(self, possibly_batched_index):
        raise StopIteration
''',
    'torch/utils/data/_utils/pin_memory.py': '''def pin_memory(data, device=None):
    return [pin_memory(d) for d in data] if isinstance(data, list) else data
''',
    'torch/utils/data/dataloader.py': '''from . import _utils


class DataLoader(object):
    def __init__(self, dataset, batch_size):
        self.dataset, self.batch_size, self.batch_sampler = dataset, batch_size, None

    def __iter__(self):
        return _SingleProcessDataLoaderIter(self)


class _BaseDataLoaderIter(object):
    def __init__(self, loader):
        self._dataset, self._num_workers, self._pin_memory = loader.dataset, 0, True
        n, b = len(loader.dataset), loader.batch_size
        self._sampler_iter = iter([list(range(i, i + b)) for i in range(0, n, b)])
        self._num_yielded = 0

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        return data


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        _BaseDataLoaderIter.__init__(self, loader)
        self._dataset_fetcher = _utils.fetch._MapDatasetFetcher(self._dataset)

    def _next_data(self):
        data = self._dataset_fetcher.fetch(next(self._sampler_iter))
        return _utils.pin_memory.pin_memory(data)


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        self._workers = []
        self._reset(loader, first_iter=True)

    def _reset(self, loader, first_iter=False):
        self._rcvd_idx = 0

    def _shutdown_workers(self):
        self._shutdown = True
''',
}

LOOP = '''
import gc, json, sys, threading, time, traceback
import torch
from torch.utils.data import DataLoader
sys.path.insert(0, sys.argv[2])
import gpudev
stream = gpudev.Stream(gpudev.Device(0))
stream.kernel(1000, 'first')
stream.synchronize()
class Bad(Exception):
    pass
class Data(object):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        time.sleep(0.001)
        if self.bad and i == 5:
            raise Bad('of the program')
        return i
class Mine(DataLoader):
    def __init__(self, *args):
        super().__init__(*args)
def loop(bad):
    data, got = Data(), []
    data.bad = bad
    batches = iter((Mine if bad else DataLoader)(data, 2))
    while True:
        try:
            got.append(next(batches))
        except StopIteration:
            return got
        except Bad as e:
            frames = [f.name for f in traceback.extract_tb(e.__traceback__)]
            assert frames[0] == 'loop' and frames[-1] == '__getitem__', frames
            return got + [str(e)]
got = [loop(False), loop(True)]
def do_one_step(idx):
    torch.utils.data._utils.pin_memory.pin_memory([1, [2, [3]]])
pinner = threading.Thread(target=do_one_step, args=(7,))
pinner.start()
pinner.join()
def _base_worker_loop(fetcher, task_id, worker_id, worker_method):
    fetcher.fetch([0, 1])
data = Data()
data.bad = False
worker = threading.Thread(target=_base_worker_loop, args=(
    torch.utils.data._utils.fetch._MapDatasetFetcher(data), 11, 4, 'thread'))
worker.start()
worker.join()
torch.save(b'x' * 5000, sys.argv[1])
garbage = [[] for _ in range(100000)]
gc.collect()
wrapped = [hasattr(f, '__wrapped__') for f in (torch.save, torch.utils.data.dataloader.
           _BaseDataLoaderIter.__dict__['__next__'])]
print(json.dumps([got, wrapped, torch.utils.data.dataloader.__loader__.__class__.__name__,
                  [type(f).__name__ for f in sys.meta_path if type(f).__module__ == 'sitecustomize'],
                  len(gc.callbacks)]))
'''


def write(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(text)


def env(where, libprof=True, **more):
    more.setdefault('PYTHONPATH', where)
    preload = dict(LD_PRELOAD=gs.LIBPROF, GPUSTARVE_OUT=os.path.join(where, 'runs')) if libprof else {}
    return gs.environment(HOME=where, **preload, **more)


def same_with_and_without(python, where):
    own = os.path.join(where, 'own')
    write(own, {'sitecustomize.py': SITE, 'usercustomize.py': SITE})
    empty = os.path.join(where, 'empty')
    os.makedirs(empty)
    for path in (own, empty, own + ':' + empty, None):
        for flags in FLAGS if path in (own, None) else ([],):
            got = [gs.command([python, *flags, '-c', LOOK], env=env(where, libprof, PYTHONPATH=path))
                   for libprof in (False, True)]
            what = f'{python} {" ".join(flags)} PYTHONPATH={path and path.replace(where, "")}'
            gs.equal(got[1].returncode, 0, f'{what}: exit status')
            # Without site nobody takes the folder away again; the program can tell.
            if flags not in (['-S'], ['-I'], ['-E']):
                gs.equal(got[1].stdout, got[0].stdout, f'{what}: what the program sees')
            else:
                plain, ours = [json.loads(g.stdout)[2:] for g in got]
                plain[-1] += [SHIM] if flags == ['-S'] else []
                gs.equal(ours, plain, f'{what}: what the program sees')
            gs.equal(got[1].stderr, got[0].stderr, f'{what}: stderr')


def no_bytecode(python, where):
    """Nothing is written beside the library, whoever runs it."""
    done = gs.command([python, '-c', 'import sys; print(sys.dont_write_bytecode)'],
                      env=env(where, PYTHONDONTWRITEBYTECODE=''))
    gs.equal((done.stdout, done.stderr), (b'False\n', b''), f'{python}: bytecode')
    gs.equal(sorted(os.listdir(SHIM)), ['__pycache__', 'lend.py', 'queues.py', 'saves.py', 'shim.py',
                                        'sitecustomize.abi3.so', 'sitecustomize.py', 'waiting.py'],
             f'{python}: files')
    gs.check(os.path.isfile(os.path.join(SHIM, '__pycache__')), f'{python}: bytecode')


def comes_fast(python, where):
    """By the extension, not by compiling a file; into other interpreters of the process, too."""
    maps = 'import sys; print("sitecustomize.abi3.so" in open("/proc/self/maps").read())'
    done = gs.command([python, '-c', maps], env=env(where))
    gs.equal((done.stdout, done.stderr), (b'True\n', b''), f'{python}: the extension')
    got = [gs.command([python, '-c', INTERPRETERS], env=env(where, libprof)) for libprof in (False, True)]
    gs.equal([(g.returncode, g.stdout, g.stderr) for g in got[1:]],
             [(g.returncode, g.stdout, g.stderr) for g in got[:1]], f'{python}: interpreters')


def traced_loop(python, where, flags=(), **more):
    done = gs.command([gs.WITH_GPUSIM, python, *flags, '-c', LOOP, os.path.join(where, 'saved'),
                       gs.WORKLOADS],
                      env=env(where, **more), cwd=where)
    gs.equal((done.returncode, done.stderr.decode()), (0, ''), f'{python} {flags} {more}: the loop')
    streams = ranges.trace(where)
    rows = [r for s in streams for r in s]
    for name in os.listdir(os.path.join(where, 'runs')):
        gs.shutil.rmtree(os.path.join(where, 'runs', name))
    return json.loads(done.stdout or b'null'), rows


def shim_works(python, where):
    write(where, TORCH)
    for flags in ([], ['-X', 'dev', '-W', 'error', '-bb']):
        said, rows = traced_loop(python, where, flags)
        what = f'{python} {" ".join(flags)}'
        got = [[[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 1], [2, 3], 'of the program']]
        gs.equal(said, [got, [True, True], 'SourceFileLoader', ['_Waiting'], 1], f'{what}: the program')
        batches = [(r['batch'], r['loader'], r['index']) for r in rows if 'batch' in r]
        for loader, takes in ((1, 5), (2, 3)):
            gs.equal(sorted(b[2] for b in batches if b[:2] == (3, loader)), list(range(takes)),
                     f'{what}: TAKE rows of loader {loader}')
            gs.equal(sorted(b[2] for b in batches if b[:2] == (2, loader)),
                     list(range(min(takes, 4))) + [11] * (loader == 2),
                     f'{what}: FETCH rows of loader {loader}')
        gs.equal([r['index'] for r in rows if r.get('batch') == 2 and r['worker']], [11],
                 f'{what}: rows of worker threads')
        pins = sorted((b[1], b[2]) for b in batches if b[0] == 4)
        gs.equal(pins, [(1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (2, 1), (2, 7)], f'{what}: PIN rows')
        texts = [r['text'] for r in rows if r.get('batch') == 1]
        gs.equal([r['samples'] for r in rows if r.get('batch') == 1], [1, 2], f'{what}: what OPEN rows are over')
        line = [n for n, text in enumerate(LOOP.split('\n'), 1) if 'Mine if bad' in text]
        gs.equal(texts, 2 * [f'kind=torch workers=0 batch=2 pin=1 dataset=Data made=<string>:{line[0]}'], f'{what}: OPEN rows')
        saved = [c for r in rows if r.get('frame') == 'facts' for c in r['checkpoints']]
        path = os.path.join(where, 'saved')
        gs.equal([(c['state'], c['bytes'], c['path']) for c in saved], [(1, 0, path), (2, 5000, path)],
                 f'{what}: checkpoints')
        ops = [r['op'] for r in ranges.joined([r for r in rows if r.get('event') == 4])]
        gs.equal((ops.count(1), ops.count(7), ops.count(8), 6 in ops), (8, 1, 2, True),
                 f'{what}: ranges of waits, checkpoints, iterators, gc: {ops}')


def shim_left_out(python, where):
    for flags, more in (([], dict(GPUSTARVE_SHIM=0)), ([], dict(GPUSTARVE=0))):
        said, rows = traced_loop(python, where, flags, **more) if 'GPUSTARVE' not in more else (
            json.loads(gs.command([gs.WITH_GPUSIM, python, '-c', LOOP, os.path.join(where, 'saved'),
                       gs.WORKLOADS],
                                  env=env(where, **more), cwd=where).stdout), [])
        gs.equal((said[1], said[4]), ([False, False], 0), f'{python} {more}: wrapped')
        gs.equal([r for r in rows if 'batch' in r], [], f'{python} {more}: rows')


def another_torch(python, where):
    """Of a shape that the shim does not know: all is as it was, and a note says so."""
    path = 'torch/utils/data/dataloader.py'
    write(where, {path: TORCH[path].replace('_rcvd_idx', '_other')})
    said, rows = traced_loop(python, where)
    gs.equal((said[1], said[4]), ([True, False], 0), f'{python}: another torch: wrapped')
    notes = [n for r in rows if r.get('frame') in ('hello', 'bye') for n in r['notes']]
    gs.check(any('shim' in n for n in notes), f'{python}: another torch: notes {notes}')


@contextlib.contextmanager
def without_extension(where):
    """A libprof whose Pythons import the file, as those do that take no extension of the stable ABI."""
    global SHIM
    kept = gs.LIBPROF, SHIM
    shutil.copytree(SHIM, where + '/lib/python', ignore=shutil.ignore_patterns('*.so'))
    gs.LIBPROF, SHIM = shutil.copy(gs.LIBPROF, where + '/lib'), where + '/lib/python'
    yield
    gs.LIBPROF, SHIM = kept


tried = 0
for number, python in pythons.found().items():
    tried += 1
    with gs.scratch() as where:
        same_with_and_without(python, where)
        no_bytecode(python, where)
        comes_fast(python, where)
    with gs.scratch() as where:
        shim_works(python, where)
        shim_left_out(python, where)
        another_torch(python, where)
    if tried == 1:
        with gs.scratch() as lib, without_extension(lib), gs.scratch() as where:
            same_with_and_without(python, where)
            shim_works(python, where)
            another_torch(python, where)
    print(f'{number}: {python}', flush=True)
gs.check(tried, 'no Python')
gs.finish()
