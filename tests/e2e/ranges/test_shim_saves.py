# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=240
"""What the shim tells of saves: begun and whole, failed, into a buffer, a file that is not flushed,
over the file before, beside it and renamed, from threads, one inside another, asynchronous ones,
and what is loaded again; by stand-ins that have the shapes of the savers, and by real torch where
scripts/torch-venvs has made one."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

BEGUN, WHOLE, FAILED, HANDED, OPENED, WRITTEN, MOVED = 1, 2, 3, 4, 5, 6, 9
UNASKED = WRITTEN, 7, 8  # 7, 8: a file was changed, deleted: when that is seen is a matter of half a second (test_saves_gone.py)

SAVERS = {
    'torch/__init__.py': 'from .serialization import save, load\n',
    'torch/serialization.py': '''
def save(obj, f):
    if obj is None:
        raise RuntimeError('no')
    if hasattr(f, 'write'):
        f.write(obj)
        return
    with open(f, 'wb') as out:
        out.write(obj)

def load(f):
    return open(f, 'rb').read()
''',
    'torch/distributed/__init__.py': '',
    'torch/distributed/checkpoint/__init__.py':
        'from .state_dict_saver import save, async_save\nfrom .state_dict_loader import load\n',
    'torch/distributed/checkpoint/state_dict_saver.py': '''
import concurrent.futures, os, threading, time, torch
pool = concurrent.futures.ThreadPoolExecutor(1)

def write(state_dict, path, slow):
    time.sleep(slow)
    os.makedirs(path, exist_ok=True)
    with open(path + '/__0_0.distcp', 'wb') as f:
        torch.save(state_dict, f)

def save(state_dict, *, checkpoint_id=None, storage_writer=None):
    write(state_dict, checkpoint_id or storage_writer.path, 0)

def async_save(state_dict, *, checkpoint_id=None, storage_writer=None):
    return pool.submit(write, state_dict, checkpoint_id, 0.3)
''',
    'torch/distributed/checkpoint/state_dict_loader.py': '''
def load(state_dict, *, checkpoint_id=None, storage_reader=None):
    return 1
''',
    'safetensors/__init__.py': '',
    'safetensors/torch.py': '''
def save_file(tensors, filename, metadata=None):
    open(filename, 'wb').write(b'x' * 100)

def load_file(filename, device='cpu'):
    return open(filename, 'rb').read()
''',
    'orbax/__init__.py': '', 'orbax/checkpoint/__init__.py': '',
    'orbax/checkpoint/_src/__init__.py': '', 'orbax/checkpoint/_src/checkpointers/__init__.py': '',
    'orbax/checkpoint/_src/checkpointers/checkpointer.py': '''
import os

class Checkpointer(object):
    def save(self, directory, *args, force=False):
        os.mkdir(directory)

    def restore(self, directory):
        os.listdir(directory)
''',
    'orbax/checkpoint/_src/checkpointers/async_checkpointer.py': '''
import os, threading
from . import checkpointer

class AsyncCheckpointer(checkpointer.Checkpointer):
    def save(self, directory, *args, force=False):
        self.wait_until_finished()
        self.thread = threading.Timer(0.2, os.mkdir, [directory])
        self.thread.start()

    def wait_until_finished(self):
        getattr(self, 'thread', threading.current_thread()) is threading.current_thread() or self.thread.join()
''',
}

PROGRAM = '''
import ctypes, io, json, os, sys, threading, time
sys.path.insert(0, sys.argv[1])
import gpudev
stream = gpudev.Stream(gpudev.Device(0))
stream.kernel(1000, 'first')
stream.synchronize()
import torch
import torch.distributed.checkpoint as dcp
from safetensors.torch import save_file, load_file
from orbax.checkpoint._src.checkpointers.async_checkpointer import AsyncCheckpointer
os.chdir(sys.argv[2])

told = {}
def at(name, call):
    begin = time.time_ns()
    try:
        result = call()
    except RuntimeError:
        result = None
    told[name] = begin, time.time_ns()
    return result

at('plain.pt', lambda: torch.save(b'a' * 5000, 'plain.pt'))
at('plain.pt again', lambda: torch.save(b'b' * 6000, 'plain.pt'))
at('failed.pt', lambda: torch.save(None, 'failed.pt'))
at('buffer', lambda: torch.save(b'c', io.BytesIO()))
open_file = open('open.pt', 'wb')
at('open.pt', lambda: torch.save(b'd' * 70, open_file))
open_file.close()
at('tmp.pt', lambda: torch.save(b'e' * 800, 'tmp.pt'))
at('rename', lambda: os.rename('tmp.pt', 'final.pt'))
at('tmp.pt again', lambda: torch.save(b'f' * 900, 'tmp.pt'))
at('late.pt', lambda: torch.save(b'e' * 800, 'late.pt'))
time.sleep(0.7)  # it is watched
os.rename('late.pt', 'later.pt')
time.sleep(0.7)
os.makedirs('way.tmp/in')
at('way.pt', lambda: torch.save(b'e' * 800, 'way.tmp/in/way.pt'))
at('folder', lambda: os.rename('way.tmp/../way.tmp', 'way'))
t = threading.Thread(target=at, args=('thread.pt', lambda: torch.save(b'g' * 10, 'thread.pt')))
t.start(); t.join()
at('dcp', lambda: dcp.save(b'h' * 1000, checkpoint_id='dcp'))
future = at('async', lambda: dcp.async_save(b'h' * 1000, checkpoint_id='async'))
whole = threading.Event()
future.add_done_callback(lambda _: whole.set())  # behind that of the shim, which it has by then
future.result(); whole.wait(); told['async done'] = time.time_ns()
bad = at('bad', lambda: dcp.async_save(None, checkpoint_id='bad'))
bad.exception(); time.sleep(0.05)
at('st', lambda: save_file({}, 'model.safetensors'))
o = AsyncCheckpointer()
at('orbax', lambda: o.save(os.getcwd() + '/orbax'))
at('orbax wait', o.wait_until_finished)
at('load', lambda: torch.load('final.pt'))
at('dcp load', lambda: dcp.load({}, checkpoint_id='dcp'))
at('st load', lambda: load_file('model.safetensors'))
print(json.dumps([told, {n: [os.stat(n).st_ino, os.stat(n).st_size] for n in os.listdir('.')}]))
'''

def write(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(text)


def saves_of(stream):
    """number -> [begun, ended...], and what was opened."""
    points = [c for r in stream if r.get('frame') == 'facts' for c in r['checkpoints'] if c['state'] not in UNASKED]
    by_number = {}
    for c in points:
        by_number.setdefault(c['number'], []).append(c)
    opened = by_number.pop(0, [])
    gs.check(all(c['state'] == OPENED for c in opened), f'opened: {opened}')
    return by_number, opened


def check_count(stream):
    """Each thing that is told of a save has its number, and each pulse says how many were told before it. What became of a
    file that was written by other means (number 0) is none."""
    count, pulses = 0, 0
    for r in stream:
        for p in r['checkpoints'] if r.get('frame') == 'facts' else ():
            saved = p['number'] and p['state'] not in (OPENED, WRITTEN)
            count += bool(saved)
            gs.equal(p['told'], count if saved else 0, f'its number: {p}')
        if r.get('frame') == 'pulse':
            gs.equal(r['saves_told'], count + 1, 'of a pulse')
            pulses += 1
    gs.check(count > 20 and pulses, f'{count} things told, {pulses} pulses')


def stand_ins():
    with gs.scratch() as where:
        write(where, SAVERS)
        os.mkdir(where + '/out')
        done = gs.command([gs.WITH_GPUSIM, sys.executable, '-c', PROGRAM, gs.WORKLOADS, where + '/out'],
                          env=gs.environment(HOME=where, PYTHONPATH=where, LD_PRELOAD=gs.LIBPROF,
                                             GPUSTARVE_OUT=where + '/runs'), cwd=where)
        gs.equal((done.returncode, done.stderr.decode()), (0, ''), 'the program')
        told, files = json.loads(done.stdout)
        stream = ranges.trace(where)[0]
        out = os.path.realpath(where + '/out')
    check_count(stream)
    saves, opened = saves_of(stream)
    got = [[saves[n][0]['path'].replace(out + '/', ''), saves[n][0]['saver']] +
           [c['state'] for c in saves[n][1:]] for n in sorted(saves)]
    dcp, later = 'torch.distributed.checkpoint', 'torch.distributed.checkpoint.async'
    want = [['plain.pt', 'torch.save', WHOLE], ['plain.pt', 'torch.save', WHOLE],
            ['failed.pt', 'torch.save', FAILED], ['', 'torch.save', HANDED],
            ['open.pt', 'torch.save', HANDED], ['tmp.pt', 'torch.save', WHOLE, MOVED],
            ['tmp.pt', 'torch.save', WHOLE], ['late.pt', 'torch.save', WHOLE, MOVED],
            ['way.tmp/in/way.pt', 'torch.save', WHOLE, MOVED], ['thread.pt', 'torch.save', WHOLE],
            ['dcp', dcp, WHOLE], ['async', later, HANDED, WHOLE],
            ['async/__0_0.distcp', 'torch.save', HANDED],
            ['bad', later, HANDED, FAILED], ['bad/__0_0.distcp', 'torch.save', FAILED],
            ['model.safetensors', 'safetensors', WHOLE],
            ['orbax', 'orbax.async', HANDED, WHOLE]]
    gs.equal(got, want, 'saves')
    by = {}
    for n in sorted(saves):
        by.setdefault(saves[n][0]['path'].replace(out + '/', ''), []).append(saves[n])
    for name, key in (('plain.pt', 'plain.pt'), ('thread.pt', 'thread.pt'), ('dcp', 'dcp')):
        begun, whole = by[name][0]
        gs.check(told[key][0] <= begun['start'] <= whole['end'] <= told[key][1] and
                 whole['start'] == begun['start'] and not begun['end'], f'{name}: {begun} {whole} {told[key]}')
    first, second = by['plain.pt']
    gs.equal((first[0]['before'], second[0]['before'], first[1]['inode'], second[1]['inode']),
             (0, files['plain.pt'][0], files['plain.pt'][0], files['plain.pt'][0]), 'over the file before')
    gs.equal((first[1]['size'], second[1]['size']), (5000, 6000), 'sizes')
    content = {name: {c['content'] for s in by[name] for c in s[1:]} for name in ('plain.pt', 'dcp', 'async', 'orbax')}
    gs.equal(content, {'plain.pt': {2}, 'dcp': {0}, 'async': {0}, 'orbax': {0}}, 'whether a state was seen')
    beside, again = by['tmp.pt']
    moved = beside[2]
    # a thread that is interrupted right behind it may be told of by the sender, which looks twice a second
    gs.check(told['rename'][0] <= moved['end'] <= told['rename'][1] + 500_000_000, f'renamed: {moved} {told["rename"]}')
    gs.equal((moved['path'], moved['inode']), (out + '/tmp.pt', files['final.pt'][0]), 'of that save')
    moved = by['way.tmp/in/way.pt'][0][2]
    gs.check(told['folder'][0] <= moved['end'] <= told['folder'][1], f'with its folder: {moved} {told["folder"]}')
    gs.equal(moved['path'], out + '/way.tmp', 'the folder that was renamed')
    gs.equal((beside[1]['inode'], again[0]['before']), (files['final.pt'][0], 0), 'beside, and renamed')
    handed, whole = by['async'][0][1:]
    gs.check(handed['end'] <= told['async'][1] and
             told['async'][0] + 300_000_000 <= whole['end'] <= told['async done'],
             f'asynchronous: {handed} {whole} {told}')
    gs.equal((whole['synced'], by['dcp'][0][1]['synced'], first[1]['synced']), (1, 1, 0), 'synced')
    gs.check(by['orbax'][0][2]['end'] >= told['orbax'][0] + 200_000_000, f'orbax: {by["orbax"]}')
    gs.equal([(c['path'].replace(out + '/', ''), c['inode'], c['saver']) for c in opened],
             [('final.pt', files['final.pt'][0], 'torch.load'), ('dcp', files['dcp'][0], dcp),
              ('model.safetensors', files['model.safetensors'][0], 'safetensors')], 'loads')


REAL = '''
import json, os, sys, threading, time
sys.path.insert(0, sys.argv[1])
import gpudev
stream = gpudev.Stream(gpudev.Device(0))
stream.kernel(1000, 'first')
stream.synchronize()
import torch
import torch.distributed.checkpoint as dcp
os.chdir(sys.argv[2])
state = {'w': torch.ones(1 << 20)}
with open('open.pt', 'wb') as f:
    torch.save(state, f)
dcp.save(state, checkpoint_id='dcp')
response = dcp.async_save(state, checkpoint_id='async')
getattr(response, 'upload_completion', response).result()
dcp.load(state, checkpoint_id='dcp')
torch.load('open.pt', weights_only=True)
time.sleep(0.1)
'''


def real_torch():
    python = os.path.expanduser('~/.cache/gpustarve/programs/torch-2.14/bin/python')
    if not os.path.exists(python):
        print('no torch 2.14 here: scripts/torch-venvs torch-2.14 makes it')
        return
    with gs.scratch() as where:
        os.mkdir(where + '/out')
        done = gs.command([gs.WITH_GPUSIM, python, '-W', 'ignore', '-c', REAL, gs.WORKLOADS, where + '/out'],
                          env=gs.environment(HOME=where, LD_PRELOAD=gs.LIBPROF, MASTER_ADDR='localhost', USER='x',
                                             GPUSTARVE_OUT=where + '/runs'), cwd=where)
        gs.equal(done.returncode, 0, done.stderr.decode())
        stream = [s for s in ranges.trace(where) if any(r.get('frame') == 'facts' for r in s)][0]
        out = os.path.realpath(where + '/out')
    saves, opened = saves_of(stream)
    got = [(s[0]['path'].replace(out + '/', ''), [c['state'] for c in s[1:]]) for s in saves.values()]
    for want in (('open.pt', [WHOLE]), ('dcp', [WHOLE]), ('async', [HANDED, WHOLE])):
        gs.check(want in got, f'real torch: {want} in {got}')
    gs.equal([c['path'].replace(out + '/', '') for c in opened if c['path']][-2:], ['dcp', 'open.pt'],
             'real torch: loads')


stand_ins()
real_torch()
gs.finish()
