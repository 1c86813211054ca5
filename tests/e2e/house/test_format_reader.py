#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=600
"""The small reader that was written from docs/FORMAT.md alone finds, in runs of the simulator and in
imported traces, the operations and the busy time that the report states, and every sample and
batch that dump prints; and protoc reads the envelopes."""
import ctypes
import glob
import json
import os
import re
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import importing

import gst_reader

READER = os.path.join(gs.SOURCE, 'tests', 'lib', 'gst_reader.py')
MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')


def by_reader(run):
    done = gs.command([gs.PYTHON, READER, run])
    if not gs.check(done.returncode == 0, f'reader: {done.stderr.decode()}'):
        return None
    return json.loads(done.stdout)


def compare(run, what):
    read, made = by_reader(run), gs.summary(run, '--window', 'device')
    if not read or not made:
        return
    found = sorted((d['ops'], d['busy_ns']) for d in read['devices'])
    gs.equal(found, sorted((g['ops'], g['busy_ns']) for g in made['gpus'] if g['ops']), what)
    gs.equal(read['damaged_bytes'], 0, f'{what}: damage')
    print(f'{what}: {found}', flush=True)


def simulated(what, *mix):
    with gs.scratch() as where:
        done, run, _ = gs.traced([MIXLOOP, '--ops', 8000, *mix], where, GPUSIM_DEVICES=2)
        gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-300:]}')
        if gs.check(run, f'{what}: a run'):
            compare(run, what)
            decode(where, run, what)


def hello_body(path):
    """The first Hello's body as it is before compression."""
    with open(path, 'rb') as f:
        found, _ = gst_reader.frames(f.read())
    kind, _, _, _, body, raw_len = found[0]
    gs.equal(kind, 1, 'the first frame is a Hello')
    return body if raw_len is None else gst_reader.decompress(body, raw_len)


def decode(where, run, what):
    """protoc, where it is installed, prints a Hello with the fields' names."""
    streams = sorted(glob.glob(os.path.join(run, '*.gst')) + glob.glob(os.path.join(run, '*.spool')))
    if not gs.check(streams, f'{what}: streams') or not shutil.which('protoc'):
        return
    wire = os.path.join(gs.SOURCE, 'wire')
    body = os.path.join(where, 'hello')
    with open(body, 'wb') as f:
        f.write(hello_body(streams[0]))
    with open(body, 'rb') as f:
        done = gs.command(['protoc', '--decode', 'wire.Hello', '-I', wire, 'session.proto'], stdin=f)
    gs.equal(done.returncode, 0, f'{what}: protoc: {done.stderr.decode()}')
    for field in (b'host: ', b'pid: ', b'devices {'):
        gs.check(field in done.stdout, f'{what}: protoc prints {field.decode()}')


def imported():
    files = sorted(glob.glob(os.path.join(importing.TRACES, '*.gz')))
    if not files:
        print('skipped: no ../shared/traces: public traces')
    files += [os.path.join(importing.DATA, n) for n in ('decimal.json', 'negative.json', 'order.json')]
    for path in files:
        with gs.scratch() as where:
            done, run = importing.imported(where, path)
            name = os.path.basename(path)
            if gs.check(done.returncode == 0, f'{name}: {done.stderr.decode()}'):
                compare(run, name)


ROLES = ['other', 'submitter', 'worker', 'pin', 'worker-other', 'producer', 'feeder']
STATES = ['unknown', 'running', 'sleeping', 'disk', 'stopped', 'gone']
WAITS = ['none', 'read', 'write', 'fault', 'socket', 'pipe', 'queue', 'sleep', 'gil', 'lock-shared',
         'lock', 'child', 'gpu', 'stopped', 'other', 'unknown']
FLAGS = ['torn', 'no-python', 'steady', 'gil', 'by-parent', 'census', 'gc', '7']
WHATS = ['batch-0', 'batch-open', 'batch-fetch', 'batch-take', 'batch-pin', 'batch-close']


def word(words, number, otherwise='{}'):
    return words[number] if number < len(words) else otherwise.format(number)


def one_line(stack, between, last):
    return ' < '.join(between.join(f[:2]) + last.join([''] + [x for x in f[2:] if x])
                      for f in (line.split('\t') for line in stack.split('\n'))) if stack else ''


