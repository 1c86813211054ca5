# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=180
"""A run that is killed together with its wrapper, as by the end of a container or a node: nobody tells of it.
As long as one of its processes that hold a GPU may be about to say something it goes on; then it was killed, to
the report, to digests and to a folder's fleet, which had it going on before, and to `job safe`."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

S, MS = 10**9, 10**6
SILENT = 90 * S  # who says nothing for longer is not alive
HELD = 8 * S
SAVED = 5 * S  # from its beginning to that of its save


def process(pid, word, bye=False, gpu=True, save=True):
    """One that said its last word at @word, after HELD."""
    begin = word - HELD
    lines = [f'stream node {pid} {begin} {word if bye else -1} -1 0 trainer python']
    lines += [f'device 0 {pid} GPU'] * gpu
    for t in range(begin + 100 * MS, word, 500 * MS):
        if gpu:
            lines += [f'api {t - 20000} {t - 10000} {t % 10**6} {pid} cudaLaunchKernel',
                      f'kernel {t} {t + 300 * MS} {t % 10**6} 7 0 gemm']
        lines.append(f'pulse {t + 310 * MS} {t + 305 * MS} 0')
    if save:
        t = begin + SAVED
        lines += [f'save 1 1 {t} 0 0 0 /ckpt/last.pt', f'save 2 1 {t} {t + 10 * MS} 1000 {pid + 40} /ckpt/last.pt']
    return lines + [f'meter {word} 0 100000 500000 6000 0 1' if gpu else f'pulse {word} {word} 0']


def make(where, name, *processes, job=None):
    run = os.path.join(where, name + '.gst')
    os.makedirs(run)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), run],
                   input='\n'.join(line for p in processes for line in p).encode(), check=True)
    with open(os.path.join(run, 'run.json'), 'w', encoding='utf-8') as f:
        json.dump(dict(id=name, command=['python'], start_unix_ns=1, wall_ns=0, exit_status=None, exits=[],
                       labels={'job': job} if job else {}, price={'usd_per_gpu_hour': '3.60', 'from': '--price'}), f)
    return run


def told(run):
    s = gs.summary(run, '--price', '3.60')
    gs.equal(schema.errors(schema.ours(), s), [], f'{run}: schema')
    gs.equal(sum(p['ns'] for p in s['saves']['parts'].values()), s['ledger']['gpu_ns'], f'{run}: held')
    digest = json.loads(gs.gpustarve('digest', run, '--price', '3.60').stdout)['saves']
    parts = {k: v['ns'] for k, v in s['saves']['parts'].items() if v['ns']}
    gs.equal({k: v[0] for k, v in digest.items() if k in s['saves']['parts']}, parts, f'{run}: digest')
    gs.equal(digest['kills'], s['saves']['kills'], f'{run}: kills of the digest')
    return [x['end'] for x in s['saves']['segments']], parts, s['saves']


def safe(run):
    done = gs.gpustarve('job', 'safe', run, '--price', '3.60', '--lose', '1s')
    return done.returncode, done.stdout.decode()


def reports(where):
    now = time.time_ns()
    old, new = now - SILENT - 20 * S, now - 20 * S
    ends, parts, saves = told(make(where, 'killed', process(7, old)))
    gs.equal((ends, parts), (['killed'], {'durable': SAVED, 'lost': HELD - SAVED}), 'silent for longer than one can be')
    gs.equal((saves['kills'], saves['now_ns']), (1, None), 'nothing of it goes on')
    gs.equal(safe(os.path.join(where, 'killed.gst'))[0], 0, 'safe: nothing holds a GPU')
    ends, parts, saves = told(make(where, 'on', process(7, new)))
    gs.equal((ends, parts), (['on'], {'durable': SAVED, 'unsaved': HELD - SAVED}), 'one that may go on')
    gs.equal((saves['kills'], saves['now_ns']), (0, HELD - SAVED), 'what a kill now would lose')
    gs.check(safe(os.path.join(where, 'on.gst'))[0] != 0, 'safe: it may go on')
    gs.equal(told(make(where, 'one', process(7, old), process(8, new, save=False)))[0], ['killed', 'on'], 'a restart of it')
    gs.equal(told(make(where, 'beside', process(7, old), process(8, old + 3 * S, save=False)))[0], ['killed'], 'two of them')
    two = [process(7, new - 2 * S), process(8, new, save=False)]
    gs.equal(told(make(where, 'two', *two))[0], ['on'], 'as long as one may')
    gs.equal(told(make(where, 'agent', process(7, old), process(8, new, gpu=False, save=False)))[0], ['killed'],
             'who holds no GPU tells nothing of those that do')
    gs.equal(told(make(where, 'goodbye', process(7, old, bye=True)))[0], ['ordered'], 'who said goodbye')
    none = told(make(where, 'none', process(7, old, save=False)))
    gs.equal(none[:2], (['killed'], {'lost': HELD}), 'without a save all is lost')


def lost(folder):
    said = json.loads(gs.gpustarve('fleet', folder, '--by', 'lost', '--format', 'json').stdout)['lost']
    return [(r['name'], r['kills'], r['lost_ns'] + r['unknown_ns'], r['unsaved_ns']) for r in said['job']]


def fleet(where):
    """What the folder keeps of it is not of before it fell silent."""
    made = time.time_ns()
    make(where, 'first', process(7, made - 70 * S), job='x')
    gs.equal(lost(where), [('x', 0, 0, HELD - SAVED)], 'the fleet, as long as it may go on')
    time.sleep(21 - (time.time_ns() - made) / S)
    gs.equal(lost(where), [('x', 1, HELD - SAVED, 0)], 'the fleet, once it may not')
    gs.equal(lost(where), [('x', 1, HELD - SAVED, 0)], 'and once more')


with gs.scratch() as where:
    reports(os.path.join(where, 'runs'))
    fleet(os.path.join(where, 'fleet'))
gs.finish()
