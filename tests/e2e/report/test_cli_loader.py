#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""gpustarve loader, without a GPU: what a real DataLoader's worker takes for a batch, whatever the program
does between batches; the planted line; how many workers a step needs, from an option or a run; and a plain
word where nothing is seen. The program's output and the folder of temporary files stay as they were."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny

SLEEP_MS, BATCH = 4, 8
TRAIN = '''
import sys, time, torch
from torch.utils.data import DataLoader, Dataset
class Slow(Dataset):
    def __len__(self):
        return 8 * 16
    def __getitem__(self, i):
        time.sleep(0.004)  # the planted line
        return torch.zeros(10)
for batch in DataLoader(Slow(), batch_size=8, num_workers=int(sys.argv[1])):
    time.sleep(0.05 if sys.argv[2] == 'slow' else 0)
print('trained')
sys.exit(int(sys.argv[3]))
'''
LINE = 1 + TRAIN[:TRAIN.index('# the planted line')].count('\n')

THREADS = '''
import queue, threading, time
def make(i):
    time.sleep(0.03)  # the planted line
    return [i]
def produce(work, out):
    while (i := work.get()) is not None:
        out.put(make(i))
work, out = queue.Queue(), queue.Queue(2)
for i in [*range(40), None, None]:
    work.put(i)
for _ in range(2):
    threading.Thread(target=produce, args=(work, out)).start()
for _ in range(40):
    out.get()
    time.sleep(0.04)
print('trained')
'''
PROCESSES = '''
import multiprocessing, sys, time
def make(i):
    time.sleep(0.03)  # the planted line
    return [i]
def produce(work, out):
    while (i := work.get()) is not None:
        out.put(make(i))
if __name__ == '__main__':
    multiprocessing.set_start_method(sys.argv[1])
    work, out = multiprocessing.Queue(), multiprocessing.Queue(2)
    for i in [*range(40), None, None]:
        work.put(i)
    makers = [multiprocessing.Process(target=produce, args=(work, out)) for _ in range(2)]
    for maker in makers:
        maker.start()
    for _ in range(40):
        out.get()
        time.sleep(0.04)
    for maker in makers:
        maker.join()
    print('trained')
'''