def sample_line(r):
    call = {0: '', 65535: 'none'}.get(r['syscall'], r['syscall'] - 1)
    flags = ','.join(w for i, w in enumerate(FLAGS) if r['flags'] >> i & 1)
    return '\t'.join(map(str, [
        r['stream'], 'sample', r['time'], r['period'], f"{r['pid']}.{r['tid']}",
        word(ROLES, r['role']), word(STATES, r['state']), word(WAITS, r['wait']), call, r['cpu'],
        r['delay'], r['throttled'], flags, r['target'], r['fs'], one_line(r['stack'], ' ', ':'),
        one_line(r['native'], '+', '@'), r['links'], r['rchar']]))


def batch_line(r):
    length = (r['end'] - r['start'] + (1 << 63)) % (1 << 64) - (1 << 63)
    return '\t'.join(map(str, [
        r['stream'], word(WHATS, r['what'], 'batch-{}'), r['start'], length,
        f"{r['pid']}.{r['tid']}", r['loader'], r['worker'] - 1 if r['worker'] else '', r['batch'],
        r['samples'], r['cpu'], r['delay'], r['rchar'], r['read'], r['faults'], r['text']]))


def compare_evidence(run, what):
    """Every row as dump prints it; returns how many."""
    read = json.loads(gs.command([gs.PYTHON, READER, run, '--evidence']).stdout)
    for rows, line, option in ((read['samples'], sample_line, '--samples'),
                               (read['batches'], batch_line, '--batches')):
        done = gs.gpustarve('dump', option, run)
        gs.equal(done.returncode, 0, f'{what}: {option}')
        gs.equal(sorted(map(line, rows)), sorted(done.stdout.decode().splitlines()),
                 f'{what}: {option}')
    return len(read['samples']), len(read['batches'])


def stored():
    with gs.scratch() as where:
        shutil.copy(os.path.join(gs.SOURCE, 'tests', 'data', 'wire-v1-evidence.gst'), where)
        gs.equal(compare_evidence(where, 'stored'), (100, 100), 'stored: rows')
        ranges = [l.split('\t')[1] for l in gs.gpustarve('dump', where).stdout.decode().splitlines()
                  if l.split('\t')[1] in ('gc', 'checkpoint', 'iter')]
        gs.equal(ranges, ['gc', 'checkpoint', 'iter'], 'stored: ranges')


def loader():
    """What a job's loader left in the trace."""
    with gs.scratch() as where:
        done, run, _ = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps',
                                  15, '--sample-ms', 1, '--workers', 1], where)
        gs.equal(done.returncode, 0, f'loader: {done.stderr.decode()[-300:]}')
        if gs.check(run, 'loader: a run'):
            samples, batches = compare_evidence(run, 'loader')
            gs.check(batches >= 15, f'loader: {batches} batches')
            print(f'loader: {samples} samples, {batches} batches', flush=True)


def example():
    """The samples of FORMAT.md's example are those that its bytes hold."""
    with open(os.path.join(gs.SOURCE, 'docs', 'FORMAT.md')) as f:
        page = f.read().split('### 12.1')[1].split('\n## ')[0]
    columns = bytes.fromhex(''.join(re.findall(r'^    [0-9a-f]{8}  ((?:[0-9a-f]{2} +)+)', page, re.M)))
    rows = list(gst_reader.rows(gst_reader.SAMPLES, 3, columns))
    told = [[x.strip() for x in line.split('|')[1:-1]] for line in re.findall(r'^\| \d.*', page, re.M)]
    gs.equal([[str(r[k] - (1700000000000000000 if k == 'time' else 0))
               for k in ('time', 'tid', 'period', 'cpu', 'stack')] for r in rows],
             [t[:5] for t in told], 'the example')
    gs.equal([(r['syscall'], r['role'], r['state'], r['wait'], r['flags']) for r in rows],
             [(203, 1, 2, 6, 4), (0, 2, 1, 0, 0), (203, 1, 2, 6, 4)], 'its small fields')


try:
    ctypes.CDLL('libzstd.so.1')
except OSError:
    gs.skip('no libzstd.so.1')
simulated('one process', '--devices', 2)
simulated('two processes on one device', '--processes', 2)
imported()
stored()
loader()
example()
gs.finish()
