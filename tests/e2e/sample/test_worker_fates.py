# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""A worker of torch's loader that is stopped, or that a signal ends, is named with its pid, when, and of what, whatever it
was at; and while it is stopped nobody says that a finished batch is on its way. One that torch ends, or that ends by
itself, is no news."""
import json
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

STOPPED_S = 3
PROGRAM = f"""
import json, os, signal, sys, threading, time
sys.path.insert(0, {gs.WORKLOADS!r})
import gpudev, torch
how = sys.argv[1]
class Slow(torch.utils.data.Dataset):
    def __len__(self): return 600
    def __getitem__(self, i):
        time.sleep(0.004)
        if how == 'killed' and i == 300: os.kill(os.getpid(), signal.SIGKILL)
        return torch.zeros(4)
def stop(pid):
    time.sleep(1)
    told['from'] = time.time()
    os.kill(pid, signal.SIGSTOP)
    time.sleep({STOPPED_S})
    told['to'] = time.time()
    os.kill(pid, signal.SIGCONT)
device = gpudev.Device(0)
stream = gpudev.Stream(device)
it = iter(torch.utils.data.DataLoader(Slow(), batch_size=2, num_workers=2))
told, fired, torchs = {{'pids': [w.pid for w in it._workers]}}, [], signal.getsignal(signal.SIGCHLD)
def once(*args):  # torch's raises for each worker that ends: also amid what follows the first
    if not fired:
        try:
            torchs(*args)
        except RuntimeError:
            fired.append(True)
            raise
signal.signal(signal.SIGCHLD, once)
# Of a batch that is under way torch asks the worker for its memory: from one that died nothing comes, or nobody answers
RAISED = (RuntimeError, OSError, EOFError)
if how == 'stopped': threading.Thread(target=stop, args=(told['pids'][0],)).start()
try:
    try:
        for batch in it:
            stream.kernel(8_000_000)
            stream.synchronize()
            if how == 'left' and told.setdefault('steps', 0) > 50: break
            told['steps'] = told.get('steps', 0) + 1
    except RAISED as error:
        told['error'] = str(error)[:60]
except RAISED as error:  # the loader saw it before the signal came
    told['error'] = str(error)[:60]
fired.append(True)
told['end'] = time.time()
del it
print(json.dumps(told))
"""


def play(folder, how):
    """What the program says, the summary, and the notes on workers."""
    where = os.path.join(folder, how)
    os.makedirs(where)
    done, run, _ = gs.traced([gs.PYTHON, '-c', PROGRAM, how], where)
    gs.equal(done.returncode, 0, f'{how}: {done.stderr.decode()[:1500]}')
    summary = gs.summary(run)
    return json.loads(done.stdout), summary, [n for n in summary['quality']['notes'] if 'of the loader (pid' in n]


def second(clock):
    h, m, s = map(int, clock.split(':'))
    return 3600 * h + 60 * m + s


def near(clock, unix, name):
    off = (second(clock) - int(unix) % 86400 + 43200) % 86400 - 43200
    gs.check(-1 <= off <= 3, f'{name}: {clock}, {off} s off')


def stopped(folder):
    told, summary, notes = play(folder, 'stopped')
    m = len(notes) == 1 and re.fullmatch(r'worker 0 of the loader \(pid (\d+)\) was stopped by a signal or a debugger '
                                         r'from ([\d:]{8}) to ([\d:]{8}) UTC', notes[0])
    if gs.check(m, f'the note: {notes}'):
        gs.equal(int(m[1]), told['pids'][0], 'the pid')
        near(m[2], told['from'], 'from')
        near(m[3], told['to'], 'to')
    classes = summary['ledger']['classes']
    gs.check(classes['input.unknown']['ns'] > (STOPPED_S - 1.5) * 1e9,
             f'nothing tells why batches were late: {classes["input.unknown"]["ns"] / 1e9:.1f} s')


def killed(folder):
    told, _, notes = play(folder, 'killed')
    m = len(notes) == 1 and re.match(r'worker (\d+) of the loader \(pid (\d+)\) died of signal 9 \(SIGKILL.*\) at ([\d:]{8}) UTC$',
                                     notes[0])
    if gs.check(m, f'the note: {notes}; the program: {told}'):
        gs.equal(int(m[2]), told['pids'][int(m[1])], 'the pid')
        near(m[3], told['end'], 'at')


def left(folder):
    """The loop ends amid the epoch, and torch ends the workers."""
    _, _, notes = play(folder, 'left')
    gs.equal(notes, [], 'no news')


def main():
    if not gs.command([gs.PYTHON, '-c', 'import torch'], timeout=120).returncode == 0:
        gs.skip('no torch')
    with gs.scratch() as folder:
        for one in (stopped, killed, left):
            one(folder)
    gs.finish()


main()
