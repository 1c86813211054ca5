#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""The IPython extension, in a kernel of Debian's ipykernel that nbclient drives as Jupyter would, on the simulated GPU: switched on
before CUDA began and after; what its line says of each cell against the simulator's truth; cells that held no GPU have none; and
in a kernel that `gpustarve run` started it adds the lines alone."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

EXTENSION = os.path.join(gs.SOURCE, 'scripts', 'ipython')
LINE = re.compile(r'gpustarve: 1 GPU held for ([\d.]+) s: busy ([\d.]+) %, waited for the loader ([\d.]+) %, idle otherwise '
                  r'([\d.]+) %; ([\d.]+) ¢')
DRIVE = '''
import json, sys
import nbformat
from nbclient import NotebookClient
cells = json.load(open(sys.argv[1]))
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
NotebookClient(book, timeout=240, startup_timeout=240, kernel_name='python3').execute()
json.dump([''.join(o.get('text', '') for o in cell.outputs) for cell in book.cells], open(sys.argv[2], 'w'))
'''
BEGIN = f'''import os, sys, time
sys.path[:0] = [{gs.WORKLOADS!r}, {EXTENSION!r}]
import gpudev
from torch.utils.data import DataLoader
'''
FIRST = '''dev = gpudev.Device(0)
stream = gpudev.Stream(dev)
stream.kernel(1_000_000, 'early')
stream.synchronize()
'''
LOADED = '''class Slow:
    def __len__(self):
        return 10
    def __getitem__(self, i):
        time.sleep(.1)
        return float(i)
for batch in DataLoader(Slow(), batch_size=1, num_workers=1):
    stream.kernel(20_000_000, 'train')
    stream.synchronize()
'''
BUSY = '''for _ in range(10):
    stream.kernel(100_000_000, 'busy')
stream.synchronize()
'''
ON = '%load_ext gpustarve\n%gpustarve on --price 3.6'


def play(where, what, cells, wrapped=False, **env):
    """What stands below each cell, and the run directory's summary."""
    folder = os.path.join(where, what)
    os.makedirs(os.path.join(folder, 'truth'))
    paths = [os.path.join(folder, name) for name in ('drive.py', 'cells.json', 'outputs.json')]
    for path, text in zip(paths, (DRIVE, json.dumps(cells))):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
    drive = [gs.PYTHON, *paths]
    done = gs.command([gs.WITH_GPUSIM, *([gs.CLI, 'run', '-q', '-o', folder + '/runs', '--'] if wrapped else []), *drive],
                      cwd=folder, timeout=480,
                      env=gs.environment(GPUSIM_TRUTH=folder + '/truth', GPUSTARVE_LIB=gs.LIBPROF, GPUSTARVE_PROGRAM=gs.CLI,
                                         GPUSTARVE_OUT=folder + '/runs', IPYTHONDIR=folder, JUPYTER_RUNTIME_DIR=folder,
                                         JUPYTER_CONFIG_DIR=folder, HOME=folder, **env))
    if not gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-1500:]}'):
        return None, None
    with open(paths[2], encoding='utf-8') as f:
        outputs = json.load(f)
    found = gs.runs(folder + '/runs')
    gs.equal(len(found), 1, f'{what}: one run: {found}')
    return outputs, found and gs.summary(found[0])


def near(text, least, busy, loader, what):
    """The cell's line: seconds, %, %, %, cents."""
    m = LINE.search(text)
    if not gs.check(m, f'{what}: a line below it: {text!r}'):
        return
    seconds, *shares, cents = map(float, m.groups())
    gs.check(least - .01 <= seconds < least + 20, f'{what}: held for {least} s and more: {text}')
    gs.check(abs(sum(shares) - 100) < .3, f'{what}: all of it: {text}')
    gs.check(abs(seconds * shares[0] / 100 - busy) < .003 + .006 * seconds, f'{what}: busy {busy} s: {text}')  # 1.004 s says 1 s
    gs.check(loader[0] <= seconds * shares[1] / 100 <= loader[1], f'{what}: waits of {loader} s: {text}')
    gs.check(abs(cents - seconds * .1) < .01 * seconds, f'{what}: at 3.60 $ per hour: {text}')
    print(f'{what}: {m[0]}', flush=True)


def from_the_start(where):
    outputs, s = play(where, 'before CUDA', [BEGIN, ON, 'time.sleep(.3)', FIRST, LOADED, 'x = 1', BUSY, '%gpustarve report',
                                            '%gpustarve off', BUSY])
    if not outputs:
        return
    gs.check('gpustarve: recording into ' in outputs[1], f'what on says: {outputs[1]}')
    gs.equal([outputs[k] for k in (0, 2, 5, 9)], [''] * 4, 'no line where no GPU was held, or for moments, or after off')
    near(outputs[4], 1, .2, (.7, 10), 'a loader')
    near(outputs[6], 1, 1, (0, .001), 'busy')
    gs.check('this run: ' in outputs[7] and 'batches' in outputs[7], f'report: {outputs[7]}')
    gs.equal((s['gpus'][0]['ops'], s['ledger']['busy_ns']), (31, 2_201_000_000), 'all of it is recorded')
    gs.equal(s['loader']['workers'], 1, 'the shim saw the loader')


def after_cuda(where):
    outputs, s = play(where, 'after CUDA began', [BEGIN + FIRST, ON, LOADED, BUSY])
    if not outputs:
        return
    near(outputs[2], .9, .2, (.7, 10), 'a loader, CUDA was there')  # held as far as it is recorded
    near(outputs[3], 1, 1, (0, .001), 'busy, CUDA was there')
    gs.equal((s['gpus'][0]['ops'], s['loader']['workers']), (20, 1), 'recorded from then on')


def wrapped(where):
    outputs, s = play(where, 'wrapped', [BEGIN, ON, FIRST, LOADED], wrapped=True)
    if outputs:
        near(outputs[3], 1, .2, (.7, 10), 'a loader, wrapped')
        gs.equal(s['gpus'][0]['ops'], 11, 'all of it, once')


if gs.command([gs.PYTHON, '-c', 'import nbclient, ipykernel, torch']).returncode:
    gs.skip('no python3-nbclient, python3-ipykernel and python3-torch')
with gs.scratch() as where:
    from_the_start(where)
    after_cuda(where)
    wrapped(where)
gs.finish()
