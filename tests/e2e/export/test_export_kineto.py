#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""A run goes out as Kineto's JSON, and as tables like those of nsys, and comes back through import
with the same numbers: small traces of every kind, real ones where ../shared is there, runs of the
simulator."""
import gzip
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import exporting
import gs
import importing

REAL = ['resnet50_num_workers_0__383a0664.pt.trace.json.gz', 'h100_owlv2.json.gz',
        'ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz',
        'negative_queue_length_values_check_rank0.json.gz', 'h100_2gpu_1s.sqlite.gz']


def there_and_back(where, name, run, windows=('job', 'device'), numbers=exporting.numbers):
    file = exporting.export(run, 'kineto', os.path.join(where, 'k.json'), *exporting.PRICE)
    done, back = importing.imported(where, file)
    if not gs.equal(done.returncode, 0, f'{name}: import: {done.stderr.decode()}'):
        return None
    for window in windows:
        options = ('--window', window, *exporting.PRICE)
        before, after = gs.summary(run, *options), gs.summary(back, *options)
        differ = exporting.differences(numbers(before), numbers(after))
        gs.check(not differ, f'{name}, window {window}: {len(differ)} differ: {differ[:6]}')
    with open(file, encoding='utf-8') as f:
        return json.load(f)


def through_nsys_tables(where, name, run):
    """The SQLite export is read by import as nsys's own are; its window is that of the operations."""
    file = exporting.export(run, 'sqlite', os.path.join(where, 'n.sqlite'), *exporting.PRICE)
    done, back = importing.imported(where, file)
    gs.equal(done.returncode, 0, f'{name}: import of sqlite: {done.stderr.decode()}')
    before, after = (gs.summary(r, '--window', 'device', *exporting.PRICE) for r in (run, back))
    differ = exporting.differences(exporting.numbers(before), exporting.numbers(after))
    gs.check(not differ, f'{name}, through sqlite: {len(differ)} differ: {differ[:6]}')


def steps_of_a_rhythm(where):
    """Steps that no range marks are written under the name that HTA and TensorBoard look for."""
    run = exporting.loader_run(where, name='rhythm', **exporting.NO_EVIDENCE)
    want = gs.summary(run)['steps']
    made = there_and_back(where, 'steps of a rhythm', run)
    rows = [r for r in made['traceEvents'] if r.get('name', '').startswith('ProfilerStep#')]
    gs.check(want['source'] in ('period', 'optimizer') and want['count'] > 10, f'such steps: {want}')
    gs.equal([r['name'] for r in rows], [f'ProfilerStep#{i}' for i in range(want['count'])], 'a row for each')
    gs.check(all(a['ts'] + a['dur'] <= b['ts'] + 1e-3 for a, b in zip(rows, rows[1:])), 'one after the other')


with gs.scratch() as where:
    for name, run in exporting.small_imports(where):
        there_and_back(where, name, run)
        through_nsys_tables(where, name, run)
    for file in REAL:
        path = os.path.join(importing.TRACES, file)
        if not os.path.exists(path):
            print(f'skipped: {file}: no ../shared/traces here')
            continue
        done, run = importing.imported(where, path)
        there_and_back(where, file, exporting.keep(run, where, 'real'), ('job',))
        gs.command(['rm', '-rf', os.path.join(where, 'real.gst')])

    plain = exporting.NO_EVIDENCE
    there_and_back(where, 'loader', exporting.loader_run(where, **plain))
    there_and_back(where, 'loader with samples', exporting.loader_run(where, name='sampled'),
                   numbers=exporting.without_evidence)
    there_and_back(where, 'three processes on one GPU',
                   exporting.mix_run(where, 'shared', 1500, 1, 3, **plain))
    # One file has one window; the processes of this run lived for different times.
    run = exporting.mix_run(where, **plain)
    through_nsys_tables(where, 'two processes on two GPUs', run)
    made = there_and_back(where, 'two processes on two GPUs', run, ('device',))
    steps_of_a_rhythm(where)
    gs.check(made['gpustarve']['simulated'] and 'model' in str(made['gpustarve']['notes']),
             'it says that the GPUs are simulated')
    rows = made['traceEvents']
    gpu = [r for r in rows if r['ph'] == 'X' and r['cat'] in ('kernel', 'gpu_memcpy', 'gpu_memset')]
    gs.equal(len(gpu), sum(g['ops'] for g in gs.summary(run)['gpus']), 'a row for each operation')
    hosts = {r['pid'] for r in rows if r.get('cat') == 'cuda_runtime' or r.get('cat') == 'cuda_driver'}
    gs.equal({r['args']['process'] for r in gpu}, hosts, 'args.process names the host processes')
    begun = {r['id'] for r in rows if r['ph'] == 's'}
    gs.check({r['id'] for r in rows if r['ph'] == 'f'} <= begun, 'each arrow begins at a call')

    # A file for each process: each has its own window, and HTA its folder.
    folder = os.path.join(where, 'ranks')
    exporting.export(run, 'kineto', folder + '/', *exporting.PRICE)
    files = sorted(os.path.join(folder, f) for f in os.listdir(folder))
    gs.equal(len(files), 2, f'a file for each process: {files}')
    gs.check(all(f.endswith('.pt.trace.json') for f in files), f'{files}')
    done, back = importing.imported(where, *files)
    before, after = (gs.summary(r, *exporting.PRICE) for r in (run, back))
    differ = exporting.differences(exporting.numbers(before), exporting.numbers(after))
    gs.check(not differ, f'a file for each process: {len(differ)} differ: {differ[:6]}')

    # The same rows, packed.
    plain = exporting.export(run, 'kineto', os.path.join(where, 'a.json'))
    packed = exporting.export(run, 'kineto', os.path.join(where, 'a.json.gz'))
    with open(plain, 'rb') as f, gzip.open(packed) as g:
        gs.equal(sorted(f.read().split(b'\n')), sorted(g.read().split(b'\n')), '.gz packs the same')

gs.finish()
