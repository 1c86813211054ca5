#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=600
"""The small reader that was written from docs/FORMAT.md alone finds, in runs of the simulator and in
imported traces, the operations and the busy time that the report states; and protoc reads the
envelopes."""
import ctypes
import glob
import json
import os
import shutil
import sys

import gs
import importing

sys.path.insert(0, os.path.join(gs.SOURCE, 'tests'))
import gst_reader

READER = os.path.join(gs.SOURCE, 'tests', 'gst_reader.py')
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
        print('no ../shared/traces here: public traces are left out')
    files += [os.path.join(importing.DATA, n) for n in ('decimal.json', 'negative.json', 'order.json')]
    for path in files:
        with gs.scratch() as where:
            done, run = importing.imported(where, path)
            name = os.path.basename(path)
            if gs.check(done.returncode == 0, f'{name}: {done.stderr.decode()}'):
                compare(run, name)


try:
    ctypes.CDLL('libzstd.so.1')
except OSError:
    gs.skip('no libzstd.so.1')
simulated('one process', '--devices', 2)
simulated('two processes on one device', '--processes', 2)
imported()
gs.finish()
