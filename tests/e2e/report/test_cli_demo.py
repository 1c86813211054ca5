#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""gpustarve demo from an installed prefix, with nothing else there: three runs that are small, tell nothing of
the machine they were recorded on, say what they are meant to show, and go through report, compare, check and top."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

RUNS = {'storage': ('input-bound', 'input.fetch', 'StoreDataset.__getitem__'),
        'decoding': ('input-bound', 'input.prep', 'JpegDataset.__getitem__'), 'healthy': None}
MOST = 300_000  # bytes, all three

with gs.scratch() as where:
    prefix, tmp = os.path.join(where, 'a prefix'), os.path.join(where, 'tmp')
    os.mkdir(tmp)
    done = gs.command(['cmake', '--install', gs.BUILD, '--prefix', prefix])
    gs.equal(done.returncode, 0, f'cmake --install: {done.stderr.decode()}')
    shutil.rmtree(os.path.join(prefix, 'lib'), ignore_errors=True)  # no libprof is needed

    def demo(*argv, what='demo'):
        env = {'PATH': '/nowhere', 'TMPDIR': tmp, 'HOME': tmp}
        return subprocess.run([os.path.join(prefix, 'bin', 'gpustarve'), *argv], env=env, cwd=where,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    done = demo('demo', '--path')
    folder = done.stdout.strip()
    gs.equal(os.path.realpath(folder), os.path.join(os.path.realpath(prefix), 'share', 'gpustarve', 'demo'), '--path')
    before = sorted((f, os.path.getsize(os.path.join(d, f))) for d, _, names in os.walk(folder) for f in names)
    gs.check(0 < sum(size for _, size in before) <= MOST, f'bytes: {before}')

    done = demo('demo')
    text = ' '.join(done.stdout.split())
    gs.equal((done.returncode, done.stderr), (0, ''), 'demo')
    for words in ('$ gpustarve report storage.gst healthy.gst', '$ gpustarve check storage.gst', '(exit status 2)',
                  '$ gpustarve check healthy.gst', '$ gpustarve top --once decoding.gst', 'simulated',
                  *(f'gpustarve demo {name}' for name in RUNS)):
        gs.check(words in text, f'demo says {words}: {text[-2000:]}')
    gs.equal(text.count('GPU waited for input for') >= 2, True, 'verdicts')
    gs.check(re.search(r'gpustarve: busy\. The GPU was busy for 9[\d.]+ % of the training time: a healthy run, nothing', text),
             f'the healthy one is called so: {text[-3000:]}')

    starved = {}
    for name, told in RUNS.items():
        done = demo('demo', name)
        gs.equal((done.returncode, done.stderr), (0, ''), name)
        gs.check('simulated' in done.stdout, f'{name} says simulated')
        done = demo('report', os.path.join(folder, name + '.gst'), '--format', 'json')
        s = json.loads(done.stdout)
        starved[name] = s['ledger']['starved_pct']
        gs.check(not re.search(r'/(root|home|work)\b', done.stdout), f'{name}: names of a machine')
        gs.check(all('(simulated)' in g['name'] for g in s['gpus']) and s['gpus'], f'{name}: simulated')
        if told:
            most = max(s['findings'], key=lambda f: f['ns'])
            gs.equal((s['verdict'], most['class'], most['where']['function']), told, name)
            late = {c: ns for c, ns in s['gpus'][0]['classes'].items() if c.startswith('input.') and c != 'input.epoch'}
            gs.check(late[told[1]] >= .98 * sum(late.values()), f'{name}: nothing else is accused: {late}')
        gs.equal(demo('verify', os.path.join(folder, name + '.gst')).returncode in (0, 1), True, f'{name}: verify')
    gs.check(starved['healthy'] < starved['storage'] / 2, f'what is advised helps: {starved}')

    done = demo('demo', '--open')
    gs.equal(done.returncode, 0, f'--open: {done.stderr}')
    gs.equal(os.listdir(tmp), ['gpustarve-demo-storage.html'], '--open writes the page')
    for wrong in ['demo', 'nosuch'], ['demo', 'storage', 'healthy']:
        done = demo(*wrong)
        gs.check(done.returncode == 1 and done.stderr.count('\n') == 1, f'{wrong}: {done.stderr}')
    after = sorted((f, os.path.getsize(os.path.join(d, f))) for d, _, names in os.walk(folder) for f in names)
    gs.equal(after, before, 'nothing is written beside them')
    shutil.rmtree(folder)
    done = demo('demo')
    gs.check(done.returncode == 1 and 'not there' in done.stderr, f'without them: {done.stderr}')
gs.finish()
