#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=60
"""Steps where nobody marks them and the names of kernels change from batch to batch, so that what comes again is a round
of many batches: the loader's batches are known, and the steps are told by what comes once a batch, or not at all. Where
batches are alike, what comes again stays the step, however many batches it takes. Where it comes again in each batch, the batches
tell, or nothing. Where steps are marked all of them count."""
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

BATCHES, OF_EACH, AROUND = 400, 25, 24
STEP, OPTIMIZER = 4, 5  # enum wire_range_kind
MS = 1_000_000
COLLECTIVE, COPY, LOG, GRAPH = 'ncclDevKernel_AllReduce', 'copy', 'log', 'graph'
WAIT = 'enumerate(DataLoader)#x.__next__'


def again(batch):
    """The names come again after so many batches; the collective in each."""
    return [f'k{(batch * OF_EACH + k) % (AROUND * OF_EACH)}' for k in range(OF_EACH)] + [COLLECTIVE]


def copied(batch):
    """A copy to the GPU is all that comes once a batch, and each fourth batch has more to do."""
    return [COPY] + again(batch)[:-1 if batch % 4 else -9]


def logged(batch):
    """Names that never come again; each 16th batch something is logged."""
    return [f'k{batch}_{k}' for k in range(OF_EACH)] + [LOG] * (batch % 16 == 15)


def warmed(batch):
    """As often as there are batches, but all at once."""
    return again(batch)[:-1] + ['warm'] * 40 * (batch < BATCHES // 40)


def gathered(batch):
    """Four batches, then the optimizer, whose kernels are of many kinds."""
    return [f'f{k}' for k in range(10)] + [f'adam{k}' for k in range(8)] * (batch % 4 == 3)


def by_turns(batch):
    """Two nets with a batch each."""
    return [f'net{batch % 2}_{k}' for k in range(10)]


def alike(batch):
    """All kernels have one name."""
    return ['gemm'] * OF_EACH


def uneven(batch):
    """Of one name, and never as many."""
    return ['gemm'] * (5 + batch * 7 % 23)


def layers(batch):
    """So many layers of a kind in each: a layer may be a step, too, as a token is."""
    return [f'layer{k}' for k in range(6)] * 8


def tokens(batch):
    """A graph is launched for each token."""
    return [GRAPH] * OF_EACH


def pairs(batch):
    """Less than half as many rounds again as batches: as it was."""
    return ['gemm'] * (1 + (batch % 4 == 0))


def lines(names, short):
    """@short: two batches an iterator, and the wait that tells that there are no more."""
    out, t, n = [], MS, 0
    for batch in range(BATCHES):
        for more in range(2 if short and batch and batch % 2 == 0 else 1):
            first = batch == 0 or short and batch % 2 == 0 and more
            out.append(f'range 1 {t} {t + 50_000} 5 {int(first)} {WAIT}')
            t += 60_000
        for name in names(batch):
            n += 1
            out.append(f'api {t} {t + 2000} {n} 5 cudaLaunchKernel')
            of = f'{t + 5000} {t + 9000} {n} 7 0'
            out.append(f'copy {of} 4096 1 1 3' if name == COPY else f'graph {of}' if name == GRAPH else f'kernel {of} {name}')
            t += 10_000
    return [f'stream node1 10 0 {t + MS} -1 0 - train', 'device 0 1 NVIDIA%20H100'] + out


def steps(where, names, short=False):
    run = os.path.join(where, f'{names.__name__}{short}.gst')
    os.mkdir(run)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), run], input='\n'.join(lines(names, short)).encode(), check=True)
    got = gs.summary(run)['steps']
    return got['source'], got['count']


def marked(where, kind):
    """A kernel and a mark of the program for each of so many steps."""
    out = [f'stream node1 10 0 {BATCHES * MS} -1 0 - train', 'device 0 1 NVIDIA%20H100']
    for i in range(BATCHES):
        t = (i + 1) * MS
        out += [f'api {t - 90_000} {t - 80_000} {i + 1} 5 cudaLaunchKernel', f'kernel {t - 70_000} {t - 30_000} {i + 1} 7 0 k{i % 3}',
                f'range {kind} {t - 95_000} {t - 20_000} 5 0 ' + (f'ProfilerStep#{i}' if kind == STEP else 'Optimizer.step#SGD.step')]
    run = os.path.join(where, f'marked{kind}.gst')
    os.mkdir(run)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), run], input='\n'.join(out).encode(), check=True)
    got = gs.summary(run)['steps']
    return got['source'], got['count'], got['skipped']


with gs.scratch() as where:
    gs.equal(marked(where, STEP), ('range', BATCHES, 0), 'ranges of steps')
    gs.equal(marked(where, OPTIMIZER), ('optimizer', BATCHES, 1), 'ends of optimizers, the first without a begin')
    for short in False, True:
        gs.equal(steps(where, again, short), ('period', BATCHES - 1), f'a collective in each batch; two batches an iterator: {short}')
        gs.equal(steps(where, copied, short), ('period', BATCHES - 1), f'a copy in each batch; two batches an iterator: {short}')
        gs.equal(steps(where, logged, short), ('none', 0), f'nothing in each batch; two batches an iterator: {short}')
    gs.equal(steps(where, warmed), ('none', 0), 'as often as there are batches, all in the first of them')
    gs.equal(steps(where, gathered), ('period', BATCHES / 4 - 1), 'four batches a step')
    gs.equal(steps(where, by_turns), ('period', BATCHES / 2 - 1), 'two nets by turns')
    for short in False, True:
        gs.equal(steps(where, alike, short), ('batches', BATCHES - 1), f'all kernels of one name; two batches an iterator: {short}')
        gs.equal(steps(where, layers, short), ('none', 0), f'layers, or steps; two batches an iterator: {short}')
        gs.equal(steps(where, tokens, short), ('none', 0), f'a graph a token, or a step; two batches an iterator: {short}')
    gs.equal(steps(where, uneven), ('batches', BATCHES - 1), 'all kernels of one name, never as many')
    gs.equal(steps(where, pairs), ('period', BATCHES + BATCHES // 4 - 1), 'hardly more kernels than batches')
gs.finish()
