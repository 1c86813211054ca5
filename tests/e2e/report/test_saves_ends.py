# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""A run that was started again under its own id has a wrapper for each start: how a start ended is what its own
wrapper saw, not the first one's. What a kill threw away is at most so much: what was saved in the last moments is not
known."""
import itertools
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

S, MS = 10**9, 10**6
BASE = 1_700_000_000 * S
HELD = 8 * S
APART = 11 * S


def process(pid, begin, bye, save, cost):
    end = begin + HELD
    lines = [f'stream node {pid} {begin} {end if bye else -1} -1 0 trainer python', 'device 0 1 GPU']
    for t in range(begin + 100 * MS, end, 500 * MS):
        if begin + 4700 * MS < t < begin + 5000 * MS + cost:
            continue
        lines += [f'api {t - 20000} {t - 10000} {t // MS % 10**6} {pid} cudaLaunchKernel',
                  f'kernel {t} {t + 300 * MS} {t // MS % 10**6} 7 0 gemm', f'pulse {t + 310 * MS} {t + 305 * MS} 0']
    t = begin + 5 * S
    return lines if not save else lines + [
        f'range 7 {t} {t + cost} {pid} 0 /ckpt/last.pt', f'save 1 1 {t} 0 0 0 /ckpt/last.pt',
        f'save 2 1 {t} {t + cost} 1000 {begin % 10**6 + 9} /ckpt/last.pt']


def last_words(run, saves, killed, saved):
    """From the last pulse to the end that the wrapper saw: of whoever said goodbye all is known."""
    gs.equal(saves['lost_silent_ns'], 91 * MS if killed else 0, f'{run}: silent before the end')
    for form in 'text', 'html':
        page = gs.gpustarve('report', run, '--price', '3.60', '--format', form, '-o', '-').stdout.decode()
        page = ' '.join(re.sub('<[^>]*>', '', page).split())
        section = page[page.rindex('Saves: what a kill costs' if form == 'html' else 'Saves '):]
        gs.equal('lost at most' in section or 'nothing came after; at most' in section, killed, f'{run}, {form}: a bound')
        gs.equal('what was saved or deleted in the last 91.0 ms before the end' in section, killed and saved,
                 f'{run}, {form}: what is not known')
        if not saved:
            gs.check(f'o save was seen{" up to 91.0 ms before the end" if killed else ""}' in section, f'{run}, {form}: none: {section[:200]}')


def interval(saves, cost, broke):
    """Young's, but of one kill, which tells no rate, and where saves would take a quarter of the time or more."""
    if not cost:
        return None
    gs.equal(saves['exposed_ns'], cost, 'what a save costs')
    gs.equal(saves['between_ns'], saves['instants_ns'] // broke if broke else 50677 * 3600 * S, 'between kills')
    best = math.isqrt(2 * cost * saves['between_ns'])
    return best if broke != 1 and best >= 4 * cost else None


def ends(where, name, statuses, byes, pids, child, save=True, cost=10 * MS):
    """Starts one after the other; @child: the wrapper's child, if that is not what holds the GPU."""
    run = os.path.join(where, name + '.gst')
    os.makedirs(run)
    lines = []
    for k, (status, bye, pid) in enumerate(zip(statuses, byes, pids)):
        begin = BASE + k * APART
        lines += process(pid, begin, bye, save, cost)
        exits = [dict(host='node', pid=pid - (1 if child else 0), start_ns=begin - 3 * MS, end_ns=begin + HELD + MS, status=status)]
        with open(os.path.join(run, f'exit-node-{k}.json' if k else 'run.json'), 'w', encoding='utf-8') as f:
            json.dump(dict(id=name, command=['python'], start_unix_ns=begin - 3 * MS, wall_ns=HELD + 4 * MS, exit_status=status,
                           labels={}, exits=exits), f)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), run], input='\n'.join(lines).encode(), check=True)
    s = gs.summary(run, '--price', '3.60')
    gs.equal(s['run']['exit_status'], statuses[-1], f'{name}: as its last start ended')
    gs.equal(schema.errors(schema.ours(), s), [], f'{name}: schema')
    parts = {k: v['ns'] for k, v in s['saves']['parts'].items()}
    got = [x['end'] for x in s['saves']['segments']]
    gs.equal(sum(parts.values()), s['ledger']['gpu_ns'], f'{name}: held')
    gs.equal(s['saves']['kills'], got.count('killed'), f'{name}: kills')
    gs.equal(s['saves']['failures'], got.count('failed'), f'{name}: failures')
    gs.equal(parts['lost'] > 0, got[-1] != 'ordered', f'{name}: lost')
    gs.equal(s['saves']['best_ns'], interval(s['saves'], cost if save else 0, sum(e != 'ordered' for e in got)), f'{name}: best interval')
    if not child:
        last_words(run, s['saves'], got[-1] == 'killed', save)
    return got


def told_status(where):
    """Wrappers (begin, end, status) of one run: those of the last start count, who were there at once; None goes on."""
    run = os.path.join(where, 'told.gst')
    os.makedirs(run)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), run], input='\n'.join(process(10, BASE, True, False, 0)).encode(), check=True)
    for wrappers, want in (((0, 8, 137), (9, 20, 0)), 0), (((0, 8, 0), (9, 20, 3)), 3), (((0, 8, 0), (7, 20, 3)), 3), (((0, 8, 3), (7, 20, 0)), 3), \
            (((0, 8, 137), (9, None, None)), None), (((0, None, None), (9, 20, 0)), None), (((0, None, None), (9, 20, 3)), 3), \
            (((0, 8, 137), (9, 20, 4), (9, 12, 5), (13, 30, 0)), 5), (((0, 8, 137), (0, 7, 1), (9, 20, 0), (9, 20, 0)), 0):
        for order in itertools.permutations(wrappers):
            for k, (begin, end, status) in enumerate(order):
                with open(os.path.join(run, f'exit-node-{k}.json' if k else 'run.json'), 'w', encoding='utf-8') as f:
                    json.dump(dict(id='told', command=['python'], start_unix_ns=BASE + begin * S, wall_ns=(end - begin) * S if end else 0,
                                   exit_status=status, labels={}, exits=[]), f)
            gs.equal(gs.summary(run)['run']['exit_status'], want, f'{order}: status')
        for name in os.listdir(run):
            if name.startswith('exit-'):
                os.unlink(os.path.join(run, name))


with gs.scratch() as where:
    told_status(where)
    for n, statuses in enumerate(itertools.product((0, 1, 137), repeat=3)):
        want = ['failed' if s == 1 else 'killed' if s else 'ordered' for s in statuses]
        byes = [s != 137 for s in statuses]
        for how, pids, child in (('', (10, 20, 30), False), (' by a shell', (10, 20, 30), True), (' of one number', (10, 10, 10), False)):
            gs.equal(ends(where, f'{n}{how.replace(" ", "-")}', statuses, byes, pids, child), want, f'{statuses}{how}')
    gs.equal(ends(where, 'long', (137, 137), (False, False), (10, 20), False, cost=1300 * MS), ['killed'] * 2, 'long saves')
    gs.equal(ends(where, 'none', (137,), (False,), (10,), False, save=False), ['killed'], 'killed without a save')
    gs.equal(ends(where, 'raised', (1,), (True,), (10,), False, save=False), ['failed'], 'raised without a save')
gs.finish()
