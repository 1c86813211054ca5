# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=200
"""A save that no work of the GPU follows: with it everything is covered, also the time that it takes itself, whatever
exit status a program then ends with (preempted, it saves and goes), and it keeps the GPU waiting as any other. Without
one a shutdown is still no work that is unsaved. By real
programs on the simulated GPU, whose saves take half a second each, and which note by their own clock when each begins and ends."""
import json
import os
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

JOB = '''
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
import gpudev, torch
how, net = sys.argv[2], torch.nn.Linear(4, 4)

class Takes:
    def __getstate__(self):
        time.sleep(0.5)
        return {}

def note(what):
    with open('notes', 'a') as f:
        print(what, time.monotonic_ns(), file=f)

def save(path):
    note('save')
    torch.save({'model': net.state_dict(), 'rest': Takes()}, path)
    note('saved')

def end(*_):
    save('last.pt')
    if how == 'works_on':
        for _ in range(10):
            step()
        note('end')
    sys.exit(143)

def step():
    stream.kernel(36_000_000, 'gemm')
    stream.synchronize()

signal.signal(signal.SIGTERM, end)
stream = gpudev.Stream(gpudev.Device(0))
for n in range(1, 76):
    step()
    if n == 75:
        note('end')
    if n == 40 and how != 'ordered':
        save('first.pt')
    elif n == 75 and how == 'unsaved':
        sys.exit(143)
    elif n == 75 and how == 'killed':
        os.kill(os.getpid(), signal.SIGKILL)
    elif n == 75 and how not in ('ordered', 'rests'):
        os.kill(os.getpid(), signal.SIGTERM)
if how == 'rests':
    time.sleep(3)
    sys.exit()
save('last.pt')
'''
HALF = 500_000_000  # of a second
SLACK = HALF // 2  # a busy machine's; who is counted wrongly is off by a save or by the 3 s of a rest
# How: exit status, saves, from where to the process's end it is lost, and from where to the last step it is unsaved.
WANT = {'term': (143, 2, None, None), 'ordered': (0, 1, None, None), 'works_on': (143, 2, 'save', None),
        'unsaved': (143, 1, 'save', None), 'killed': (-9, 1, 'save', None), 'rests': (0, 1, None, 'save')}


def noted(folder):
    """What the program noted, in order: [(what, at)]."""
    with open(folder + '/notes', encoding='utf-8') as f:
        return [(what, int(at)) for what, at in map(str.split, f)]


def last(notes, what):
    return [at for name, at in notes if name == what][-1]


for how, (status, saves, lost, unsaved) in WANT.items():
    with gs.scratch() as where:
        os.mkdir(where + '/in')
        done = gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', where + '/runs', '--no-report', '--price', '36', '--', gs.PYTHON, '-c',
                           JOB, gs.WORKLOADS, how], env=gs.environment(HOME=where), cwd=where + '/in')
        returned = time.monotonic_ns()
        gs.equal(done.returncode, status, f'{how}: {done.stderr.decode()[-500:]}')
        trace = where + '/runs/' + [n for n in os.listdir(where + '/runs') if n.endswith('.gst')][0]
        gs.equal(gs.gpustarve('report', trace, '--format', 'json', '-o', trace + '/summary.json').returncode, 0, how)
        gs.equal(gs.gpustarve('verify', trace).returncode, 0, f'{how}: verify')
        with open(trace + '/summary.json', encoding='utf-8') as f:
            summary = json.load(f)
        notes = noted(where + '/in')
        text = ' '.join(gs.gpustarve('report', trace).stdout.decode().split())
    gs.equal(schema.errors(schema.ours(), summary), [], f'{how}: schema')
    told = summary['saves']
    parts = {name: p['ns'] for name, p in told['parts'].items()}
    gs.equal(told['checkpoints'], saves, f'{how}: {told}')
    for part, since in ('lost', lost), ('unsaved', unsaved):
        least = last(notes, 'end') - last(notes, since) - SLACK if since else 0
        most = (returned if part == 'lost' else last(notes, 'end') + SLACK) - last(notes, since) if since else 0
        gs.check(least <= parts[part] <= most, f'{how}: {part}: {parts}, by its own clock {least} to {most}')
    gs.equal(sum(parts.values()), summary['ledger']['gpu_ns'], f'{how}: all of it')
    took = [at for what, at in notes if what == 'saved'], [at for what, at in notes if what == 'save']
    took = (sum(took[0]) - sum(took[1])) // saves
    gs.check(took >= HALF and abs(told['exposed_ns'] - took) <= SLACK, f'{how}: a save costs {told["exposed_ns"]}, took {took}')
    if how == 'rests':  # what follows the last work is none
        gs.check(parts['other'] >= 2_900_000_000, f'{how}: {parts}')
    if how == 'killed':
        gs.check('after the last kernel' not in text, f'{how}: what follows the last records is not known: {text[:900]}')
gs.finish()
