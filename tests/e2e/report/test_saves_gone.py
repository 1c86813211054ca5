# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Checkpoints that are not there any more when the job is killed: deleted, cut to nothing, or overwritten through a
file object by a save that is killed halfway. None of them is called durable; one that was moved is. Nor is one that is saved
beside its place and was not yet renamed to it, nor what lies in a folder that was not: what was there before is. By real programs
on the simulated GPU."""
import functools
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

JOB = '''
import glob, os, pathlib, shutil, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import gpudev, torch
how, net = sys.argv[2], torch.nn.Linear(1024, 1024)

def save(path):
    torch.save(net.state_dict(), path)

class Slow:
    def __init__(self, f):
        self.f, self.pause = f, 1
    def write(self, data):
        time.sleep(self.pause)
        self.pause = 300  # the kill comes between, whenever that is
        return self.f.write(data)
    def flush(self):
        self.f.flush()

def await_watch(path):
    """Until the kernel tells libprof's sender, whose descriptors are its own, of the file: what another does to it is seen."""
    want, end = 'ino:%x ' % os.stat(path).st_ino, time.monotonic() + 120
    while time.monotonic() < end:
        for name in glob.glob('/proc/self/task/*/fdinfo/*'):
            try:
                with open(name) as f:
                    if want in f.read():
                        return
            except OSError:  # closed since
                pass
        time.sleep(0.01)

def overwrite():
    with open('a.pt', 'wb') as f:
        torch.save(net.state_dict(), Slow(f))

def shards(folder, ending='.pt', n=3):
    os.makedirs(folder + '/model')
    for i in range(n):
        save(f'{folder}/model/{i}{ending}')

def save_folder():
    if how == 'folder_own':
        shards('next')
        os.rename('next', 'a')
    elif how == 'folder_parts':  # each is renamed, and the folder is not
        shards('a.tmp', '.part')
        for i in range(3):
            os.replace(f'a.tmp/model/{i}.part', f'./a.tmp/model/../model/{i}.pt')
    elif how == 'folder_out':
        shards('a.tmp')
        os.mkdir('a')
        for i in range(3):
            os.rename(f'a.tmp/model/{i}.pt', f'a/{i}.pt')
        shutil.rmtree('a.tmp')
    elif how == 'folder_mv':
        shards('a.tmp', '.part')
        for i in range(3):
            os.replace(f'a.tmp/model/{i}.part', f'a.tmp/model/{i}.pt')
        for i in range(3):
            await_watch(f'a.tmp/model/{i}.pt')
        os.system('mv a.tmp a')
    else:
        shards('tmp-a-1', n=20 if how == 'folder_many' else 3)
        pathlib.Path('../in/./tmp-a-1').rename('a-1')

def happen():
    if how in ('deleted', 'older', 'mv_rm'):
        os.remove('a.pt')
    elif how == 'folder':
        shutil.rmtree('d')
    elif how == 'cut':
        open('a.pt', 'wb').close()
    elif how == 'slow':
        threading.Thread(target=overwrite, daemon=True).start()
    elif how == 'moved':
        os.rename('a.pt', 'b.pt')
    elif how == 'atomic':
        os.remove('b.pt')
    elif how == 'outside':
        os.system('rm a.pt')

stream = gpudev.Stream(gpudev.Device(0))
for n in range(1, 101):
    stream.kernel(36_000_000, 'gemm')
    stream.synchronize()
    if n == 30 and how.startswith('folder_'):
        save_folder()
    elif n == 30:
        save('a.pt.tmp' if how in ('torn', 'first', 'renamed', 'mv', 'mv_rm') else 'next.pt' if how == 'own' else 'a.pt')
        if how in ('torn', 'renamed'):
            os.replace('a.pt.tmp', 'a.pt')
        elif how in ('mv', 'mv_rm'):
            await_watch('a.pt.tmp')
            os.system('mv a.pt.tmp a.pt')
        elif how == 'own':
            os.replace('next.pt', 'a.pt')
        if how == 'atomic':
            os.replace('a.pt', 'b.pt')
    elif n == 40 and how == 'older':
        save('b.pt')
    elif n == 75 and how in ('folder_torn', 'folder_own'):
        shards('tmp-a-2' if how == 'folder_torn' else 'next')
    elif n == 75 and how in ('torn', 'own'):
        save('a.pt.tmp' if how == 'torn' else 'next.pt')
    elif n == 60:
        happen()
    elif n == 100 and how != 'ordered':
        os.kill(os.getpid(), signal.SIGKILL)
