# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=240
"""Saves that are no torch.save, and torch.saves that are no checkpoint: files that a thread writes, syncs and renames
at regular steps count, named so; what is written by any other means, and what holds no state of a training, is
unknown, never unsaved, lost or safe. By real programs on the simulated GPU, each told what it is."""
import functools
import json
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

JOB = '''
import os, pickle, shutil, signal, sys, threading
sys.path.insert(0, sys.argv[1])
import gpudev
how, die = sys.argv[2], int(sys.argv[3])
data = bytes(3 << 20)
if how in ('tensor', 'predictions', 'model', 'optimizer', 'list', 'beside', 'weights', 'set'):
    import torch
    w = torch.zeros(1 << 20)
    net = torch.nn.Linear(4, 4)

def moved(name, write):
    with open(name + '.tmp', 'wb') as f:
        write(f)
        f.flush()
        os.fsync(f.fileno())
    os.rename(name + '.tmp', name)

def save(n):
    if how == 'moved':
        moved('step-%d.ckpt' % n, lambda f: f.write(data))
    elif how == 'replaced':
        moved('last.ckpt', lambda f: pickle.dump(data, f))
    elif how == 'low':
        fd = os.open('x.tmp', os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(fd, data)
        os.fdatasync(fd)
        os.close(fd)
        os.replace('x.tmp', os.getcwd() + '/x')
    elif how == 'once':
        n == 20 and moved('table', lambda f: f.write(data))
    elif how == 'plain':
        with open('x.pkl', 'wb') as f:
            pickle.dump(data, f)
    elif how == 'copied':
        open('x.tmp', 'wb').write(data)
        shutil.copy('x.tmp', 'x')
    elif how == 'child':
        if not os.fork():  # nobody waits for it
            open('x.pkl', 'wb').write(data)
            os._exit(0)
    elif how == 'small':
        moved('metrics.json', lambda f: f.write(b'1' * 1000))
        print('x' * 1000)
    elif how == 'tensor':
        torch.save(w, 'features_%d.pt' % n)
    elif how == 'predictions':
        torch.save({'epoch': n, 'model_name': 'x', 'preds': [w, w]}, 'preds.pt')
    elif how == 'model':
        torch.save({'step': n, 'net': {'a': net.state_dict()}}, 'last.pt')
    elif how == 'optimizer':
        torch.save(torch.optim.SGD(net.parameters(), lr=1).state_dict(), 'opt.pt')
    elif how == 'list':
        torch.save([net, 1], 'last.pt')
    elif how == 'weights':
        torch.save({'model': {'w': w}, 'optimizer': {'m': [w.clone()] * 2 + [w.clone()]} if n < 60 else None}, 'last-%d.pt' % n)
    elif how == 'set':
        torch.save({'model': w}, 'model-%d.pt' % n)
        n < 60 and torch.save({'optimizer': [w.clone(), w.clone()]}, 'opt-%d.pt' % n)
        n < 60 and torch.save([n], 'rng-%d.pt' % n)
    elif how == 'beside':
        torch.save(net.state_dict(), 'model.pt')
        torch.save(w, 'rng.pt')

stream = gpudev.Stream(gpudev.Device(0))
for n in range(1, 76):
    stream.kernel(36_000_000, 'gemm')
    stream.synchronize()
    if n % 20 == 0:
        save(n)
    if n == die:
        os.kill(os.getpid(), signal.SIGKILL)
'''
# How: checkpoints, unsure, files that were written; which part has most, which none.
WANT = {'moved': (3, 0, 0, 'durable', 'unknown'), 'replaced': (3, 0, 0, 'durable', 'unknown'),
        'low': (3, 0, 0, 'durable', 'unknown'), 'once': (0, 1, 0, None, 'durable'),
        'plain': (0, 0, 1, 'unknown', 'durable'), 'copied': (0, 0, 1, 'unknown', 'durable'),
        'child': (0, 0, 1, 'unknown', 'durable'), 'small': None, 'tensor': (0, 3, 0, 'unknown', 'durable'), 'predictions': (0, 3, 0, 'unknown', 'durable'),
        'model': (3, 0, 0, 'durable', 'unknown'), 'optimizer': (3, 0, 0, 'durable', 'unknown'),
        'list': (3, 0, 0, 'durable', 'unknown'), 'beside': (3, 0, 0, 'durable', 'unknown'), 'weights': (3, 0, 0, 'durable', 'unknown'), 'set': (3, 0, 0, 'durable', 'unknown')}

