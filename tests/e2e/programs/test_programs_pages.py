#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=3600
"""What docs/pages tell people to do about a finding: the program of each page, played by PyTorch's unchanged wheels on the
simulated GPU (a model), shows the page's class, at the line that is meant, and after the change has less of it. GS_BIG=1
plays all ten; else one. GS_KEEP=1 keeps the summaries from before the change, for what the pages quote (quoted.py)."""
import collections
import os
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import pages
import playing
import quoted
import torches

# classes: those that the page is about (where the machine is busy, who computes also waits for a CPU). line: text of the
# line that one of the first findings is to name (of a late rank whatever it did); None: such gaps are too short to be
# looked at, or run on the device.
# left: at most so many per cent of the classes' time per step are left after. ranks: under torchrun.
# cores: how many CPUs before; all there are after. photos: the program reads a folder of large ones.
Page = collections.namedtuple('Page', 'classes line left ranks cores photos env', defaults=(60, 1, 0, False, {}))
STARVED = 'input.cpu_starved'
HOST = ('host.sync', 'host.dispatch', 'host.lock', 'host.wait')
PAGES = {
    'slow-storage': Page(('input.fetch',), 'urlopen'),
    'slow-samples': Page(('input.prep', STARVED), '.resize', photos=True),
    'no-cores': Page((STARVED,), '.resize', left=80, cores=1, photos=True),
    'out-of-order': Page(('input.pipeline',), 'time.sleep'),
    'short-epochs': Page(('input.epoch',), 'in loader', left=75),
    'many-tensors': Page(('input.handoff',), 'DataLoader('),
    'pageable-copies': Page(('copy', 'input.h2d', 'host.dispatch'), None),
    'waiting-for-numbers': Page(HOST, '.item()', env=dict(GPUSTARVE_MAX_OVERHEAD=0)),
    'many-launches': Page(HOST, None, env=dict(GPUSTARVE_MAX_OVERHEAD=0)),
    'late-rank': Page(('comm.skew',), '.sort()', ranks=2),
}
LEAST_PCT = 4  # of the training time: before, the page's classes have more
FIRST = 4  # among so many findings is the line
PHOTOS = '''
import numpy
from PIL import Image
for i in range(8):
    field = numpy.random.RandomState(i).randint(0, 255, (24, 24, 3)).astype('uint8')
    Image.fromarray(field).resize((1800, 1800), Image.BICUBIC).save(f'photos/{i}.jpg', quality=85)
'''


class Store:
    """photo_store.py, while it is needed."""

    def __enter__(self):
        self.process = subprocess.Popen([gs.PYTHON, os.path.join(gs.WORKLOADS, 'photo_store.py')], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        return self.process.stdout.readline().strip()

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def play(torch, where, page, program, keep=None, **env):
    """The program in a folder of its own, which is also where it runs."""
    os.makedirs(where)
    with open(os.path.join(where, 'train.py'), 'w', encoding='utf-8') as f:
        f.write(program)
    shutil.copy(os.path.join(pages.FOLDER, 'training.py'), where)
    if page.photos:
        os.mkdir(os.path.join(where, 'photos'))
        gs.equal(gs.command([torch.python, '-c', PHOTOS], cwd=where).returncode, 0, 'photographs')
    launcher = ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', str(page.ranks)] if page.ranks > 1 else []
    own = dict(OMP_NUM_THREADS=1, GPUSIM_DEVICES=page.ranks, TORCHINDUCTOR_CACHE_DIR=where, TRITON_CACHE_DIR=where)
    done, run, _ = gs.traced([torch.python, *launcher, 'train.py'], where, ('--quiet',), **{**own, **page.env, **env})
    gs.equal(done.returncode, 0, f'{where}: {done.stderr.decode()[-1500:]}')
    if keep:
        quoted.keep(keep, run, where, torch.python)
    return gs.summary(run)


def share(summary, classes):
    """Of the page's classes: ns, all GPUs together; and per cent of the training time."""
    of = collections.Counter()
    for gpu in summary['gpus']:
        of.update(gpu['classes'])
    training = sum(ns for name, ns in of.items() if not name.startswith('excluded'))
    ns = sum(of[name] for name in classes)
    return ns, 100 * ns / training


def expect_page(torch, name, page, where, store):
    before, after = pages.programs(name)
    one = set(list(os.sched_getaffinity(0))[:page.cores or None])
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, one)
    first = play(torch, os.path.join(where, 'before'), page, before, os.environ.get('GS_KEEP') and name, STORE=store)
    os.sched_setaffinity(0, every)
    second = play(torch, os.path.join(where, 'after'), page, after, STORE=store)
    (was, pct), (now, pct_now) = share(first, page.classes), share(second, page.classes)
    places = [(f['class'], f['where'].get('file', ''), f['where'].get('line')) for f in first['findings'][:FIRST]]
    print(f'{torch.name}: {name}: {"+".join(page.classes)} {pct:.1f} -> {pct_now:.1f} % of the training time, '
          f'{was / 1e6:.0f} -> {now / 1e6:.0f} ms; {first["verdict"]} -> {second["verdict"]}; first findings {places}', flush=True)
    gs.check(pct >= LEAST_PCT, f'{name}: before: {pct:.1f} % {page.classes}')
    if page.cores and os.getloadavg()[0] > 2 * os.cpu_count():
        gs.left_out(f'{name}: what is left of it: others have the cores, and have them after the change, too')
    else:
        gs.check(100 * now <= page.left * was, f'{name}: {now} ns of {was} are left')
    if page.line:
        wanted = pages.lines(before, page.line)
        gs.check(any((c in page.classes or page.ranks > 1) and (f or '').endswith('train.py') and n in wanted
                     for c, f, n in places),
                 f'{name}: line {wanted} is not in {places}')


def test_every_page_is_played():
    gs.equal(sorted(PAGES), pages.names(), 'pages')
    for name in PAGES:
        before, after = pages.programs(name)
        gs.check(before != after or PAGES[name].cores, f'{name}: nothing changes')
        for program in before, after:
            compile(program, name, 'exec')


def test_pages():
    torch = torches.some()[-1]
    torch = next((t for t in torches.found() if t.name == 'torch-2.14'), torch)
    only = os.environ.get('GS_ONLY', '').split() or (list(PAGES) if gs.BIG else ['slow-storage'])
    with Store() as store:
        for name in only:
            with gs.scratch() as where:
                expect_page(torch, name, PAGES[name], where, store)


gs.run_tests(globals())