'''
# What is most of the time before the kill that a save at step 30 (40) covered.
WANT = {'kept': 'durable', 'deleted': 'unknown', 'atomic': 'unknown', 'outside': 'unknown', 'cut': 'lost', 'slow': 'lost',
        'moved': 'durable', 'older': 'durable', 'first': 'unknown', 'mv_rm': 'unknown', 'renamed': 'durable', 'mv': 'durable',
        'folder_many': 'durable', 'folder_mv': 'durable', 'folder_out': 'durable', 'folder_parts': 'unknown'}
TORN = 'torn', 'own', 'folder_torn', 'folder_own'  # the one before, of step 30, is durable, what lies between them and the kill unknown and lost


def run(how):
    with gs.scratch() as where:
        os.mkdir(where + '/in')
        done = gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', where + '/runs', '--price', '36', '--', gs.PYTHON, '-c',
                           JOB, gs.WORKLOADS, how], env=gs.environment(HOME=where), cwd=where + '/in')
        gs.equal(done.returncode, -9, f'{how}: {done.stderr.decode()[-500:]}')
        trace = where + '/runs/' + [n for n in os.listdir(where + '/runs') if n.endswith('.gst')][0]
        gs.equal(gs.gpustarve('report', trace, '--format', 'json', '-o', where + '/s.json').returncode, 0, how)
        gs.equal(gs.gpustarve('verify', trace).returncode, 0, f'{how}: verify')
        gs.equal(gs.gpustarve('report', trace, '--format', 'html', '-o', where + '/s.html').returncode, 0, how)
        with open(where + '/s.html', encoding='utf-8') as f:
            page = f.read()
        summary = json.load(open(where + '/s.json'))
        gs.equal(schema.errors(schema.ours(), summary), [], f'{how}: schema')
        text = ' '.join(gs.gpustarve('report', trace).stdout.decode().split())
        return summary['saves'], text, page


def held_against(each, part):
    saves, text, html = run(each)
    parts = {name: p['ns'] for name, p in saves['parts'].items()}
    covered = parts.get('durable', 0) + parts.get('unknown', 0)
    unmoved = each in ('first', 'folder_parts')
    gs.equal(saves['checkpoints'], 2 if each == 'older' else 1 - unmoved, f'{each}: {saves}')
    gs.equal(saves['unmoved'], int(unmoved), f'{each}: {saves}')
    if part == 'lost':
        gs.equal(covered, 0, f'{each}: {parts}')
    else:
        gs.check(parts[part] >= 1_000_000_000 and parts[part] == covered, f'{each}: {part}: {parts}')
    gs.check(parts['lost'] >= 2_000_000_000, f'{each}: {parts}')
    deleted = part == 'unknown' and not unmoved
    gs.equal(saves.get('deleted', 0), int(deleted), f'{each}: {saves}')
    gs.equal('1 checkpoint was deleted; whether a copy is elsewhere is not seen' in text, deleted, f'{each}: {text}')
    gs.equal('a kill loses up to' in text, part == 'unknown', f'{each}: {text}')
    gs.equal('checkpoints that were deleted' in html, deleted, f'{each}: the page')


def torn(how):
    saves, text, html = run(how)
    parts = {name: p['ns'] for name, p in saves['parts'].items()}
    gs.equal((saves['checkpoints'], saves['unmoved'], saves['unsure'], saves['deleted']), (1, 1, 0, 0), f'{how}: {saves}')
    gs.check(parts['durable'] >= 1_000_000_000, f'{how}: {parts}')
    gs.check(parts['unknown'] >= 1_500_000_000, f'{how}: {parts}')  # 45 steps
    gs.check(900_000_000 <= parts['lost'] < parts['unknown'], f'{how}: {parts}')  # 25 steps
    gs.check('1 checkpoint was saved to a name from which it was not seen to be renamed: a restart may not find it' in text, f'{how}: {text}')
    gs.check('a kill loses up to' in text, f'{how}: {text}')
    gs.check('from which they were not seen to be renamed' in html, f'{how}: the page')


gs.side_by_side([functools.partial(held_against, *one) for one in WANT.items()] + [functools.partial(torn, how) for how in TORN])
gs.finish()
