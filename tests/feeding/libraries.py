# SPDX-License-Identifier: Apache-2.0
"""The libraries of PyPI whose loaders tests/loaders plays: the program of each, its variants, what they must be called,
whether the line is the maker's Python (`make`, `read`) or, where no Python makes anything, the call in the loop that has
it made (`native`), and the names of the knob that a reader of the report should turn.

    prep          making a batch takes work               fetch    its data come through a slow file system or server
    prep_python   the same, in a Python function where    starved  the work is little, on a core that others keep busy
                  the library makes batches without"""
import collections
import ctypes
import os
import subprocess
import sys

import gs
from feeding import cases
from planted import stage

FOLDER = os.path.join(gs.WORKLOADS, 'loaders')
PLANTED = os.path.join(gs.SOURCE, 'tests', 'planted')
P, F, S = 'prep', 'fetch', 'starved'
PY = 'prep_python'
STEPS = 120  # the first ones of a loop are few of them: who makes what must be seen some times

# name, program, variants, knobs: any of them; inline: variants in which the loop's own thread makes the batch; native: in
# which no Python does; package: what must be there, words.
Library = collections.namedtuple('Library', 'name program variants knobs inline native package never needs')


def library(name, program, variants, knobs, package, inline=(), native=()):
    return Library(name, program + '.py', variants, knobs, inline, native, package, False, ())


EVERY = [
    library('torch', 'torch_loader', (P, F, S), ('num_workers',), 'torch'),
    library('torchdata', 'stateful', (P, F), ('num_workers',), 'torchdata torch'),
    library('torchdata_nodes', 'nodes', (P, F, S), ('num_workers', 'prefetch_factor'), 'torchdata torch'),
    library('webdataset', 'web', (P, F), ('num_workers',), 'webdataset torch', inline=(F,), native=(F,)),
    library('datasets', 'hf_datasets', (P, F), ('num_workers',), 'datasets torch'),
    library('datasets_streaming', 'hf_streaming', (P, F), ('num_workers', 'batch_size'), 'datasets torch', inline=(P, F), native=(F,)),
    library('accelerate', 'with_accelerate', (P, F), ('num_workers',), 'accelerate torch'),
    library('lightning', 'with_lightning', (P, F), ('num_workers',), 'lightning torch'),
    library('ray', 'ray_data', (P, F), ('prefetch_batches', 'concurrency', 'num_cpus'), 'ray'),
    library('grain', 'with_grain', (P, F, S), ('num_threads', 'prefetch_buffer_size'), 'grain'),
    library('grain_processes', 'with_grain', ('prep_processes', 'fetch_processes'), ('num_workers',), 'grain'),
    library('tf_data', 'tf_data', (P, F, S, PY), ('num_parallel_calls', 'prefetch'), 'tensorflow', native=(P, F, S)),
    library('keras', 'keras_fit', (P, F, PY), ('num_parallel_calls', 'prefetch', 'workers', 'max_queue_size'), 'keras',
            native=(P, F)),
    library('mosaic', 'mosaic', (P, F), ('num_workers', 'predownload'), 'streaming torch', native=(F,)),
    library('litdata', 'lit_data', (P, F), ('num_workers', 'max_pre_download'), 'litdata torch', native=(F,)),
    library('zarr', 'zarr_slices', (P, F), ('async.concurrency', 'threading.max_workers'), 'zarr', inline=(P, F), native=(P, F)),
    library('decord', 'decord_reader', (P, F), ('num_threads', 'num_workers'), 'decord', inline=(P, F), native=(P, F)),
    library('dali', 'dali', (P, F, S, PY), ('num_threads', 'py_num_workers', 'prefetch_queue_depth'), 'nvidia.dali',
            native=(P, F, S)),
    library('joblib', 'with_joblib', (P, F), ('n_jobs', 'pre_dispatch'), 'joblib'),
    library('dask', 'with_dask', (P, F), ('n_workers', 'threads_per_worker'), 'distributed'),
    library('pyzmq', 'zmq_feed', (P, F, S), ('workers', 'sndhwm', 'rcvhwm'), 'zmq'),
    library('opencv', 'cv2_capture', (P, F), ('maxsize', 'threads'), 'cv2'),
    library('av', 'av_decode', (P, F), ('thread_type', 'num_workers'), 'av', inline=(P, F)),
    library('h5py', 'h5_reader', (P, F), ('maxsize', 'threads'), 'h5py'),
]