STATES = 'model', 'optimizer', 'list'
LESS = 'weights', 'set'  # the last one has no optimizer's state any more


def run(how, die=0):
    """(summary, text)"""
    with gs.scratch('/var/tmp') as where:  # /tmp may be memory, whose files the kernel does not count as written
        os.mkdir(where + '/in')
        done = gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', where + '/runs', '--price', '36', '--', gs.PYTHON, '-c',
                           JOB, gs.WORKLOADS, how, str(die)], env=gs.environment(HOME=where), cwd=where + '/in')
        gs.equal(done.returncode, -9 if die else 0, f'{how}: {done.stderr.decode()[-500:]}')
        trace = where + '/runs/' + [n for n in os.listdir(where + '/runs') if n.endswith('.gst')][0]
        gs.equal(gs.gpustarve('report', trace, '--format', 'json', '-o', where + '/s.json').returncode, 0, how)
        gs.equal(gs.gpustarve('report', trace, '--format', 'html', '-o', where + '/s.html').returncode, 0, how)
        verified = gs.gpustarve('verify', trace)
        gs.equal(verified.returncode, 0, f'{how}: verify: {verified.stdout}')
        summary = json.load(open(where + '/s.json'))
        with open(where + '/s.html', encoding='utf-8') as f:
            page = f.read()
        gs.equal(schema.errors(schema.ours(), summary), [], f'{how}: schema')
        return summary, gs.gpustarve('report', trace).stdout.decode(), page


def check_caveat(how, saves, text, page):
    """A state of some model is no proof that work can go on from it: what `job safe` says of it stands here, too."""
    small, caveat = how in STATES, 'nobody knows whether it is of what trains, and all that a restart needs'
    gs.equal(saves['state_small'], 'little' if small else None, f'{how}: small')
    gs.equal(isinstance(saves['state_bytes'], int), small or how in LESS, f'{how}: bytes {saves["state_bytes"]}')
    gs.equal(isinstance(saves['state_most_bytes'], int), how in LESS, f'{how}: {saves["state_most_bytes"]}')
    for page_text in text, ' '.join(re.sub('<[^>]*>', '', page).split()):
        gs.equal('so it may be weights alone, without an optimizer\'s state' in page_text.replace('&#39;', "'"), how in LESS, f'{how}: less: {page_text[-1500:]}')
    gs.check((caveat in text) == (caveat in page) == (saves['parts']['durable']['ns'] > 0), f'{how}: {text}')
    for part in ('durable means that a state of ', ' was saved, which is little for a training that needs a GPU; ') if small else ():
        gs.check(part in text and part in re.sub('<[^>]*>', '', page), f'{how}: {part}: {text}')


def held_against(how, want, die):
    summary, text, page = run(how, die)
    saves = summary.get('saves')
    if want is None:
        gs.check(not saves or (saves['checkpoints'] + saves['unsure'] + saves['written'] == 0), f'{how}: {saves}')
        return
    checkpoints, unsure, written, most, none = want
    gs.equal((saves['checkpoints'], saves['unsure'], min(saves['written'], 1)), (checkpoints, unsure, written), how)
    parts = {name: p['ns'] for name, p in saves['parts'].items()}
    gs.check(most is None or max(parts, key=parts.get) == most, f'{how}: most {most}: {parts}')
    gs.equal(parts[none], 0, f'{how}: {none}: {parts}')
    check_caveat(how, saves, ' '.join(text.split()), page)
    if unsure or written:
        gs.check('not known: ' in text and 'a kill loses up to' in text, f'{how}: {text}')
        gs.check('Not known: ' in page, f'{how}: the page')
        gs.check(saves['grade'] is None, f'{how}: {saves["grade"]}')
    if written:
        gs.check(3 << 20 <= saves['written_bytes'] < 24 << 20, f'{how}: {saves["written_bytes"]}')


gs.side_by_side([functools.partial(held_against, each, expected, 75 if each in ('moved', 'plain', 'tensor', 'child') else 0)
                 for each, expected in WANT.items()])
gs.finish()