def ceiling(a, b):
    return -(-a // b)


with gs.scratch() as where:
    train, tmp = os.path.join(where, 'train.py'), os.path.join(where, 'tmp')
    os.mkdir(tmp)
    with open(train, 'w') as f:
        f.write(TRAIN)
    env = gs.environment(TMPDIR=tmp)

    def loader(*argv, program=(2, 'slow', 0)):
        return gs.gpustarve('loader', *argv, '--', gs.PYTHON, train, *map(str, program), env=env, cwd=where)

    for workers, kind in (2, 'slow'), (2, 'quick'), (0, 'quick'):
        what = f'{workers} workers, {kind}'
        done = loader('--step-ms', '10', '--format', 'json', program=(workers, kind, 0))
        if not gs.equal(done.returncode, 0, f'{what}: {done.stderr}'):
            continue
        first, _, rest = done.stdout.decode().partition('\n')
        gs.equal(first, 'trained', f'{what}: the output of the program comes first')
        said = json.loads(rest)
        l, = said['loaders']
        gs.equal((l['kind'], l['dataset'], l['workers'], l['batch']), ('torch', 'Slow', workers, BATCH), what)
        gs.equal((l['batches'] + l['left_out'], l['left_out'], l['makers']), (16, workers or 1, workers or 1),
                 f'{what}: batches')
        # A sleep takes no less; its end may have to wait for a CPU, but that is left out.
        gs.check(l['batch_ns'] >= BATCH * SLEEP_MS * 10**6, f'{what}: a batch takes {l["batch_ns"]}')
        gs.check(l['batch_low_ns'] <= l['batch_ns'] <= l['batch_high_ns'], f'{what}: an interval around it')
        need = l['need']
        gs.equal(need['workers'], ceiling(l['batch_ns'], said['step_ns']), f'{what}: workers')
        gs.equal([p['workers'] for p in need['pace'][:2]], [0, 1], f'{what}: pace')
        gs.equal(need['pace'][0]['step_ns'], l['batch_ns'] + said['step_ns'], f'{what}: without workers')
        gs.check(need['pace'][1]['step_ns'] >= l['batch_ns'] * 0.9, f'{what}: with one {need["pace"][1]}')
        gs.check(l['lines'] and sum(x['ns'] for x in l['lines']) <= l['sampled_ns'] <= l['total_ns'], f'{what}: sums')
        top = l['lines'][0] if l['lines'] else {}
        gs.equal((os.path.basename(top.get('file') or ''), top.get('line'), top.get('function'), top.get('wait')),
                 ('train.py', LINE, 'Slow.__getitem__', 'sleep'), f'{what}: the planted line')

    # Two makers could fill the queue faster than it is emptied: that they wait to put is no part of a batch.
    for kind, program, word in (('queue', THREADS, ''), ('processes', PROCESSES, 'fork'),
                                ('processes', PROCESSES, 'spawn')):
        what, path = f'{kind} {word}', os.path.join(where, f'fed_by_{kind}.py')
        with open(path, 'w') as f:
            f.write(program)
        done = gs.gpustarve('loader', '--step-ms', '10', '--format', 'json', '--', gs.PYTHON, path, *word.split(),
                            env=env, cwd=where)
        if not gs.equal(done.returncode, 0, f'{what}: {done.stderr}'):
            continue
        l, = json.loads(done.stdout.decode().partition('\n')[2])['loaders']
        gs.equal((l['kind'], l['workers'], l['makers']), (kind, None, 2), what)
        gs.check(30 <= l['batches'] <= 40, f'{what}: {l["batches"]} batches')
        gs.check(30 * 10**6 <= l['batch_median_ns'] < 60 * 10**6, f'{what}: a batch takes {l["batch_median_ns"]}')
        top = l['lines'][0] if l['lines'] else {}
        gs.equal((top.get('line'), top.get('function'), top.get('wait')),
                 (1 + program[:program.index('# the planted line')].count('\n'), 'make', 'sleep'), f'{what}: line')

    done = loader('--step-ms', '10', program=(2, 'quick', 3))
    text = done.stdout.decode()
    gs.equal(done.returncode, 0, 'a program that fails is measured all the same')
    gs.check('ended with status 3' in done.stderr.decode(), f'and that is said: {done.stderr}')
    for words in ('one worker makes a batch in', '95 % sure', 'the program has 2', '2 (now)', 'asleep',
                  f'train.py:{LINE} Slow.__getitem__', 'measured without a GPU'):
        gs.check(words in ' '.join(text.split()), f'{words}: {text}')

    run = tiny.imported(where, steps=12)
    steps = [line.split('\t') for line in gs.gpustarve('dump', run, '--steps').stdout.decode().splitlines()]
    fed = sorted(int(s[1]) - int(s[2]) for s in steps if s[0].isdigit())
    median = fed[(len(fed) - 1) // 2]
    done = loader('--from', run, '--format', 'json', program=(2, 'quick', 0))
    gs.equal(json.loads(done.stdout.decode().partition('\n')[2])['step_ns'], median, '--from')
    done = loader('--from', run, program=(2, 'quick', 0))
    gs.check('(the median step without its waits in' in ' '.join(done.stdout.decode().split()), f'which step: {done.stdout}')
    done = loader('--from', run, '--step-ms', '3')
    gs.check(done.returncode == 1 and b'give one of them' in done.stderr, f'both: {done.stderr}')
    for wrong in '0', '-3', '12x', 'nan':
        done = loader('--step-ms', wrong)
        gs.check(done.returncode == 1 and b'not the length of a step' in done.stderr, f'{wrong}: {done.stderr}')

    done = gs.gpustarve('loader', '--', 'echo', 'hello', env=env)
    gs.equal((done.returncode, done.stdout), (1, b'hello\n'), 'a program without a loader')
    gs.check(b'nothing was seen' in done.stderr, f'a program without a loader: {done.stderr}')
    done = gs.gpustarve('loader', '--', 'no-such-program', env=env)
    gs.check(done.returncode == 1 and b'no-such-program' in done.stderr, f'{done.stderr}')
    done = gs.gpustarve('run', '-o', os.path.join(where, 'runs'), '--', 'true', env=env)
    gs.check(b'gpustarve loader' in done.stderr, f'run without a GPU names it: {done.stderr}')
    gs.equal(os.listdir(tmp), [], 'nothing is left behind')
gs.finish()