IN_ORDER = {'torch', 'torchdata', 'webdataset', 'datasets', 'accelerate', 'lightning', 'mosaic', 'litdata'}  # torch's loader


class Case(cases.Case):
    def __init__(self, kind, variant, seed):
        super().__init__(kind._replace(program=os.path.join(FOLDER, kind.program)), variant, seed)

    def build(self, around):
        self.chunked = 2  # a batch's number is not known where its parts are made
        slow = self.variant.startswith(F)
        self.plan = dict(variant=self.variant, steps=STEPS, items=4 * STEPS + 16, gpu_us=self.rng.randrange(3000, 5000),
                         data=around.path('data'))
        os.mkdir(self.plan['data'])
        os.mkdir(around.path('tmp'))
        if slow:
            mb_s = self.rng.uniform(4, 6)
            self.plan.update(slow=mirror(around, self.plan['data'], mb_s), url=site(around, self.plan['data'], mb_s))
        if self.variant == S:
            self.plan['core'] = around.cores(2)[1]
            around.crowd(self.plan['core'], 2)
        self.expect = expected(self.kind, self.variant)
        self.in_order = self.kind.name in IN_ORDER
        if self.in_order:
            self.expect.update(held(self.expect))
        self.env.update(HF_HUB_OFFLINE='1', TF_CPP_MIN_LOG_LEVEL='2', no_proxy='127.0.0.1', NO_ALBUMENTATIONS_UPDATE='1',
                        RAY_USAGE_STATS_ENABLED='0', RAY_TMPDIR='/tmp/ray', HF_HOME=around.path('home'))
        return self


def expected(kind, variant):
    """{place: {state: classes}}. What is read ahead of little work is IO, whoever does it."""
    work = cases.IO if variant.startswith(F) else cases.NO_CPU if variant == S else cases.CPU
    more = [cases.INLINE] if variant in kind.inline else []
    out = {'native': work} if variant in kind.native else dict(read=dict(cases.IO, delay=[cases.STARVED]), make=work)
    if variant.startswith(F) and variant not in kind.native:
        out['make'] = dict(cases.CPU, blocked=[cases.FETCH])  # what is left to read is read when it is decoded
    return {place: {state: [*allowed, *more] for state, allowed in states.items()} for place, states in out.items()}


def held(expect):
    """The same of what one worker does while another is done with a later batch, and waits for the trainer: that no more
    than one is at work is the pipeline's fault, by the rule of docs/CAUSES.md for torch's loader, as much as that one's."""
    return {'held/' + place: {state: [*allowed, cases.PIPELINE] for state, allowed in states.items()}
            for place, states in expect.items()}


def mirror(around, folder, mb_s):
    """The folder on a slow file system."""
    at = around.path('slow')
    os.mkdir(at)
    argv = [sys.executable, os.path.join(PLANTED, 'slowmirror.py'), at, '--of', folder, '--open-ms', '2', '--mb-s', str(mb_s)]
    server = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    around.callback(around.end, server)
    if server.stdout.readline() != b'ready\n':
        raise stage.Missing(f'FUSE: {server.stderr.read().decode().strip()}')
    around.callback(ctypes.CDLL(None).umount2, at.encode(), 2)
    return at


def site(around, folder, mb_s):
    """Its URL on a slow server."""
    argv = [sys.executable, os.path.join(PLANTED, 'slowhttp.py'), folder, '--late-ms', '3', '--mb-s', str(mb_s)]
    server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    around.callback(around.end, server)
    return f'http://127.0.0.1:{int(server.stdout.readline())}'


def every(seed):
    return [Case(kind, variant, seed) for kind in EVERY for variant in kind.variants]
